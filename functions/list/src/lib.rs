//! Lists and single objects, as visible to the caller's team; a file for each collection.

mod applications;
mod bound;
mod causes;
mod changes;
mod charges;
mod configs;
mod count;
mod declaration;
mod deployed;
mod derived;
mod difference;
mod filter;
mod graph;
mod history;
mod items;
mod messages;
mod named_items;
mod order;
mod page;
mod pattern;
mod reading;
mod references;
mod services;
mod submissions;
mod teams;
mod walk;

pub use filter::Filter;
pub use pattern::WORK_MAX;

use dovetail_http::{Answering, Code, CursorKey, Failure, Function, Operation, Reply, Request, answer};
use dovetail_table::Table;
use page::ListRequest;

/// Answers one request; `key` signs cursors.
pub fn handle<'a>(table: &'a Table, key: &'a CursorKey, request: Request) -> Answering<'a> {
    answer(request, Function::List, async move |call| respond(ListRequest { table, key, call: &call }).await)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
async fn respond(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = request;
    match call.operation {
        Operation::ListTeams => teams::all(table, call).await,
        Operation::GetTeam => teams::one(table, call).await,
        Operation::ListSubmissions => submissions::all(request).await,
        Operation::GetSubmission => submissions::one(request).await,
        Operation::ExportDeclaration => declaration::export(request).await,
        Operation::CompareSubmissions => difference::between(request).await,
        Operation::ListServiceItems => items::all(request).await,
        Operation::ListDependentServiceItems => items::dependent(request).await,
        Operation::GetServiceItem => items::one(table, call).await,
        Operation::GetGrantedItem => references::granted(table, call).await,
        Operation::GetServiceItemGraph => graph::of_item(request).await,
        Operation::ListChangeInstances => changes::all(request).await,
        Operation::ListDependentChangeInstances => changes::dependent(request).await,
        Operation::ListReferencedChangeInstances => changes::referenced(request).await,
        Operation::GetChangeInstance => changes::one(table, call).await,
        Operation::ListDeployedItems => deployed::all(request).await,
        Operation::ListDependentDeployedItems => deployed::dependent(request).await,
        Operation::GetDeployedItem => deployed::one(table, call).await,
        Operation::ListCharges => charges::all(request).await,
        Operation::ListAccumulatedCharges => charges::accumulated(request).await,
        Operation::GetCharge => charges::one(table, call).await,
        Operation::ListServices => services::all(request).await,
        Operation::ListDependentServices => services::dependent(request).await,
        Operation::ListServiceTags => services::tags(table, call).await,
        Operation::GetServiceDocs => services::docs(table, call).await,
        Operation::ListServiceConfigs => configs::all(request).await,
        Operation::GetServiceConfig => configs::one(table, call).await,
        Operation::GetService => services::one(table, call).await,
        Operation::ListApplications => applications::all(request).await,
        Operation::GetApplication => applications::one(request).await,
        Operation::GetApplicationGraph => graph::of_application(request).await,
        Operation::ListMessages => messages::all(table, call).await,
        Operation::GetMessage => messages::one(table, call).await,
        _ => Err(Code::NoSuchRoute.into()),
    }
}
