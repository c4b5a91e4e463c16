//! The item counts of an application by state.

use crate::base::state::RuntimeState;
use crate::model::item::{ChangeState, Item};

/// Counts of items by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    runtime_states: Vec<RuntimeState>,
    change_states: Vec<ChangeState>,
}

impl Tally {
    /// Counts an item.
    pub fn add(&mut self, item: &Item) {
        self.runtime_states.push(item.runtime_state);
        self.change_states.push(item.change_state());
    }

    /// Returns the number of items.
    pub const fn items(&self) -> usize {
        self.runtime_states.len()
    }

    /// Returns the number of items in each runtime state.
    pub fn runtime_states(&self) -> impl Iterator<Item = (RuntimeState, usize)> {
        RuntimeState::ALL.into_iter().map(|state| (state, counted(&self.runtime_states, state)))
    }

    /// Returns the number of items in each change state.
    pub fn change_states(&self) -> impl Iterator<Item = (ChangeState, usize)> {
        ChangeState::ALL.into_iter().map(|state| (state, counted(&self.change_states, state)))
    }
}

fn counted<T: PartialEq>(states: &[T], wanted: T) -> usize {
    states.iter().filter(|state| **state == wanted).count()
}
