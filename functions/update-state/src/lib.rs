//! Decisions of owners: state, log and deployed item of a change instance, and claims on the work.

mod body;
mod charge;
mod claim;
mod decision;
mod definition_check;
mod deployed;
mod newest;
mod refusal;
mod request;

use domain::catalog::schema::Budget;
use domain::model::change::Entry;
use domain::rules::decide::{Decided, Update};
use domain::{ChangeId, State};
use dovetail_aws::off_worker;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Answering, Call, Code, Failure, Function, Operation, Reply, Request, answer};
use dovetail_table::Table;
use request::{Decision, Outcome};

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle(table: &Table, request: Request) -> Answering<'_> {
    answer(request, Function::UpdateState, async move |call| match call.operation {
        Operation::UpdateChangeInstance => update(table, &call).await,
        Operation::RetryChangeInstance => retry_change(table, &call).await,
        Operation::ClaimChangeInstances => claim::batch(table, &call).await,
        Operation::ClaimChangeInstance => claim::one(table, &call).await,
        Operation::CreateDeployedItem => deployed::create(table, &call).await,
        Operation::PatchDeployedItem => deployed::patch(table, &call).await,
        Operation::UpdateCharge | Operation::MarkCharge => charge::update(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
}

async fn update(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let outcome = request::Request { table, call, id, decision: Decision::InBody }.decide().await?;
    let warnings = completed_again(call, &outcome.decided)?;
    let mut reply = reply(table, call, 200, outcome).await?;
    reply.warn(warnings)?;
    Ok(reply)
}

/// Returns a warning for a completion of a change instance that was completed already.
fn completed_again(call: &Call, decided: &Decided) -> Result<Vec<String>, Failure> {
    let Update { state, deployed_item, .. } = body::update(call.fields()?)?;
    let mut entries = decided.change.history.iter();
    let is_completion = |entry: &&Entry| entry.to == State::Completed && entry.from != Some(State::Completed);
    let earlier = entries.find(is_completion).filter(|entry| entry.request != call.request);
    let Some(earlier) = earlier.filter(|_| state == Some(State::Completed)) else { return Ok(Vec::new()) };
    let stored = match &decided.deployed {
        Some(deployed) if deployed.is_observed => {
            format!("; the deployed item is stored as an observation, version {}", deployed.version)
        }
        Some(deployed) => format!("; the deployed item is stored as version {}", deployed.version),
        None if deployed_item.is_some() => "; the deployed item is the newest version already".to_owned(),
        None => String::new(),
    };
    let (by, at) = (earlier.by.changed_by(), earlier.at.to_wire());
    Ok(vec![format!("was already COMPLETED by {by} at {at}{stored}")])
}

async fn retry_change(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let outcome = request::Request { table, call, id, decision: Decision::Retry }.decide().await?;
    reply(table, call, 201, outcome).await
}

async fn reply(table: &Table, call: &Call, status: u16, outcome: Outcome) -> Result<Reply, Failure> {
    let Outcome { decided, mut related } = outcome;
    table.add_definitions_of_changes(std::slice::from_ref(&decided.change), &mut related).await?;
    // Most change instances wait for nothing, which takes no read.
    let awaited = table.awaited([&decided.change]).await?;
    let (viewpoint, mut budget) = (Viewpoint::of(call), Budget::of_request());
    let view = || {
        let view = view::change_instance_with_proposal(&decided.change, &related, &viewpoint, &mut budget);
        view.with_waits(&decided.change, &awaited, &viewpoint)
    };
    let reply = Reply::new(status, off_worker(view))?;
    Ok(reply.with_tag(&view::change_tag(&decided.change, Some(&decided.item))))
}
