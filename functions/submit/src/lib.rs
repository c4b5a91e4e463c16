//! Submissions: previews of declarations, and their acceptance in one transaction or as a staging.

mod attempt;
mod context;
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
use crate::context::Context;
use crate::load::LoadedTeam;
use crate::submitted::Submitted;
use crate::write::Packing;
use domain::SubmissionId;
use domain::model::staging::StagingId;
use domain::model::submission::Submission;
use domain::model::team::Head;
use dovetail_aws::retry;
use dovetail_http::{Answering, Code, CursorKey, Failure, Function, Operation, Reply, Request, answer};
use dovetail_table::Table;
use std::ops::ControlFlow;

/// Lost races against owners after which a submission is staged (ADR 12).
///
/// The commit of a staging depends on the head alone, and only some decisions change the head.
const OVERTAKEN_MAX: u32 = 3;

/// Answers one request.
pub fn handle<'a>(table: &'a Table, key: &'a CursorKey, request: Request) -> Answering<'a> {
    answer(request, Function::Submit, async move |call| {
        let masks = key.masks();
        respond(&Context::new(table, &call, &masks)).await
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
async fn respond(context: &Context<'_>) -> Result<Reply, Failure> {
    let Context { table, call, .. } = context;
    match call.operation {
        Operation::ValidateSubmission => {
            let page = preview::page(call)?;
            preview::preview(context, Submitted::parse(call, preview::PARAMETERS)?, &page).await
        }
        Operation::ValidateRevert => {
            let page = preview::page(call)?;
            let submitted = Submitted::revert(table, call, preview::PARAMETERS).await?;
            preview::preview(context, submitted, &page).await
        }
        Operation::Submit => submit(context, Submitted::parse(call, &[])?).await,
        Operation::Revert => submit(context, Submitted::revert(table, call, &[]).await?).await,
        _ => Err(Code::NoSuchRoute.into()),
    }
}

/// A submission between two attempts: the request, and what the attempts so far have shown.
struct Pending {
    submitted: Submitted,
    /// Id of the last attempt. After a lost answer, the submission is stored under this id.
    attempted: Option<SubmissionId>,
    /// Why the last attempt failed.
    refusal: Code,
    /// Head of the last attempt.
    head: Option<Head>,
    /// Number of attempts that failed under an unchanged head, because owners were faster.
    overtaken: u32,
}

/// Submits a declaration: loads, plans and writes, and starts over if a record has changed meanwhile.
async fn submit(context: &Context<'_>, submitted: Submitted) -> Result<Reply, Failure> {
    let first = Pending { submitted, attempted: None, refusal: Code::Contended, head: None, overtaken: 0 };
    let ended = retry::until_stored_from(retry::PLAN, first, |number, mut pending: Pending| async move {
        let reply = Box::pin(attempt(context, &mut pending, number)).await?;
        Ok::<_, Failure>(reply.map_or(ControlFlow::Continue(pending), ControlFlow::Break))
    });
    let pending = match ended.await? {
        ControlFlow::Break(reply) => return Ok(reply),
        ControlFlow::Continue(pending) => pending,
    };
    // The last attempt may be stored, although its answer was lost (docs/explanation/concurrency.md, lost answers).
    let team = load::team(context, pending.submitted.key(), context.call.if_match.is_some()).await?;
    match pending.submitted.earlier(context, &team, pending.attempted).await? {
        Some(stored) => repeated(context, &pending.submitted, &team, &stored).await,
        None => Err(pending.refusal.into()),
    }
}

/// Makes one attempt. Returns its reply, or none if another attempt may succeed.
async fn attempt(
    context: &Context<'_>,
    pending: &mut Pending,
    number: u32,
) -> Result<Option<Reply>, Failure> {
    let team = load::team(context, pending.submitted.key(), context.call.if_match.is_some()).await?;
    // Before a new plan: a repetition gets the stored result, even if its declaration would fail by now.
    if let Some(stored) = pending.submitted.earlier(context, &team, pending.attempted).await? {
        return repeated(context, &pending.submitted, &team, &stored).await.map(Some);
    }
    let attempt = Attempt::load(context, &mut pending.submitted, team).await?;
    let Some(attempt) = attempt.ready(&mut pending.refusal) else { return Ok(None) };
    let plan = attempt.plan_as_previewed(context).await?;
    let Some(plan) = plan.ready(&mut pending.refusal) else { return Ok(None) };
    // An unchanged head means that owners were faster, and not another submission.
    let head = Some(attempt.loaded.team.stored.head);
    pending.overtaken += u32::from(pending.head == head);
    pending.head = head;
    pending.attempted = Some(plan.submission().id);
    let packing = Packing {
        // A separate staging for each attempt: work of an abandoned attempt must never become part of a later one.
        staging: StagingId::of(&context.call.request, number),
        may_be_at_once: pending.overtaken < OVERTAKEN_MAX,
    };
    match write::write(context, &attempt.loaded, &plan, &packing).await? {
        Some(reply) => attempt.with_messages(context, reply).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the reply to a submission that is stored already.
async fn repeated(
    context: &Context<'_>,
    submitted: &Submitted,
    team: &LoadedTeam,
    stored: &Submission,
) -> Result<Reply, Failure> {
    let reply = reply::accepted(context, stored).await?;
    // The metadata may have changed since, and the submission stays accepted.
    let expanded = submitted.expanded(&team.stored).unwrap_or_default();
    let declaration = expanded.as_ref().map_or(&submitted.declaration, |expanded| &expanded.declaration);
    messages::add_to_accepted(context, team, (None, declaration), reply).await
}
