//! Submissions: a declaration is previewed, or made the desired state in one transaction, or staged and then made it.

mod load;
mod messages;
mod preview;
mod reply;
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
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle(table: &Table, event: Event) -> Answering<'_> {
    answer(event, Function::Submit, async move |call| match call.operation {
        Operation::ValidateSubmission => {
            let mut concerned = Concerned::default();
            let told = preview::preview(table, &call, &mut concerned).await;
            concerned.told(table, &call, told).await
        }
        Operation::Submit => {
            let mut concerned = Concerned::default();
            let told = submit(table, &call, &mut concerned).await;
            concerned.told(table, &call, told).await
        }
        _ => Err(Code::NoSuchRoute.into()),
    })
}

/// Takes a declaration: load, plan, write; again from the start when something moved meanwhile.
async fn submit(table: &Table, call: &Call, concerned: &mut Concerned) -> Result<Reply, Failure> {
    let began = Instant::now();
    let until = began + REPLYING_MAX;
    let submitted = Submitted::parse(call, &[])?;
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
        let loaded = load::items(table, team, &submitted).await?;
        concerned.loaded(&loaded, &submitted);
        match submitted.plan_as_previewed(call, &loaded)? {
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
