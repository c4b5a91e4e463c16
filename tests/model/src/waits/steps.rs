//! The steps of the consumer, of the owners and of a worker, as a model of Stateright.

use super::configs::{Missing, Waits};
use super::state::{State, Wait};
use crate::lifecycle;
use crate::lifecycle::Life;
use crate::lifecycle::state::{MAIN, PRE_VALIDATED, Target, Text, Type, VALIDATED};
use crate::lifecycle::steps::Decision::{self, Complete, CompleteIncomplete};
use stateright::{Model, Property};

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Submits the declarations of both items.
    Submit([Target; 2]),
    /// The owner of an item decides.
    Decide(usize, Decision),
    /// A batch claim hands out the change instance of an item and stage.
    Claim(usize, usize),
}

impl Model for Waits {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let items = [lifecycle::State::without_item(self.strategy()); 2];
        vec![State { items, waits: [[Wait::NONE; 2]; 2], broken: None }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        if state.broken.is_some() {
            return;
        }
        let texts = || self.targets().iter().copied();
        let pairs = texts().flat_map(|first| texts().map(move |second| [first, second]));
        steps.extend(pairs.filter(|targets| self.accepts(state, *targets)).map(Step::Submit));
        for item in 0..2 {
            self.decisions(state, item, steps);
            let is_handed_out = |stage: &usize| {
                let is_filtered = self.is_ready(state, item, *stage) || self.lacks(Missing::Filter);
                is_filtered && state.slot(item, *stage).is_some_and(|slot| !slot.is_blocked)
            };
            let stages = [PRE_VALIDATED, VALIDATED].into_iter().filter(is_handed_out);
            steps.extend(stages.map(|stage| Step::Claim(item, stage)));
        }
    }

    fn next_state(&self, before: &State, step: Step) -> Option<State> {
        let mut state = *before;
        match step {
            Step::Submit(targets) => self.submit(&mut state, targets),
            Step::Decide(item, decision) => self.decide(&mut state, item, decision),
            Step::Claim(item, stage) => {
                if !self.comes_next(&state, item, stage) {
                    state.set_broken("R74: a batch claim hands out work that waits");
                }
            }
        }
        self.check(&mut state);
        Some(if self.is_symmetric { self.representative(state) } else { state })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every rule holds", |_, state: &State| state.broken.is_none())]
    }
}

impl Waits {
    pub(crate) const fn life(&self) -> Life {
        Life::new(self.config.life, None)
    }

    fn targets(&self) -> &'static [Target] {
        const ALL: [Target; 4] = [None, Some(Text::V1), Some(Text::V2), Some(Text::V3)];
        if self.config.has_values { &ALL } else { &ALL[..3] }
    }

    fn decisions(&self, state: &State, item: usize, steps: &mut Vec<Step>) {
        let mut possible = Vec::new();
        self.life().decisions(&state.items[item], MAIN, &mut possible);
        let is_refused = self.is_refused(state, item);
        let decisions = possible.into_iter().filter_map(|step| match step {
            lifecycle::steps::Step::Decide(_, Complete | CompleteIncomplete, _) if is_refused => None,
            lifecycle::steps::Step::Decide(_, decision, _) => Some(Step::Decide(item, decision)),
            _ => None,
        });
        steps.extend(decisions);
    }

    /// Returns whether `require_ready` refuses COMPLETED.
    fn is_refused(&self, state: &State, item: usize) -> bool {
        let is_removal = state.slot(item, VALIDATED).is_some_and(|slot| slot.change_type == Type::Delete);
        let is_required = self.config.requires_ready && !is_removal && !self.lacks(Missing::Refusal);
        is_required && !self.is_ready(state, item, VALIDATED)
    }
}
