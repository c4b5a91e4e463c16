//! The DynamoDB table: records and their keys, conditions, transactions, reads and lists.
//!
//! This is the only crate that names a DynamoDB attribute. Rules are in `domain`; this crate turns its values into
//! requests and its answers back into values.

mod access;
pub mod audit;
mod bound;
mod call;
mod checked;
mod commit;
mod connect;
mod cost;
mod decision;
mod definition;
mod error;
mod healthchecks;
mod kept;
mod key;
mod lists;
mod mandatory;
mod members;
mod messages;
mod meter;
mod offers;
mod pace;
mod past;
mod provision;
mod read;
mod record;
mod related;
mod schemas;
mod size;
mod spent;
mod staging;
mod statement;
pub mod stream;
mod webhooks;
mod work;

pub use access::Keyed;
pub use bound::{Bound, Read};
pub use commit::{ACTIONS_MAX, Commit};
pub use connect::{Settings, Table};
pub use cost::{Cost, Units};
pub use decision::Undecided;
pub use error::Error;
pub use kept::Kept;
pub use lists::{COUNT_MAX, Direction, Listed, Rows, Source, until};
pub use meter::metered;
pub use past::Past;
pub use provision::{Publication, Published};
pub use related::Beside;
pub use spent::{Spent, spent};
pub use work::Owing;
