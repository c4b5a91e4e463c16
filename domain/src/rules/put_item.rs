//! The writes of an existing item: a replacement in its place or a move to the gone items (R44), the count of drifted
//! items in its application (R54), and the records of the items that it uses (R71).

use crate::base::id::ItemId;
use crate::model::item::Item;
use crate::model::write::{Use, Write};

/// Returns the writes of an item after a decision or a generation, and marks the item as gone if it is dead.
///
/// The move is part of the transaction that ends the last open change, so no function has to move items later under a
/// fence of its own.
pub(crate) fn put_item(before: &Item, after: &mut Item) -> Vec<Write> {
    if after.main().open().next().is_none() {
        // No open change instance waits any more (R74).
        after.waits_for.clear();
    }
    if before.gone || !after.is_dead() {
        return vec![Write::PutItem { before: Some(before.revision), after: after.clone() }];
    }
    after.gone = true;
    vec![
        Write::DeleteItem { item: before.id, revision: before.revision },
        Write::PutItem { before: None, after: after.clone() },
    ]
}

/// Returns the write that counts an item in its application if it drifts now, or no longer does (R54); none if nothing
/// changes.
pub(crate) fn drifted(before: Option<&Item>, after: &Item) -> Option<Write> {
    let delta = drift(Some(after)) - drift(before);
    (delta != 0).then(|| Write::AddToApplication {
        application: after.application_id(),
        drifted: delta,
        uses: 0,
    })
}

/// Returns the writes of the uses that begin or end with a declaration (R71).
pub(crate) fn uses_changed(before: Option<&Item>, after: &Item) -> Vec<Write> {
    let (before, now) = (before.map_or(&[][..], Item::used), after.used());
    let of = |target: &ItemId| Use { target: *target, user: after.id };
    let begun = now.iter().filter(|target| !before.contains(target)).map(of).map(Write::PutUse);
    let ended = before.iter().filter(|target| !now.contains(target)).map(of).map(Write::DeleteUse);
    begun.chain(ended).collect()
}

/// Returns the contribution of an item to the number of drifted items.
pub(crate) fn drift(item: Option<&Item>) -> i64 {
    i64::from(item.is_some_and(|item| item.drift.is_some()))
}

/// Returns the writes that move a dead item of an older release; none for another item.
pub fn move_gone_item(item: &Item) -> Option<Vec<Write>> {
    let is_left = item.is_dead() && !item.gone;
    is_left.then(|| put_item(item, &mut Item { revision: item.revision + 1, ..item.clone() }))
}
