//! The account of a team: its settings, API keys, members and audit log; for operators also new teams.

mod body;
mod keys;
mod members;
mod records;
mod teams;

use dovetail_http::{Answering, Code, CursorKey, Function, Operation, Request, answer};
use dovetail_table::Table;

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle<'a>(table: &'a Table, key: &'a CursorKey, request: Request) -> Answering<'a> {
    answer(request, Function::Account, async move |call| match call.operation {
        Operation::ListApiKeys => keys::all(table, &call).await,
        Operation::GetApiKey => keys::one(table, &call).await,
        Operation::CreateApiKey => keys::create(table, &call).await,
        Operation::RotateApiKey => keys::rotate(table, &call).await,
        Operation::RevokeApiKey => keys::revoke(table, &call).await,
        Operation::ListMembers => members::all(table, &call).await,
        Operation::GetMember => members::one(table, &call).await,
        Operation::AddMember => members::add(table, &call).await,
        Operation::ChangeMember => members::change(table, &call).await,
        Operation::RemoveMember => members::remove(table, &call).await,
        Operation::UpdateTeam => teams::update(table, &call).await,
        Operation::CreateTeam => teams::create(table, &call).await,
        Operation::ListRecords => records::all(table, key, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
}
