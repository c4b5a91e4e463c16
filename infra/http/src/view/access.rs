//! API keys, and what is recorded of keys, services and teams, on the wire; never a secret.

use super::{Viewpoint, team_ref};
use domain::access::ApiKey;
use domain::id::{KeyId, TeamId};
use domain::recorded::{Recorded, Subject};
use domain::timestamp::Timestamp;
use serde_json::{Value, json};

/// An API key.
pub fn api_key(key: &ApiKey, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": key.id.get(),
        "url": format!("{}/v1/account/api_keys/{}/", viewpoint.base, key.id),
        "name": key.name,
        "role": key.role.name(),
        "created": key.created.to_wire(),
        "created_by": key.created_by,
        "expires": key.expires.map(Timestamp::to_wire),
        "successor": key.successor.map(KeyId::get),
    })
}

/// A record of what was done.
pub fn recorded(recorded: &Recorded) -> Value {
    let (key, service) = subject(&recorded.subject);
    json!({
        "at": recorded.at.to_wire(),
        "event": recorded.event.name(),
        "api_key": key,
        "service": service,
        "changed_by": recorded.by,
        "changed_by_team": recorded.by_team.as_ref().map(team_ref),
        "request": recorded.request,
    })
}

/// The key or the service that it was done to.
fn subject(subject: &Subject) -> (Option<Value>, Option<Value>) {
    match subject {
        Subject::Key { id, name, role, expires } => {
            let expires = expires.map(Timestamp::to_wire);
            (Some(json!({"id": id.get(), "name": name, "role": role.name(), "expires": expires})), None)
        }
        Subject::Service { id, title, schema_version, settings, .. } => {
            let allowed = settings.allowed_teams.iter().copied().map(TeamId::get).collect::<Vec<_>>();
            let service = json!({
                "id": id.get(),
                "name": title,
                "schema_version": schema_version,
                "approval_required": settings.approval_required,
                "allowed_teams": allowed,
                "dependant_teams": settings.dependent_teams.iter().map(team_ref).collect::<Vec<_>>(),
            });
            (None, Some(service))
        }
        Subject::Team => (None, None),
    }
}
