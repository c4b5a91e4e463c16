//! What a configuration consists of: what is declared by whom, who acts beside, and what may go wrong.

use crate::owner::Decision;
use domain::submission::Scope;

/// An item as it is declared.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// An item of service V: its name and content.
    V(&'static str, u64),
    /// An item of service L: its name, the items of V that it refers to, and its content.
    L(&'static str, &'static [&'static str], u64),
}

/// An application as it is declared: its name and its items.
pub type Application = (&'static str, &'static [Item]);

/// How a submission is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// In one transaction.
    AtOnce,
    /// Laid out and committed, if an item changes.
    Staged,
}

/// A request of the consumer.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// What it declares.
    pub declares: &'static [Application],
    /// Whole or partial.
    pub scope: Scope,
    /// How it is written.
    pub packing: Packing,
    /// Its idempotency key.
    pub key: Option<&'static str>,
    /// The commands, by number, whose answers the consumer has waited for.
    pub after: &'static [usize],
}

/// Who decides, and how.
#[derive(Clone, Copy, Debug)]
pub struct Owners {
    /// How many decisions are made at the same time; with none, each is read and written in one step.
    pub at_once: usize,
    /// How many decisions are made in all.
    pub budget: u8,
    /// Which decisions are made.
    pub decisions: &'static [Decision],
}

/// How many states an ordinary run visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// All that there are.
    All(usize),
    /// The first that are found; there are more.
    First(usize),
}

impl States {
    /// Their number.
    pub const fn count(self) -> usize {
        match self {
            Self::All(count) | Self::First(count) => count,
        }
    }
}

/// One world to be searched.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Its short name.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Whether change instances are born PENDING.
    pub approval: bool,
    /// The services that have a dependent team.
    pub dependents: &'static [&'static str],
    /// How many teams of V each have a share of the first command in REJECTED, and depend on V no more, before anything
    /// else happens.
    pub former: usize,
    /// How many writes a landing has at most before answered change instances are closed ahead of it.
    pub landing: usize,
    /// What the consumer asks for.
    pub commands: &'static [Command],
    /// How often a submission is planned.
    pub attempts: u8,
    /// Whether reads of several records may be torn.
    pub torn: bool,
    /// How many answers, or requests, may be lost.
    pub lost: u8,
    /// How many submitters may die.
    pub crashes: u8,
    /// How many generations run beside each other.
    pub workers: usize,
    /// Whether stagings are cleared away that nobody has committed yet.
    pub sweeps: bool,
    /// Who decides.
    pub owners: Owners,
    /// How many deployed items the first change instance has brought before anything else happens.
    pub deployed: u8,
    /// How many states an ordinary run visits.
    pub states: States,
}
