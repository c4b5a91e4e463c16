//! Lists and single objects, as visible to the caller's team; a file for each collection.

mod applications;
mod bound;
mod changes;
mod charges;
mod configs;
mod count;
mod deployed;
mod difference;
mod filter;
mod items;
mod messages;
mod order;
mod page;
mod past;
mod pattern;
mod services;
mod submissions;
mod teams;

pub use filter::Filter;
pub use pattern::WORK_MAX;

use dovetail_http::{Answering, Code, CursorKey, Failure, Function, Operation, Reply, Request, answer};
use dovetail_table::Table;
use page::Asked;

/// Answers one request; `key` signs cursors.
pub fn handle<'a>(table: &'a Table, key: &'a CursorKey, request: Request) -> Answering<'a> {
    answer(request, Function::List, async move |call| respond(Asked { table, key, call: &call }).await)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
async fn respond(asked: Asked<'_>) -> Result<Reply, Failure> {
    let Asked { table, call, .. } = asked;
    match call.operation {
        Operation::ListTeams => teams::all(table, call).await,
        Operation::GetTeam => teams::one(table, call).await,
        Operation::ListSubmissions => submissions::all(asked).await,
        Operation::GetSubmission => submissions::one(table, call).await,
        Operation::CompareSubmissions => difference::between(asked).await,
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
        Operation::ListCharges => charges::all(asked).await,
        Operation::ListAccumulatedCharges => charges::accumulated(asked).await,
        Operation::GetCharge => charges::one(table, call).await,
        Operation::ListServices => services::all(asked).await,
        Operation::ListDependentServices => services::dependent(asked).await,
        Operation::ListServiceTags => services::tags(table, call).await,
        Operation::GetServiceDocs => services::docs(table, call).await,
        Operation::ListServiceConfigs => configs::all(asked).await,
        Operation::GetServiceConfig => configs::one(table, call).await,
        Operation::GetService => services::one(table, call).await,
        Operation::ListApplications => applications::all(asked).await,
        Operation::GetApplication => applications::one(asked).await,
        Operation::ListMessages => messages::all(table, call).await,
        Operation::GetMessage => messages::one(table, call).await,
        _ => Err(Code::NoSuchRoute.into()),
    }
}
