//! Services on the wire, with their documentation and configs.

use super::{Stored, TeamView, Viewpoint, team_ref};
use domain::catalog::config::Config;
use domain::catalog::docs::Docs;
use domain::catalog::service::Service;
use serde::Serialize;
use serde_json::{Value, json};

/// Returns a service with the text of its schema.
pub fn service<'a>(service: &'a Service, schema: &'a str, viewpoint: &Viewpoint) -> ServiceView<'a> {
    let is_owner = service.owner.id == viewpoint.team;
    // Another team sees only itself in the list: the customers of a private service are its owner's business.
    let allowed = service.settings.allowed_teams.iter().filter(|team| is_owner || **team == viewpoint.team);
    let allowed = allowed.map(|team| team.get()).collect();
    service_view(service, allowed, Stored(schema), viewpoint)
}

wire! {
    /// A service.
    fn service_view(
        service: &'a Service, allowed_teams: Vec<u64>, schema: Stored<'a>, viewpoint: &Viewpoint,
    ) -> pub ServiceView<'a> {
        allow_manual_approval: bool = service.settings.allow_manual_approval,
        allow_manual_completion: bool = service.settings.allow_manual_completion,
        allowed_teams: Vec<u64> = allowed_teams,
        approval_required: bool = service.settings.approval_required,
        claim_required: bool = service.settings.claim_required,
        complete_unneeded: bool = service.settings.complete_unneeded,
        created: String = service.created.to_wire(),
        dependant_teams: Vec<TeamView<'a>> = service.settings.dependent_teams.iter().map(team_ref).collect(),
        // Existing clients expect the field.
        enabled_notifications: bool = false,
        has_md: bool = service.has_docs,
        id: u64 = service.id.get(),
        minimum_version: Option<u64> = service.settings.minimum_version,
        modified: String = service.modified.to_wire(),
        name: &'a str = &service.title,
        owner: TeamView<'a> = team_ref(&service.owner),
        references_see: &'static str = service.settings.references_see.name(),
        require_ready: bool = service.settings.require_ready,
        schema: SchemaView<'a> = schema_view(schema, service.schema_version),
        state: &'static str = service.settings.state.name(),
        tags: &'a [String] = &service.settings.tags,
        update_strategy: &'static str = service.settings.update_strategy.name(),
        url: String = viewpoint.url("services", service.id.get()),
    }

    fn schema_view(schema: Stored<'a>, version: u64) -> pub(crate) SchemaView<'a> {
        schema: Stored<'a> = schema,
        version: u64 = version,
    }
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
