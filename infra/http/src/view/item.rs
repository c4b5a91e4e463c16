//! Service items and deployed items on the wire.

use super::{Viewpoint, declaration, parsed, team_ref, team_with_metadata};
use crate::invalid::item_problems;
use domain::Item;
use domain::base::problem::Problem;
use domain::catalog::service::ServiceState;
use domain::model::deployed::Deployed;
use domain::views::related::Related;
use serde_json::{Value, json};

/// Returns a service item.
pub fn service_item(item: &Item, related: &Related, viewpoint: &Viewpoint) -> Value {
    let application = item.id.application();
    let metadata = related.applications.get(&application).map(|application| parsed(&application.metadata));
    let deployed = item.deployed.and_then(|latest| related.deployed.get(&latest.id));
    let service = related.services.get(&item.service.title);
    let settings = service.map(|service| &service.settings);
    let private = settings.is_some_and(|settings| !settings.allowed_teams.is_empty());
    let state = settings.map_or(ServiceState::InService, |settings| settings.state);
    let health = related.health(item);
    let is_up_to_date = settings.and_then(|settings| settings.is_up_to_date(item.schema_version));
    json!({
        "id": item.id.get(),
        "url": viewpoint.url("service_items", item.id.get()),
        "name": item.name,
        "created": item.created.to_wire(),
        "modified": item.modified.to_wire(),
        "runtime_state": item.runtime_state.name(),
        "change_state": item.change_state().name(),
        "service": {
            "id": item.service.id.get(),
            "name": item.service.title,
            "owner": team_ref(&item.service_owner),
            "state": state.name(),
            "healthcheck": related.check_schedules.contains_key(&item.service.id),
        },
        "application": {
            "id": application.get(),
            "name": item.application,
            "metadata": metadata.unwrap_or_else(|| json!({})),
            "owner": item.consumer.id.get(),
        },
        "service_owner_team": team_ref(&item.service_owner),
        "consumer_team": team_with_metadata(&item.consumer, related),
        "deployed_item": deployed.map_or_else(
            || json!({}),
            |deployed| json!({"data": parsed(&deployed.data), "version": deployed.version}),
        ),
        "declaration": declaration(item.consumer.id, item.version.hash, related),
        "declaration_version": item.version.number,
        // Existing clients expect the field.
        "related": null,
        "healthcheck_status": health.map(|health| health.report.status.name()),
        "healthcheck_reason": health.and_then(|health| health.report.reason.as_deref()),
        "healthcheck_at": health.map(|health| health.at.to_wire()),
        "is_validated_minimum_schema": is_up_to_date == Some(true),
        "is_deprecated_service_schema": is_up_to_date == Some(false),
        "is_service_private": private,
    })
}

/// Returns a version of a deployed item.
pub fn deployed_item(deployed: &Deployed, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": deployed.id.get(),
        "url": viewpoint.url("deployed_items", deployed.id.get()),
        "version": deployed.version,
        "data": parsed(&deployed.data),
        "service_item": viewpoint.url("service_items", deployed.item.get()),
        "change_instance": viewpoint.url("change_instances", deployed.change.get()),
        "consumer_team": team_ref(&deployed.consumer),
        "service_owner_team": team_ref(&deployed.service_owner),
        "created": deployed.created.to_wire(),
        // A version never changes, but existing clients expect the field.
        "modified": deployed.created.to_wire(),
    })
}

/// Returns an item with its problems under a definition.
pub fn item_with_problems(item: &Item, problems: &[Problem], viewpoint: &Viewpoint) -> Value {
    let [errors, problems] = item_problems(problems);
    json!({
        "id": item.id.get(),
        "url": viewpoint.url("service_items", item.id.get()),
        "name": item.name,
        "application": {"id": item.id.application().get(), "name": item.application},
        "errors": errors,
        "problems": problems,
    })
}
