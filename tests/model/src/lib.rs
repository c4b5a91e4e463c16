//! A model checker for the domain: it searches all interleavings of submitters, workers, owners and the sweep in
//! small worlds.
//!
//! Reads can be torn, answers can get lost, and actors can die. The rules are the functions of `domain`, and the
//! storage is [`store`]. Only the order of requests is a copy of `functions/`. [`configs`] lists the omissions.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test support"
)]

pub mod ablation;
mod audit;
mod clearing;
pub mod config;
pub mod configs;
mod ending;
mod given;
pub mod lifecycle;
mod model;
mod owner;
mod planned;
pub mod search;
mod state;
mod step_rules;
mod submitter;
pub mod used;
mod view;
pub mod waits;
mod worker;
mod world;

pub use owner::Decision;
pub use world::World;
