//! The item counts of an application by state, and its state in one word.

use crate::base::state::RuntimeState;
use crate::model::item::{ChangeState, Item};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Counts of items by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    runtime_states: Vec<RuntimeState>,
    change_states: Vec<ChangeState>,
    /// The number of items with a [blocker](Item::blockers).
    blocked: usize,
    /// The number of items with drift.
    drifted: usize,
}

/// The state of an application in one word, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum ApplicationState {
    /// The application has no items.
    Empty,
    /// A change instance was rejected, failed, or closed without a result, so the consumer must act.
    Blocked,
    /// Owners work on change instances.
    Pending,
    /// An observation differs from the declaration.
    Drifted,
    /// Every change is complete.
    Ready,
}

crate::named!(ApplicationState);

impl Tally {
    /// Counts an item.
    pub fn add(&mut self, item: &Item) {
        self.runtime_states.push(item.runtime_state);
        self.change_states.push(item.change_state());
        self.blocked += usize::from(item.blockers().count != 0);
        self.drifted += usize::from(item.drift.is_some());
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

    /// Returns the state of the application: the first one that applies.
    pub fn state(&self) -> ApplicationState {
        let is_open = |state: &ChangeState| *state != ChangeState::Completed;
        if self.items() == 0 {
            ApplicationState::Empty
        } else if self.blocked > 0 {
            ApplicationState::Blocked
        } else if self.change_states.iter().any(is_open) {
            ApplicationState::Pending
        } else if self.drifted > 0 {
            ApplicationState::Drifted
        } else {
            ApplicationState::Ready
        }
    }
}

fn counted<T: PartialEq>(states: &[T], wanted: T) -> usize {
    states.iter().filter(|state| **state == wanted).count()
}
