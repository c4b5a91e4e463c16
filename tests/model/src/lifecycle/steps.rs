//! The steps of the consumer, of generation, of the owners and of their workers, as a model of Stateright.

use super::claims::Number;
use super::configs::{Life, Missing};
use super::state::{DEPENDENT, Kind, MAIN, PRE_VALIDATED, Planned, State, Strategy, Target, Text, VALIDATED};
use super::truth::{Event, work};
use Decision::{Approve, Close, Complete, CompleteIncomplete, Fail, Reject, Retry};
use stateright::{Model, Property};

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Submit(Target),
    /// Commits a submission that is applied later.
    Stage(Target),
    Land,
    /// Submits a modification of a referenced item.
    Reference,
    /// Generates what is due: the older one, or the newer one.
    Generate(usize),
    Switch(Strategy),
    /// An owner decides, perhaps with the claim of a worker.
    Decide(usize, Decision, Option<usize>),
    /// A worker claims the change instance of a stage.
    Claim(usize, usize, usize),
    /// A lease ends by time, or by a release.
    End(usize, usize, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Approve,
    Reject,
    Complete,
    /// Completes a first half. The second half needs a value of the owner before its approval.
    CompleteIncomplete,
    Fail,
    /// Closes the blocked change instance of a stage.
    Close(usize),
    Retry(usize),
}

impl Model for Life {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State::without_item(self.config.strategy)]
    }

    fn actions(&self, item: &State, steps: &mut Vec<Step>) {
        if item.broken.is_some() {
            return;
        }
        let waits = (self.config.dependent || self.config.references) && item.due[1].is_some();
        for target in
            Text::ALL.into_iter().map(Some).chain([None]).filter(|target| self.accepts(item, *target))
        {
            steps.extend((!waits).then_some(Step::Submit(target)));
            steps.extend(self.config.staged.then_some(Step::Stage(target)));
        }
        steps.extend((self.accepts_reference(item) && !waits).then_some(Step::Reference));
        steps.extend(item.staged.map(|_| Step::Land));
        steps.extend((0..2).filter(|n| item.due[*n].is_some()).map(Step::Generate));
        let other = Strategy::ALL.into_iter().filter(|other| self.config.settings && *other != item.strategy);
        steps.extend(other.map(Step::Switch));
        for team in [MAIN, DEPENDENT] {
            self.decisions(item, team, steps);
            if self.config.claims {
                self.claims(item, team, steps);
            }
        }
    }

    fn next_state(&self, before: &State, step: Step) -> Option<State> {
        let mut item = *before;
        match step {
            Step::Submit(target) => {
                let planned = self.plan(&item, Kind::Direct, target);
                let share = self.apply(&mut item, &planned);
                if self.config.dependent {
                    plan_later(&mut item, share);
                }
            }
            Step::Stage(target) => item.staged = Some(self.plan(&item, Kind::Direct, target)),
            Step::Land => self.land(&mut item),
            Step::Reference => {
                let planned = self.plan(&item, Kind::Referenced, item.wanted());
                plan_later(&mut item, planned);
            }
            Step::Generate(n) => self.generate(&mut item, n),
            Step::Switch(strategy) => item.strategy = strategy,
            Step::Decide(team, decision, by) => self.decide(&mut item, team, decision, by),
            Step::Claim(team, worker, stage) => self.claim(&mut item.owners[team], worker, stage),
            Step::End(team, worker, true) => item.owners[team].claim.release(worker),
            Step::End(team, worker, false) => item.owners[team].claim.leases[worker] = false,
        }
        let is_progress = match step {
            Step::Land | Step::Generate(_) => true,
            Step::Decide(_, decision, _) => matches!(decision, Approve | Complete | CompleteIncomplete),
            _ => false,
        };
        if is_progress && work(&item) >= work(before) {
            item.broken = item.broken.or(Some("I23: the owners never come to rest"));
        }
        self.check(&mut item);
        Some(if self.is_symmetric { self.representative(item) } else { item })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every rule holds", |_, item: &State| item.broken.is_none())]
    }
}

fn plan_later(item: &mut State, planned: Planned) {
    if let Some(free) = item.due.iter_mut().find(|due| due.is_none()) {
        *free = Some(planned);
    }
}

impl Life {
    /// Adds the possible decisions of an owner, with each claim that they may name.
    pub(crate) fn decisions(&self, item: &State, team: usize, steps: &mut Vec<Step>) {
        let owner = &item.owners[team];
        let mut all = Vec::new();
        if owner.active(PRE_VALIDATED).is_some() {
            all.extend([Approve, Reject]);
        }
        if let Some(slot) = owner.active(VALIDATED) {
            all.extend([Complete, Fail]);
            all.extend(self.has_second_half(item, team, &slot).then_some(CompleteIncomplete));
        }
        let knows = |worker: &usize| match owner.claim.numbers[*worker] {
            Number::None => false,
            Number::Newest => true,
            Number::Old => self.lacks(Missing::CheckClaim),
        };
        let by = || [None].into_iter().chain((0..2).filter(knows).map(Some));
        steps.extend(all.iter().flat_map(|decision| by().map(|by| Step::Decide(team, *decision, by))));
        for stage in [PRE_VALIDATED, VALIDATED] {
            if let Some(slot) = owner.slots[stage].filter(|slot| slot.is_blocked) {
                steps.push(Step::Decide(team, Close(stage), None));
                // A retry of an older change instance would come after a newer one (R13).
                steps.extend(slot.is_newest.then_some(Step::Decide(team, Retry(stage), None)));
            }
        }
    }

    fn claims(&self, item: &State, team: usize, steps: &mut Vec<Step>) {
        let owner = &item.owners[team];
        for worker in 0..2 {
            let stages = [PRE_VALIDATED, VALIDATED].into_iter();
            let stages = stages.filter(|stage| self.may_claim(owner, worker, *stage));
            steps.extend(stages.map(|stage| Step::Claim(team, worker, stage)));
            if owner.claim.leases[worker] {
                steps.extend([false, true].map(|is_release| Step::End(team, worker, is_release)));
            }
        }
    }

    pub(crate) fn decide(&self, item: &mut State, team: usize, decision: Decision, by: Option<usize>) {
        if let Some(worker) = by {
            let is_old = item.owners[team].claim.numbers[worker] == Number::Old;
            item.broken = is_old.then_some("I36: an old number decides");
            // A worker that rejects one change instance may still be at work on another one.
            let is_at_work = decision == Reject && item.owners[team].active(VALIDATED).is_some();
            let keeps_lease = decision == Approve || (is_at_work && !self.lacks(Missing::LeaseAtWork));
            if !keeps_lease {
                let has_lost = is_at_work && item.owners[team].claim.leases[worker];
                item.broken = item.broken.or(has_lost.then_some("I36: a worker at work loses its lease"));
                item.owners[team].claim.release(worker);
            }
        }
        match decision {
            Approve => {
                if let Some(change) = item.owners[team].slots[PRE_VALIDATED].take() {
                    self.approve(item, team, change);
                }
            }
            Reject => {
                if let Some(slot) = &mut item.owners[team].slots[PRE_VALIDATED] {
                    slot.is_blocked = true;
                }
            }
            Complete => self.complete(item, team, VALIDATED),
            CompleteIncomplete => self.complete(item, team, PRE_VALIDATED),
            Fail => self.fail(item, team),
            Close(stage) => {
                if let Some(change) = item.owners[team].slots[stage].take() {
                    self.record(item, team, Event::GivenUp, &change);
                }
            }
            Retry(stage) => self.retry(item, team, stage),
        }
    }
}
