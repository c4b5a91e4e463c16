//! Submissions: previews of declarations, and their acceptance in one transaction or as a staging.

mod attempt;
mod load;
mod messages;
mod planning;
mod preview;
mod refused;
mod reply;
mod revert;
mod secrets;
mod submitted;
mod write;

use crate::attempt::Attempt;
use crate::load::LoadedTeam;
use crate::submitted::Submitted;
use domain::model::secrets::MaskKey;
use domain::model::staging::StagingId;
use domain::model::submission::Submission;
use dovetail_aws::retry;
use dovetail_http::{Answering, Call, Code, CursorKey, Failure, Function, Operation, Reply, Request, answer};
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
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle<'a>(table: &'a Table, key: &'a CursorKey, request: Request) -> Answering<'a> {
    answer(request, Function::Submit, async move |call| match call.operation {
        Operation::ValidateSubmission => {
            let page = preview::page(&call)?;
            let submitted = Submitted::parse(&call, preview::PARAMETERS)?;
            preview::preview(table, &call, &key.masks(), submitted, &page).await
        }
        Operation::ValidateRevert => {
            let page = preview::page(&call)?;
            let submitted = Submitted::revert(table, &call, preview::PARAMETERS).await?;
            preview::preview(table, &call, &key.masks(), submitted, &page).await
        }
        Operation::Submit => submit(table, &call, &key.masks(), Submitted::parse(&call, &[])?).await,
        Operation::Revert => {
            submit(table, &call, &key.masks(), Submitted::revert(table, &call, &[]).await?).await
        }
        _ => Err(Code::NoSuchRoute.into()),
    })
}

/// Submits a declaration: loads, plans and writes, and starts over if a record has changed meanwhile.
async fn submit(
    table: &Table,
    call: &Call,
    key: &MaskKey,
    mut submitted: Submitted,
) -> Result<Reply, Failure> {
    let until = Instant::now() + REPLYING_MAX;
    // After a lost answer, the submission is under the number of the last attempt.
    let mut attempted = None;
    let mut refusal = Code::Contended;
    // The head of the last attempt, and the number of attempts that failed under an unchanged head.
    let (mut rested_on, mut overtaken) = (None, 0);
    let mut attempts = retry::PLAN.attempts();
    while let Some(number) = attempts.next().await {
        let team = load::team(table, call, submitted.key(), call.if_match.is_some()).await?;
        // Before a new plan: a repetition gets the stored result, even if its declaration would fail by now.
        if let Some(stored) = submitted.earlier(table, call, &team, attempted).await? {
            return repeated(table, call, &submitted, &team, &stored, until).await;
        }
        let attempt = Attempt::load(table, key, &mut submitted, team).await?;
        let Some(attempt) = attempt.ready(&mut refusal) else { continue };
        let plan = attempt.plan_as_previewed(table, call).await?;
        let Some(plan) = plan.ready(&mut refusal) else { continue };
        // An unchanged head means that owners were faster, and not another submission.
        let head = attempt.loaded.team.stored.head;
        overtaken += u32::from(rested_on == Some(head));
        rested_on = Some(head);
        attempted = Some(plan.submission().id);
        // A separate staging for each attempt: work of an abandoned attempt must never become part of a later one.
        let staging = StagingId::of(&call.request, number);
        let at_once = overtaken < OVERTAKEN_MAX;
        let written = write::write(table, call, &attempt.loaded, &plan, staging, at_once, until);
        if let Some(reply) = written.await? {
            return attempt.with_messages(table, call, reply).await;
        }
    }
    // The last attempt may be stored, although its answer was lost (docs/explanation/concurrency.md, lost answers).
    let team = load::team(table, call, submitted.key(), call.if_match.is_some()).await?;
    match submitted.earlier(table, call, &team, attempted).await? {
        Some(stored) => repeated(table, call, &submitted, &team, &stored, until).await,
        None => Err(refusal.into()),
    }
}

/// Returns the reply to a submission that is stored already.
async fn repeated(
    table: &Table,
    call: &Call,
    submitted: &Submitted,
    team: &LoadedTeam,
    stored: &Submission,
    until: Instant,
) -> Result<Reply, Failure> {
    let reply = reply::accepted(table, call, stored, until).await?;
    messages::add_to_accepted(table, call, team, None, submitted, reply).await
}
