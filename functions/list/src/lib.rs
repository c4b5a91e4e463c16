//! Lists and single objects: what is, as the caller's team may see it.

mod filter;
mod page;
mod resource;

use domain::change::Change;
use domain::deployed::Deployed;
use domain::id::{ApplicationId, ChangeId, DeployedId, ItemId, ServiceId, SubmissionId};
use domain::item::Item;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, CursorKey, Event, EventReply, Failure, Function, Operation, Reply, answer};
use dovetail_table::Table;
use serde_json::{Value, json};

/// Answers one request; the key signs positions in lists.
pub async fn handle(table: &Table, key: &CursorKey, event: Event) -> EventReply {
    answer(event, Function::List, async |call| respond(table, key, &call).await).await
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
async fn respond(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    match call.operation {
        Operation::ListTeams => teams(table, call).await,
        Operation::ListSubmissions => resource::submissions(table, key, call).await,
        Operation::GetSubmission => submission(table, call).await,
        Operation::ListServiceItems => resource::items(table, key, call).await,
        Operation::GetServiceItem => item(table, call).await,
        Operation::ListChangeInstances => resource::changes(table, key, call).await,
        Operation::GetChangeInstance => change(table, call).await,
        Operation::ListDeployedItems => resource::deployed(table, key, call).await,
        Operation::GetDeployedItem => deployed(table, call).await,
        Operation::ListServices => resource::services(table, key, call).await,
        Operation::GetService => service(table, call).await,
        Operation::ListApplications => resource::applications(table, key, call).await,
        Operation::GetApplication => application(table, call).await,
        _ => Err(Code::NoSuchRoute.into()),
    }
}

/// The caller's team: clients ask for it first, to learn whether their key is good.
async fn teams(table: &Table, call: &Call) -> Result<Reply, Failure> {
    page::only_knows(call, &[])?;
    let team = table.team(call.caller.team.id).await?.ok_or(Code::Unauthenticated)?;
    let body = json!({"count": 1, "next": null, "previous": null, "results": [view::team(&team)]});
    Ok(Reply::new(200, body))
}

async fn submission(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(SubmissionId::parse)?;
    // Another team's number is not even looked up.
    if id.team() != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let submission = table.submission(id).await?.ok_or(Code::NotFound)?;
    let viewpoint = Viewpoint::of(call);
    let changes = table.changes_of(&submission).await?;
    let related = table.related_to_changes(&changes).await?;
    let changes: Vec<Value> =
        changes.iter().map(|change| view::change_instance(change, &related, &viewpoint)).collect();
    Ok(Reply::new(
        200,
        view::submission_with_changes(&submission, submission.progress(), changes, &viewpoint),
    ))
}

async fn item(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let item = table.item(call.id(ItemId::parse)?).await?;
    let item = item.filter(|item: &Item| call.pov.shows_item(item, call.caller.team.id));
    let item = item.ok_or(Code::NotFound)?;
    let related = table.related_to_items(std::slice::from_ref(&item)).await?;
    Ok(Reply::new(200, view::service_item(&item, &related, &Viewpoint::of(call))))
}

async fn change(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let change = table.change(call.id(ChangeId::parse)?).await?;
    let change = change.filter(|change: &Change| call.pov.shows_change(change, call.caller.team.id));
    let change = change.ok_or(Code::NotFound)?;
    let related = table.related_to_changes(std::slice::from_ref(&change)).await?;
    Ok(Reply::new(200, view::change_instance(&change, &related, &Viewpoint::of(call))))
}

async fn deployed(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let deployed = table.deployed(call.id(DeployedId::parse)?).await?;
    let deployed = deployed.filter(|d: &Deployed| call.pov.shows_deployed(d, call.caller.team.id));
    let deployed = deployed.ok_or(Code::NotFound)?;
    Ok(Reply::new(200, view::deployed_item(&deployed, &Viewpoint::of(call))))
}

async fn service(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let service = table.service_by_id(call.id(ServiceId::new)?).await?;
    let team = call.caller.team.id;
    let service = service.filter(|service| resource::shows_service(call.pov, service, team));
    let service = service.ok_or(Code::NotFound)?;
    let schema = table.schema(&service).await?;
    Ok(Reply::new(200, view::service(&service, &schema, &Viewpoint::of(call))))
}

async fn application(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ApplicationId::parse)?;
    if id.team() != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let application = table.application(id).await?.ok_or(Code::NotFound)?;
    let body = view::application(&application, &call.caller.team, &Viewpoint::of(call));
    Ok(Reply::new(200, body))
}
