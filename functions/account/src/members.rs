//! The members of a team.

use crate::body;
use domain::account::audit_log::{AuditEntry, Event as AuditEvent};
use domain::account::member::{MEMBERS_MAX, Member, TEAMS_MAX};
use domain::base::id::MemberId;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{Stored, Table};
use serde_json::Value;

/// Lists the team's members.
pub(crate) async fn all(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&[])?;
    let members = table.members(call.caller.team.id).await?;
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> = members.iter().map(|member| view::member(member, &viewpoint)).collect();
    Reply::list(results.len(), None, results)
}

/// Returns one member.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let member = load(table, call).await?;
    Reply::new(200, view::member(&member, &Viewpoint::of(call)))
}

/// Adds a person as a member.
pub(crate) async fn add(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let body::Added { subject, name, role } = body::added(call.fields()?)?;
    let ctx = call.ctx();
    let member = Member::new(subject, name, role, call.caller.team.clone(), &ctx);
    let audit_entry = AuditEntry::of_member(AuditEvent::MemberAdded, &member, &ctx);
    match table.add_member(&member, &audit_entry).await? {
        Stored::Done(()) => Reply::new(201, view::member(&member, &Viewpoint::of(call))),
        Stored::Stale => Err(why_not_added(table, &member).await?.into()),
    }
}

/// Returns the reason why a person was not added. The transaction does not name its failed condition, so the function
/// reads again.
async fn why_not_added(table: &Table, member: &Member) -> Result<Code, Failure> {
    let is_at_least = |count: usize, max: u64| u64::try_from(count).is_ok_and(|count| count >= max);
    if table.member(member.id).await?.is_some() {
        return Ok(Code::AlreadyMember);
    }
    let is_full = is_at_least(table.members(member.team.id).await?.len(), MEMBERS_MAX)
        || is_at_least(table.memberships(&member.subject).await?.len(), TEAMS_MAX);
    Ok(if is_full { Code::TooManyMembers } else { Code::Contended })
}

/// Changes the name or the role of a member.
pub(crate) async fn change(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let before = load(table, call).await?;
    let body::Changed { name, role } = body::changed(call.fields()?)?;
    let viewpoint = Viewpoint::of(call);
    let Some(after) = before.changed(name, role) else {
        return Reply::new(200, view::member(&before, &viewpoint));
    };
    let audit_entry = AuditEntry::of_member(AuditEvent::MemberChanged, &after, &call.ctx());
    table.change_member(&before, &after, &audit_entry).await?.ok_or(Code::Contended)?;
    Reply::new(200, view::member(&after, &viewpoint))
}

/// Ends a membership.
pub(crate) async fn remove(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let member = load(table, call).await?;
    let audit_entry = AuditEntry::of_member(AuditEvent::MemberRemoved, &member, &call.ctx());
    table.remove_member(&member, &audit_entry).await?.ok_or(Code::Contended)?;
    Ok(Reply::nothing())
}

async fn load(table: &Table, call: &Call) -> Result<Member, Failure> {
    let id = call.own_id(MemberId::parse, MemberId::team)?;
    Ok(table.member(id).await?.ok_or(Code::NotFound)?)
}
