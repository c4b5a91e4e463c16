//! Submissions: a declaration is previewed, or made the desired state in one transaction, or staged and then made it.

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
use domain::staging::StagingId;
use dovetail_aws::pause;
use dovetail_http::{Answering, Call, Code, Event, Failure, Function, Operation, Reply, answer};
use dovetail_table::Table;
use std::time::Duration;
use tokio::time::Instant;

/// How often a submission is planned anew because others moved what it was planned on, or hold the team's head.
const ATTEMPTS_MAX: u32 = 12;

/// How long after it came in a submission is planned anew: one attempt with all items may take some seconds itself.
const PLANNING_MAX: Duration = Duration::from_secs(8);

/// How long after it came in its first items are carried out for the reply; API Gateway waits for 30 seconds.
const REPLYING_MAX: Duration = Duration::from_secs(20);

/// How often it is written at once while the owners of its items are faster: a staged one rests on the head alone, which
/// only some decisions move.
const OVERTAKEN_MAX: u32 = 3;

/// Answers one request.
pub fn handle(table: &Table, event: Event) -> Answering<'_> {
    answer(event, Function::Submit, async move |call| {
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

/// Takes a declaration: load, plan, write; again from the start when something moved meanwhile.
async fn submit(
    table: &Table,
    call: &Call,
    mut submitted: Submitted,
    concerned: &mut Concerned,
) -> Result<Reply, Failure> {
    let began = Instant::now();
    let until = began + REPLYING_MAX;
    let mut attempted = None;
    let mut refusal = Code::Contended;
    // The head that the last attempt rested on, and how often it was not the head that had moved.
    let (mut rested_on, mut overtaken) = (None, 0);
    for attempt in 0..ATTEMPTS_MAX {
        let team = load::team(table, call, &submitted, call.if_match.is_some()).await?;
        concerned.declared(&team, &submitted);
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
                overtaken += u32::from(rested_on == Some(loaded.stored.head));
                rested_on = Some(loaded.stored.head);
                attempted = Some(plan.submission().id);
                let staging = StagingId::of(&call.request, attempt);
                let at_once = overtaken < OVERTAKEN_MAX;
                let written = write::write(table, call, &loaded, &plan, staging, at_once, until);
                if let Some(reply) = written.await? {
                    return Ok(reply);
                }
            }
        }
        if began.elapsed() >= PLANNING_MAX {
            break;
        }
        pause(attempt).await;
    }
    let team = load::team(table, call, &submitted, call.if_match.is_some()).await?;
    match submitted.earlier(table, call, &team, attempted).await? {
        Some(submission) => reply::accepted(table, call, &submission, until).await,
        None => Err(refusal.into()),
    }
}
