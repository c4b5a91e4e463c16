//! Messages on the wire.

use super::{Viewpoint, team_ref};
use domain::base::refs::ServiceRef;
use domain::outreach::message::Message;
use domain::{TeamRef, Timestamp};
use serde_json::{Value, json};

/// Returns a message of a team.
pub fn message(owner: &TeamRef, message: &Message, now: Timestamp, viewpoint: &Viewpoint) -> Value {
    let scope = |service: &ServiceRef| {
        let url = viewpoint.url("services", service.id.get());
        json!({"type": "Service", "scope": {"id": service.id.get(), "name": service.title, "url": url}})
    };
    let content = &message.content;
    json!({
        "id": message.id.get(),
        "url": viewpoint.message(message.id.get()),
        "owner": team_ref(owner),
        "description": content.description,
        "expiry_date": content.expires.map(Timestamp::to_wire),
        "has_expired": message.has_expired(now),
        "scopes": content.services.iter().map(scope).collect::<Vec<_>>(),
        "created": message.created.to_wire(),
        "modified": message.modified.to_wire(),
    })
}
