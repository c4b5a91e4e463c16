//! The reasons why a command or the system failed.

use std::{io, path::PathBuf};

use dovetail_emulator::{engine, journal, mapping, stream};

use crate::{account, audit::export, load::failure::Failure};

/// The reason why a command or the system failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The world file is invalid.
    #[error("{file}: {problems}")]
    World {
        /// Path of the file as given.
        file: String,
        /// Its problems, one in each line.
        problems: String,
    },
    #[error("{}: the directory has no database", .0.display())]
    NoDatabase(PathBuf),
    /// The export is unreadable, incomplete or invalid.
    #[error(transparent)]
    Export(#[from] export::Error),
    #[error(transparent)]
    Engine(#[from] engine::Error),
    #[error(transparent)]
    Table(#[from] dovetail_table::Error),
    /// The table of a stack cannot be used.
    #[error(transparent)]
    Account(#[from] account::Error),
    /// The world could not be loaded.
    #[error(transparent)]
    Load(#[from] Failure),
    /// The pattern of a webhook or of a function is invalid.
    #[error("{0}")]
    Pattern(String),
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The stream of the table cannot be read.
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// A consumer of the stream ended.
    #[error(transparent)]
    Mapping(#[from] mapping::Error),
    /// A background task panicked.
    #[error("a task failed: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// A file or socket failed.
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

impl Error {
    /// Returns a closure that adds the name of the file or socket.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

/// Converts the result of printing. A reader such as `head` may close the pipe early, which is not a failure.
pub(crate) fn printed(result: io::Result<()>) -> Result<(), Error> {
    dovetail_terminal::printed(result).map_err(Error::io("standard output"))
}
