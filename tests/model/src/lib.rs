//! A model checker over the domain: small worlds in which every interleaving of submitters, generations, owners and the
//! sweep is searched, with torn reads, lost answers and deaths.
//!
//! The rules are the domain's own functions, and the storage is [`store`]; only the order of requests is told again
//! here, as `functions/` make them. What is left out is told in [`configs`].
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test support"
)]

pub mod ablation;
pub mod arguments;
mod audit;
mod clearing;
pub mod config;
pub mod configs;
mod ending;
mod given;
mod model;
mod owner;
mod planned;
pub mod search;
mod state;
mod step_rules;
mod submitter;
mod view;
mod worker;
mod world;

pub use owner::Decision;
pub use world::World;
