//! Symmetry: one state represents all states with other names of items and declarations.

use super::configs::Waits;
use super::state::State;
use crate::lifecycle;
use crate::lifecycle::state::{Strategy, Text};
use crate::lifecycle::symmetry::{first_named, rename};
use crate::state::digest;

impl Waits {
    /// Returns the representative of the states that are equal up to names.
    pub(crate) fn representative(&self, mut state: State) -> State {
        if self.strategy() != Strategy::Property {
            state.items.iter_mut().for_each(rename_texts);
        }
        let [first, second] = state.items;
        let [of_first, of_second] = state.waits;
        let swapped = State { items: [second, first], waits: [of_second, of_first], ..state };
        if digest(&swapped) < digest(&state) { swapped } else { state }
    }
}

/// Gives the declarations with a reference the order of their first occurrence.
fn rename_texts(item: &mut lifecycle::State) {
    if !item.is_declared {
        item.version = Text::V1;
    }
    let mut names = first_named(item);
    names.retain(|text| *text != Text::V1);
    names.insert(0, Text::V1);
    let renamed = |text: Text| {
        let new_name = names.iter().zip(Text::ALL).find(|(name, _)| **name == text);
        new_name.map_or(text, |(_, new_name)| new_name)
    };
    rename(item, &renamed);
}
