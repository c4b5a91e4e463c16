//! Webhooks on the wire, without credentials, and the results of deliveries.

use super::Viewpoint;
use domain::outreach::webhook::Webhook;
use domain::outreach::webhook::delivery::{GivenUp, Replied};
use domain::{ChangeId, State};
use serde_json::{Value, json};

/// The mask of the stored `Authorization` value in replies. In a body, the mask keeps the stored value.
pub const MASK: &str = "********";

/// Returns a webhook with the last reply of its receiver.
pub fn webhook(webhook: &Webhook, last: Option<&Replied>, viewpoint: &Viewpoint) -> Value {
    let settings = &webhook.settings;
    json!({
        "id": webhook.id.get(),
        "url": viewpoint.external("webhooks", webhook.id.get()),
        "name": settings.name,
        "description": settings.description,
        "service": webhook.scope.service.as_ref().map(|service| service.id.get()),
        "target_url": settings.target_url,
        "authorization": settings.authorization.as_ref().map(|_| MASK),
        "change_instance_state": settings.state.map(State::name),
        "active": settings.active,
        // These values are fixed, because Dovetail always verifies certificates and uses no proxy (ADR 20).
        "verify": true,
        "timeout": settings.timeout_seconds,
        "trust_env": false,
        "trigger_wait_time": settings.wait_seconds,
        "trigger_cooling_time": settings.cooling_seconds,
        "remind_after": settings.remind_after_seconds,
        "last_reply": last.map(replied),
        "created": webhook.created.to_wire(),
        "modified": webhook.modified.to_wire(),
    })
}

/// Returns the result of an attempt; null if the first attempt is not over.
pub fn replied(replied: &Replied) -> Value {
    let Some(ended) = replied.ended else { return Value::Null };
    json!({
        "event": replied.event,
        "attempt": replied.attempt,
        "at": replied.at.to_wire(),
        "delivered": ended.is_delivered(),
        "status": ended.status(),
        "error": ended.error(),
    })
}

/// Returns an abandoned delivery.
pub fn given_up(given_up: &GivenUp) -> Value {
    json!({
        "event": given_up.event,
        "change_instance": given_up.change.map(ChangeId::get),
        "state": given_up.state,
        "attempts": given_up.attempts,
        "at": given_up.at.to_wire(),
        "status": given_up.ended.status(),
        "error": given_up.ended.error(),
    })
}
