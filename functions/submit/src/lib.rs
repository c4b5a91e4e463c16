//! Submissions: previews of declarations, and their acceptance in one transaction or as a staging.

mod load;
mod messages;
mod preview;
mod refused;
mod reply;
mod revert;
mod submitted;
mod write;

use crate::messages::Concerned;
use crate::submitted::{Again, Submitted};
use domain::model::staging::StagingId;
use dovetail_aws::retry;
use dovetail_http::{Answering, Call, Code, Failure, Function, Operation, Reply, Request, answer};
use dovetail_table::Table;
use std::time::Duration;
use tokio::time::Instant;

/// Time after which a request applies no further items for its reply. API Gateway waits for 30 seconds.
const REPLYING_MAX: Duration = Duration::from_secs(20);

/// Lost races against owners after which a submission is staged (ADR 12).
///
/// The commit of a staging depends on the head alone, and only some decisions change the head.
const OVERTAKEN_MAX: u32 = 3;

/// Answers one request.
pub fn handle(table: &Table, request: Request) -> Answering<'_> {
    answer(request, Function::Submit, async move |call| {
        let mut concerned = Concerned::default();
        let told = respond(table, &call, &mut concerned).await;
        concerned.told(table, &call, told).await
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
async fn respond(table: &Table, call: &Call, concerned: &mut Concerned) -> Result<Reply, Failure> {
    match call.operation {
        Operation::ValidateSubmission => {
            let page = preview::page(call)?;
            let submitted = Submitted::parse(call, preview::PARAMETERS)?;
            preview::preview(table, call, submitted, &page, concerned).await
        }
        Operation::ValidateRevert => {
            let page = preview::page(call)?;
            let submitted = Submitted::revert(table, call, preview::PARAMETERS).await?;
            preview::preview(table, call, submitted, &page, concerned).await
        }
        Operation::Submit => submit(table, call, Submitted::parse(call, &[])?, concerned).await,
        Operation::Revert => submit(table, call, Submitted::revert(table, call, &[]).await?, concerned).await,
        _ => Err(Code::NoSuchRoute.into()),
    }
}

/// Submits a declaration: loads, plans and writes, and starts over if a record has changed meanwhile.
async fn submit(
    table: &Table,
    call: &Call,
    mut submitted: Submitted,
    concerned: &mut Concerned,
) -> Result<Reply, Failure> {
    let until = Instant::now() + REPLYING_MAX;
    // After a lost answer, the submission is under the number of the last attempt.
    let mut attempted = None;
    let mut refusal = Code::Contended;
    // The head of the last attempt, and the number of attempts that failed under an unchanged head.
    let (mut rested_on, mut overtaken) = (None, 0);
    let mut attempts = retry::PLAN.attempts();
    while let Some(attempt) = attempts.next().await {
        // Every attempt reads everything again, because any record of the last plan may have changed.
        let team = load::team(table, call, &submitted, call.if_match.is_some()).await?;
        concerned.declared(&team, &submitted);
        // Before a new plan: a repetition gets the stored result, even if its declaration would fail by now.
        if let Some(submission) = submitted.earlier(table, call, &team, attempted).await? {
            return reply::accepted(table, call, &submission, until).await;
        }
        let followed = submitted.follow(table, &team).await?;
        concerned.declared(&team, &submitted);
        let loaded = load::items(table, team, &submitted).await?;
        concerned.loaded(&loaded, &submitted);
        let planned = match followed {
            Ok(()) => submitted.plan_as_previewed(table, call, &loaded).await?,
            Err(again) => Err(again),
        };
        match planned {
            Err(Again(why)) => refusal = why,
            Ok(plan) => {
                // An unchanged head means that owners were faster, and not another submission.
                overtaken += u32::from(rested_on == Some(loaded.stored.head));
                rested_on = Some(loaded.stored.head);
                attempted = Some(plan.submission().id);
                // A separate staging for each attempt: work of an abandoned attempt must never become part of a later
                // one.
                let staging = StagingId::of(&call.request, attempt);
                let at_once = overtaken < OVERTAKEN_MAX;
                let written = write::write(table, call, &loaded, &plan, staging, at_once, until);
                if let Some(reply) = written.await? {
                    return Ok(reply);
                }
            }
        }
    }
    // The last attempt may be stored, although its answer was lost (docs/explanation/concurrency.md, lost answers).
    let team = load::team(table, call, &submitted, call.if_match.is_some()).await?;
    match submitted.earlier(table, call, &team, attempted).await? {
        Some(submission) => reply::accepted(table, call, &submission, until).await,
        None => Err(refusal.into()),
    }
}
