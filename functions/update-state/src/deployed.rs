//! Deployed items by themselves: created for an item or a change instance, or merged into the newest version.

use crate::body::NOT_NULL;
use crate::newest::newest_done;
use crate::request::{Decision, Deploy, Outcome, Request};
use domain::base::id::DeployedId;
use domain::model::deployed::{DEPLOYED_BYTES_MAX, Deployed};
use domain::model::storable::{StorableValue, Unstorable};
use domain::rules::decide::{Decided, Patch};
use domain::rules::visibility::Side;
use domain::{ChangeId, ItemId};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Field, FieldError, Fields, Reply};
use dovetail_table::Table;
use serde_json::{Map, Value, json};

const CHANGE: &str = "change_instance";
const ITEM: &str = "service_item";

/// Creates a deployed item for a service item or a change instance.
pub(crate) async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let mut fields = call.fields()?;
    let data = data(&mut fields).storable(DEPLOYED_BYTES_MAX).required();
    let id = target(table, call, &mut fields).await?;
    let (data, id) = fields.finish(|| Some((data?, id?)))?;
    record(table, call, id, Deploy { data, patch: None }).await
}

/// Creates a version in which some data are changed; the version in the path stays.
pub(crate) async fn patch(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let (change, deploy) = patched(table, call).await?;
    record(table, call, change, deploy).await
}

/// Returns the data of the new version, and the change instance to which it belongs.
async fn patched(table: &Table, call: &Call) -> Result<(ChangeId, Deploy), Failure> {
    let deployed = table.deployed(call.id(DeployedId::parse)?).await?;
    let team = call.caller.team.id;
    let visible = |deployed: &Deployed| Side::ALL.iter().any(|side| side.shows_deployed(deployed, team));
    let deployed = deployed.filter(visible).ok_or(Code::NotFound)?;
    let mut fields = call.fields()?;
    let delta = data(&mut fields).storable(DEPLOYED_BYTES_MAX).required();
    let delta = fields.finish(|| delta)?;
    let item = table.item(deployed.item).await?.ok_or(Code::Broken)?;
    // The object of a hidden version is removed, so a new version begins with the members in the request.
    let continues = item.shown_deployed().is_some();
    let data = if continues { serde_json::from_str(&deployed.data).unwrap_or_default() } else { json!({}) };
    let data = merged(data, &delta).map_err(|reason| match reason {
        Unstorable::Bytes => Code::DeployedItemTooLarge.into(),
        Unstorable::Depth | Unstorable::Number | Unstorable::Name => {
            Failure::from(FieldError::new("data", reason.message(DEPLOYED_BYTES_MAX)))
        }
    })?;
    // The new version belongs to the newest finished change instance, even if the old version belongs to an earlier
    // one.
    let change = newest_done(table, &item).await?.unwrap_or(deployed.change);
    let patch = Some(Patch { onto: deployed.id, continues, members: delta });
    Ok((change, Deploy { data, patch }))
}

fn data(fields: &mut Fields) -> Field<'_, Value> {
    fields.object("data").null(NOT_NULL).absent(NOT_NULL)
}

/// Returns `data` with `delta` merged into it (RFC 7396).
fn merged(mut data: Value, delta: &Value) -> Result<StorableValue, Unstorable> {
    merge(&mut data, delta);
    StorableValue::new(data)
}

/// Merges `delta` into `data`, object by object; null removes a member.
fn merge(data: &mut Value, delta: &Value) {
    let Value::Object(delta) = delta else {
        *data = delta.clone();
        return;
    };
    if !data.is_object() {
        *data = Value::Object(Map::new());
    }
    let Some(data) = data.as_object_mut() else { return };
    for (key, value) in delta {
        if value.is_null() {
            data.remove(key);
        } else {
            merge(data.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

async fn record(table: &Table, call: &Call, id: ChangeId, deploy: Deploy) -> Result<Reply, Failure> {
    let request = Request { table, call, id, decision: Decision::Deploy(deploy) };
    let Outcome { decided: Decided { deployed, item, .. }, .. } = request.decide().await?;
    let viewpoint = Viewpoint::of(call);
    if let Some(deployed) = deployed {
        return Reply::new(201, view::deployed_item(&deployed, &viewpoint));
    }
    // The same data as in the newest version make no new version (R23).
    let latest = item.deployed.ok_or(Code::Broken)?;
    let deployed = table.deployed(latest.id).await?.ok_or(Code::Broken)?;
    let mut reply = Reply::new(200, view::deployed_item(&deployed, &viewpoint))?;
    reply.insert("message", "no change detected".into())?;
    Ok(reply)
}

/// Returns the change instance of a new deployed item: the one in the body, or the newest finished one of the item.
///
/// A body with both must name a change instance of that item. Returns `None` only after an error.
async fn target(table: &Table, call: &Call, fields: &mut Fields) -> Result<Option<ChangeId>, Failure> {
    let change = reference(fields, call, CHANGE, ChangeId::parse);
    let item = reference(fields, call, ITEM, ItemId::parse);
    match (change, item) {
        (Some(change), None) => return Ok(Some(change)),
        (None, Some(id)) => {
            let item = table.item(id).await?;
            let team = call.caller.team.id;
            match item.filter(|item| Side::ALL.iter().any(|side| side.shows_item(item, team))) {
                Some(item) => return Ok(newest_done(table, &item).await?.or(Some(item.latest_change))),
                None => fields.refuse(ITEM, "must be an item of this team"),
            }
        }
        (Some(change), Some(item)) if is_of_item(table, call, change, item).await? => {
            return Ok(Some(change));
        }
        (Some(change), Some(item)) => {
            fields.refuse(CHANGE, format!("must belong to service_item {item}"));
            fields.refuse(ITEM, format!("must be the item of change_instance {change}"));
        }
        (None, None) if fields.is_wrong(ITEM) => {}
        (None, None) => fields.refuse(CHANGE, "must be present, unless service_item is"),
    }
    Ok(None)
}

/// Reads a reference to an object, an id or a URL.
fn reference<Id>(
    fields: &mut Fields,
    call: &Call,
    field: &'static str,
    parse: fn(u64) -> Option<Id>,
) -> Option<Id> {
    let collection = format!("{field}s");
    let expected = format!("must be an id or a URL of {collection}");
    fields.value(field, expected, |value| call.id_in(&value, &collection).and_then(parse)).nullable()
}

/// Returns whether a visible change instance belongs to an item. The answer reveals nothing about invisible objects.
async fn is_of_item(table: &Table, call: &Call, id: ChangeId, item: ItemId) -> Result<bool, Failure> {
    let team = call.caller.team.id;
    let change = table.change(id).await?;
    let change = change.filter(|change| Side::ALL.iter().any(|side| side.shows_change(change, team)));
    Ok(change.is_some_and(|change| change.item == item))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the examples of RFC 7396, appendix A, with objects as documents.
    #[test]
    fn a_patch_merges_as_the_standard_says() {
        for (data, delta, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let merged = merged(data.clone(), &delta).unwrap();
            assert_eq!(*merged, expected, "{data} {delta}");
        }
    }
}
