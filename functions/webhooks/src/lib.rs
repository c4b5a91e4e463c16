//! Webhooks of a team, with test deliveries and abandoned deliveries; healthchecks.

mod body;
mod failures;
mod healthchecks;
mod triggers;

use domain::account::audit_log::{AuditEntry, Event as AuditEvent};
use domain::base::id::WebhookId;
use domain::outreach::webhook::delivery::{Delivery, EventType, Replied};
use domain::outreach::webhook::reminder::Reminder;
use domain::outreach::webhook::{Scope, WEBHOOKS_MAX, Webhook};
use domain::rules::visibility::Side;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{
    Answering, Call, Code, CursorKey, Failure, Function, Operation, Reply, Request, Secret, answer,
};
use dovetail_outbound::{Outbound, Targets};
use dovetail_table::{Stored, Table};
use serde_json::{Value, json};

/// The default name of a webhook for all services.
const ALL_SERVICES: &str = "All services";
/// Maximum timeout of a test delivery, in seconds: the caller waits for its result.
const TRIGGER_SECONDS_MAX: u64 = 20;

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle<'a>(
    table: &'a Table,
    key: &'a CursorKey,
    outbound: &'a Outbound,
    request: Request,
) -> Answering<'a> {
    answer(request, Function::Webhooks, async move |call| match call.operation {
        Operation::ListWebhooks => all(table, &call).await,
        Operation::GetWebhook => one(table, &call).await,
        Operation::CreateWebhook => create(table, outbound.targets(), &call).await,
        Operation::UpdateWebhook => update(table, outbound.targets(), &call).await,
        Operation::RemoveWebhook => remove(table, &call).await,
        Operation::RotateWebhook => rotate(table, &call).await,
        Operation::TriggerWebhook => trigger(table, outbound, &call).await,
        Operation::ListWebhookFailures => failures::all(table, key, &call).await,
        Operation::ListHealthchecks => healthchecks::all(table, key, &call).await,
        Operation::GetHealthcheck => healthchecks::one(table, &call).await,
        Operation::CreateHealthcheck => healthchecks::put(table, outbound.targets(), &call).await,
        Operation::RemoveHealthcheck => healthchecks::remove(table, &call).await,
        Operation::CheckServiceItem => triggers::item(table, outbound, &call).await,
        Operation::CheckService => triggers::service(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
}

async fn all(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["service_id"])?;
    let services = call.query.integers("service_id")?;
    let team = call.caller.team.id;
    let (webhooks, replied) = (table.webhooks(team).await?, table.all_replied(team).await?);
    let is_requested = |scope: &Scope| {
        let id = scope.service.as_ref().map(|service| service.id.get());
        services.as_ref().is_none_or(|services| id.is_some_and(|id| services.contains(&id)))
    };
    let requested = webhooks.iter().filter(|one| one.scope.side == call.side && is_requested(&one.scope));
    let last = |id: WebhookId| replied.iter().find(|replied| replied.webhook == id);
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> = requested.map(|one| view::webhook(one, last(one.id), &viewpoint)).collect();
    Reply::list(results.len(), None, results)
}

async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let webhook = load(table, call).await?;
    reply(table, call, 200, &webhook).await
}

async fn create(table: &Table, targets: Targets, call: &Call) -> Result<Reply, Failure> {
    let mut fields = call.fields()?;
    let scope = body::scope(table, call, &mut fields).await?;
    let service = scope.as_ref().and_then(|scope| scope.service.as_ref());
    let name = service.map_or_else(|| ALL_SERVICES.to_owned(), |service| service.title.clone());
    let settings = body::new_settings(&mut fields, name, targets);
    body::check_reminders(&mut fields, call, &settings);
    let scope = fields.finish(|| scope)?;
    let (secret, ctx) = (Secret::made().ok_or(Code::Broken)?, call.ctx());
    let (text, hash) = (secret.text().to_owned(), secret.hash());
    let webhook = Webhook::new(settings, scope, call.caller.team.clone(), text, &hash, &ctx);
    let audit_entry = AuditEntry::of_webhook(AuditEvent::WebhookCreated, &webhook, &ctx);
    let reminder = Reminder::of(&webhook, None, call.now);
    match table.create_webhook(&webhook, reminder.as_ref(), &audit_entry).await? {
        Stored::Done(()) => with_secret(call, 201, &webhook),
        Stored::Stale => {
            // The transaction checks the limit, but does not name its failed condition.
            let count = table.webhooks(call.caller.team.id).await?.len();
            let is_full = u64::try_from(count).is_ok_and(|count| count >= WEBHOOKS_MAX);
            Err(if is_full { Code::TooManyWebhooks } else { Code::Contended }.into())
        }
    }
}

async fn update(table: &Table, targets: Targets, call: &Call) -> Result<Reply, Failure> {
    let before = load(table, call).await?;
    let mut fields = call.fields()?;
    body::check_service(&mut fields, call, &before.scope);
    let settings = body::changed_settings(&mut fields, &before.settings, targets);
    body::check_reminders(&mut fields, call, &settings);
    let settings = fields.finish(|| Some(settings))?;
    let Some(after) = before.changed(settings, call.now) else {
        return reply(table, call, 200, &before).await;
    };
    stored(table, call, AuditEvent::WebhookChanged, (&before, &after)).await?;
    reply(table, call, 200, &after).await
}

async fn rotate(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let before = load(table, call).await?;
    let secret = Secret::made().ok_or(Code::Broken)?;
    let after = before.rotated(secret.text().to_owned(), call.now);
    stored(table, call, AuditEvent::WebhookRotated, (&before, &after)).await?;
    with_secret(call, 201, &after)
}

async fn remove(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let webhook = load(table, call).await?;
    let audit_entry = AuditEntry::of_webhook(AuditEvent::WebhookRemoved, &webhook, &call.ctx());
    table.remove_webhook(&webhook, &audit_entry).await?.ok_or(Code::Contended)?;
    Ok(Reply::nothing())
}

/// Sends a test delivery at once, even to an inactive or cooling webhook, or to a receiver that is down or slow.
async fn trigger(table: &Table, outbound: &Outbound, call: &Call) -> Result<Reply, Failure> {
    let mut webhook = load(table, call).await?;
    let delivery = Delivery::of_type(EventType::Test, webhook.id, tried(&webhook, call));
    let timeout = &mut webhook.settings.timeout_seconds;
    *timeout = (*timeout).min(TRIGGER_SECONDS_MAX);
    let began = dovetail_aws::now();
    let ended = dovetail_outbound::deliver(outbound, &webhook, &delivery, call.now).await;
    let ended_at = dovetail_aws::now();
    let before = table.replied(webhook.id).await?;
    let replied = Replied::after(before.as_ref(), &delivery, ended, began, ended_at);
    let replied = replied.noting_delivery(&webhook, &delivery);
    table.put_replied(&replied).await?;
    Reply::new(200, view::replied(&replied))
}

/// Returns the event of a test delivery, without a change instance.
fn tried(webhook: &Webhook, call: &Call) -> Value {
    let id = format!("webhook/{}:{}", webhook.id, call.now.micros());
    let service = webhook.scope.service.as_ref().map(|service| &service.title);
    let role = match webhook.scope.side {
        Side::ServiceOwner => "service_owner_team",
        Side::Consumer => "consumer_team",
    };
    json!({
        "metadata": {"specversion": "1.0", "id": id, "sequence": call.now.micros(),
            "correlation_id": webhook.id.get(), "causation_id": call.request},
        "data": {"id": webhook.id.get(), "name": webhook.settings.name, "service": service,
            role: webhook.team.name, "actor": call.ctx().by.changed_by()},
    })
}

async fn stored(
    table: &Table,
    call: &Call,
    event: AuditEvent,
    (before, after): (&Webhook, &Webhook),
) -> Result<(), Failure> {
    let audit_entry = AuditEntry::of_webhook(event, after, &call.ctx());
    let reminder = match before.reminders() {
        Some(_) => table.reminder(before.id).await?,
        None => None,
    };
    let next = Reminder::of(after, reminder.as_ref(), call.now);
    let reminders = (reminder.as_ref(), next.as_ref());
    let changed = table.change_webhook(before.revision, after, reminders, &audit_entry).await?;
    Ok(changed.ok_or(Code::Contended)?)
}

/// Returns the webhook in the path, if it belongs to this role.
async fn load(table: &Table, call: &Call) -> Result<Webhook, Failure> {
    let id = call.own_id(WebhookId::parse, WebhookId::team)?;
    let webhook = table.webhook(id).await?.filter(|webhook| webhook.scope.side == call.side);
    Ok(webhook.ok_or(Code::NotFound)?)
}

async fn reply(table: &Table, call: &Call, status: u16, webhook: &Webhook) -> Result<Reply, Failure> {
    let last = table.replied(webhook.id).await?;
    Reply::new(status, view::webhook(webhook, last.as_ref(), &Viewpoint::of(call)))
}

/// Returns the only reply with the secret.
fn with_secret(call: &Call, status: u16, webhook: &Webhook) -> Result<Reply, Failure> {
    let mut body = view::webhook(webhook, None, &Viewpoint::of(call));
    if let Some(body) = body.as_object_mut() {
        // A new webhook has no reply yet, and a rotation does not concern the receiver's replies.
        body.remove("last_reply");
        body.insert("secret".to_owned(), json!(webhook.secret));
        let standard = dovetail_outbound::standard_secret(&webhook.secret);
        body.insert("standard_webhooks_secret".to_owned(), json!(standard));
    }
    Reply::new(status, body)
}
