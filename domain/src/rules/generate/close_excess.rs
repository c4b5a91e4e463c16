//! Closing ahead: closes answered change instances of dependent teams before the change instance that answers them
//! is created.
//!
//! A transaction takes 100 actions, and an item may have more rejections and errors than that. A separate
//! transaction closes the excess, while the submission holds the team's head (`HEAD.in_flight`, ADR 28).

use super::blockers_changed;
use crate::base::timestamp::Timestamp;
use crate::model::change::ClosedBy;
use crate::model::item::Item;
use crate::model::write::{Closing, Write};

/// Maximum number of writes of a generation without excess; a transaction takes 100.
pub const OPENED_MAX: usize = 96;

/// Maximum number of change instances that one transaction closes ahead.
pub const CLOSINGS_MAX: usize = 64;

/// Returns the transaction that closes the excess of `writes` over `limit`, ahead of `writes`.
///
/// Returns `None` without an excess, or without an answered change instance of a dependent team. `item` is the item of
/// `writes`. The transaction leaves out the change instances of the service owner, because there are at most two.
pub fn close_excess(
    writes: &[Write],
    item: Option<&Item>,
    limit: usize,
    now: Timestamp,
) -> Option<Vec<Write>> {
    let item = item?;
    let excess = writes.len().saturating_sub(limit).min(CLOSINGS_MAX);
    // The change instances come in the order of their owners, from the lowest, so a repetition closes the same ones.
    let answered = writes.iter().filter_map(|write| answered_of_dependent(write, item));
    let mut closings: Vec<Closing> = answered.take(excess).cloned().collect();
    let mut after = without(item, &closings);
    // The last change instance stays for `writes`, because without any open change instance the item would be dead
    // (R44).
    if after.is_dead() {
        closings.pop();
        after = without(item, &closings);
    }
    if closings.is_empty() {
        return None;
    }
    // `writes` was computed on the old revision and cannot commit any more, so the caller computes the writes again.
    after.revision += 1;
    after.modified = now.not_before(item.modified);
    let blockers = blockers_changed(Some(item), &after);
    let mut closing_writes = vec![Write::PutItem { before: Some(item.revision), after }];
    closing_writes.extend(closings.into_iter().map(Write::CloseChange));
    closing_writes.extend(blockers);
    Some(closing_writes)
}

/// Returns an item without the open change instances of these closings.
fn without(item: &Item, closings: &[Closing]) -> Item {
    let mut after = item.clone();
    for closing in closings {
        if let Some(stack) = after.stacks.get_mut(&closing.owner) {
            stack.clear(closing.change);
        }
    }
    after
}

fn answered_of_dependent<'a>(write: &'a Write, item: &Item) -> Option<&'a Closing> {
    let Write::CloseChange(closing) = write else { return None };
    let is_answered = matches!(closing.entry.closed_by, Some(ClosedBy::Answered(_)));
    (is_answered && closing.owner != item.service_owner.id).then_some(closing)
}
