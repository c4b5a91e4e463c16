//! Why a command failed, and the exit code of each reason.

use crate::base::{
    interrupt::INTERRUPTED,
    location::Located,
    problem::{Problem, Refusal},
};
use std::{fmt, io, path::Path, process::ExitCode};

/// The exit codes of all commands, at the end of each help text.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done, or no change
  1    failed
  2    `plan` found changes
  3    a rule refused the request
  4    not signed in, or not allowed
  5    the plan has changed since it was shown
  8    `wait` ended before the work did
  64   the command line is invalid
  130  interrupted";

/// The way in which a command ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Done, or nothing to do.
    Success,
    /// `plan` found changes.
    Changes,
    /// `wait` reached its timeout.
    StillWaiting,
}

impl From<Done> for ExitCode {
    fn from(done: Done) -> Self {
        match done {
            Done::Success => Self::SUCCESS,
            Done::Changes => 2.into(),
            Done::StillWaiting => 8.into(),
        }
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A file, the network or the server failed, or a work result is not the expected one.
    #[error("{0}")]
    Failed(String),
    /// The server refused the request: it breaks a rule.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The server refused the request, and its problems are at known places, one in each line.
    #[error("{0}")]
    Problems(String),
    /// The server refused the declaration, and its problems have places in the files.
    #[error("{}", lines(.0))]
    Invalid(Vec<Located>),
    /// A file is not YAML or JSON, so the server has not seen it.
    #[error("{}", lines(.0))]
    Unreadable(Vec<Located>),
    /// No key, an invalid key, or a key without the permission.
    #[error("{0}")]
    NotAllowed(String),
    #[error("the plan has changed since it was shown: plan again")]
    PlanChanged,
    /// The arguments contradict each other or the environment.
    #[error("{0}")]
    Usage(String),
    /// The server does not know a filter in the query of this path. It may name the most similar one.
    #[error("a filter is unknown")]
    UnknownFilter { path: String, meant: Option<String> },
    /// Ctrl-C answered a question.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// Returns the exit code.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Failed(_) | Self::Unreadable(_) => ExitCode::FAILURE,
            Self::Refused(_) | Self::Problems(_) | Self::Invalid(_) => 3.into(),
            Self::NotAllowed(_) => 4.into(),
            Self::PlanChanged => 5.into(),
            Self::Usage(_) | Self::UnknownFilter { .. } => 64.into(),
            Self::Interrupted => INTERRUPTED.into(),
        }
    }

    /// Returns the problems of a declaration; none if it failed for another reason.
    pub(crate) fn problems(&self) -> Option<Vec<Located>> {
        match self {
            Self::Invalid(problems) | Self::Unreadable(problems) => Some(problems.clone()),
            Self::Refused(refusal) if refusal.problems.is_empty() => {
                let Refusal { code, detail, .. } = &**refusal;
                let (rule, detail) = (code.clone(), detail.clone());
                Some(vec![Located::nowhere(Problem { pointer: String::new(), rule, detail })])
            }
            Self::Refused(refusal) => Some(refusal.problems.iter().cloned().map(Located::nowhere).collect()),
            Self::Failed(_)
            | Self::Problems(_)
            | Self::NotAllowed(_)
            | Self::PlanChanged
            | Self::Usage(_)
            | Self::UnknownFilter { .. }
            | Self::Interrupted => None,
        }
    }

    /// Returns a function that adds the name of a file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::Failed(format!("{}: {error}", path.display()))
    }

    /// Returns why a question has no answer.
    pub(crate) fn unanswered(error: dialoguer::Error) -> Self {
        let dialoguer::Error::IO(error) = error;
        if error.kind() == io::ErrorKind::Interrupted { Self::Interrupted } else { Self::failed(error) }
    }

    pub(crate) fn failed(reason: impl fmt::Display) -> Self {
        Self::Failed(reason.to_string())
    }
}

/// Returns problems, one in each line.
fn lines(problems: &[Located]) -> String {
    problems.iter().map(Located::to_string).collect::<Vec<_>>().join("\n")
}
