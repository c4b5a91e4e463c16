//! The rules of Dovetail: what a declaration means, which change instances it causes, who may move them.
//!
//! Nothing here does I/O, reads a clock or knows AWS: state, time and ids come in as arguments, decisions
//! come out as values ([`write::Write`]) that the shell carries out.

pub mod access;
pub mod actor;
pub mod attention;
pub mod change;
pub mod charge;
pub mod compare;
pub mod config;
pub mod decide;
pub mod declaration;
pub mod declared;
pub mod deployed;
pub mod digest;
pub mod docs;
pub mod event;
pub mod generate;
pub mod healthcheck;
pub mod id;
pub mod invariant;
pub mod item;
pub mod json;
pub mod land;
pub mod mandatory;
pub mod member;
pub mod message;
pub mod metadata;
pub mod money;
pub mod past;
pub mod plan;
pub mod problem;
pub mod recorded;
pub mod related;
pub mod repair;
pub mod schema;
pub mod service;
pub mod staging;
pub mod state;
pub mod submission;
pub mod suggest;
pub mod tally;
pub mod team;
pub mod timestamp;
pub mod webhook;
pub mod work;
pub mod write;
