//! A team's account: its API keys are made, rotated and revoked, and what is recorded of them and of its services is told.

mod body;

use domain::access::{ApiKey, KEYS_MAX, Made};
use domain::id::KeyId;
use domain::recorded::{Event as Happened, Recorded};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Answering, Call, Code, Event, Failure, Function, Operation, Reply, Secret, answer};
use dovetail_table::{Keyed, Table};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

/// How long a position in the list of records can be.
const CURSOR_BYTES_MAX: usize = 256;

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle(table: &Table, event: Event) -> Answering<'_> {
    answer(event, Function::Account, async move |call| match call.operation {
        Operation::ListApiKeys => list(table, &call).await,
        Operation::GetApiKey => {
            Ok(Reply::new(200, view::api_key(&found(table, &call).await?, &Viewpoint::of(&call))))
        }
        Operation::CreateApiKey => create(table, &call).await,
        Operation::RotateApiKey => rotate(table, &call).await,
        Operation::RevokeApiKey => revoke(table, &call).await,
        Operation::ListRecords => records(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
}

async fn list(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&[])?;
    let keys = table.api_keys(call.caller.team.id).await?;
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> = keys.iter().map(|key| view::api_key(key, &viewpoint)).collect();
    Ok(Reply::new(200, json!({"count": results.len(), "next": null, "previous": null, "results": results})))
}

async fn found(table: &Table, call: &Call) -> Result<ApiKey, Failure> {
    let id = call.id(KeyId::parse)?;
    // Another team's is not even looked up.
    if id.team() != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    Ok(table.api_key_by_id(id).await?.ok_or(Code::NotFound)?)
}

async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let asked = body::created(&call.object()?, call.now)?;
    let secret = Secret::made().ok_or(Code::Broken)?;
    let stamp = call.stamp();
    let made = Made { hash: secret.hash(), name: asked.name, role: asked.role, expires: asked.expires };
    let key = ApiKey::new(made, call.caller.team.clone(), &stamp);
    match table.create_api_key(&key, &Recorded::of_key(Happened::KeyCreated, &key, &stamp)).await? {
        Keyed::Stored => Ok(shown_once(call, &key, &secret)),
        Keyed::Stale if table.is_key_name_taken(key.team.id, &key.name).await? => Err(Code::NameTaken.into()),
        Keyed::Stale if full(table, call).await? => Err(Code::TooManyKeys.into()),
        Keyed::Stale => Err(Code::Contended.into()),
    }
}

async fn rotate(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let key = found(table, call).await?;
    let asked = body::rotated(&call.object()?, call.now)?;
    if key.successor.is_some() {
        return Err(Code::AlreadyRotated.into());
    }
    let secret = Secret::made().ok_or(Code::Broken)?;
    let stamp = call.stamp();
    let (ended, successor) = key.rotated(secret.hash(), asked.expires, asked.overlap_micros, &stamp);
    let recorded = Recorded::of_key(Happened::KeyRotated, &ended, &stamp);
    match table.rotate_api_key(&ended, &successor, &recorded).await? {
        Keyed::Stored => Ok(shown_once(call, &successor, &secret)),
        Keyed::Stale if found(table, call).await?.successor.is_some() => Err(Code::AlreadyRotated.into()),
        Keyed::Stale if full(table, call).await? => Err(Code::TooManyKeys.into()),
        Keyed::Stale => Err(Code::Contended.into()),
    }
}

async fn revoke(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let key = found(table, call).await?;
    match table.revoke_api_key(&key, &Recorded::of_key(Happened::KeyRevoked, &key, &call.stamp())).await? {
        Keyed::Stored => Ok(Reply::nothing()),
        Keyed::Stale => Err(Code::Contended.into()),
    }
}

async fn full(table: &Table, call: &Call) -> Result<bool, Failure> {
    let keys = table.api_keys(call.caller.team.id).await?;
    Ok(u64::try_from(keys.len()).is_ok_and(|count| count >= KEYS_MAX))
}

/// The reply that has the secret, which nobody can read again.
fn shown_once(call: &Call, key: &ApiKey, secret: &Secret) -> Reply {
    let mut body = view::api_key(key, &Viewpoint::of(call));
    if let Some(body) = body.as_object_mut() {
        body.insert("key".to_owned(), json!(secret.text()));
    }
    Reply::new(201, body)
}

async fn records(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["limit", "cursor"])?;
    let limit = call.query.limit().map_err(|error| Call::bad_filter(&error))?;
    let cursor = call.query.get("cursor");
    if cursor.is_some_and(|cursor| !is_place(cursor)) {
        return Err(Code::InvalidCursor.into());
    }
    let records = table.recorded(call.caller.team.id, cursor, limit).await?;
    let next = records.last().filter(|_| records.len() == limit).map(|(place, _)| {
        let cursor = utf8_percent_encode(place, NON_ALPHANUMERIC);
        format!("{}{}?limit={limit}&cursor={cursor}", call.base, call.path)
    });
    let results: Vec<Value> = records.iter().map(|(_, recorded)| view::recorded(recorded)).collect();
    Ok(Reply::new(200, json!({"count": null, "next": next, "previous": null, "results": results})))
}

/// Whether a position may be one of ours: a time in microseconds, and not much more.
fn is_place(cursor: &str) -> bool {
    let time = cursor.split_once('#').map(|(time, _)| time.bytes());
    cursor.len() <= CURSOR_BYTES_MAX
        && time.is_some_and(|mut time| time.len() == 16 && time.all(|byte| byte.is_ascii_digit()))
}
