//! Change instances that ask for what is in place already (R63).

use crate::base::id::TeamId;
use crate::base::state::{ChangeType, Kind, State};
use crate::model::change::Version;
use crate::model::item::{Item, Slot, Stack};
use crate::model::place::Place;
use crate::model::write::Write;
use crate::rules::change_draft::ChangeDraft;

/// Returns whether a planned change asks for what its owner has in place, and the owner works on nothing else.
pub(crate) fn is_unneeded(item: &Item, draft: &ChangeDraft) -> bool {
    let is_request = matches!(draft.kind, Kind::Direct | Kind::Dependent);
    is_request && is_in_place(item, draft.owner.id, draft.new, draft.schema_version)
}

/// Returns whether an owner has this declaration in place, checked by this version of the definition, or nothing for a
/// removal, and works on nothing else.
pub(crate) fn is_in_place(
    item: &Item,
    owner: TeamId,
    new: Option<Version>,
    schema_version: Option<u64>,
) -> bool {
    let stack = item.stacks.get(&owner).unwrap_or(&Stack::EMPTY);
    match new {
        Some(version) => {
            let place = Place::Declared { version, schema_version, is_certain: true };
            stack.place.is_like(place) && stack.validated.is_none() && item.drift.is_none()
        }
        None => {
            let is_nothing = stack.place == Place::Nothing && stack.validated.is_none_or(has_failed);
            is_nothing || stack.validated.is_some_and(|slot| slot.awaits_claim)
        }
    }
}

/// Returns the fence of a removal before any work: no worker has claimed the work of the approved CREATE since it was read.
pub(crate) fn unclaimed(item: &Item, draft: &ChangeDraft) -> Option<Write> {
    let slot = item.stacks.get(&draft.owner.id)?.validated.filter(|slot| slot.awaits_claim);
    let is_removal = slot.is_some() && draft.new.is_none();
    is_removal.then_some(Write::CheckUnclaimed { item: item.id, owner: draft.owner.id })
}

/// Returns whether a CREATE has failed, so that it has left nothing.
fn has_failed(slot: Slot) -> bool {
    slot.state == State::Errored && slot.change_type == ChangeType::Create
}

/// Returns an unneeded planned change as the owner gets it: completed, if the service wants this.
pub(crate) fn applied(draft: &ChangeDraft) -> ChangeDraft {
    let mut draft = draft.clone();
    if draft.complete_unneeded {
        draft.state = State::Completed;
        draft.change_type = if draft.new.is_some() { ChangeType::Modify } else { ChangeType::Delete };
    }
    draft
}
