//! The connection to the tables: the client of the SDK with its caches, metrics and errors.

mod attempt_timeout;
pub(crate) mod caches;
pub(crate) mod call;
mod connect;
pub(crate) mod error;
mod observer;
pub(crate) mod schema_cache;
mod table_definition;
mod user_agent;
mod yielding_connector;

pub use connect::{ACTIONS_MAX, Settings, Table};
pub use error::Error;
