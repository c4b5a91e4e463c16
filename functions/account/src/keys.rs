//! The API keys of a team.

use crate::body;
use domain::account::api_key::{ApiKey, KEYS_MAX, Made};
use domain::account::audit_log::{AuditEntry, Event as AuditEvent};
use domain::base::actor::Role;
use domain::base::id::KeyId;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply, Secret};
use dovetail_table::{Stored, Table};
use serde_json::Value;

/// Lists the team's API keys as a single page, because their limit keeps the list short.
pub(crate) async fn all(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&[])?;
    let keys = table.api_keys(call.caller.team.id).await?;
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> = keys.iter().map(|key| view::api_key(key, &viewpoint)).collect();
    Reply::list(results.len(), None, results)
}

/// Returns one API key.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    Reply::new(200, view::api_key(&load(table, call).await?, &Viewpoint::of(call)))
}

async fn load(table: &Table, call: &Call) -> Result<ApiKey, Failure> {
    let id = call.own_id(KeyId::parse, KeyId::team)?;
    Ok(table.api_key_by_id(id).await?.ok_or(Code::NotFound)?)
}

/// Creates an API key.
pub(crate) async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let created = body::created(call.fields()?, call.now)?;
    let secret = Secret::made().ok_or(Code::Broken)?;
    let ctx = call.ctx();
    let made = Made { hash: secret.hash(), name: created.name, role: created.role, expires: created.expires };
    let key = ApiKey::new(made, call.caller.team.clone(), &ctx);
    match table.create_api_key(&key, &AuditEntry::of_key(AuditEvent::KeyCreated, &key, &ctx)).await? {
        Stored::Done(()) => with_secret(call, &key, &secret),
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
    let key = load(table, call).await?;
    if key.role == Role::Platform {
        return Err(Code::PlatformKey.into());
    }
    let rotated = body::rotated(call.fields()?, call.now)?;
    if key.successor.is_some() {
        return Err(Code::AlreadyRotated.into());
    }
    let secret = Secret::made().ok_or(Code::Broken)?;
    let ctx = call.ctx();
    let (ended, successor) = key.rotated(secret.hash(), rotated.expires, rotated.overlap_micros, &ctx);
    let audit_entry = AuditEntry::of_key(AuditEvent::KeyRotated, &ended, &ctx);
    match table.rotate_api_key(&ended, &successor, &audit_entry).await? {
        Stored::Done(()) => with_secret(call, &successor, &secret),
        // A key has one successor, so a concurrent rotation wins.
        Stored::Stale if load(table, call).await?.successor.is_some() => Err(Code::AlreadyRotated.into()),
        Stored::Stale if full(table, call).await? => Err(Code::TooManyKeys.into()),
        Stored::Stale => Err(Code::Contended.into()),
    }
}

/// Revokes an API key.
pub(crate) async fn revoke(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let key = load(table, call).await?;
    let audit_entry = AuditEntry::of_key(AuditEvent::KeyRevoked, &key, &call.ctx());
    table.revoke_api_key(&key, &audit_entry).await?.ok_or(Code::Contended)?;
    Ok(Reply::nothing())
}

async fn full(table: &Table, call: &Call) -> Result<bool, Failure> {
    let keys = table.api_keys(call.caller.team.id).await?;
    Ok(u64::try_from(keys.len()).is_ok_and(|count| count >= KEYS_MAX))
}

/// Returns the only reply with the secret; the table has its hash.
fn with_secret(call: &Call, key: &ApiKey, secret: &Secret) -> Result<Reply, Failure> {
    let mut reply = Reply::new(201, view::api_key(key, &Viewpoint::of(call)))?;
    reply.insert("key", secret.text().into())?;
    Ok(reply)
}
