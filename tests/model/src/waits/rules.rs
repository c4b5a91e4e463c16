//! The rules under test: what a change instance waits for, and when it is ready (R74).

use super::configs::{Missing, Waits};
use super::state::{Other, State, Wait, refers};
use crate::lifecycle;
use crate::lifecycle::rules::is_unanswered;
use crate::lifecycle::state::{Kind, MAIN, PRE_VALIDATED, Slot, Target, Type, VALIDATED};
use crate::lifecycle::steps::Decision::{self, Approve, Close, Complete, CompleteIncomplete, Retry};

/// What a step does to an open change instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays(usize),
    Completed,
    Closed,
    /// A retry or a second half of this stage follows it.
    Followed(usize),
}

impl Waits {
    /// Returns whether the consumer may submit these declarations, and the submission changes something.
    pub(crate) fn accepts(&self, state: &State, targets: [Target; 2]) -> bool {
        let is_answered = |item: usize| !is_unanswered(&state.items[item], targets[item]);
        let is_dangling = |item: usize| refers(targets[item]) && targets[1 - item].is_none();
        let is_changed = |item: usize| self.life().accepts(&state.items[item], targets[item]);
        (0..2).all(|item| is_answered(item) && !is_dangling(item)) && (0..2).any(is_changed)
    }

    /// Applies a submission with its referenced change instances.
    pub(crate) fn submit(&self, state: &mut State, targets: [Target; 2]) {
        let before = *state;
        let life = self.life();
        let is_changed = [0, 1].map(|item| life.accepts(&before.items[item], targets[item]));
        let mut kinds = [None; 2];
        for item in 0..2 {
            let of = &mut state.items[item];
            if is_changed[item] {
                let planned = life.plan(of, Kind::Direct, targets[item]);
                life.apply(of, &planned);
                kinds[item] = Some(Kind::Direct);
            } else if refers(targets[item]) && is_modified(&before.items[1 - item], targets[1 - item]) {
                of.due[0] = Some(life.plan(of, Kind::Referenced, targets[item]));
                life.generate(of, 0);
                kinds[item] = Some(Kind::Referenced);
            }
        }
        let created = [0, 1].map(|item| kinds[item].filter(|_| self.created(state, item).is_some()));
        let after = *state;
        for item in (0..2).filter(|item| kinds[*item].is_some()) {
            let is_created = created[item].is_some();
            self.follow(state, &before, item, |stage| {
                self.fate_at_submission(&before, &after, (item, stage), is_created)
            });
        }
        let mut after = *state;
        for item in (0..2).filter(|item| created[*item].is_some()) {
            after.waits[item][self.stage()] = Wait::NONE;
        }
        let waits = self.plan(&before, &after, created);
        for item in (0..2).filter(|item| created[*item].is_some()) {
            state.waits[item][self.stage()] = waits[item];
        }
    }

    /// Returns the stage of a new change instance.
    const fn stage(&self) -> usize {
        if self.config.life.approval { PRE_VALIDATED } else { VALIDATED }
    }

    /// Returns the change instance that a submission has just created for an item.
    fn created(&self, state: &State, item: usize) -> Option<Slot> {
        state.slot(item, self.stage()).filter(|slot| slot.is_newest && !slot.is_blocked)
    }

    /// Returns what each new change instance waits for. `after` has the waits of the older ones.
    fn plan(&self, before: &State, after: &State, created: [Option<Kind>; 2]) -> [Wait; 2] {
        let slots = [0, 1].map(|item| created[item].and_then(|_| self.created(after, item)));
        let is_in_place = |item: usize| self.is_in_place(before, item);
        let is_component = (0..2).all(|item| after.refers(item) && !is_in_place(item));
        let closes_circle = |item: usize| {
            let is_waiting = after.waits[1 - item].iter().any(|wait| *wait != Wait::NONE);
            is_waiting && !self.lacks(Missing::Circle)
        };
        let has_new = |item: usize| slots[item].is_some_and(|slot| slot.new.is_some());
        let of_item = [0, 1].map(|item| {
            let refers = created[item] == Some(Kind::Direct) && has_new(item) && after.refers(item);
            let is_left_out = is_component && !self.lacks(Missing::Component);
            refers && !is_in_place(1 - item) && !is_left_out && !closes_circle(item)
        });
        let removes = |item: usize| slots[item].is_some_and(|slot| slot.new.is_none());
        let drops = |item: usize| removes(item) && before.refers(1 - item) && !after.refers(1 - item);
        [0, 1].map(|item| {
            let other = 1 - item;
            let is_caused = created[item] == Some(Kind::Referenced);
            let is_cause_left_out = of_item[other] && !self.lacks(Missing::Cause);
            let is_removal_left_out = drops(other) && !self.lacks(Missing::Removals);
            let waits = (is_caused && !is_cause_left_out) || (drops(item) && !is_removal_left_out);
            let is_open = waits && slots[other].is_some() && !closes_circle(item);
            let change = if is_open { Other::Open(self.stage()) } else { Other::None };
            Wait { item: of_item[item], change, first: change }
        })
    }

    fn is_in_place(&self, state: &State, item: usize) -> bool {
        if self.lacks(Missing::Completed) { state.has_begun(item) } else { state.is_in_place(item) }
    }

    /// Returns whether the wait of a change instance for the other item still counts.
    fn has_item_wait(&self, state: &State, item: usize, stage: usize) -> bool {
        let is_declared = state.items[1 - item].wanted().is_some();
        state.waits[item][stage].item && (is_declared || self.lacks(Missing::Declared))
    }

    /// Returns whether nothing is left of what a change instance waits for.
    pub(crate) fn is_ready(&self, state: &State, item: usize, stage: usize) -> bool {
        let waits_for_item = self.has_item_wait(state, item, stage) && !self.is_in_place(state, 1 - item);
        !waits_for_item && state.waits[item][stage].change == Other::None
    }

    /// Returns whether everything has happened that has to come before a change instance.
    pub(crate) fn comes_next(&self, state: &State, item: usize, stage: usize) -> bool {
        let waits_for_item = self.has_item_wait(state, item, stage) && !state.is_in_place(1 - item);
        !waits_for_item && state.waits[item][stage].first == Other::None
    }

    pub(crate) fn decide(&self, state: &mut State, item: usize, decision: Decision) {
        let before = *state;
        let is_removal = before.slot(item, VALIDATED).is_some_and(|slot| slot.change_type == Type::Delete);
        let completes = matches!(decision, Complete | CompleteIncomplete) && !is_removal;
        if self.config.requires_ready && completes && !self.comes_next(&before, item, VALIDATED) {
            state.set_broken("R74: a change is COMPLETED before the one that it waits for");
        }
        self.life().decide(&mut state.items[item], MAIN, decision, None);
        let after = *state;
        self.follow(state, &before, item, |stage| self.fate(&before, &after, (item, stage), decision));
    }

    /// Moves the waits of an item, and the waits for it, with its change instances.
    fn follow(&self, state: &mut State, before: &State, item: usize, fate: impl Fn(usize) -> Fate) {
        let fates = [PRE_VALIDATED, VALIDATED].map(|stage| before.slot(item, stage).map(|_| fate(stage)));
        let mut moved = [Wait::NONE; 2];
        for (stage, fate) in fates.iter().enumerate() {
            if let Some(Fate::Stays(to) | Fate::Followed(to)) = fate {
                moved[*to] = state.waits[item][stage];
            }
        }
        state.waits[item] = moved;
        let next = |of: Other, is_followed: bool| match of {
            Other::Open(stage) => match fates[stage] {
                Some(Fate::Stays(to)) => Other::Open(to),
                Some(Fate::Followed(to)) if is_followed => Other::Open(to),
                Some(Fate::Closed) if self.lacks(Missing::Closed) => Other::Never,
                _ => Other::None,
            },
            Other::None | Other::Never => of,
        };
        for wait in &mut state.waits[1 - item] {
            wait.change = next(wait.change, !self.lacks(Missing::Successor));
            wait.first = next(wait.first, true);
        }
    }

    /// Returns what a submission does to an open change instance.
    fn fate_at_submission(
        &self,
        before: &State,
        after: &State,
        at: (usize, usize),
        is_created: bool,
    ) -> Fate {
        let (item, stage) = at;
        let is_displaced = is_created && stage == self.stage();
        let is_left = after.slot(item, stage).is_some() && before.slot(item, stage).is_some();
        if is_left && !is_displaced { Fate::Stays(stage) } else { Fate::Closed }
    }

    /// Returns what a decision does to an open change instance.
    fn fate(&self, before: &State, after: &State, at: (usize, usize), decision: Decision) -> Fate {
        let (item, stage) = at;
        let is_left = after.slot(item, stage).is_some();
        let second_half = || {
            let second = if decision == Complete { VALIDATED } else { PRE_VALIDATED };
            let first = before.slot(item, VALIDATED)?;
            self.life().has_second_half(&before.items[item], MAIN, &first).then_some(second)
        };
        match decision {
            Approve if stage == PRE_VALIDATED => Fate::Stays(VALIDATED),
            Complete | CompleteIncomplete if stage == VALIDATED => {
                second_half().map_or(Fate::Completed, Fate::Followed)
            }
            Complete | CompleteIncomplete if second_half() == Some(PRE_VALIDATED) => Fate::Closed,
            Retry(of) if of == stage => Fate::Followed(stage),
            Approve => Fate::Closed,
            Close(of) if of == stage => Fate::Closed,
            _ if is_left => Fate::Stays(stage),
            _ => Fate::Closed,
        }
    }

    /// Checks a state after a step.
    pub(crate) fn check(&self, state: &mut State) {
        for item in 0..2 {
            self.life().check(&mut state.items[item]);
            state.broken = state.broken.or(state.items[item].broken);
            for stage in [PRE_VALIDATED, VALIDATED] {
                if state.slot(item, stage).is_none() {
                    state.waits[item][stage] = Wait::NONE;
                }
            }
        }
        let is_free = |(_, _, slot): &(usize, usize, Slot)| !slot.is_blocked;
        let has_work = state.open().any(|of| is_free(&of));
        let is_ready = |(item, stage, _): (usize, usize, Slot)| self.is_ready(state, item, stage);
        let is_stuck = !state.open().filter(is_free).any(is_ready);
        let asks_consumer = state.items.iter().any(|item| item.exists && item.is_orphan());
        let is_blocked = state.open().any(|of| !is_free(&of));
        if has_work && is_stuck && !is_blocked && !asks_consumer {
            state.set_broken("R74: every open change waits for another one");
        }
    }
}

/// Returns whether a submission modifies an item that is declared before and afterwards.
fn is_modified(item: &lifecycle::State, target: Target) -> bool {
    item.wanted().is_some_and(|text| target.is_some_and(|new| new != text))
}
