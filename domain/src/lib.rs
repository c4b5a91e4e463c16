//! The rules of Dovetail: the meaning of a declaration, the change instances that it causes, and the permitted
//! decisions.
//!
//! This crate does no I/O, reads no clock and knows nothing of AWS. State, time and ids are arguments. Decisions
//! are values ([`write::Write`]) for the caller to execute.

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
