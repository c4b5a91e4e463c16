//! I31: dead items are gone. I33: items count their pending shares, because an item with pending shares cannot go
//! (R44).

use super::{Audit, Snapshot, Subject};
use crate::base::id::ItemId;
use crate::base::state::Kind;
use crate::model::item::Item;
use crate::model::work::PlannedChange;
use std::collections::BTreeMap;

impl Audit<'_> {
    /// I31: an item is gone exactly if it is dead, and it has one record.
    pub(super) fn gone(&mut self, item: &Item) {
        let detail =
            if item.gone { "it is gone, but not dead" } else { "it is dead, but not gone: run `bury`" };
        self.require(item.gone == item.is_dead(), "I31", Subject::Item(item.id), detail);
        let is_single = !self.snapshot.doubled.contains(&item.id);
        self.require(is_single, "I31", Subject::Item(item.id), "it has a live and a gone record");
        let runs = item.gone && item.charges.running.is_some();
        self.require(!runs, "I31", Subject::Item(item.id), "it is gone, but a charge runs");
    }

    /// I33: an item counts the submissions at once whose shares of it are in work records and do not exist yet.
    pub(super) fn shares_due(&mut self, item: &Item) {
        let due = self.shares_due.get(&item.id).copied().unwrap_or_default();
        let detail = format!("it waits for the shares of {} submissions, must be {due}", item.shares_due);
        self.require(item.shares_due == due, "I33", Subject::Item(item.id), detail);
    }
}

/// Counts the work records of each item that hold shares without their cause, and that are not generated yet.
pub(super) fn shares_due(snapshot: &Snapshot) -> BTreeMap<ItemId, u64> {
    let mut due = BTreeMap::new();
    for work in snapshot.works.iter().filter(|work| work.id.staging.is_none()) {
        // One transaction creates all shares of a change instance.
        let is_due = |planned: &PlannedChange| {
            planned.kind == Kind::Dependent && !snapshot.changes.contains_key(&planned.id)
        };
        for of_item in work.entries.chunk_by(|a, b| a.item == b.item) {
            if let Some(first) = of_item.first().filter(|_| of_item.iter().all(is_due)) {
                *due.entry(first.item).or_insert(0) += 1;
            }
        }
    }
    due
}
