//! Carrying work out: what is owed to each item is generated in a transaction of its own, then the record is removed.

use crate::of_item::{MISFITS_MAX, OfItem, corrupt};
use domain::submission::Submission;
use domain::work::{Work, WorkId};
use dovetail_aws::{log, now, pause};
use dovetail_table::{Commit, Error, Owing, Table};
use futures_util::stream::{self, StreamExt};
use std::time::Duration;
use tokio::time::Instant;

/// How often a record is finished anew because others finish records of the same submission.
const ATTEMPTS_MAX: u32 = 24;

/// How many items are generated beside each other.
const ITEMS_AT_ONCE: usize = 8;

/// How long work is carried out in one go; what is done by then is not done again.
const DURATION_MAX: Duration = Duration::from_secs(20);

/// When work that is begun now is to be left as it is.
fn deadline() -> Instant {
    Instant::now() + DURATION_MAX
}

/// What became of a work record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// All of it exists, now or since before.
    Out,
    /// Some of it is broken; counted on the record, which stays.
    Broken,
    /// Some of it is broken, for the last time: the record is set aside.
    SetAside,
}

/// Carries out what a submission owes, record by record, and tells what became of each. An error is no record's fault:
/// try again later.
///
/// After 20 seconds the rest is left: each record that is finished tells the stream of the submission, which wakes
/// generation again.
pub async fn carry_out_all(table: &Table, submission: &Submission) -> Result<Vec<Carried>, Error> {
    let until = deadline();
    let (mut all, mut after) = (Vec::new(), 0);
    let mut submission = submission.clone();
    while Instant::now() < until {
        let Some(owing) = table.next_work(&submission, after).await? else { break };
        after = owing.id.number;
        if owing.is_set_aside {
            continue;
        }
        let (carried, now) = match carry_out_one(table, &submission, owing, until).await {
            Ok(done) => done,
            // The time is up in the midst of a record, which is no failure: one that is finished has told the stream.
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

/// Carries out one work record of which no more is known than its id. An error is not the record's fault.
pub async fn carry_out(table: &Table, id: WorkId) -> Result<Carried, Error> {
    let submission = match submission_of(table, id).await {
        Ok(Some(submission)) => submission,
        Ok(None) => return Ok(Carried::Out),
        Err(error) => return judged(table, id, error).await,
    };
    let Some(owing) = table.next_work(&submission, id.number.saturating_sub(1)).await? else {
        return Ok(Carried::Out);
    };
    if owing.id != id {
        return Ok(Carried::Out);
    }
    carry_out_one(table, &submission, owing, deadline()).await.map(|(carried, _)| carried)
}

/// Carries out what is left of a staged submission as far as its first change instances, which a reply shows; what is
/// not done at a certain moment is left.
pub async fn carry_out_first(
    table: &Table,
    submission: &Submission,
    changes: usize,
    until: Instant,
) -> Result<(), Error> {
    let Some(last) = submission.direct_changes().take(changes).last() else { return Ok(()) };
    let (mut after, mut submission) = (0, submission.clone());
    while let Some(owing) = table.next_work(&submission, after).await? {
        // Records are in the order of the change instances that they begin with.
        let is_beyond = |work: &Work| work.entries.first().is_none_or(|first| first.id > last);
        if owing.is_set_aside || owing.work.as_ref().is_ok_and(is_beyond) {
            break;
        }
        after = owing.id.number;
        // A failure is counted by whoever the stream wakes; here the rest is not shown.
        let now = attempt(table, &submission, &owing.work?, until).await?;
        submission = now.unwrap_or(submission);
    }
    Ok(())
}

/// What became of a record, and the submission as it is then, if the record is finished.
async fn carry_out_one(
    table: &Table,
    submission: &Submission,
    owing: Owing,
    until: Instant,
) -> Result<(Carried, Option<Submission>), Error> {
    let done = match owing.work {
        Ok(work) => attempt(table, submission, &work, until).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(now) => Ok((Carried::Out, now)),
        Err(error) => judged(table, owing.id, error).await.map(|carried| (carried, None)),
    }
}

/// Counts a failure on the record, unless it may be otherwise later without anything about the record being mended.
async fn judged(table: &Table, id: WorkId, error: Error) -> Result<Carried, Error> {
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
    let generating = items.into_iter().map(|of_item| in_time(table, work.id, submission, of_item, until));
    // What is owed to one item does not wait for another's that is broken.
    let generated: Vec<Result<(), Error>> =
        stream::iter(generating).buffer_unordered(ITEMS_AT_ONCE).collect().await;
    let failed = generated.into_iter().filter_map(Result::err);
    let (broken, temporary): (Vec<_>, Vec<_>) = failed.partition(|error| !is_temporary(error));
    match broken.into_iter().chain(temporary).next() {
        Some(error) => Err(error),
        None => finish(table, submission, work).await,
    }
}

/// Generates what is owed to one item, unless the time is up.
async fn in_time(
    table: &Table,
    id: WorkId,
    submission: &Submission,
    of_item: OfItem,
    until: Instant,
) -> Result<(), Error> {
    if Instant::now() >= until {
        return Err(Error::Unavailable(format!("{id} takes long; it goes on where it was")));
    }
    of_item.generate(table, id, submission).await
}

/// The submission that owes the work; written with it, but a read beside that may show one without the other. None
/// when the work is gone as well.
async fn submission_of(table: &Table, id: WorkId) -> Result<Option<Submission>, Error> {
    for attempt in 0..MISFITS_MAX {
        if let Some(submission) = table.submission(id.submission).await? {
            return Ok(Some(submission));
        }
        if !table.is_owed(id).await? {
            return Ok(None);
        }
        pause(attempt).await;
    }
    Err(corrupt(id, "its submission is missing"))
}

/// Removes the record and counts it; somebody else may have done so.
async fn finish(table: &Table, submission: &Submission, work: &Work) -> Result<Option<Submission>, Error> {
    let mut now_is = submission.clone();
    for attempt in 0..ATTEMPTS_MAX {
        let (after, done) = now_is.without(work, now());
        let commit = table.commit(&done).await?;
        if commit == Commit::Done {
            return Ok(Some(after));
        }
        // In this order: the record goes with its count, so a count that is gone leaves no record to be found.
        let counted = table.submission(work.id.submission).await?;
        if !table.is_owed(work.id).await? {
            return Ok(counted);
        }
        match counted {
            Some(counted) if counted.work_left > 0 => now_is = counted,
            Some(_) | None if commit == Commit::Stale => {
                return Err(corrupt(work.id, "its submission counts no work"));
            }
            Some(_) | None => {}
        }
        pause(attempt).await;
    }
    Err(Error::Unavailable(format!("{}: others change the same records right now", work.id)))
}
