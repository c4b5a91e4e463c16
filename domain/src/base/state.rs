//! The states of a change instance and the transitions between them, as data (guide, "Change Instance State").

use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The state of a change instance.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum State {
    /// Waits for the owner's approval.
    Pending,
    /// Not valid for processing.
    Rejected,
    /// Approved and in progress.
    Approved,
    /// Approved, but failed in progress; `ERROR` is a synonym (docs/reference/http/change-instances.md).
    #[strum(to_string = "ERRORED", serialize = "ERROR")]
    Errored,
    /// Finished successfully.
    Completed,
    /// Ended without completion: displaced, overtaken, or closed after a rejection or an error.
    Closed,
}

crate::named!(State, ChangeType, Kind, RuntimeState, ChargeType);

/// The stage of a state: the columns of the stack rules.
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
    /// Returns the stage of the state.
    pub const fn stage(self) -> Stage {
        match self {
            Self::Pending | Self::Rejected => Stage::PreValidated,
            Self::Approved | Self::Errored => Stage::Validated,
            Self::Completed | Self::Closed => Stage::Resolved,
        }
    }

    /// Returns whether the consumer has to answer before the next submission (Example 3).
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

/// The cause of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A submission, or generation from it, creates the change instance.
    Creation,
    /// The owner of the change instance decides.
    Owner,
    /// Another change instance displaces it, or the consumer answers a rejection (stack rules).
    StackRules,
}

/// A legal transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state before; none for the creation.
    pub from: Option<State>,
    /// The state after.
    pub to: State,
    pub by: By,
}

const fn draft(to: State) -> Transition {
    Transition { from: None, to, by: By::Creation }
}

const fn owner(from: State, to: State) -> Transition {
    Transition { from: Some(from), to, by: By::Owner }
}

const fn stack_rules(from: State) -> Transition {
    Transition { from: Some(from), to: State::Closed, by: By::StackRules }
}

/// All legal transitions: the source of the check, the matrix test and the diagram in the documentation.
pub const TRANSITIONS: &[Transition] = &[
    draft(State::Pending),
    draft(State::Approved),
    // What it asks for is in place already (R63).
    draft(State::Completed),
    // Generated from an overtaken submission (R25), or behind an unanswered rejection (R24).
    draft(State::Closed),
    // None from PENDING to COMPLETED: an owner approves first (R27).
    owner(State::Pending, State::Approved),
    owner(State::Pending, State::Rejected),
    owner(State::Approved, State::Completed),
    owner(State::Approved, State::Errored),
    // If this leaves an orphan, the next submission requests the change again (R12).
    owner(State::Rejected, State::Closed),
    owner(State::Errored, State::Closed),
    stack_rules(State::Pending),
    stack_rules(State::Rejected),
    stack_rules(State::Approved),
    stack_rules(State::Errored),
];

/// Returns the states to which an owner may move a change instance.
pub fn moves_of_owner(from: State) -> impl Iterator<Item = State> {
    let of_owner = TRANSITIONS.iter().filter(move |one| one.from == Some(from) && one.by == By::Owner);
    of_owner.map(|one| one.to)
}

/// Returns whether `by` may move a change instance from `from` to `to`.
pub fn is_legal(from: Option<State>, to: State, by: By) -> bool {
    TRANSITIONS.contains(&Transition { from, to, by })
}

/// The requested operation on the service item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum ChangeType {
    Create,
    Modify,
    Delete,
}

/// The origin of a change instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Kind {
    /// The consumer changed the declaration of this item.
    Direct,
    /// A dependent team's share of another change instance.
    Dependent,
    /// The consumer modified an item that this one references.
    Referenced,
    /// The owner retries a rejected or failed change instance (R13).
    Retry,
    /// The owner has removed an item to replace it, and now creates it again (R61).
    Replacement,
}

/// The runtime state of an item (guide, "Service Item Runtime State").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum RuntimeState {
    /// Declared; no CREATE of the service owner is APPROVED yet.
    Requested,
    /// The service owner has approved the CREATE.
    InService,
    /// The service owner has approved the DELETE.
    Decommissioned,
}

/// The cause of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ChargeType {
    /// A fee for one change instance.
    CostPerChange,
    /// A fee for time in service.
    MonthlyCost,
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
    fn resolved_states_are_final_and_every_open_state_has_an_exit() {
        for state in State::ALL {
            let exits = TRANSITIONS.iter().filter(|t| t.from == Some(state)).count();
            assert_eq!(exits == 0, state.stage() == Stage::Resolved, "{state}");
        }
    }
}
