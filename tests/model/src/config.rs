//! Parts of a configuration: declarations, concurrent actors and possible faults.

use crate::owner::Decision;
use domain::model::submission::Scope;

/// A declared item.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// Name and content of an item of service V.
    V(&'static str, u64),
    /// Name, referenced items of V, and content of an item of service L.
    L(&'static str, &'static [&'static str], u64),
}

/// Name and items of a declared application.
pub type Application = (&'static str, &'static [Item]);

/// The way of writing a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// In one transaction.
    AtOnce,
    /// Staged and committed, if an item changes.
    Staged,
}

/// A request of the consumer.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Declared applications.
    pub declares: &'static [Application],
    pub scope: Scope,
    pub packing: Packing,
    /// Whether the consumer previews the command first, and submits it with the plan token.
    pub previewed: bool,
    /// Idempotency key.
    pub key: Option<&'static str>,
    /// Numbers of earlier commands. The consumer awaits their answers first.
    pub after: &'static [usize],
}

/// Decisions of the owners.
#[derive(Clone, Copy, Debug)]
pub struct Owners {
    /// Number of concurrent decisions. With 0, each read and write is a single step.
    pub at_once: usize,
    /// Total number of decisions.
    pub budget: u8,
    /// Possible kinds of decisions.
    pub decisions: &'static [Decision],
}

/// Number of states in an ordinary run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// All states of the configuration.
    All(usize),
    /// The first states of a search, if the configuration has more.
    First(usize),
}

impl States {
    pub const fn count(self) -> usize {
        match self {
            Self::All(count) | Self::First(count) => count,
        }
    }
}

/// A small world for the search.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Name for `--only`.
    pub name: &'static str,
    /// Purpose of the configuration.
    pub about: &'static str,
    /// Whether the services require approval. New change instances are then PENDING.
    pub approval: bool,
    /// Whether the services replace what is in place.
    pub replaces: bool,
    /// Services with a dependent team.
    pub dependents: &'static [&'static str],
    /// Number of former dependent teams of V. Before the search, each rejects its share of the first command.
    pub former_dependents: usize,
    /// Maximum number of writes of a change. A larger change first closes answered change instances
    /// (docs/explanation/staging.md).
    pub landing: usize,
    /// Number of applications from which numbers are used again (R45).
    pub reuse_from: usize,
    /// Requests of the consumer.
    pub commands: &'static [Command],
    /// Maximum number of plans of a submission.
    pub attempts: u8,
    /// Whether reads of several records can be torn.
    pub torn: bool,
    /// Maximum number of lost requests and answers.
    pub lost: u8,
    /// Maximum number of dying submitters. Above 0, workers can also die in the middle of a record.
    pub crashes: u8,
    /// Number of concurrent workers.
    pub workers: usize,
    /// Whether the sweep removes uncommitted stagings.
    pub sweeps: bool,
    /// Decisions of the owners.
    pub owners: Owners,
    /// Number of deployed items of each change instance of the first command, before the search.
    pub deployed: u8,
    /// Whether service V is verified, so its owner may plan items (R52).
    pub verified: bool,
    /// Number of states in an ordinary run.
    pub states: States,
}
