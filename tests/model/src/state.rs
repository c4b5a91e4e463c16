//! One state of a world: the table, and what everybody who acts on it remembers.

use crate::clearing::Clearing;
use crate::owner::Owner;
use crate::submitter::{Step, Submitter};
use crate::worker::Worker;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use store::Table;

/// A state; a copy shares what is the same.
#[derive(Clone, PartialEq)]
pub struct State {
    pub(crate) table: Arc<Table>,
    pub(crate) submitters: Vec<Submitter>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) owners: Vec<Owner>,
    /// A staging that the sweep is clearing away.
    pub(crate) sweeping: Option<Clearing>,
    /// How many decisions may still be made.
    pub(crate) decisions: u8,
    /// How many answers may still be lost.
    pub(crate) lost: u8,
    /// How many submitters may still die.
    pub(crate) crashes: u8,
    /// The rule that the last step has broken, if it has.
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
    /// Those who do the same are told apart by nothing: states that differ only in their order are one.
    pub(crate) fn in_order(mut self) -> Self {
        self.workers.sort_by_key(digest);
        self.owners.sort_by_key(digest);
        self
    }

    /// Whether nothing is left to be done but for owners to decide.
    pub(crate) fn is_quiescent(&self) -> bool {
        self.submitters.iter().all(|submitter| matches!(submitter.step, Step::Done(_)))
            && self.workers.iter().all(|worker| *worker == Worker::Idle)
            && self.owners.iter().all(|owner| *owner == Owner::Idle)
            && self.sweeping.is_none()
            && self.table.submissions().all(|submission| submission.work_left == 0)
    }
}

/// A number that is the same for what is the same, in every run.
pub(crate) fn digest(of: &impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(of)
}
