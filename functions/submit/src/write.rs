//! Writing a plan: at once in one transaction where it fits, otherwise staged (docs/explanation/staging.md).

use crate::load::Loaded;
use crate::reply;
use domain::change::Change;
use domain::plan::{Plan, Staged};
use domain::related::Related;
use domain::staging::StagingId;
use dovetail_aws::log;
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{Beside, Commit, Table};
use tokio::time::Instant;

/// Writes a plan and replies; none when something it was made on has moved.
pub(crate) async fn write(
    table: &Table,
    call: &Call,
    loaded: &Loaded,
    plan: &Plan<'_>,
    staging: StagingId,
    may_be_at_once: bool,
    until: Instant,
) -> Result<Option<Reply>, Failure> {
    // Before the commit replaces them, whatever becomes of it.
    table.keep_replaced(&plan.replaced).await?;
    let is_small = plan.writes_at_least() <= table.actions_max();
    if !(is_small && may_be_at_once)
        && let Some(staged) = plan.staged(staging)
    {
        return self::staged(table, call, plan, &staged, until).await;
    }
    // What is planned holds together; if it did not, it would have to be read again.
    let Ok(at_once) = plan.at_once(&call.stamp()) else { return Ok(None) };
    // What the reply shows besides is read beside the commit; neither waits for the other, nor ends it.
    let (committed, beside) = tokio::join!(table.commit(&at_once.writes), beside(table, &at_once.born));
    match committed? {
        Commit::Done => match beside {
            Ok(beside) => Ok(Some(reply::born(call, loaded, plan, &at_once, beside))),
            Err(_) => reply::accepted(table, call, &at_once.submission, until).await.map(Some),
        },
        Commit::Stale | Commit::Busy | Commit::Unknown => Ok(None),
        Commit::TooLarge => match plan.staged(staging) {
            Some(staged) => self::staged(table, call, plan, &staged, until).await,
            None => Err(Code::Broken.into()),
        },
    }
}

/// The records that are shown beside what is born and that the plan does not hold.
pub(crate) async fn beside(table: &Table, born: &[Change]) -> Result<Related, dovetail_table::Error> {
    let wanted = born.iter().flat_map(|change| {
        let old = change.old.map(|version| Beside::Declaration(change.consumer.id, version.hash));
        let deployed = change.deployed_before.map(Beside::Deployed);
        [Some(Beside::Team(change.service_owner.id)), old, deployed].into_iter().flatten()
    });
    let wanted: Vec<Beside> = wanted.collect();
    table.beside(wanted.into_iter()).await
}

/// Lays the plan out, commits it, and carries out as much of it as the reply shows.
async fn staged(
    table: &Table,
    call: &Call,
    plan: &Plan<'_>,
    staged: &Staged,
    until: Instant,
) -> Result<Option<Reply>, Failure> {
    let laid_out = table.stage(staged, &plan.declarations).await;
    let committed = match laid_out {
        Ok(Commit::Done) => table.commit(&staged.commit).await,
        other => other,
    };
    if matches!(committed, Ok(Commit::Done)) {
        return reply::accepted(table, call, &staged.submission, until).await.map(Some);
    }
    // Not to be committed any more, or committed although the answer was lost; the storage knows which. The sweep clears
    // it away.
    if let Err(error) = table.abort(&staged.staging).await {
        log(&format!("staging {}", staged.staging.id), &error.to_string());
    }
    committed?;
    Ok(None)
}
