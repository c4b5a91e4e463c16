//! Replacement: a DELETE of exactly the declaration in place, with a new declaration, and then a CREATE (R60, R61).
//!
//! The DELETE is the *first half* and the CREATE the *second half*. Two change instances let an owner who can only
//! create and delete carry the change out.

use crate::base::state::{ChangeType, Kind, State};
use crate::model::change::{Change, Target};
use crate::model::item::{Creation, Item, Stack};
use crate::model::place::Place;
use crate::model::strategy::Strategy;
use crate::rules::change_draft::ChangeDraft;

/// Returns the planned change as the owner gets it, by what the owner has in place (R60).
pub(crate) fn applied(item: &Item, draft: &ChangeDraft) -> ChangeDraft {
    // A retry copies its predecessor. A removal replaces nothing.
    let is_request = matches!(draft.kind, Kind::Direct | Kind::Dependent | Kind::Referenced);
    if !is_request || draft.new.is_none() {
        return draft.clone();
    }
    let place = item.stacks.get(&draft.owner.id).map_or(Place::Nothing, |stack| stack.place);
    let (change_type, old) = match place {
        Place::Declared { version, .. } if draft.strategy.replaces(version) => {
            (ChangeType::Delete, Some(version))
        }
        Place::Nothing if draft.strategy.may_replace() => (ChangeType::Create, None),
        Place::Declared { .. } | Place::Nothing | Place::Unknown => (draft.change_type, draft.old),
    };
    ChangeDraft { change_type, old, ..draft.clone() }
}

/// Returns the type of a dependent team's share, if the team replaces nothing.
///
/// The share copies its cause as created. A replacement by the service owner is a modification for another team. In a
/// service that may replace, a team that removes what is in place creates the item after that (R7), although the
/// service owner may be before its own removal.
pub(crate) fn type_of_share(cause: &Change, stack: Option<&Stack>, strategy: &Strategy) -> ChangeType {
    let cause = cause.as_created();
    let removes =
        stack.and_then(|stack| stack.validated).is_some_and(|slot| slot.change_type == ChangeType::Delete);
    match (removes && strategy.may_replace() && cause.new.is_some(), cause.is_first_half()) {
        (true, _) => ChangeType::Create,
        (false, true) => ChangeType::Modify,
        (false, false) => cause.change_type,
    }
}

/// Returns the type of a change instance that enters a state.
///
/// The Exception: a MODIFY that is approved before the CREATE is completed is a CREATE. A first half that is approved
/// while nothing is in place is a CREATE as well.
pub(crate) fn converted(draft: (ChangeType, Target), enters: State, stack: &Stack) -> ChangeType {
    let (change_type, target) = draft;
    let becomes_create = enters == State::Approved
        && match change_type {
            ChangeType::Create => false,
            ChangeType::Modify => stack.creation == Creation::Outstanding,
            ChangeType::Delete => target != Target::Removed && stack.place == Place::Nothing,
        };
    if becomes_create { ChangeType::Create } else { change_type }
}
