//! A state of the model: two items, and what each open change instance waits for.

use crate::lifecycle;
use crate::lifecycle::state::{Creation, MAIN, Slot, Target, Text, VALIDATED};

/// The wait for a change instance of the other item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Other {
    None,
    /// It waits for the open change instance of this stage.
    Open(usize),
    /// It waits for a change instance that will never be COMPLETED.
    Never,
}

/// What a change instance waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wait {
    /// Whether it waits until the other item is in place.
    pub(crate) item: bool,
    pub(crate) change: Other,
    /// The change instance that has to come first. Only an ablation makes a difference.
    pub(crate) first: Other,
}

impl Wait {
    pub(crate) const NONE: Self = Self { item: false, change: Other::None, first: Other::None };
}

/// Two items, the waits of their change instances by stage, and the rule that the last step has violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) items: [lifecycle::State; 2],
    pub(crate) waits: [[Wait; 2]; 2],
    pub(crate) broken: Option<&'static str>,
}

impl State {
    pub(crate) fn slot(&self, item: usize, stage: usize) -> Option<Slot> {
        self.items[item].owners[MAIN].slots[stage]
    }

    /// Returns whether the newest declaration of an item refers to the other one.
    pub(crate) fn refers(&self, item: usize) -> bool {
        refers(self.items[item].wanted())
    }

    /// Returns whether the owner has created the item, and has not removed it since.
    pub(crate) fn is_in_place(&self, item: usize) -> bool {
        self.items[item].owners[MAIN].creation == Creation::Done
    }

    /// Returns whether a CREATE of the item has begun, and nothing was removed since.
    pub(crate) fn has_begun(&self, item: usize) -> bool {
        self.items[item].owners[MAIN].place.is_some()
    }

    /// Returns the items and stages of all open change instances.
    pub(crate) fn open(&self) -> impl Iterator<Item = (usize, usize, Slot)> {
        let all = [0, 1].into_iter().flat_map(|item| [0, VALIDATED].map(|stage| (item, stage)));
        all.filter_map(move |(item, stage)| Some((item, stage, self.slot(item, stage)?)))
    }

    pub(crate) fn set_broken(&mut self, rule: &'static str) {
        self.broken = self.broken.or(Some(rule));
    }
}

/// Returns whether a declaration refers to the other item.
pub(crate) fn refers(target: Target) -> bool {
    target.is_some_and(|text| text != Text::V1)
}
