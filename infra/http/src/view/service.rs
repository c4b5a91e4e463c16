//! Services on the wire, with their documentation and configs.

use super::{Stored, Viewpoint, team_ref};
use domain::catalog::config::Config;
use domain::catalog::docs::Docs;
use domain::catalog::service::Service;
use serde_json::{Value, json};

/// Returns a service with the text of its schema.
pub fn service(service: &Service, schema: &str, viewpoint: &Viewpoint) -> Value {
    let settings = &service.settings;
    let is_owner = service.owner.id == viewpoint.team;
    // Another team sees only itself in the list: the customers of a private service are its owner's business.
    let allowed = settings.allowed_teams.iter().filter(|team| is_owner || **team == viewpoint.team);
    json!({
        "id": service.id.get(),
        "url": viewpoint.url("services", service.id.get()),
        "name": service.title,
        "state": settings.state.name(),
        "owner": team_ref(&service.owner),
        "schema": {"version": service.schema_version, "schema": Stored(schema).parsed()},
        "tags": settings.tags,
        "has_md": service.has_docs,
        "minimum_version": settings.minimum_version,
        // Existing clients expect the field.
        "enabled_notifications": false,
        "allowed_teams": allowed.map(|team| team.get()).collect::<Vec<_>>(),
        "approval_required": settings.approval_required,
        "allow_manual_approval": settings.allow_manual_approval,
        "allow_manual_completion": settings.allow_manual_completion,
        "dependant_teams": settings.dependent_teams.iter().map(team_ref).collect::<Vec<_>>(),
        "created": service.created.to_wire(),
        "modified": service.modified.to_wire(),
    })
}

/// Returns the documentation of a service.
pub fn service_docs(docs: &Docs) -> Value {
    json!({
        "service": docs.service.id.get(),
        "name": format!("{}.md", docs.service.title),
        "md_file": docs.text,
        "modified": docs.modified.to_wire(),
    })
}

/// Returns a version of a service's config.
pub fn service_config(config: &Config, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": config.id.get(),
        "url": viewpoint.url("service_configs", config.id.get()),
        "service": config.service.id.get(),
        "version": config.id.version(),
        "config": Stored(&config.text).parsed(),
        "created": config.created.to_wire(),
    })
}
