//! The API keys of a team.

use crate::{body, whole};
use domain::account::api_key::{ApiKey, KEYS_MAX, Made};
use domain::account::audit_log::{Event as Happened, Recorded};
use domain::base::id::KeyId;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply, Secret};
use dovetail_table::{Stored, Table};
use serde_json::{Value, json};

/// Lists the team's API keys.
pub(crate) async fn all(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&[])?;
    let keys = table.api_keys(call.caller.team.id).await?;
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> = keys.iter().map(|key| view::api_key(key, &viewpoint)).collect();
    Ok(whole(&results))
}

/// Returns one API key.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    Ok(Reply::new(200, view::api_key(&found(table, call).await?, &Viewpoint::of(call))))
}

async fn found(table: &Table, call: &Call) -> Result<ApiKey, Failure> {
    let id = call.own_id(KeyId::parse, KeyId::team)?;
    Ok(table.api_key_by_id(id).await?.ok_or(Code::NotFound)?)
}

/// Creates an API key.
pub(crate) async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let asked = body::created(call.fields()?, call.now)?;
    let secret = Secret::made().ok_or(Code::Broken)?;
    let ctx = call.ctx();
    let made = Made { hash: secret.hash(), name: asked.name, role: asked.role, expires: asked.expires };
    let key = ApiKey::new(made, call.caller.team.clone(), &ctx);
    match table.create_api_key(&key, &Recorded::of_key(Happened::KeyCreated, &key, &ctx)).await? {
        Stored::Done(()) => Ok(shown_once(call, &key, &secret)),
        // One transaction checks name, limit and counter (ADR 16). Only new reads show the condition that failed.
        Stored::Stale if table.is_key_name_taken(key.team.id, &key.name).await? => {
            Err(Code::NameTaken.into())
        }
        Stored::Stale if full(table, call).await? => Err(Code::TooManyKeys.into()),
        Stored::Stale => Err(Code::Contended.into()),
    }
}

/// Creates the successor of an API key.
pub(crate) async fn rotate(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let key = found(table, call).await?;
    let asked = body::rotated(call.fields()?, call.now)?;
    if key.successor.is_some() {
        return Err(Code::AlreadyRotated.into());
    }
    let secret = Secret::made().ok_or(Code::Broken)?;
    let ctx = call.ctx();
    let (ended, successor) = key.rotated(secret.hash(), asked.expires, asked.overlap_micros, &ctx);
    let recorded = Recorded::of_key(Happened::KeyRotated, &ended, &ctx);
    match table.rotate_api_key(&ended, &successor, &recorded).await? {
        Stored::Done(()) => Ok(shown_once(call, &successor, &secret)),
        // A key has one successor, so a concurrent rotation wins.
        Stored::Stale if found(table, call).await?.successor.is_some() => Err(Code::AlreadyRotated.into()),
        Stored::Stale if full(table, call).await? => Err(Code::TooManyKeys.into()),
        Stored::Stale => Err(Code::Contended.into()),
    }
}

/// Revokes an API key.
pub(crate) async fn revoke(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let key = found(table, call).await?;
    let recorded = Recorded::of_key(Happened::KeyRevoked, &key, &call.ctx());
    table.revoke_api_key(&key, &recorded).await?.ok_or(Code::Contended)?;
    Ok(Reply::nothing())
}

async fn full(table: &Table, call: &Call) -> Result<bool, Failure> {
    let keys = table.api_keys(call.caller.team.id).await?;
    Ok(u64::try_from(keys.len()).is_ok_and(|count| count >= KEYS_MAX))
}

/// Returns the only reply with the secret; the table has its hash.
fn shown_once(call: &Call, key: &ApiKey, secret: &Secret) -> Reply {
    let mut body = view::api_key(key, &Viewpoint::of(call));
    if let Some(body) = body.as_object_mut() {
        body.insert("key".to_owned(), json!(secret.text()));
    }
    Reply::new(201, body)
}
