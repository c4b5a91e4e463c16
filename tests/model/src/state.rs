//! A state of the model: the table, and the memory of every actor.

use crate::clearing::Clearing;
use crate::owner::Owner;
use crate::submitter::{Step, Submitter};
use crate::worker::Worker;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use store::Table;

/// A state, whose copies share equal parts.
#[derive(Clone, PartialEq)]
pub struct State {
    pub(crate) table: Arc<Table>,
    pub(crate) submitters: Vec<Submitter>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) owners: Vec<Owner>,
    /// The removal of a staging in progress.
    pub(crate) sweeping: Option<Clearing>,
    /// Number of remaining decisions.
    pub(crate) decisions: u8,
    /// Number of remaining lost requests and answers.
    pub(crate) lost: u8,
    /// Number of remaining deaths of submitters.
    pub(crate) crashes: u8,
    /// Rule that the last step has violated, if any.
    pub(crate) broken: Option<&'static str>,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.table.fingerprint().0);
        self.submitters.hash(state);
        self.workers.hash(state);
        self.owners.hash(state);
        self.sweeping.hash(state);
        (self.decisions, self.lost, self.crashes, self.broken).hash(state);
    }
}

impl State {
    /// Sorts identical actors, so that states with another order of them are equal.
    pub(crate) fn in_order(mut self) -> Self {
        self.workers.sort_by_key(digest);
        self.owners.sort_by_key(digest);
        self
    }

    /// Returns whether only decisions of owners remain.
    pub(crate) fn is_quiescent(&self) -> bool {
        self.submitters.iter().all(|submitter| matches!(submitter.step, Step::Done(_)))
            && self.workers.iter().all(|worker| *worker == Worker::Idle)
            && self.owners.iter().all(|owner| *owner == Owner::Idle)
            && self.sweeping.is_none()
            && self.table.submissions().all(|submission| submission.work_left == 0)
    }
}

/// Returns the same number for equal values in every run.
pub(crate) fn digest(of: &impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(of)
}
