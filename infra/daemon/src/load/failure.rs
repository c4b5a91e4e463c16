//! The reason for a failed load.

use std::io;

use dovetail_table::Error;

/// The reason for a failed load.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Table(#[from] Error),
    /// The world contradicts the tables; a line for each problem, with its JSON pointer.
    #[error("{}", .0.join("\n"))]
    Refused(Vec<String>),
    /// The system has no random numbers for a key.
    #[error("a key could not be generated: the system has no random numbers")]
    Chance,
    #[error("the output failed: {0}")]
    Output(#[from] io::Error),
}
