//! Messages of a service owner to the consumers of its services.

use domain::account::audit_log::{AuditEntry, Event};
use domain::base::id::{MessageId, ServiceId};
use domain::base::refs::ServiceRef;
use domain::outreach::message::{Content, DESCRIPTION_BYTES_MAX, Message, Messages, Refused, SERVICES_MAX};
use domain::rules::visibility::Side;
use dovetail_aws::retry;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Fields, Reply};
use dovetail_table::Table;
use serde_json::Value;

/// Creates a message.
pub(crate) async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    if call.side == Side::Consumer {
        return Err(Code::NotFound.into());
    }
    let content = content(table, call, None).await?;
    let reply = retry::until_stored(retry::WRITE, |_| async {
        // All messages of a team are one record. The revision of this record is the fence of the limit and of the
        // numbers (ADR 26).
        let before = messages(table, call).await?;
        let after = before.with(content.clone(), &call.ctx()).map_err(|refused| match refused {
            Refused::TooMany => Code::TooManyMessages,
            Refused::OutOfNumbers => Code::OutOfNumbers,
        })?;
        let created = after.all.last().ok_or(Code::Broken)?;
        let audit_entry = AuditEntry::of_message(Event::MessageCreated, &after.owner, created, &call.ctx());
        let is_stored = table.put_messages(before.revision, &after, &audit_entry).await?.is_done();
        is_stored.then(|| reply(call, 201, &after, created)).transpose()
    });
    Ok(reply.await?.ok_or(Code::Contended)?)
}

/// Updates the fields in the body, or with `PUT` all fields.
pub(crate) async fn update(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = owned(call)?;
    let changed = retry::until_stored(retry::WRITE, |_| async {
        let before = messages(table, call).await?;
        let message = before.find(id).ok_or(Code::NotFound)?;
        // `PUT` replaces the message, so absent fields get their defaults.
        let basis = (call.method != "PUT").then_some(&message.content);
        let Some(after) = before.changed(id, content(table, call, basis).await?, &call.ctx()) else {
            return reply(call, 200, &before, message).map(Some);
        };
        let changed = after.find(id).ok_or(Code::Broken)?;
        let audit_entry = AuditEntry::of_message(Event::MessageChanged, &after.owner, changed, &call.ctx());
        let is_stored = table.put_messages(before.revision, &after, &audit_entry).await?.is_done();
        is_stored.then(|| reply(call, 200, &after, changed)).transpose()
    });
    Ok(changed.await?.ok_or(Code::Contended)?)
}

/// Removes a message.
pub(crate) async fn remove(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = owned(call)?;
    let removed = retry::until_stored(retry::WRITE, |_| async {
        let before = messages(table, call).await?;
        let removed = before.find(id).ok_or(Code::NotFound)?;
        let after = before.without(id, &call.ctx());
        let audit_entry = AuditEntry::of_message(Event::MessageRemoved, &after.owner, removed, &call.ctx());
        let is_stored = table.put_messages(before.revision, &after, &audit_entry).await?.is_done();
        Ok::<_, Failure>(is_stored.then(Reply::nothing))
    });
    Ok(removed.await?.ok_or(Code::Contended)?)
}

/// Returns the id in the path, if it is a message of the caller's team.
///
/// A consumer writes no messages.
fn owned(call: &Call) -> Result<MessageId, Failure> {
    let id = call.own_id(MessageId::parse, MessageId::team)?;
    if call.side == Side::ServiceOwner { Ok(id) } else { Err(Code::NotFound.into()) }
}

async fn messages(table: &Table, call: &Call) -> Result<Messages, Failure> {
    let owner = &call.caller.team;
    Ok(table.messages(owner.id).await?.unwrap_or_else(|| Messages::none(owner.clone())))
}

fn reply(call: &Call, status: u16, messages: &Messages, message: &Message) -> Result<Reply, Failure> {
    Reply::new(status, view::message(&messages.owner, message, call.now, &Viewpoint::of(call)))
}

/// Returns the content in a body. Absent fields have the values of `before`, or else their defaults.
async fn content(table: &Table, call: &Call, before: Option<&Content>) -> Result<Content, Failure> {
    let mut fields = call.fields()?;
    let text = fields
        .string("description")
        .ensure(|text| !text.trim().is_empty(), "must not be empty")
        .max(DESCRIPTION_BYTES_MAX);
    let description = match before {
        Some(before) => Some(text.or(before.description.clone())),
        None => text.present(),
    };
    let expires = fields
        .timestamp("expiry_date")
        .message("must be a time, such as 2030-01-31T12:00:00Z")
        .or_null()
        .or(before.and_then(|before| before.expires));
    let services = services(table, call, &mut fields).await?;
    let services = services.or_else(|| before.map(|before| before.services.clone())).unwrap_or_default();
    fields.finish(|| Some(Content { description: description?, expires, services }))
}

/// Returns the services in `scopes`, each once; none if the field is absent or invalid.
///
/// One error names all entries at fault.
async fn services(
    table: &Table,
    call: &Call,
    fields: &mut Fields,
) -> Result<Option<Vec<ServiceRef>>, Failure> {
    // Each entry costs a read, so the limit comes first.
    let list = fields.array("scopes", "URLs of services").max(SERVICES_MAX, "services").optional();
    let Some(list) = list else { return Ok(None) };
    let (mut services, mut unknown): (Vec<ServiceRef>, Vec<String>) = (Vec::new(), Vec::new());
    for (index, entry) in list.iter().enumerate() {
        let service = match service_id(call, entry) {
            Some(id) => {
                table.service_by_id(id).await?.filter(|service| service.owner.id == call.caller.team.id)
            }
            None => None,
        };
        match service.map(|service| service.to_ref()) {
            Some(service) if services.contains(&service) => {}
            Some(service) => services.push(service),
            None => unknown.push(index.to_string()),
        }
    }
    if unknown.is_empty() {
        return Ok(Some(services));
    }
    let indices = unknown.join(", ");
    fields.refuse("scopes", format!("must contain only services of the team; wrong at index {indices}"));
    Ok(None)
}

fn service_id(call: &Call, entry: &Value) -> Option<ServiceId> {
    let scope = entry.get("scope").unwrap_or(entry);
    let named = scope.get("url").or_else(|| scope.get("id")).unwrap_or(scope);
    call.id_in(named, "services").and_then(ServiceId::new)
}
