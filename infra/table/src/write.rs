//! Writes: the condition of each effect, transactions, staged submissions, pending work, and the catalogue.

mod commit;
mod metadata_policy;
mod outcome;
mod provision;
mod service_documents;
mod staging;
pub(crate) mod statement;
mod work;

pub use commit::Commit;
pub(crate) use outcome::outcome;
pub use outcome::{Kept, Keyed};
pub use provision::{Publication, Published};
pub use work::PendingWork;
