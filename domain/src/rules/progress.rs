//! The progress of an owner: the CREATE, and what the owner has in place (R59).

use crate::base::state::{ChangeType, State};
use crate::model::change::Change;
use crate::model::item::{Creation, Stack};
use crate::model::place::Place;

/// Applies the state that a change instance has entered to the progress of its owner.
pub(crate) fn enter(stack: &mut Stack, change: &Change) {
    let &mut Stack { creation, place, .. } = stack;
    let schema_version = change.schema_version;
    let new = |is_certain| {
        let declared = |version| Place::Declared { version, schema_version, is_certain };
        change.result().map_or(Place::Nothing, declared)
    };
    (stack.creation, stack.place) = match (change.state, change.change_type) {
        (State::Approved, ChangeType::Create) => (Creation::Outstanding, new(false)),
        (State::Approved, ChangeType::Modify) => (creation, new(false)),
        (State::Completed, ChangeType::Create) => (Creation::Done, new(true)),
        (State::Completed, ChangeType::Modify) => (creation, new(true)),
        // Nothing is left, so a later declaration creates the item again (R7).
        (State::Completed, ChangeType::Delete) => (Creation::Never, Place::Nothing),
        // A failed CREATE leaves nothing in place (R9).
        (State::Errored, ChangeType::Create) => (creation, Place::Nothing),
        // A created item exists until the DELETE is completed.
        (State::Approved, ChangeType::Delete) | (State::Errored, ChangeType::Modify | ChangeType::Delete) => {
            (creation, place.uncertain())
        }
        (State::Pending | State::Rejected | State::Closed, _) => (creation, place),
    };
}
