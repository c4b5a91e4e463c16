//! Items as they were: `as_of`, a time or a submission (R35).

use crate::filter::date;
use domain::change::Change;
use domain::deployed::Deployed;
use domain::id::SubmissionId;
use domain::item::Item;
use domain::past::{self, Moment};
use dovetail_http::{Call, Code, Failure, FieldError};
use dovetail_table::{Direction, Source, Table, until};

/// How many change instances of an item are read to tell how it was.
const CHANGES_MAX: usize = 1_000;

/// The moment that is asked for, if one is. What a dependent team may see of an item is the newest (R23).
pub(crate) async fn moment(table: &Table, call: &Call, item: &Item) -> Result<Option<Moment>, Failure> {
    let Some(text) = call.query.get("as_of") else { return Ok(None) };
    let team = call.caller.team.id;
    if item.consumer.id != team && item.service_owner.id != team {
        return Err(refused("is for the item's consumer and the service's owner"));
    }
    let Ok(number) = text.parse::<u64>() else {
        return Ok(date(&call.query, "as_of")?.map(Moment::at));
    };
    let id = SubmissionId::parse(number).filter(|id| id.team() == item.consumer.id);
    let submission = match id {
        Some(id) => table.submission(id).await?,
        None => None,
    };
    let submission = submission.ok_or_else(|| refused("is no submission of the item's consumer"))?;
    Ok(Some(Moment::of(&submission, call.now)))
}

/// The item as it was at a moment.
pub(crate) async fn item(table: &Table, now: &Item, moment: Moment) -> Result<Item, Failure> {
    let last = until(moment.at);
    let mut changes: Vec<Change> = Vec::new();
    let mut rows = table.rows(&Source::<Change>::of_item(now.id), Direction::Descending, Some(&last));
    while let Some(batch) = rows.next().await? {
        changes.extend(batch.into_iter().map(|row| row.value));
        if changes.len() > CHANGES_MAX {
            let message = format!("is known of items with up to {CHANGES_MAX} change instances by then");
            return Err(refused(message));
        }
    }
    let mut versions =
        table.rows(&Source::<Deployed>::of_item(now.id), Direction::Descending, Some(&last)).at_once(1);
    let newest = versions.next().await?.into_iter().flatten().map(|row| row.value);
    let deployed: Vec<_> = newest.collect();
    past::item(now, &changes, &deployed, moment).ok_or_else(|| Code::NotFound.into())
}

fn refused(message: impl Into<String>) -> Failure {
    Call::bad_filter(&FieldError::new("as_of", message))
}
