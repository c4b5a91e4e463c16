//! Writes: the condition of each effect, transactions, staged submissions, pending work, and the catalogue.

mod claims;
mod commit;
mod condition;
mod metadata_policy;
mod move_gone_items;
mod outcome;
mod provision;
mod service_documents;
mod staging;
pub(crate) mod statement;
mod work;

pub use commit::Commit;
pub use move_gone_items::MovedItems;
pub use outcome::Stored;
pub use provision::{NewService, NewTeam, Publication};
pub(crate) use work::FOR_EVER;
pub use work::PendingWork;
