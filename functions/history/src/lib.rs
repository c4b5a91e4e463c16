//! The history of a change instance: each step with its actor, time and reason, newest first. The function also serves
//! the reads of operators.

mod platform;

use domain::ChangeId;
use dovetail_http::{
    Answering, Call, Code, CursorKey, Failure, Function, Operation, Reply, Request, answer, view,
};
use dovetail_table::Table;

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle<'a>(table: &'a Table, key: &'a CursorKey, request: Request) -> Answering<'a> {
    answer(request, Function::History, async move |call| match call.operation {
        Operation::ChangeInstanceHistory => history(table, &call).await,
        Operation::ListAllTeams => platform::teams::all(table, key, &call).await,
        Operation::ListQueues => platform::queues::all(table, key, &call).await,
        Operation::GetStatus => platform::status::status(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
}

async fn history(table: &Table, call: &Call) -> Result<Reply, Failure> {
    // Clients send the parameters of lists here as well. A history is short, so it is always one page.
    call.only_knows(&["limit", "offset", "ordering", "count"])?;
    call.query.integer("limit").and(call.query.integer("offset"))?;
    let id = call.id_of(ChangeId::parse, ChangeId::team)?;
    let change = table.change(id).await?;
    let change = change.filter(|change| call.side.shows_change(change, call.caller.team.id));
    let change = change.ok_or(Code::NotFound)?;
    let entries = view::history(&change);
    Reply::list(entries.len(), None, entries)
}
