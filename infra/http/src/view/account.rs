//! API keys, members and audit log entries on the wire, without secrets.

use super::{Viewpoint, team_ref};
use domain::account::api_key::ApiKey;
use domain::account::audit_log::{AuditEntry, Subject};
use domain::account::member::Member;
use domain::base::id::KeyId;
use domain::outreach::healthcheck::crontab::Crontab;
use domain::{State, TeamId, Timestamp};
use serde_json::{Value, json};

/// Returns an API key.
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

/// Returns a member.
pub fn member(member: &Member, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": member.id.get(),
        "url": format!("{}/v1/account/members/{}/", viewpoint.base, member.id),
        "subject": member.subject,
        "name": member.name,
        "role": member.role.name(),
        "created": member.created.to_wire(),
        "created_by": member.created_by,
    })
}

/// Returns an audit log entry.
pub fn audit_entry(entry: &AuditEntry) -> Value {
    json!({
        "at": entry.at.to_wire(),
        "event": entry.event.name(),
        "api_key": key(&entry.subject),
        "member": member_ref(&entry.subject),
        "service": service(&entry.subject),
        "webhook": webhook(&entry.subject),
        "message": message(&entry.subject),
        "healthcheck": healthcheck(&entry.subject),
        "team": team(&entry.subject),
        "change_instance": change(&entry.subject),
        "changed_by": entry.by,
        "changed_by_team": entry.by_team.as_ref().map(|team| &team.name),
        "changed_by_team_id": entry.by_team.as_ref().map(|team| team.id.get()),
        "request": entry.request,
    })
}

fn change(subject: &Subject) -> Option<Value> {
    let Subject::Change { id, name } = subject else { return None };
    Some(json!({"id": id.get(), "service_item": name}))
}

fn team(subject: &Subject) -> Option<Value> {
    let Subject::Team { confirm_removals } = subject else { return None };
    Some(json!({"confirm_removals": confirm_removals}))
}

fn key(subject: &Subject) -> Option<Value> {
    let Subject::Key { id, name, role, expires } = subject else { return None };
    let expires = expires.map(Timestamp::to_wire);
    Some(json!({"id": id.get(), "name": name, "role": role.name(), "expires": expires}))
}

fn member_ref(subject: &Subject) -> Option<Value> {
    let Subject::Member { id, name, role } = subject else { return None };
    Some(json!({"id": id.get(), "name": name, "role": role.name()}))
}

fn service(subject: &Subject) -> Option<Value> {
    let Subject::Service { id, title, schema_version, settings, .. } = subject else { return None };
    Some(json!({
        "id": id.get(),
        "name": title,
        "schema_version": schema_version,
        "state": settings.state.name(),
        "approval_required": settings.approval_required,
        "allow_manual_approval": settings.allow_manual_approval,
        "allow_manual_completion": settings.allow_manual_completion,
        "update_strategy": settings.update_strategy.name(),
        "complete_unneeded": settings.complete_unneeded,
        "claim_required": settings.claim_required,
        "references_see": settings.references_see.name(),
        "require_ready": settings.require_ready,
        "minimum_version": settings.minimum_version,
        "tags": settings.tags,
        "allowed_teams": settings.allowed_teams.iter().copied().map(TeamId::get).collect::<Vec<_>>(),
        "dependant_teams": settings.dependent_teams.iter().map(team_ref).collect::<Vec<_>>(),
    }))
}

fn healthcheck(subject: &Subject) -> Option<Value> {
    let Subject::Healthcheck { service, schedule, .. } = subject else { return None };
    Some(json!({
        "id": service.id.get(),
        "service": service.id.get(),
        "schedule": schedule.as_ref().map(Crontab::text),
    }))
}

fn webhook(subject: &Subject) -> Option<Value> {
    let Subject::Webhook { id, name, side, service, state, active, .. } = subject else { return None };
    Some(json!({
        "id": id.get(),
        "name": name,
        "pov": side.name(),
        "service": service.as_ref().map(|service| service.id.get()),
        "change_instance_state": state.map(State::name),
        "active": active,
    }))
}

fn message(subject: &Subject) -> Option<Value> {
    let Subject::Message { id, services, expires } = subject else { return None };
    Some(json!({
        "id": id.get(),
        "services": services.iter().map(|service| service.id.get()).collect::<Vec<_>>(),
        "expiry_date": expires.map(Timestamp::to_wire),
    }))
}
