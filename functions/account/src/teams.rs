//! The settings of the caller's team, and new teams.

use crate::body;
use domain::TeamId;
use domain::account::api_key::Made;
use domain::account::audit_log::{AuditEntry, Event as AuditEvent};
use domain::base::actor::Role;
use domain::model::team::Team;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply, Secret};
use dovetail_table::{NewTeam, Table};

/// Changes the settings of the team. The metadata of a team belong to declarations instead.
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

/// Creates a team with its first API key, in one transaction. Only operators may create teams.
pub(crate) async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let new = body::new_team(call.fields()?)?;
    let secret = Secret::made().ok_or(Code::Broken)?;
    let first = Made { hash: secret.hash(), name: new.key_name, role: Role::Admin, expires: None };
    match table.create_team(&new.name, new.confirm_removals, &first, &call.ctx()).await? {
        NewTeam::Done(team, key) => {
            let mut api_key = view::api_key(&key, &Viewpoint::of(call));
            // This is the only reply with the secret, because the table has only its hash.
            if let Some(api_key) = api_key.as_object_mut() {
                api_key.insert("key".to_owned(), secret.text().into());
            }
            let mut reply = Reply::new(201, view::team_for_operators(&team))?;
            reply.insert("api_key", api_key)?;
            Ok(reply)
        }
        NewTeam::LooksLike(other) if other.name == new.name => Err(Code::TeamNameTaken.into()),
        NewTeam::LooksLike(other) => {
            let mut reply = Reply::error(Code::TeamNameTaken);
            reply.insert("detail", format!("the name looks like that of team '{}'", other.name).into())?;
            Err(reply.into())
        }
    }
}
