//! The truth behind the records, which follows from the decisions alone, and the rules for every step and state.

use super::configs::{Life, Missing};
use super::state::{
    Creation, DEPENDENT, MAIN, Owner, PRE_VALIDATED, Place, Slot, State, Strategy, Target, Targets, Text,
    Type, VALIDATED,
};

/// What may really be in place for an owner, and the fold of its decisions (L16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Truth {
    /// One of these is in place.
    pub(crate) may_be: Targets,
    pub(crate) place: Place,
    creation: Creation,
    /// Whether a worker had a lease during the work in progress.
    pub(crate) is_begun: bool,
    /// Whether the dependent team has closed its newest change instance without completion.
    pub(crate) has_given_up: bool,
}

impl Truth {
    pub(crate) const NONE: Self = {
        let (may_be, creation) = (Targets::NOTHING, Creation::Never);
        Self { may_be, place: None, creation, is_begun: false, has_given_up: false }
    };
}

/// A decision, as far as the rules depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Approved,
    Completed,
    Failed,
    /// A submission asks for the state in place (L19).
    Unneeded,
    /// A retry or a second half repeats the submission of this change instance.
    Repeated,
    /// The owner closes it after a rejection or an error.
    GivenUp,
}

impl Life {
    /// Checks an event, and applies it to the truth. An unneeded change instance has only a target.
    pub(crate) fn record(&self, item: &mut State, team: usize, event: Event, change: &Slot) {
        item.broken = item.broken.or(violation(&item.owners[team], team, event, change));
        let (change_type, new) = (change.change_type, change.new);
        let gives_up = team == DEPENDENT && (change.is_newest || new == item.wanted());
        let truth = &mut item.owners[team].truth;
        truth.has_given_up |= event == Event::GivenUp && gives_up;
        truth.is_begun &= matches!(event, Event::Approved | Event::Repeated | Event::GivenUp);
        truth.may_be = match (event, change_type) {
            // If the strategy may change, an earlier text of the same object no longer counts as another one.
            (Event::Approved, Type::Create | Type::Modify) if self.config.settings => {
                let others = truth
                    .may_be
                    .texts()
                    .filter(|text| new.is_some_and(|new| !change.strategy.modifies(*text, new)));
                let nothing = truth.may_be.without_texts();
                others.fold(nothing.with(new), |set, text| set.with(Some(text)))
            }
            (Event::Approved, _) => truth.may_be.with(change.leaves()),
            (Event::Completed, _) => Targets::NONE.with(change.leaves()),
            (Event::Failed, Type::Create) => Targets::NOTHING,
            (Event::Unneeded, _) => Targets::NONE.with(new),
            (Event::Failed | Event::Repeated | Event::GivenUp, _) => truth.may_be,
        };
        // The table of L16.
        truth.place = match (event, change_type) {
            (Event::Approved, Type::Create | Type::Modify) => new.map(|text| (text, false)),
            (Event::Completed, Type::Create | Type::Modify) => new.map(|text| (text, true)),
            (Event::Failed, Type::Create) | (Event::Completed, Type::Delete) => None,
            (Event::Unneeded, _) if new.is_none() => None,
            (Event::Approved | Event::Failed, Type::Delete) | (Event::Failed, Type::Modify) => {
                truth.place.map(|(text, _)| (text, false))
            }
            (Event::Unneeded | Event::Repeated | Event::GivenUp, _) => truth.place,
        };
        truth.creation = match (event, change_type) {
            (Event::Approved, Type::Create) => Creation::Outstanding,
            (Event::Completed, Type::Create) => Creation::Done,
            (Event::Completed, Type::Delete) => Creation::Never,
            (Event::Unneeded, _) if new.is_none() => Creation::Never,
            _ => truth.creation,
        };
    }

    /// Checks a state after a step. An item to which nothing can happen is gone.
    pub(crate) fn check(&self, item: &mut State) {
        for owner in &mut item.owners {
            // The removal of nothing leaves nothing behind.
            let is_at_work = owner.active(VALIDATED).is_some() && owner.truth.may_be != Targets::NOTHING;
            owner.truth.is_begun |= is_at_work && owner.claim.leases.contains(&true);
        }
        item.broken = item.broken.or_else(|| self.broken(item));
        if item.exists && item.is_dead() {
            let is_left = |owner: &Owner| owner.truth.may_be != Targets::NOTHING && !owner.truth.has_given_up;
            let broken = item.owners.iter().any(is_left).then_some("R44: something is left of a gone item");
            let (broken, staged) = (item.broken.or(broken), item.staged);
            *item = State { broken, staged, ..State::without_item(item.strategy) };
        }
    }

    /// Returns the place of an owner as a record without this attribute shows it; none if it is unknown (L16).
    fn old_place(&self, item: &State, team: usize) -> Option<Place> {
        let owner = &item.owners[team];
        let is_old = item.strategy == Strategy::Modify && !self.config.unneeded && !self.config.settings;
        let is_completed = item.completed_target == Some(Some(item.version));
        let reads_dependent = team == DEPENDENT && self.lacks(Missing::OldDependent);
        if !is_old || (team == DEPENDENT && !reads_dependent) {
            None
        } else if owner.creation == Creation::Never {
            Some(None)
        } else if is_completed && (team == MAIN || item.is_idle(team)) {
            Some(Some((item.version, team == MAIN)))
        } else {
            None
        }
    }

    fn broken(&self, item: &State) -> Option<&'static str> {
        let [main, dependent] = &item.owners;
        let any = |is: &dyn Fn(&Owner) -> bool| item.owners.iter().any(is);
        let is_in_place = |owner: &Owner| owner.truth.may_be == Targets::NONE.with(item.wanted());
        let is_overtaken = |slot: Slot| !slot.is_newest && (self.config.approval || !slot.is_blocked);
        let is_settled = item.is_idle(MAIN) && item.completed_target == Some(item.wanted());
        let is_at_rest = item.open().next().is_none() && item.due == [None; 2] && item.staged.is_none();
        let is_served = !self.config.dependent || is_in_place(dependent) || dependent.truth.has_given_up;
        let is_misread = |team: usize| {
            self.old_place(item, team).is_some_and(|place| {
                let truth = item.owners[team].truth.place;
                place != truth && place != truth.map(|(text, _)| (text, false))
            })
        };
        if is_misread(MAIN) || is_misread(DEPENDENT) {
            Some("I13: the place of an old record is misread")
        } else if any(&|owner| (owner.truth.place, owner.truth.creation) != (owner.place, owner.creation)) {
            Some("I13: place or creation does not follow from the decisions")
        } else if any(&|owner| owner.slots[PRE_VALIDATED].is_some_and(is_overtaken)) {
            Some("I6: a waiting change instance is overtaken")
        } else if any(&|owner| owner.claim.leases == [true; 2]) {
            Some("I36: two workers have a lease of one owner's item")
        } else if is_settled && !is_in_place(main) {
            Some("I12: the item counts as settled, but is not")
        } else if is_at_rest && item.is_declared && !item.is_orphan() && !(is_in_place(main) && is_served) {
            Some("I23: all work is done, and the declaration is not in place")
        } else {
            None
        }
    }
}

/// Returns the rule that an event of an owner violates.
fn violation(owner: &Owner, team: usize, event: Event, change: &Slot) -> Option<&'static str> {
    let Slot { strategy, old, is_newest, .. } = *change;
    let may_be = owner.truth.may_be;
    let replaces = |new: Text| may_be.texts().any(|text| !strategy.modifies(text, new));
    // The MODIFY of a dependent team in a service without replacement has the type of its cause.
    let is_free = strategy == Strategy::Modify && team == DEPENDENT;
    match (event, change.change_type, change.new) {
        (Event::Approved | Event::Repeated, _, _) if !is_newest => Some("I6: an overtaken change proceeds"),
        (Event::Approved, Type::Create, Some(new)) if replaces(new) => {
            Some("I13: a CREATE begins while something else may be in place")
        }
        (Event::Approved, Type::Delete, Some(_)) if !removes_exactly(owner, old, strategy) => {
            Some("I13: a first half does not remove exactly what is in place")
        }
        (Event::Approved, Type::Delete, Some(new)) if old.is_some_and(|old| strategy.modifies(old, new)) => {
            Some("I13: a first half begins where a MODIFY suffices")
        }
        (Event::Approved, Type::Modify, Some(_)) if may_be == Targets::NOTHING && !is_free => {
            Some("I13: a MODIFY begins while nothing is in place")
        }
        (Event::Approved, Type::Modify, Some(new)) if replaces(new) => {
            Some("I13: a MODIFY begins where a replacement is due")
        }
        (Event::Unneeded, _, target) if !is_unneeded(owner, target) => {
            Some("I12: a change counts as unneeded, but is not")
        }
        _ => None,
    }
}

fn removes_exactly(owner: &Owner, old: Target, strategy: Strategy) -> bool {
    let may_be = owner.truth.may_be;
    let is_old = |text: Text| old.is_some_and(|old| text == old || strategy.modifies(text, old));
    old.is_some() && may_be.has(old) && may_be.texts().all(is_old)
}

/// Returns whether the target needs no work of an owner.
fn is_unneeded(owner: &Owner, target: Target) -> bool {
    let may_be = owner.truth.may_be;
    let Some(slot) = owner.active(VALIDATED) else { return may_be == Targets::NONE.with(target) };
    let is_untouched = !owner.truth.is_begun && may_be == Targets::NOTHING.with(slot.new);
    target.is_none() && slot.change_type == Type::Create && is_untouched
}

/// Returns the largest number of steps of the owners until rest.
pub(crate) fn work(item: &State) -> usize {
    let in_progress = |slot: Slot| if slot.is_first_half() { 3 } else { 1 };
    let of_owner = |owner: &Owner| {
        let waiting = owner.active(PRE_VALIDATED).map_or(0, |slot| 1 + in_progress(slot));
        waiting + owner.active(VALIDATED).map_or(0, in_progress)
    };
    let planned = item.due.iter().flatten().count() + item.staged.iter().count();
    item.owners.iter().map(of_owner).sum::<usize>() + 9 * planned
}
