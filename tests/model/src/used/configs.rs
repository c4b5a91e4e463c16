//! The configurations, and the parts of the protocol that an ablation removes.

use crate::config::States::{self, All, First};

/// The number of the team that owns the targets.
pub(crate) const OWNER: usize = 0;
/// The number of teams.
pub(crate) const TEAMS: usize = 3;
/// The names of the teams.
pub(crate) const NAMES: [&str; TEAMS] = ["T", "U", "V"];

/// The teams of the submitters and of the two users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The team of each submitter.
    pub(crate) submitters: [Option<usize>; 3],
    /// The team of each user, which is an item that can refer to both targets.
    pub(crate) users: [usize; 2],
}

impl Config {
    /// Returns the configuration with these words: the teams of the submitters, `for`, and the teams of the users.
    pub fn of(words: &str) -> Self {
        let (submitters, users) = words.split_once(" for ").unwrap_or((words, ""));
        let teams = |words: &str| {
            let team = |word| NAMES.iter().position(|name| *name == word);
            words.split(' ').filter_map(team).collect::<Vec<_>>()
        };
        let (submitters, users) = (teams(submitters), teams(users));
        let user = |n: usize| users.get(n).copied().unwrap_or(OWNER);
        Self { submitters: [0, 1, 2].map(|n| submitters.get(n).copied()), users: [user(0), user(1)] }
    }
}

/// The group for `--only`, the words and the number of states of each configuration.
pub const CONFIGS: &[(&str, &str, States)] = &[
    ("used", "T U for U U", All(87_599)),
    ("used", "T U V for U V", All(195_398)),
    ("used", "T T for T T", First(50_000)),
    ("used", "T U for T U", All(101_133)),
];

/// A part of the protocol that an ablation removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// `AddUse`: the condition `dc = true` of an added use.
    Declared,
    /// `AddUse`: the condition that the row of the target exists, of a released use.
    LiveRow,
    /// `PutApplication`: the comparison of `APP.us`.
    Comparison,
    /// `CountUse`: a counter that only grows. `APP.us` is the sum of the uses.
    Growth,
    /// `CountUse`: the number of added uses. A submission adds 1.
    Number,
    /// `CheckNotInFlight` on the head of the target's team.
    InFlight,
    /// The comparison of `ITEM.revision`.
    Revision,
    /// `PutItem` with the number of uses as read. A commit only changes that number.
    WholeRow,
    /// The comparison of `HEAD.submissions`.
    Submissions,
    /// The conditions of an added use even if a released use of the same target balances it.
    Additions,
    /// The use in the submission's own write of its target.
    OwnWrite,
    /// The read of the application before its items.
    ReadOrder,
}

/// The protocol in a configuration, perhaps without some parts.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub(crate) config: Config,
    pub(crate) missing: &'static [Missing],
    /// Whether one state represents those with other names.
    pub(crate) is_symmetric: bool,
}

impl Used {
    pub(crate) fn lacks(&self, part: Missing) -> bool {
        self.missing.contains(&part)
    }
}
