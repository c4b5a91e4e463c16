//! The waves of a submission: which of its change instances can be done at once, and which come later (R74).

use crate::base::id::{ChangeId, ItemId};
use crate::model::change::Change;
use crate::model::wait::Wait;
use std::collections::{BTreeMap, BTreeSet};

/// The waves of the change instances of a submission.
pub struct Waves<'a> {
    waves: BTreeMap<ChangeId, u64>,
    /// The change instance of the service owner for each item.
    of_items: BTreeMap<ItemId, &'a Change>,
}

impl<'a> Waves<'a> {
    /// Computes the waves. A change instance that waits for none of the others is in wave 0, and any other one in the
    /// wave after the last one that it waits for.
    pub fn of(created: &'a [Change]) -> Self {
        let of_main = created.iter().filter(|change| !change.is_dependant());
        let of_items = of_main.map(|change| (change.item, change)).collect();
        let mut all = Self { waves: created.iter().map(|change| (change.id, 0)).collect(), of_items };
        let (mut after, mut left) = (BTreeMap::<ChangeId, Vec<ChangeId>>::new(), BTreeMap::new());
        for change in created {
            let before: BTreeSet<ChangeId> =
                change.waits.iter().filter_map(|wait| all.awaited(wait)).map(|change| change.id).collect();
            left.insert(change.id, before.len());
            for id in before {
                after.entry(id).or_default().push(change.id);
            }
        }
        let is_first = |(_, left): &(&ChangeId, &usize)| **left == 0;
        let mut ready: Vec<ChangeId> = left.iter().filter(is_first).map(|(id, _)| *id).collect();
        while let Some(id) = ready.pop() {
            let next = all.wave(id).saturating_add(1);
            for later in after.remove(&id).unwrap_or_default() {
                all.waves.entry(later).and_modify(|wave| *wave = next.max(*wave));
                let Some(left) = left.get_mut(&later) else { continue };
                *left = left.saturating_sub(1);
                ready.extend((*left == 0).then_some(later));
            }
        }
        all
    }

    /// Returns the wave of a change instance of the submission.
    pub fn wave(&self, change: ChangeId) -> u64 {
        self.waves.get(&change).copied().unwrap_or_default()
    }

    /// Returns the change instance of the submission that ends a wait; none if the wait is for an earlier one.
    pub fn awaited(&self, wait: &Wait) -> Option<&'a Change> {
        let of_item = self.of_items.get(&wait.item).copied();
        of_item.filter(|change| wait.change.is_none_or(|id| id == change.id))
    }
}
