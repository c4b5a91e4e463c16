//! The change instance to which a deployed item by itself belongs.

use domain::{Change, ChangeId, Item, State};
use dovetail_http::Failure;
use dovetail_table::{Direction, Source, Table};

/// Returns the newest change instance of the service owner in state APPROVED or COMPLETED.
pub(crate) async fn newest_done(table: &Table, item: &Item) -> Result<Option<ChangeId>, Failure> {
    // The slot of the item shows an approved change instance without another read.
    if let Some(slot) = item.main().validated.filter(|slot| slot.state == State::Approved) {
        return Ok(Some(slot.change));
    }
    let mut rows = table.rows(&Source::<Change>::of_item(item.id), Direction::Descending, None);
    while let Some(batch) = rows.next().await? {
        let mut changes = batch.into_iter().map(|row| row.value);
        let done = changes.find(|change| !change.is_dependant() && change.state == State::Completed);
        if let Some(done) = done {
            return Ok(Some(done.id));
        }
    }
    Ok(None)
}
