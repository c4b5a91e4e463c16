//! Lists and single objects: what is, as the caller's team may see it; a file for each collection.

mod applications;
mod bound;
mod changes;
mod configs;
mod count;
mod deployed;
mod filter;
mod items;
mod messages;
mod order;
mod page;
mod past;
mod services;
mod submissions;

use dovetail_http::{
    Answering, Call, Code, CursorKey, Event, Failure, Function, Operation, Reply, answer, view,
};
use dovetail_table::Table;
use page::Asked;
use serde_json::json;

/// Answers one request; the key signs positions in lists.
pub fn handle<'a>(table: &'a Table, key: &'a CursorKey, event: Event) -> Answering<'a> {
    answer(event, Function::List, async move |call| respond(Asked { table, key, call: &call }).await)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
async fn respond(asked: Asked<'_>) -> Result<Reply, Failure> {
    let Asked { table, call, .. } = asked;
    match call.operation {
        Operation::ListTeams => teams(table, call).await,
        Operation::ListSubmissions => submissions::all(asked).await,
        Operation::GetSubmission => submissions::one(table, call).await,
        Operation::ListServiceItems => items::all(asked).await,
        Operation::ListDependentServiceItems => items::dependent(asked).await,
        Operation::GetServiceItem => items::one(table, call).await,
        Operation::ListChangeInstances => changes::all(asked).await,
        Operation::ListDependentChangeInstances => changes::dependent(asked).await,
        Operation::ListReferencedChangeInstances => changes::referenced(asked).await,
        Operation::GetChangeInstance => changes::one(table, call).await,
        Operation::ListDeployedItems => deployed::all(asked).await,
        Operation::ListDependentDeployedItems => deployed::dependent(asked).await,
        Operation::GetDeployedItem => deployed::one(table, call).await,
        Operation::ListServices => services::all(asked).await,
        Operation::ListDependentServices => services::dependent(asked).await,
        Operation::ListServiceTags => services::tags(table, call).await,
        Operation::GetServiceDocs => services::docs(table, call).await,
        Operation::ListServiceConfigs => configs::all(asked).await,
        Operation::GetServiceConfig => configs::one(table, call).await,
        Operation::GetService => services::one(table, call).await,
        Operation::ListApplications => applications::all(asked).await,
        Operation::GetApplication => applications::one(table, call).await,
        Operation::ListMessages => messages::all(table, call).await,
        Operation::GetMessage => messages::one(table, call).await,
        _ => Err(Code::NoSuchRoute.into()),
    }
}

/// The caller's team: clients ask for it first, to learn whether their key is good.
async fn teams(table: &Table, call: &Call) -> Result<Reply, Failure> {
    page::only_knows(call, &[])?;
    call.query
        .integer("limit")
        .and(call.query.integer("offset"))
        .map_err(|error| Call::bad_filter(&error))?;
    let mut results = Vec::new();
    for team in &call.teams {
        results.push(view::team(&table.team(team.id).await?.ok_or(Code::Unauthenticated)?));
    }
    let body = json!({"count": results.len(), "next": null, "previous": null, "results": results});
    Ok(Reply::new(200, body))
}
