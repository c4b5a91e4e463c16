//! Processes work records: a transaction for each item, then one that removes the record.

use crate::of_item::{OfItem, corrupt};
use domain::model::submission::Submission;
use domain::model::work::{Work, WorkId};
use domain::rules::finish_work::finish_work;
use dovetail_aws::{log, now, retry};
use dovetail_table::{Commit, Error, PendingWork, Table};
use futures_util::stream::{self, StreamExt};
use std::ops::ControlFlow;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of items at once.
const ITEMS_AT_ONCE: usize = 8;

/// Maximum duration of one call; the next one continues.
const DURATION_MAX: Duration = Duration::from_secs(20);

/// Time after which an invocation of `generate` starts no further record of a submission.
///
/// Other teams wait in the same lane of the stream. The update of the submission starts `generate` again, behind them.
pub const TURN: Duration = Duration::from_millis(500);

/// Returns the end of a call that starts now.
fn deadline() -> Instant {
    Instant::now() + DURATION_MAX
}

/// The outcome of a work record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// All its change instances exist.
    Out,
    /// A part is broken; the record stays and counts the failure.
    Broken,
    /// A part is broken for the last time; the record is in quarantine.
    SetAside,
}

/// Processes the work records of a submission, and returns their outcomes. A returned error is always temporary.
///
/// The function processes at least one record, and starts no further record after `turn`. Each finished record updates
/// the submission, so the stream starts `generate` again.
pub async fn carry_out_all(
    table: &Table,
    submission: &Submission,
    turn: Instant,
) -> Result<Vec<Carried>, Error> {
    let until = deadline();
    let (mut all, mut after) = (Vec::new(), 0);
    let mut submission = submission.clone();
    while all.is_empty() || Instant::now() < turn {
        let Some(pending) = table.next_work(&submission, after).await? else { break };
        after = pending.id.number;
        // A record in quarantine waits for a redrive (ADR 10).
        if pending.is_set_aside {
            continue;
        }
        let (carried, now) = match carry_out_one(table, &submission, pending, until).await {
            Ok(done) => done,
            // This is not a failure: an earlier record of this call is finished, and its update has started `generate`
            // already.
            Err(_) if Instant::now() >= until && all.contains(&Carried::Out) => break,
            Err(error) => return Err(error),
        };
        submission = now.unwrap_or(submission);
        all.push(carried);
        if submission.work_left == 0 {
            break;
        }
    }
    Ok(all)
}

/// Processes one work record by its id. A returned error is always temporary.
pub async fn carry_out(table: &Table, id: WorkId) -> Result<Carried, Error> {
    let submission = match submission_of(table, id).await {
        Ok(Some(submission)) => submission,
        Ok(None) => return Ok(Carried::Out),
        Err(error) => return checked(table, id, error).await,
    };
    let Some(pending) = table.next_work(&submission, id.number.saturating_sub(1)).await? else {
        return Ok(Carried::Out);
    };
    // The record is gone: another run has finished it.
    if pending.id != id {
        return Ok(Carried::Out);
    }
    carry_out_one(table, &submission, pending, deadline()).await.map(|(carried, _)| carried)
}

/// Processes the first records of a staged submission, up to the change instances of its reply, until a deadline.
pub async fn carry_out_first(
    table: &Table,
    submission: &Submission,
    changes: usize,
    until: Instant,
) -> Result<(), Error> {
    let Some(last) = submission.direct_changes().take(changes).last() else { return Ok(()) };
    let (mut after, mut submission) = (0, submission.clone());
    while let Some(pending) = table.next_work(&submission, after).await? {
        // Records have the order of their first change instances, so later ones cannot contain any of the reply.
        let is_beyond = |work: &Work| work.entries.first().is_none_or(|first| first.id > last);
        if pending.is_set_aside || pending.work.as_ref().is_ok_and(is_beyond) {
            break;
        }
        after = pending.id.number;
        // The run after the stream record counts a failure, because this run only serves the reply.
        let now = attempt(table, &submission, &pending.work?, until).await?;
        submission = now.unwrap_or(submission);
    }
    Ok(())
}

/// Returns the outcome of a record, and the updated submission if the record is finished.
async fn carry_out_one(
    table: &Table,
    submission: &Submission,
    pending: PendingWork,
    until: Instant,
) -> Result<(Carried, Option<Submission>), Error> {
    let done = match pending.work {
        Ok(work) => attempt(table, submission, &work, until).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(now) => Ok((Carried::Out, now)),
        Err(error) => checked(table, pending.id, error).await.map(|carried| (carried, None)),
    }
}

/// Counts a failure on the record, unless it may disappear without a repair of the record.
async fn checked(table: &Table, id: WorkId, error: Error) -> Result<Carried, Error> {
    if is_temporary(&error) {
        return Err(error);
    }
    log(&id.to_string(), &error.to_string());
    let is_set_aside = table.count_failure(id).await?;
    Ok(if is_set_aside { Carried::SetAside } else { Carried::Broken })
}

const fn is_temporary(error: &Error) -> bool {
    match error {
        Error::Unavailable(_) | Error::Denied(_) | Error::Full(_) => true,
        Error::NotTaken(_) | Error::Corrupt { .. } => false,
    }
}

async fn attempt(
    table: &Table,
    submission: &Submission,
    work: &Work,
    until: Instant,
) -> Result<Option<Submission>, Error> {
    let items = OfItem::load(table, work).await?;
    let exists = |id| items.iter().any(|item| item.has_change(id));
    let declarations = work.declarations_without(exists);
    table.store_declarations(submission.id.team(), &declarations).await?;
    let generating = items.into_iter().map(|of_item| in_time(table, work.id, submission, of_item, until));
    // All items run to their end, because a broken one must not delay the others.
    let generated: Vec<Result<(), Error>> =
        stream::iter(generating).buffer_unordered(ITEMS_AT_ONCE).collect().await;
    let failed = generated.into_iter().filter_map(Result::err);
    let (broken, temporary): (Vec<_>, Vec<_>) = failed.partition(|error| !is_temporary(error));
    // The error of a broken item comes first, because only this error counts against the record.
    match broken.into_iter().chain(temporary).next() {
        Some(error) => Err(error),
        None => retry::with_budget(finish(table, submission, work)).await,
    }
}

/// Generates the changes of one item, unless the deadline has passed.
async fn in_time(
    table: &Table,
    id: WorkId,
    submission: &Submission,
    of_item: OfItem,
    until: Instant,
) -> Result<(), Error> {
    if Instant::now() >= until {
        return Err(Error::Unavailable(format!("{id} needs more time; the next attempt continues it")));
    }
    retry::with_budget(of_item.generate(table, id, submission)).await
}

/// Returns the submission of a work record; none if both are gone.
///
/// One transaction writes both, but two reads around it can find one without the other.
async fn submission_of(table: &Table, id: WorkId) -> Result<Option<Submission>, Error> {
    let mut reads = retry::TORN_READ.attempts();
    while reads.next().await.is_some() {
        if let Some(submission) = table.submission(id.submission).await? {
            return Ok(Some(submission));
        }
        if !table.is_planned(id).await? {
            return Ok(None);
        }
    }
    Err(corrupt(id, "its submission is missing"))
}

/// Removes the record and lowers the counter of the submission. Another run may have done so already.
async fn finish(table: &Table, submission: &Submission, work: &Work) -> Result<Option<Submission>, Error> {
    let finished = retry::until_stored_from(retry::WRITE, submission.clone(), |_, now_is| async move {
        let (after, done) = finish_work(&now_is, work, now());
        let commit = table.commit(&done).await?;
        if commit == Commit::Done {
            return Ok(ControlFlow::Break(Some(after)));
        }
        // The submission is read first, because its counter then includes each record that still exists after the read.
        // The reverse order could see a counter of 0 and a record removed in between, and report a false defect.
        let counted = table.submission(work.id.submission).await?;
        if !table.is_planned(work.id).await? {
            return Ok(ControlFlow::Break(counted));
        }
        match counted {
            Some(counted) if counted.work_left > 0 => Ok(ControlFlow::Continue(counted)),
            Some(_) | None if commit == Commit::Stale => {
                Err(corrupt(work.id, "its submission has a work count of 0"))
            }
            Some(_) | None => Ok(ControlFlow::Continue(now_is)),
        }
    });
    let contended = || Error::Unavailable(format!("{}: other requests change the same records", work.id));
    finished.await?.break_value().ok_or_else(contended)
}
