//! A state of the model: two targets, two users, and the submissions in progress.

use super::configs::{OWNER, TEAMS};

/// The live row of a target. There is none before its declaration, and after its end (R44).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    /// `ITEM.dc`
    pub(crate) is_declared: bool,
    /// `ITEM.us`
    pub(crate) uses: u8,
}

/// The reference of a declared user to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    None,
    /// The target counts it.
    Counted,
    /// The target counts it, and its removal was confirmed.
    Confirmed,
    /// The staged submission of the target counts it when it lands.
    Ahead,
    /// The target that it names is gone.
    Stale,
}

impl Use {
    pub(crate) const fn is_counted(self) -> bool {
        matches!(self, Self::Counted | Self::Confirmed)
    }
}

/// What a submission asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Choice {
    /// Whether each target is declared afterwards; only of its own team.
    pub(crate) targets: [bool; 2],
    /// The targets of each changed user.
    pub(crate) users: [Option<[bool; 2]>; 2],
    /// `allow_removal`
    pub(crate) is_confirmed: bool,
    pub(crate) is_staged: bool,
}

/// A submission between its reads and its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Plan {
    /// The planner has read the application.
    Read(Since),
    Ready(Ready),
}

/// What has happened since the read of head and application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Since {
    /// Whether another submission of the team was committed.
    pub(crate) has_head_moved: bool,
    /// Whether a use of a target was added.
    pub(crate) has_grown: bool,
    /// The change of the sum of uses; only without the growing counter.
    pub(crate) sum: i8,
}

/// A planned submission, and what has happened since its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ready {
    pub(crate) choice: Choice,
    /// Whether it changes the declaration of each target.
    pub(crate) writes: [bool; 2],
    pub(crate) added: [u8; 2],
    pub(crate) released: [u8; 2],
    /// The added uses by user and target.
    pub(crate) adds: [[bool; 2]; 2],
    /// The uses that `allow_removal` confirms, by user and target.
    pub(crate) confirmed: [[bool; 2]; 2],
    /// `ITEM.us` as read, of a target that the commit itself writes.
    pub(crate) read: [u8; 2],
    /// Whether the application is read already. It is, except without the order of the reads.
    pub(crate) is_application_read: bool,
    pub(crate) since: Since,
    /// Whether each target that the commit itself writes has another revision.
    pub(crate) has_moved: [bool; 2],
    /// Whether the row of each target is another one, or none.
    pub(crate) has_gone: [bool; 2],
}

impl Ready {
    pub(crate) fn changes_targets(&self) -> bool {
        self.writes.contains(&true)
    }

    pub(crate) const fn changes_uses(&self, target: usize) -> bool {
        self.added[target] + self.released[target] > 0
    }

    /// Returns whether the commit itself writes the row of a target.
    pub(crate) const fn writes_row(&self, target: usize) -> bool {
        self.writes[target] && !self.choice.is_staged
    }
}

/// A committed submission before its landing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Landing {
    pub(crate) targets: [bool; 2],
    pub(crate) writes: [bool; 2],
    /// The uses that the landing adds.
    pub(crate) added: [u8; 2],
}

/// The rows of the targets, the declarations of the users, and the submissions in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) rows: [Option<Row>; 2],
    /// `APP.us` without the uses of the live rows and those that a landing adds, at most [`BEYOND_MAX`].
    pub(crate) beyond: i8,
    /// The references of each user as committed, by target.
    pub(crate) users: [[Use; 2]; 2],
    pub(crate) plans: [Option<Plan>; 3],
    pub(crate) landings: [Option<Landing>; TEAMS],
    /// The rule that the last step has violated, if any.
    pub(crate) broken: Option<&'static str>,
}

/// Maximum of [`State::beyond`]. A larger number has the same effect.
pub(crate) const BEYOND_MAX: i8 = 2;

impl State {
    /// Returns a state with two declared targets without uses.
    pub(crate) const FIRST: Self = Self {
        rows: [Some(Row { is_declared: true, uses: 0 }); 2],
        beyond: 0,
        users: [[Use::None; 2]; 2],
        plans: [None; 3],
        landings: [None; TEAMS],
        broken: None,
    };

    pub(crate) fn is_declared(&self, target: usize) -> bool {
        self.rows[target].is_some_and(|row| row.is_declared)
    }

    pub(crate) fn sum(&self) -> i8 {
        self.rows.iter().flatten().map(|row| i8::try_from(row.uses).unwrap_or(i8::MAX)).sum()
    }

    pub(crate) fn set_broken(&mut self, rule: &'static str) {
        self.broken = self.broken.or(Some(rule));
    }

    /// Returns the rule that this state violates, if any.
    pub(crate) fn violation(&self) -> Option<&'static str> {
        (0..2).find_map(|target| {
            let uses = || self.users.iter().map(|user| user[target]);
            let counted = uses().filter(|of| of.is_counted()).count();
            let row = self.rows[target];
            if !self.is_declared(target) && uses().any(|of| of == Use::Counted) {
                Some("R71: a removed target is in use without a confirmation")
            } else if row.is_some_and(|row| usize::from(row.uses) != counted) {
                Some("I37: a target does not count its users")
            } else if self.landings[OWNER].is_none() && uses().any(|of| of == Use::Ahead) {
                Some("I37: a landed target does not count its users")
            } else if self.beyond < 0 {
                Some("I37: an application counts less than its targets")
            } else {
                None
            }
        })
    }
}
