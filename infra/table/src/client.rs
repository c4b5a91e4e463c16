//! The connection to the tables: the client of the SDK with its caches, metrics and errors.

pub(crate) mod caches;
pub(crate) mod call;
mod connect;
mod cost;
pub(crate) mod error;
mod meter;
pub(crate) mod request_metrics;
pub(crate) mod schema_cache;
mod table_definition;
mod yielding_connector;

pub use connect::{ACTIONS_MAX, Settings, Table};
pub use cost::{Cost, Units};
pub use error::Error;
pub use meter::metered;
pub use request_metrics::{RequestMetrics, with_request_metrics};
