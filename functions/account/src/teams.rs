//! The settings of the caller's team.

use crate::body;
use domain::TeamId;
use domain::account::audit_log::{AuditEntry, Event as AuditEvent};
use domain::model::team::Team;
use dovetail_http::{Call, Code, Failure, Reply, view};
use dovetail_table::Table;

/// Changes the settings. Its metadata belong to declarations.
pub(crate) async fn update(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.own_id(TeamId::new, |id| id)?;
    let before = table.team(id).await?.ok_or(Code::Unauthenticated)?;
    let confirm_removals = body::confirm_removals(call.fields()?)?.unwrap_or(before.confirm_removals);
    let after = Team { confirm_removals, ..before.clone() };
    if after != before {
        let audit_entry = AuditEntry::of_team(AuditEvent::TeamChanged, &after, &call.ctx());
        table.change_team(&before, &after, &audit_entry).await?.ok_or(Code::Contended)?;
    }
    Reply::new(200, view::team(&after, call.caller.role))
}
