//! Service items and deployed items on the wire.

use super::{ApplicationView, Stored, TeamView, Viewpoint, declaration, team_ref, team_with_metadata};
use crate::invalid::item_problems;
use domain::Item;
use domain::base::problem::Problem;
use domain::catalog::service::ServiceState;
use domain::model::deployed::Deployed;
use domain::views::related::Related;
use serde::Serialize;
use serde_json::{Value, json};

/// A service item.
#[derive(Serialize)]
pub struct ServiceItem<'a> {
    application: ApplicationView<'a>,
    change_state: &'static str,
    consumer_team: TeamView<'a>,
    created: String,
    declaration: Stored<'a>,
    declaration_version: u64,
    deployed_item: LatestView<'a>,
    healthcheck_at: Option<String>,
    healthcheck_reason: Option<&'a str>,
    healthcheck_status: Option<&'static str>,
    id: u64,
    is_deprecated_service_schema: bool,
    is_service_private: bool,
    is_validated_minimum_schema: bool,
    modified: String,
    name: &'a str,
    /// Always null: existing clients expect the field.
    related: (),
    runtime_state: &'static str,
    service: ServiceView<'a>,
    service_owner_team: TeamView<'a>,
    url: String,
}

/// The newest deployed version; without one, an object without members.
#[derive(Serialize)]
struct LatestView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Stored<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
}

#[derive(Serialize)]
struct ServiceView<'a> {
    healthcheck: bool,
    id: u64,
    name: &'a str,
    owner: TeamView<'a>,
    state: &'static str,
}

/// Returns a service item.
pub fn service_item<'a>(item: &'a Item, related: &'a Related, viewpoint: &Viewpoint) -> ServiceItem<'a> {
    let application = item.id.application();
    let deployed = item.deployed.and_then(|latest| related.deployed.get(&latest.id));
    let service = related.services.get(&item.service.title);
    let settings = service.map(|service| &service.settings);
    let state = settings.map_or(ServiceState::InService, |settings| settings.state);
    let health = related.health(item);
    let is_up_to_date = settings.and_then(|settings| settings.is_up_to_date(item.schema_version));
    ServiceItem {
        application: ApplicationView {
            id: Some(application.get()),
            metadata: Some(super::application_metadata(application, related)),
            name: &item.application,
            owner: Some(item.consumer.id.get()),
        },
        change_state: item.change_state().name(),
        consumer_team: team_with_metadata(&item.consumer, related),
        created: item.created.to_wire(),
        declaration: declaration(item.consumer.id, item.version.hash, related),
        declaration_version: item.version.number,
        deployed_item: LatestView {
            data: deployed.map(|deployed| Stored(&deployed.data)),
            version: deployed.map(|deployed| deployed.version),
        },
        healthcheck_at: health.map(|health| health.at.to_wire()),
        healthcheck_reason: health.and_then(|health| health.told.reason.as_deref()),
        healthcheck_status: health.map(|health| health.told.status.name()),
        id: item.id.get(),
        is_deprecated_service_schema: is_up_to_date == Some(false),
        is_service_private: settings.is_some_and(|settings| !settings.allowed_teams.is_empty()),
        is_validated_minimum_schema: is_up_to_date == Some(true),
        modified: item.modified.to_wire(),
        name: &item.name,
        related: (),
        runtime_state: item.runtime_state.name(),
        service: ServiceView {
            healthcheck: related.courses.contains_key(&item.service.id),
            id: item.service.id.get(),
            name: &item.service.title,
            owner: team_ref(&item.service_owner),
            state: state.name(),
        },
        service_owner_team: team_ref(&item.service_owner),
        url: viewpoint.url("service_items", item.id.get()),
    }
}

/// A version of a deployed item.
#[derive(Serialize)]
pub struct DeployedItem<'a> {
    change_instance: String,
    consumer_team: TeamView<'a>,
    created: String,
    data: Stored<'a>,
    id: u64,
    /// The reason why a request created no version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'static str>,
    /// Equal to `created`: a version never changes, but existing clients expect the field.
    modified: String,
    service_item: String,
    service_owner_team: TeamView<'a>,
    url: String,
    version: u64,
}

/// Returns a version of a deployed item.
pub fn deployed_item<'a>(deployed: &'a Deployed, viewpoint: &Viewpoint) -> DeployedItem<'a> {
    DeployedItem {
        change_instance: viewpoint.url("change_instances", deployed.change.get()),
        consumer_team: team_ref(&deployed.consumer),
        created: deployed.created.to_wire(),
        data: Stored(&deployed.data),
        id: deployed.id.get(),
        message: None,
        modified: deployed.created.to_wire(),
        service_item: viewpoint.url("service_items", deployed.item.get()),
        service_owner_team: team_ref(&deployed.service_owner),
        url: viewpoint.url("deployed_items", deployed.id.get()),
        version: deployed.version,
    }
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
