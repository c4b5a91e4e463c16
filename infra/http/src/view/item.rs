//! Service items and deployed items on the wire.

use super::difference::difference;
use super::reference::{LatestView, latest_view, references};
use super::{
    ApplicationView, Stored, TeamView, Viewpoint, application_view, declaration, is_zero, team_ref,
    team_with_metadata,
};
use crate::invalid::{item_problems, problem_view};
use domain::Item;
use domain::base::problem::Problem;
use domain::catalog::schema::Budget;
use domain::catalog::service::{ServiceState, Settings};
use domain::model::deployed::Deployed;
use domain::views::derived::base;
use domain::views::drift::differences;
use domain::views::proposal::document;
use domain::views::related::Related;
use serde::Serialize;
use serde_json::{Value, json};

/// Returns a service item.
pub fn service_item<'a>(item: &'a Item, related: &'a Related, viewpoint: &Viewpoint) -> ServiceItemView<'a> {
    let settings = related.services.get(&item.service.title).map(|service| &service.settings);
    let is_up_to_date = settings.and_then(|settings| settings.is_up_to_date(item.schema_version));
    service_item_view(item, related, settings, is_up_to_date, viewpoint)
}

/// Returns a service item with its document.
///
/// A document that exceeds the budget is not complete. Derived values are those in `related` (R70).
pub fn service_item_with_document<'a>(
    item: &'a Item,
    related: &'a Related,
    viewpoint: &Viewpoint,
    budget: &mut Budget,
) -> ServiceItemView<'a> {
    let references = references(item, related, viewpoint, budget);
    let view = ServiceItemView { references, ..service_item(item, related, viewpoint) };
    let Some(derived) = related.derived.get(&item.id) else {
        return ServiceItemView { document: document(item, related, budget), ..view };
    };
    let document = base(item, related, budget).map(|document| derived.apply(document));
    let document_problems = Some(derived.problems.iter().map(problem_view).collect());
    ServiceItemView { document, document_problems, ..view }
}

wire! {
    /// A service item.
    fn service_item_view(
        item: &'a Item, related: &'a Related, settings: Option<&Settings>, is_up_to_date: Option<bool>,
        viewpoint: &Viewpoint,
    ) -> pub ServiceItemView<'a> {
        application: ApplicationView<'a> =
            application_view(item.application_id(), Some(related), &item.application, Some(item.consumer.id)),
        change_state: &'static str = item.change_state().name(),
        consumer_team: TeamView<'a> = team_with_metadata(&item.consumer, related),
        created: String = item.created.to_wire(),
        declaration: Stored<'a> = declaration(item.consumer.id, item.version.hash, related),
        declaration_version: u64 = item.version.number,
        deployed_item: LatestView<'a> =
            latest_view(item.shown_deployed().and_then(|latest| related.deployed.get(&latest.id))),
        #[serde(skip_serializing_if = "Option::is_none")] document: Option<Value> = None,
        #[serde(skip_serializing_if = "Option::is_none")] document_problems: Option<Value> = None,
        #[serde(skip_serializing_if = "Option::is_none")] drift: Option<Value> = drift(item, related),
        gone: bool = item.gone,
        healthcheck_at: Option<String> = related.health(item).map(|health| health.at.to_wire()),
        healthcheck_reason: Option<&'a str> =
            related.health(item).and_then(|health| health.report.reason.as_deref()),
        healthcheck_status: Option<&'static str> = related.health(item).map(|health| health.report.status.name()),
        id: u64 = item.id.get(),
        is_deprecated_service_schema: bool = is_up_to_date == Some(false),
        #[serde(skip_serializing_if = "std::ops::Not::not")] is_drifted: bool = item.drift.is_some(),
        is_service_private: bool = settings.is_some_and(|settings| !settings.allowed_teams.is_empty()),
        is_validated_minimum_schema: bool = is_up_to_date == Some(true),
        modified: String = item.modified.to_wire(),
        name: &'a str = &item.name,
        #[serde(skip_serializing_if = "Vec::is_empty")] references: Vec<Value> = Vec::new(),
        // Existing clients expect the field.
        related: () = (),
        runtime_state: &'static str = item.runtime_state.name(),
        service: ServiceView<'a> = service_view(
            item,
            related.check_schedules.contains_key(&item.service.id),
            settings.map_or(ServiceState::InService, |settings| settings.state),
        ),
        service_owner_team: TeamView<'a> = team_ref(&item.service_owner),
        url: String = viewpoint.url("service_items", item.id.get()),
        #[serde(skip_serializing_if = "is_zero")] uses: u64 = item.used_by,
    }

    /// The service of an item.
    fn service_view(item: &'a Item, healthcheck: bool, state: ServiceState) -> pub(crate) ServiceView<'a> {
        healthcheck: bool = healthcheck,
        id: u64 = item.service.id.get(),
        name: &'a str = &item.service.title,
        owner: TeamView<'a> = team_ref(&item.service_owner),
        state: &'static str = state.name(),
    }
}

wire! {
    /// Returns a version of a deployed item.
    pub fn deployed_item(deployed: &'a Deployed, viewpoint: &Viewpoint) -> pub DeployedView<'a> {
        change_instance: String = viewpoint.url("change_instances", deployed.change.get()),
        consumer_team: TeamView<'a> = team_ref(&deployed.consumer),
        created: String = deployed.created.to_wire(),
        data: Stored<'a> = Stored(&deployed.data),
        id: u64 = deployed.id.get(),
        #[serde(skip_serializing_if = "std::ops::Not::not")] is_drifted: bool = deployed.is_drifted,
        // A version never changes, but existing clients expect the field.
        modified: String = deployed.created.to_wire(),
        #[serde(skip_serializing_if = "std::ops::Not::not")] observed: bool = deployed.is_observed,
        service_item: String = viewpoint.url("service_items", deployed.item.get()),
        service_owner_team: TeamView<'a> = team_ref(&deployed.service_owner),
        url: String = viewpoint.url("deployed_items", deployed.id.get()),
        version: u64 = deployed.version,
    }
}

/// Returns the parts of an item that a grant shows to another team: names, states and the document.
///
/// The document of an item without words is its declaration, because that is not shown otherwise.
pub fn granted_item(item: &Item, related: &Related, viewpoint: &Viewpoint, budget: &mut Budget) -> Value {
    let view = service_item_with_document(item, related, viewpoint, budget);
    let document = view.document.or_else(|| base(item, related, budget));
    json!({
        "id": item.id.get(),
        "url": viewpoint.url("granted_items", item.id.get()),
        "name": item.name,
        "service": item.service.title,
        "application": item.application,
        "team": item.consumer.name,
        "runtime_state": view.runtime_state,
        "change_state": view.change_state,
        "declared": item.declared,
        "document": document,
        "document_problems": view.document_problems.unwrap_or_else(|| json!([])),
    })
}

/// Returns the drift of an item, with its differences if their texts are loaded.
fn drift(item: &Item, related: &Related) -> Option<Value> {
    let since = item.drift?.since.to_wire();
    Some(match differences(item, related) {
        Some(all) => {
            let differences: Vec<Value> = all.into_iter().map(difference).collect();
            json!({"since": since, "differences": differences})
        }
        None => json!({"since": since}),
    })
}

/// Returns an item with its problems under a definition.
pub fn item_with_problems(item: &Item, problems: &[Problem], viewpoint: &Viewpoint) -> Value {
    let [errors, problems] = item_problems(problems);
    json!({
        "id": item.id.get(),
        "url": viewpoint.url("service_items", item.id.get()),
        "name": item.name,
        "application": {"id": item.application_id().get(), "name": item.application},
        "errors": errors,
        "problems": problems,
    })
}
