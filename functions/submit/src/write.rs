//! Writes a plan: in one transaction if it fits, or else staged (docs/explanation/staging.md).

use crate::context::Context;
use crate::load::Loaded;
use crate::reply;
use domain::Change;
use domain::model::staging::StagingId;
use domain::rules::plan::{Plan, Staged};
use domain::views::related::Related;
use dovetail_aws::log;
use dovetail_http::{Code, Failure, Reply};
use dovetail_table::{Commit, RelatedKey, Table};

/// How a plan is written.
pub(crate) struct Packing {
    /// Id of the staging, if the plan needs one.
    pub(crate) staging: StagingId,
    /// Whether one transaction may write the plan if it fits.
    pub(crate) may_be_at_once: bool,
}

/// Writes a plan and returns the reply; none if a record of the plan has changed.
pub(crate) async fn write(
    context: &Context<'_>,
    loaded: &Loaded,
    plan: &Plan<'_>,
    packing: &Packing,
) -> Result<Option<Reply>, Failure> {
    let Context { table, call, .. } = context;
    // Before the commit overwrites them. A copy is true whatever happens to the submission (ADR 21).
    table.keep_replaced(&plan.replaced).await?;
    // The secrets are stored before the commit stores declarations with their masks (R58).
    table.put_secrets(plan.secrets.values().collect()).await?;
    let is_small = plan.writes_at_least() <= table.actions_max();
    if !(is_small && packing.may_be_at_once)
        && let Some(staged) = plan.staged(packing.staging)
    {
        return self::staged(context, &staged).await;
    }
    // A consistent plan always has effects. If a plan has none, the next attempt reads the records again.
    let Ok(at_once) = plan.at_once(&call.ctx()) else { return Ok(None) };
    // The reads for the reply run concurrently with the commit. `join` ends neither of them when the other one fails.
    let (committed, related) = tokio::join!(table.commit(&at_once.writes), related(table, &at_once.created));
    match committed? {
        Commit::Done => match related {
            Ok(mut related) => {
                reply::with_plan(&mut related, loaded, plan, &at_once.created);
                reply::created(call, &at_once, &related).map(Some)
            }
            // The submission is stored, so new reads supply the reply.
            Err(_) => reply::accepted(context, &at_once.submission).await.map(Some),
        },
        // Even a failed condition may come from this very transaction. The next attempt searches for the request id.
        Commit::Stale | Commit::Busy | Commit::Unknown => Ok(None),
        // The check above uses a lower bound of the writes, and a transaction also has a limit in bytes.
        Commit::TooLarge => match plan.staged(packing.staging) {
            Some(staged) => self::staged(context, &staged).await,
            None => Err(Code::Broken.into()),
        },
    }
}

/// Reads the other records of the reply: declarations and deployed items before the change, and service owners.
pub(crate) async fn related(table: &Table, created: &[Change]) -> Result<Related, dovetail_table::Error> {
    let wanted = created.iter().flat_map(|change| {
        let old = change.old.map(|version| RelatedKey::Declaration(change.consumer.id, version.hash));
        let deployed = change.deployed_before.map(RelatedKey::Deployed);
        [Some(RelatedKey::Team(change.service_owner.id)), old, deployed].into_iter().flatten()
    });
    table.related(wanted).await
}

/// Stages a plan, commits it, and replies after its first items.
async fn staged(context: &Context<'_>, staged: &Staged) -> Result<Option<Reply>, Failure> {
    let table = context.table;
    let laid_out = table.stage(staged).await;
    let committed = match laid_out {
        Ok(Commit::Done) => table.commit(&staged.commit).await,
        other => other,
    };
    if matches!(committed, Ok(Commit::Done)) {
        return reply::accepted(context, &staged.submission).await.map(Some);
    }
    // A late commit must not follow the next attempt. If the commit is stored and only its answer was lost, the abort
    // has no effect. `sweep` removes an aborted staging.
    if let Err(error) = table.abort(&staged.staging).await {
        log(&format!("staging {}", staged.staging.id), &error.to_string());
    }
    committed?;
    Ok(None)
}
