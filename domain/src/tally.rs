//! How many items of an application are in each state: the application's own states, in aggregate.

use crate::item::{ChangeState, Item, RuntimeState};

/// Items, counted by their states.
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

    /// How many items are counted.
    pub const fn items(&self) -> usize {
        self.runtime_states.len()
    }

    /// How many items are in each runtime state.
    pub fn runtime_states(&self) -> impl Iterator<Item = (RuntimeState, usize)> {
        RuntimeState::ALL.into_iter().map(|state| (state, counted(&self.runtime_states, state)))
    }

    /// How many items are in each change state.
    pub fn change_states(&self) -> impl Iterator<Item = (ChangeState, usize)> {
        ChangeState::ALL.into_iter().map(|state| (state, counted(&self.change_states, state)))
    }
}

fn counted<T: PartialEq>(states: &[T], wanted: T) -> usize {
    states.iter().filter(|state| **state == wanted).count()
}
