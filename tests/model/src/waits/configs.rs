//! The configurations, and the parts of the rules that an ablation removes.

use crate::config::States::{self, All, First};
use crate::lifecycle;
use crate::lifecycle::state::Strategy;

/// Two items of a service that may refer to each other, with the settings of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The settings of the life cycle of each item.
    pub(crate) life: lifecycle::Config,
    /// `require_ready`
    pub(crate) requires_ready: bool,
    /// Whether an item has two declarations with a reference. Without, it has one.
    pub(crate) has_values: bool,
}

impl Config {
    /// Returns the configuration with these words: those of a life cycle, `ready` and `values`.
    pub fn of(words: &str) -> Self {
        let has = |word| words.split(' ').any(|one| one == word);
        let life = lifecycle::Config { references: true, ..lifecycle::Config::of(words) };
        Self { life, requires_ready: has("ready"), has_values: has("values") }
    }
}

/// The group for `--only`, the words and the number of states of each configuration.
pub const CONFIGS: &[(&str, &str, States)] = &[
    ("waits", "MODIFY ready", All(1_134)),
    ("waits", "MODIFY", All(1_134)),
    ("waits", "MODIFY ready values", All(2_981)),
    ("waits", "MODIFY unneeded ready values", All(2_734)),
    ("waits", "REPLACE ready values", All(2_268)),
    ("waits", "REPLACE", All(1_771)),
    ("waits", "PROPERTY ready values", All(11_364)),
    ("waits", "MODIFY approval ready", First(10_000)),
    ("waits", "MODIFY approval unneeded", First(10_000)),
    ("waits", "REPLACE approval ready", First(10_000)),
    ("waits", "REPLACE approval", First(10_000)),
];

/// A part of the rules that an ablation removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The component rule: items in a circle without anything in place do not wait for each other.
    Component,
    /// The end of a wait for a change instance that is CLOSED.
    Closed,
    /// The filter of ready work in batch claims.
    Filter,
    /// The refusal of COMPLETED by `require_ready`.
    Refusal,
    /// The CREATE must be COMPLETED. APPROVED is enough.
    Completed,
    /// A wait goes on with the retry or the second half of the change instance.
    Successor,
    /// A referenced change instance does not wait for a cause that waits for its item.
    Cause,
    /// Removals of items that refer to each other do not wait for each other.
    Removals,
    /// A new wait that closes a circle with those of older open change instances is left out.
    Circle,
    /// An item that is not declared is not waited for.
    Declared,
}

/// The rules in a configuration, perhaps without some parts.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    pub(crate) config: Config,
    pub(crate) missing: &'static [Missing],
    /// Whether one state represents those with other names.
    pub(crate) is_symmetric: bool,
}

impl Waits {
    pub(crate) fn lacks(&self, part: Missing) -> bool {
        self.missing.contains(&part)
    }

    /// Returns the strategy of the service.
    pub(crate) const fn strategy(&self) -> Strategy {
        self.config.life.strategy
    }
}
