//! Symmetry: one state represents all states with other names of declarations and workers.

use super::configs::Life;
use super::state::{Owner, Planned, Slot, State, Strategy, Target, Targets, Text, VALIDATED};

impl Life {
    /// Returns the representative of the states that are equal up to names.
    pub(crate) fn representative(&self, mut item: State) -> State {
        let [v1, _, v3] = Text::ALL;
        let by_property = self.config.settings || self.config.strategy == Strategy::Property;
        if !by_property && !item.is_declared {
            // Only a replacement by a property looks at the declaration of a removed item.
            item.version = v1;
        }
        let mut names = first_named(&item);
        if by_property {
            // The third declaration differs from the others, so it keeps its name.
            names = names.into_iter().filter(|text| *text != v3).chain([v3]).collect();
        }
        let renamed = |text: Text| {
            let new_name = names.iter().zip(Text::ALL).find(|(name, _)| **name == text);
            new_name.map_or(text, |(_, new_name)| new_name)
        };
        rename(&mut item, &renamed);
        item.owners.iter_mut().for_each(forget_without_effect);
        item
    }
}

/// Returns all declarations in the order of their first occurrence.
pub(crate) fn first_named(item: &State) -> Vec<Text> {
    let of_owner = |owner: &Owner| {
        let slots = owner.open().flat_map(|slot| [slot.new, slot.old]);
        slots.chain([owner.place.map(|(text, _)| text)]).collect::<Vec<_>>()
    };
    let mut all = vec![item.wanted(), item.completed_target.flatten()];
    all.extend(item.owners.iter().flat_map(of_owner));
    all.extend(item.due.iter().flatten().chain(&item.staged).map(|planned| planned.new));
    let mut names: Vec<Text> = Vec::new();
    for text in all.into_iter().flatten().chain([item.version]).chain(Text::ALL) {
        if !names.contains(&text) {
            names.push(text);
        }
    }
    names
}

pub(crate) fn rename(item: &mut State, text: &impl Fn(Text) -> Text) {
    let target = |of: &mut Target| *of = of.map(text);
    let set = |of: &mut Targets| {
        *of = of.texts().fold(of.without_texts(), |set, of| set.with(Some(text(of))));
    };
    let slot = |of: &mut Slot| [&mut of.old, &mut of.new].into_iter().for_each(target);
    let planned = |of: &mut Planned| {
        target(&mut of.new);
        set(&mut of.unless);
    };
    item.version = text(item.version);
    item.completed_target.iter_mut().for_each(target);
    item.due.iter_mut().flatten().chain(&mut item.staged).for_each(planned);
    for owner in &mut item.owners {
        owner.slots.iter_mut().flatten().for_each(slot);
        for place in [&mut owner.place, &mut owner.truth.place] {
            *place = place.map(|(of, is_certain)| (text(of), is_certain));
        }
        set(&mut owner.truth.may_be);
    }
}

/// Forgets the memory of claims without any effect on later steps.
fn forget_without_effect(owner: &mut Owner) {
    owner.claim = owner.claim.representative();
    let has_effect = |slot: &Slot| slot.is_first_work && !slot.is_blocked;
    if let Some(slot) = owner.slots[VALIDATED].as_mut().filter(|slot| !has_effect(slot)) {
        (slot.is_first_work, slot.is_claimed) = (false, false);
        owner.truth.is_begun = false;
    }
}
