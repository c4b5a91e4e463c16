//! The rules under test: submissions, the creation of change instances, and decisions.

use super::configs::{Life, Missing};
use super::state::{
    Creation, DEPENDENT, Kind, MAIN, Owner, PRE_VALIDATED, Planned, Runtime, Slot, State, Strategy, Target,
    Targets, Type, VALIDATED,
};
use super::truth::Event;

impl Life {
    /// Returns whether the consumer may submit this target, and the submission changes the item.
    pub(crate) fn accepts(&self, item: &State, new: Target) -> bool {
        let differs = match new {
            Some(text) => !item.is_declared || item.version != text || item.is_orphan(),
            None => item.exists && (item.is_declared || item.is_orphan() || item.has_failed_removal()),
        };
        differs && item.staged.is_none() && !is_unanswered(item, new)
    }

    /// Returns whether a submission may modify a referenced item, and leave this one unchanged.
    pub(crate) fn accepts_reference(&self, item: &State) -> bool {
        let is_unchanged = item.is_declared && !item.is_orphan() && item.staged.is_none();
        self.config.references && is_unchanged && !is_unanswered(item, item.wanted())
    }

    /// Plans a change instance on the item as it is at the submission.
    pub(crate) fn plan(&self, item: &State, kind: Kind, new: Target) -> Planned {
        let mut texts = Targets::NONE.with(Some(item.version).filter(|_| item.exists));
        for owner in &item.owners {
            texts = texts.with(owner.place.map(|(text, _)| text));
            texts = owner.open().fold(texts, |texts, slot| texts.with(slot.new));
        }
        let agreeing = texts.texts().filter(|text| new.is_some_and(|new| text.agrees(new)));
        let is_property = item.strategy == Strategy::Property;
        let unless = agreeing.filter(|_| is_property).fold(Targets::NONE, |set, text| set.with(Some(text)));
        let completes_unneeded = self.config.unneeded || item.strategy == Strategy::Replace;
        // A removal never replaces.
        let strategy = if new.is_some() { item.strategy } else { Strategy::Modify };
        let (change_type, is_overtaken) = (Type::Delete, [false; 2]);
        Planned { kind, change_type, new, strategy, unless, completes_unneeded, is_overtaken }
    }

    /// Applies a submission, and returns its share.
    pub(crate) fn apply(&self, item: &mut State, planned: &Planned) -> Planned {
        if !item.exists {
            *item = State { exists: true, broken: item.broken, ..State::without_item(item.strategy) };
        }
        item.is_declared = planned.new.is_some();
        item.version = planned.new.unwrap_or(item.version);
        for due in item.due.iter_mut().flatten().filter(|due| due.kind == Kind::Referenced) {
            due.is_overtaken[MAIN] = true;
        }
        let change_type = self.open(item, MAIN, planned);
        // The place of a share may be a text that the planner did not know, so the share is compared when it comes.
        let unless = if self.lacks(Missing::PlaceOfShare) { planned.unless } else { Targets::NONE };
        Planned { kind: Kind::Dependent, change_type, unless, ..*planned }
    }

    /// Applies the staged submission with its share, which overtakes earlier ones.
    pub(crate) fn land(&self, item: &mut State) {
        let Some(planned) = item.staged.take() else { return };
        let share = self.apply(item, &planned);
        for due in item.due.iter_mut().flatten() {
            due.is_overtaken[DEPENDENT] = true;
        }
        self.share(item, &share);
    }

    /// Generates what is due: the older one, or the newer one, which overtakes the older one.
    pub(crate) fn generate(&self, item: &mut State, n: usize) {
        let Some(mut due) = item.due[n].take() else { return };
        if n == 0 {
            item.due.swap(0, 1);
        } else if let Some(older) = &mut item.due[0] {
            older.is_overtaken = [older.kind == Kind::Referenced, true];
        }
        if due.kind == Kind::Referenced {
            let as_today = type_as_today(item, due.new);
            due.change_type = if due.is_overtaken[MAIN] { as_today } else { self.open(item, MAIN, &due) };
            // The referenced item has changed, so the dependent team has to look even at an equal declaration.
            due.completes_unneeded = false;
        }
        self.share(item, &due);
    }

    fn share(&self, item: &mut State, planned: &Planned) {
        if self.config.dependent && !planned.is_overtaken[DEPENDENT] {
            self.open(item, DEPENDENT, &Planned { kind: Kind::Dependent, ..*planned });
        }
    }

    /// Creates a change instance of a submission. Returns its type as created.
    fn open(&self, item: &mut State, team: usize, planned: &Planned) -> Type {
        let Planned { kind, new, strategy, .. } = *planned;
        let stage = if self.config.approval { PRE_VALIDATED } else { VALIDATED };
        let is_generated = kind != Kind::Direct;
        let occupant = item.owners[team].slots[stage];
        let as_today = if kind == Kind::Dependent { planned.change_type } else { type_as_today(item, new) };
        if is_generated && occupant.is_some_and(|slot| slot.is_blocked && slot.new == new) {
            // The change instance starts in CLOSED, because it does not answer for the consumer (R24).
            return as_today;
        }
        let (change_type, old) = self.change_type(&item.owners[team], planned, as_today);
        if !is_generated {
            answer(item, new);
        }
        let completes = planned.completes_unneeded && kind != Kind::Referenced;
        if completes && is_reached(&item.owners[team], new) {
            self.complete_at_once(item, team, new, stage);
            return if new.is_some() { Type::Modify } else { Type::Delete };
        }
        self.create(item, team, Slot::new(change_type, old, new, strategy), stage)
    }

    /// Returns the type of a change instance, and the declaration that it removes as a first half (L17).
    fn change_type(&self, owner: &Owner, planned: &Planned, as_today: Type) -> (Type, Target) {
        let is_share = planned.kind == Kind::Dependent;
        let place = owner.place.map(|(text, _)| text);
        let is_compared = is_share && !self.lacks(Missing::PlaceOfShare);
        let is_modified = place.zip(planned.new).is_some_and(|(text, new)| {
            if is_compared { planned.strategy.modifies(text, new) } else { planned.unless.has(Some(text)) }
        });
        let copies_blindly = is_share && self.lacks(Missing::RowThree);
        let replaces = planned.strategy != Strategy::Modify && planned.new.is_some();
        match place {
            _ if !replaces => (as_today, None),
            None if !copies_blindly => (Type::Create, None),
            Some(_) if !is_modified => (Type::Delete, place),
            _ if is_share && self.is_removing(owner) => (Type::Create, None),
            _ if as_today == Type::Delete => (Type::Modify, None),
            _ => (as_today, None),
        }
    }

    /// Returns whether the owner works at the removal of what is in place.
    fn is_removing(&self, owner: &Owner) -> bool {
        let removes = |slot: Slot| match self.missing {
            Some(Missing::OwnRemoval) => false,
            Some(Missing::PlainRemoval) => slot.is_first_half(),
            _ => slot.change_type == Type::Delete,
        };
        owner.slots[VALIDATED].is_some_and(removes)
    }

    /// Completes a change instance at its creation (L19).
    fn complete_at_once(&self, item: &mut State, team: usize, target: Target, stage: usize) {
        self.record(item, team, Event::Unneeded, &Slot::new(Type::Delete, None, target, Strategy::Modify));
        let stage = if self.lacks(Missing::Rejected) { VALIDATED } else { stage };
        let owner = &mut item.owners[team];
        owner.displace_waiting(stage);
        owner.slots[VALIDATED] = None;
        if target.is_none() {
            (owner.creation, owner.place) = (Creation::Never, None);
        }
        if team == MAIN {
            item.completed_target = Some(target);
            item.runtime = if target.is_some() { item.runtime } else { Runtime::Decommissioned };
        }
    }

    /// Puts a new change instance into its slot. Returns its type.
    fn create(&self, item: &mut State, team: usize, change: Slot, stage: usize) -> Type {
        item.owners[team].displace_waiting(stage);
        if stage == VALIDATED {
            return self.approve(item, team, change);
        }
        item.owners[team].slots[PRE_VALIDATED] = Some(change);
        let is_create = team == MAIN && change.change_type == Type::Create;
        if is_create && item.runtime == Runtime::Decommissioned {
            item.runtime = Runtime::Requested;
        }
        change.change_type
    }

    /// Approves a change instance, which displaces another one (Example 2). Returns its type then.
    pub(crate) fn approve(&self, item: &mut State, team: usize, mut change: Slot) -> Type {
        let Owner { place, creation, .. } = item.owners[team];
        if change.is_first_half() && place.is_none() && !self.lacks(Missing::Conversion) {
            change = Slot { change_type: Type::Create, old: None, ..change };
        }
        if change.change_type == Type::Modify && creation == Creation::Outstanding {
            change.change_type = Type::Create;
        }
        let is_create = change.change_type == Type::Create;
        change.is_first_work = self.config.claims && is_create && place.is_none();
        self.claim_approved(&item.owners[team], &mut change);
        self.record(item, team, Event::Approved, &change);
        let owner = &mut item.owners[team];
        owner.creation = if is_create { Creation::Outstanding } else { creation };
        owner.place = change.leaves().or(place.map(|(text, _)| text)).map(|text| (text, false));
        owner.slots[VALIDATED] = Some(change);
        if team == MAIN {
            item.completed_target = None;
            item.runtime = match change.change_type {
                Type::Create => Runtime::InService,
                Type::Modify => item.runtime,
                Type::Delete => Runtime::Decommissioned,
            };
        }
        change.change_type
    }

    /// Completes the validated change instance. `stage` is that of a second half (L18).
    pub(crate) fn complete(&self, item: &mut State, team: usize, stage: usize) {
        let Some(change) = item.owners[team].slots[VALIDATED] else { return };
        self.record(item, team, Event::Completed, &change);
        let owner = &mut item.owners[team];
        owner.slots[VALIDATED] = None;
        owner.creation = match change.change_type {
            Type::Create => Creation::Done,
            Type::Modify => owner.creation,
            Type::Delete => Creation::Never,
        };
        owner.place = change.leaves().map(|text| (text, true));
        if team == MAIN {
            let is_by_target = self.lacks(Missing::Leaves);
            item.completed_target = Some(if is_by_target { change.new } else { change.leaves() });
        }
        if self.has_second_half(item, team, &change) {
            self.record(item, team, Event::Repeated, &change);
            self.create(item, team, Slot::new(Type::Create, None, change.new, change.strategy), stage);
        } else if change.is_first_half() && !item.is_declared {
            // Nothing is left to remove.
            let waiting = &mut item.owners[team].slots[PRE_VALIDATED];
            *waiting = waiting.filter(|slot| slot.is_blocked || slot.change_type != Type::Delete);
        }
    }

    /// Returns whether the completion of this change instance creates a second half (row 1 of L18).
    pub(crate) fn has_second_half(&self, item: &State, team: usize, change: &Slot) -> bool {
        let is_empty = item.owners[team].slots[PRE_VALIDATED].is_none();
        let is_next = match self.missing {
            Some(Missing::Newest) => is_empty,
            Some(Missing::OlderRejection) => is_empty && change.is_newest,
            // A change instance that waits is newer, and a rejection is older.
            _ => change.is_newest,
        };
        change.is_first_half() && item.wanted() == change.new && is_next
    }

    /// Marks the validated change instance as ERRORED.
    pub(crate) fn fail(&self, item: &mut State, team: usize) {
        let Some(change) = &mut item.owners[team].slots[VALIDATED] else { return };
        change.is_blocked = true;
        let change = *change;
        self.record(item, team, Event::Failed, &change);
        if change.change_type == Type::Create {
            item.owners[team].place = None;
        }
    }

    /// Retries a REJECTED or ERRORED change instance (R13).
    pub(crate) fn retry(&self, item: &mut State, team: usize, stage: usize) {
        let Some(change) = item.owners[team].slots[stage].take() else { return };
        self.record(item, team, Event::Repeated, &change);
        let again = Slot::new(change.change_type, change.old, change.new, change.strategy);
        self.create(item, team, again, stage);
    }
}

impl Owner {
    /// Closes the waiting change instance that a newer one displaces when it enters a stage.
    fn displace_waiting(&mut self, stage: usize) {
        let waiting = &mut self.slots[PRE_VALIDATED];
        // A rejection stays open until the consumer answers it, unless the newer one takes its slot (R24).
        *waiting = waiting.filter(|slot| stage == VALIDATED && slot.is_blocked);
        self.slots.iter_mut().flatten().for_each(|slot| slot.is_newest = false);
        self.truth.has_given_up = false;
    }
}

/// Returns whether a declaration repeats a rejected or failed one (R10).
pub(crate) fn is_unanswered(item: &State, new: Target) -> bool {
    new.is_some() && item.open().any(|slot| slot.is_blocked && slot.new == new)
}

/// Returns the type of the service owner's change instance without replacement (R4 to R9).
fn type_as_today(item: &State, new: Target) -> Type {
    let main = &item.owners[MAIN];
    let is_creating = main.active(VALIDATED).is_some_and(|slot| slot.change_type == Type::Create);
    match (item.runtime, main.creation) {
        _ if new.is_none() => Type::Delete,
        (Runtime::InService, Creation::Done) => Type::Modify,
        (Runtime::InService, _) if is_creating => Type::Modify,
        _ => Type::Create,
    }
}

/// Returns whether the target needs no work (L19).
fn is_reached(owner: &Owner, target: Target) -> bool {
    let validated = owner.slots[VALIDATED];
    let is_unclaimed = |slot: Slot| slot.is_first_work && !slot.is_blocked && !slot.is_claimed;
    let has_failed = |slot: Slot| slot.is_blocked && slot.change_type == Type::Create;
    match target {
        Some(text) => owner.place == Some((text, true)) && validated.is_none(),
        None => {
            validated.is_some_and(is_unclaimed) || owner.place.is_none() && validated.is_none_or(has_failed)
        }
    }
}

/// Closes each blocked change instance that this target answers, of every owner (Example 3).
fn answer(item: &mut State, target: Target) {
    for slot in item.owners.iter_mut().flat_map(|owner| &mut owner.slots) {
        *slot = slot.filter(|slot| !slot.is_blocked || (slot.new == target && target.is_some()));
    }
}
