//! The writes of an existing item: a replacement in its place or a move to the gone items (R44), and the count of
//! drifted items in its application (R54).

use crate::model::item::Item;
use crate::model::write::Write;

/// Returns the writes of an item after a decision or a generation, and marks the item as gone if it is dead.
///
/// The move is part of the transaction that ends the last open change, so no function has to move items later under a
/// fence of its own.
pub(crate) fn put_item(before: &Item, after: &mut Item) -> Vec<Write> {
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
    (delta != 0).then(|| Write::AddDrifted { application: after.application_id(), delta })
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
