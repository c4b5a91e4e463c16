//! The states of a change instance and the moves between them, as data (guide, "Change Instance State").

use std::fmt;

/// Where a change instance stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Awaits approval.
    Pending,
    /// Found not valid to be processed.
    Rejected,
    /// Approved and being processed.
    Approved,
    /// Approved, but failed while it was carried out.
    Errored,
    /// Processed and finished successfully.
    Completed,
    /// Not processed: displaced, overtaken, or given up after a rejection or an error.
    Closed,
}

/// The column of the stack rules that a state belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// PENDING and REJECTED.
    PreValidated,
    /// APPROVED and ERRORED.
    Validated,
    /// COMPLETED and CLOSED.
    Resolved,
}

impl State {
    /// Every state, in the order of a life.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Rejected, Self::Approved, Self::Errored, Self::Completed, Self::Closed];

    /// The one name, on the wire, in the table and in events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Rejected => "REJECTED",
            Self::Approved => "APPROVED",
            Self::Errored => "ERRORED",
            Self::Completed => "COMPLETED",
            Self::Closed => "CLOSED",
        }
    }

    /// Reads a state; `ERROR` is taken for `ERRORED` (docs/reference/http.md).
    pub fn parse(name: &str) -> Option<Self> {
        if name == "ERROR" {
            return Some(Self::Errored);
        }
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// The column of the stack rules.
    pub const fn stage(self) -> Stage {
        match self {
            Self::Pending | Self::Rejected => Stage::PreValidated,
            Self::Approved | Self::Errored => Stage::Validated,
            Self::Completed | Self::Closed => Stage::Resolved,
        }
    }

    /// Whether the consumer has to answer before submitting the item again (Example 3).
    pub const fn is_blocked(self) -> bool {
        match self {
            Self::Rejected | Self::Errored => true,
            Self::Pending | Self::Approved | Self::Completed | Self::Closed => false,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who brings a transition about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A submission, or what it generates, gives birth to the change instance.
    Birth,
    /// The team that owns the change instance decides.
    Owner,
    /// Another change instance takes its place, or the consumer answers a rejection (stack rules).
    StackRules,
}

/// One legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state before; none for a birth.
    pub from: Option<State>,
    /// The state after.
    pub to: State,
    /// Who brings it about.
    pub by: By,
}

const fn birth(to: State) -> Transition {
    Transition { from: None, to, by: By::Birth }
}

const fn owner(from: State, to: State) -> Transition {
    Transition { from: Some(from), to, by: By::Owner }
}

const fn stack_rules(from: State) -> Transition {
    Transition { from: Some(from), to: State::Closed, by: By::StackRules }
}

/// Every legal move; the check, the matrix test and the README's diagram are made from it.
pub const TRANSITIONS: &[Transition] = &[
    birth(State::Pending),
    birth(State::Approved),
    birth(State::Closed),
    owner(State::Pending, State::Approved),
    owner(State::Pending, State::Rejected),
    owner(State::Approved, State::Completed),
    owner(State::Approved, State::Errored),
    owner(State::Rejected, State::Closed),
    owner(State::Errored, State::Closed),
    stack_rules(State::Pending),
    stack_rules(State::Rejected),
    stack_rules(State::Approved),
    stack_rules(State::Errored),
];

/// Returns the states that an owner may move a change instance to.
pub fn moves_of_owner(from: State) -> impl Iterator<Item = State> {
    let of_owner = TRANSITIONS.iter().filter(move |one| one.from == Some(from) && one.by == By::Owner);
    of_owner.map(|one| one.to)
}

/// Whether `by` may bring a change instance from `from` to `to`.
pub fn is_legal(from: Option<State>, to: State, by: By) -> bool {
    TRANSITIONS.contains(&Transition { from, to, by })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_error_is_a_synonym() {
        for state in State::ALL {
            assert_eq!(State::parse(state.name()), Some(state));
        }
        assert_eq!(State::parse("ERROR"), Some(State::Errored));
        assert_eq!(State::parse("pending"), None);
    }

    #[test]
    fn resolved_states_are_final_and_every_open_state_has_a_way_out() {
        for state in State::ALL {
            let ways_out = TRANSITIONS.iter().filter(|t| t.from == Some(state)).count();
            assert_eq!(ways_out == 0, state.stage() == Stage::Resolved, "{state}");
        }
    }
}
