//! Support of the tests: the whole system in this process, clients, proxies, an issuer, and measurements.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

pub mod blocks;
mod commands;
pub mod contract;
pub mod costs;
mod engine;
mod functions;
pub mod issuer;
mod local_server;
pub mod manual_queue;
pub mod page;
mod prepared;
mod proxy;
mod published;
pub mod ratchet;
pub mod receiver;
mod redelivery;
mod request;
mod running;
mod shapes;
mod site;
pub mod source;
mod stack;
mod tables;
mod threads;
mod tls;
mod watched;
mod world_schema;

pub use commands::{commands, first_commands};
pub use dovetail_daemon::settings::Settings;
pub use functions::functions_on;
pub use prepared::Prepared;
pub use proxy::{AllSeen, Calls, Fate, Proxy, Seen, SentRequest, SentRequests, dying_after};
pub use published::Published;
pub use redelivery::{Random, Redelivery};
pub use request::{Answer, ApiRequest, assert_values, multipart, send};
pub use running::Running;
pub use simulation::timeless::timeless;
pub use site::Site;
pub use stack::Stack;
pub use tables::{Tables, elsewhere, fresh_table, on_the_embedded_engine_alone};
pub use threads::spawn_in_test;
pub use tls::Tls;
pub use watched::Watched;
pub use world_schema::{WORLD_SCHEMA, world_schema_problems};
