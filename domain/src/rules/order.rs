//! The order of changes: what is left of the waits of a change instance (R74).

use crate::base::id::{ItemId, SubmissionId};
use crate::model::change::Change;
use crate::model::item::Item;
use crate::model::wait::Wait;
use std::collections::BTreeMap;

/// The item of a wait, as stored.
#[derive(Clone, Copy, Debug)]
enum AwaitedItem<'a> {
    Live(&'a Item),
    Gone,
    /// A staged submission creates it later.
    Missing,
}

/// Returns whether nothing is left of the wait of a change instance of this submission.
fn is_over(wait: &Wait, item: AwaitedItem<'_>, submission: SubmissionId) -> bool {
    let item = match item {
        AwaitedItem::Live(item) => item,
        AwaitedItem::Gone => return true,
        AwaitedItem::Missing => return false,
    };
    // The items of a staged submission are applied one after the other, so this one may have its turn later.
    let sequence = item.main().sequence;
    match wait.change {
        Some(change) => {
            sequence >= submission.number() && item.main().open().all(|slot| slot.origin != change)
        }
        // A later submission has removed the item, so no owner creates it.
        None if !item.declared => sequence > submission.number(),
        None => item.is_in_place(),
    }
}

/// Returns the waits of a change instance of which something is left. `items` has the awaited items, also gone ones.
pub fn left(change: &Change, items: &BTreeMap<ItemId, Item>) -> Vec<Wait> {
    let current = |wait: &Wait| Wait { item: current(wait, items, change.submission), ..*wait };
    let item = |wait: &Wait| match items.get(&wait.item) {
        Some(item) if item.gone => AwaitedItem::Gone,
        Some(item) => AwaitedItem::Live(item),
        None => AwaitedItem::Missing,
    };
    let waits = change.waits.iter().map(current);
    waits.filter(|wait| !is_over(wait, item(wait), change.submission)).collect()
}

/// Returns the item that a wait is about: the item in reserve, if the other one has gone before this submission had its
/// turn (R44).
fn current(wait: &Wait, items: &BTreeMap<ItemId, Item>, submission: SubmissionId) -> ItemId {
    let has_gone = |item: &Item| item.gone && item.main().sequence < submission.number();
    wait.spare.filter(|_| items.get(&wait.item).is_some_and(has_gone)).unwrap_or(wait.item)
}
