//! All teams of the deployment, and new ones.

use super::TeamOrder;
use crate::body;
use domain::account::api_key::Made;
use domain::base::actor::Role;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, CursorKey, Failure, Reply, Secret};
use dovetail_table::{Stored, Table};
use serde_json::Value;

/// Lists all teams.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    let list = TeamOrder::parse(call, key)?;
    let count = table.team_count().await?;
    let last = list.after.saturating_add(u64::try_from(list.limit).unwrap_or(u64::MAX)).min(count);
    let teams = table.teams(list.after + 1, last).await?;
    let results: Vec<Value> = teams.iter().map(view::team_for_operators).collect();
    Reply::list(count, list.next(last, count), results)
}

/// Creates a team with its first API key, in one transaction.
pub(crate) async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let new = body::new_team(call.fields()?)?;
    let secret = Secret::made().ok_or(Code::Broken)?;
    let first = Made { hash: secret.hash(), name: new.key_name, role: Role::Admin, expires: None };
    match table.create_team(&new.name, new.confirm_removals, &first, &call.ctx()).await? {
        Stored::Done((team, key)) => {
            let mut api_key = view::api_key(&key, &Viewpoint::of(call));
            // The only reply with the secret; the table has its hash.
            if let Some(api_key) = api_key.as_object_mut() {
                api_key.insert("key".to_owned(), secret.text().into());
            }
            let mut reply = Reply::new(201, view::team_for_operators(&team))?;
            reply.insert("api_key", api_key)?;
            Ok(reply)
        }
        Stored::Stale => Err(Code::TeamNameTaken.into()),
    }
}
