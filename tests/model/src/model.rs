//! A configuration as a model of Stateright: its first state, all possible actions, and the property of every state.

use crate::audit;
use crate::clearing::Clearing;
use crate::owner::{self, Decision};
use crate::state::State;
use crate::submitter::{self, Outcome, Step, Submitter};
use crate::worker;
use crate::world::{Fate, World};
use domain::ChangeId;
use domain::model::staging::{Staging, StagingState};
use stateright::{Model, Property};
use std::sync::Arc;
use store::Record;

/// A step of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action(Happens);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Happens {
    Submitter(usize, Fate),
    /// Reads one row of the submitter's read again, at a later moment.
    SubmitterLater(usize, usize),
    SubmitterDies(usize),
    Worker(usize, worker::Move),
    Owner(usize, owner::Move),
    Decide(ChangeId, Decision),
    Sweep(Staging),
    SweepOn,
}

impl Model for World {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.start()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        // A violation ends the search, so its successors do not matter.
        if state.broken.is_some() || self.audited.is_over() {
            return;
        }
        let mut can = |happens| actions.push(Action(happens));
        for (n, submitter) in state.submitters.iter().enumerate() {
            self.submitter(state, n, submitter, &mut can);
        }
        for (n, worker) in different(&state.workers) {
            worker.moves(self, state).into_iter().for_each(|next| can(Happens::Worker(n, next)));
        }
        for (n, owner) in different(&state.owners) {
            owner.moves(self, state).into_iter().for_each(|next| can(Happens::Owner(n, next)));
        }
        if state.owners.is_empty() {
            owner::possible(self, state).for_each(|(id, decision)| can(Happens::Decide(id, decision)));
        }
        self.sweep(state, &mut can);
    }

    fn next_state(&self, state: &State, Action(happens): Action) -> Option<State> {
        let mut after = state.clone();
        match happens {
            Happens::Submitter(n, fate) => submitter::step(self, &mut after, n, fate)?,
            Happens::SubmitterLater(n, row) => after.submitters.get_mut(n)?.later(&state.table, row),
            Happens::SubmitterDies(n) => {
                let submitter = after.submitters.get_mut(n)?;
                *submitter = Submitter { step: Step::Done(Outcome::Crashed), ..Submitter::NEW };
                after.crashes -= 1;
            }
            Happens::Worker(n, next) => worker::step(self, &mut after, n, next)?,
            Happens::Owner(n, next) => owner::step(self, &mut after, n, next)?,
            Happens::Decide(change, decision) => owner::decide_at_once(self, &mut after, change, decision)?,
            Happens::Sweep(staging) => after.sweeping = Some(Clearing::of(staging)),
            Happens::SweepOn => {
                after.sweeping = after.sweeping?.step(self, Arc::make_mut(&mut after.table));
            }
        }
        Some(after.in_order())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every rule holds", audit::holds)]
    }
}

impl World {
    fn submitter(&self, state: &State, n: usize, submitter: &Submitter, can: &mut impl FnMut(Happens)) {
        let has_waited = self.command(n).after.iter().all(|before| {
            state.submitters.get(*before).is_some_and(|before| matches!(before.step, Step::Done(_)))
        });
        if matches!(submitter.step, Step::Done(_)) || !has_waited {
            return;
        }
        let fates = if submitter.commits() { state.fates() } else { &[Fate::Answered] };
        for fate in fates {
            can(Happens::Submitter(n, *fate));
        }
        if self.config.torn
            && let Some(view) = submitter.view()
        {
            view.outdated(&state.table).into_iter().for_each(|row| can(Happens::SubmitterLater(n, row)));
        }
        if state.crashes > 0 && *submitter != Submitter::NEW {
            can(Happens::SubmitterDies(n));
        }
    }

    fn sweep(&self, state: &State, can: &mut impl FnMut(Happens)) {
        if state.sweeping.is_some() {
            can(Happens::SweepOn);
            return;
        }
        for record in state.table.records().filter(|_| self.config.sweeps) {
            if let Record::Staging(staging) = record
                && staging.state != StagingState::Committed
            {
                can(Happens::Sweep(*staging));
            }
        }
    }
}

/// Returns actors with their numbers. Identical ones have identical moves, so the first of them suffices.
fn different<T: PartialEq>(actors: &[T]) -> impl Iterator<Item = (usize, &T)> {
    actors.iter().enumerate().filter(move |(n, actor)| *n == 0 || actors.get(*n - 1) != Some(*actor))
}

impl State {
    /// Returns the possible results of the next transaction.
    pub(crate) const fn fates(&self) -> &'static [Fate] {
        if self.lost > 0 { &[Fate::Answered, Fate::AnswerLost, Fate::RequestLost] } else { &[Fate::Answered] }
    }
}
