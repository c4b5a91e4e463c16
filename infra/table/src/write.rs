//! Writes: the condition of each effect, transactions, staged submissions, pending work, and the catalogue.

mod bury;
mod commit;
mod metadata_policy;
mod outcome;
mod provision;
mod service_documents;
mod staging;
pub(crate) mod statement;
mod work;

pub use bury::Buried;
pub use commit::Commit;
pub use outcome::Stored;
pub use provision::{NewService, NewTeam, Publication};
pub(crate) use work::FOR_EVER;
pub use work::PendingWork;
