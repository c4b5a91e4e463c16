//! The graph of an application on the wire.

use super::history::named;
use super::{Viewpoint, team_ref};
use domain::base::id::ApplicationId;
use domain::catalog::service::Service;
use domain::{Item, ItemId};
use serde_json::{Value, json};

/// Returns an item of a graph.
pub fn graph_item(item: &Item, viewpoint: &Viewpoint) -> Value {
    let mut body = named(item, viewpoint);
    if let Some(body) = body.as_object_mut() {
        body.insert("service_owner_team".to_owned(), json!(team_ref(&item.service_owner)));
        body.insert("runtime_state".to_owned(), json!(item.runtime_state.name()));
        body.insert("change_state".to_owned(), json!(item.change_state().name()));
    }
    body
}

/// Returns a reference of a graph, with its position in the declaration of the referencing item.
pub fn graph_reference(from: ItemId, to: ItemId, pointer: &str) -> Value {
    json!({"from": from.get(), "to": to.get(), "pointer": pointer})
}

/// Returns the dependent teams of a service.
pub fn graph_dependants(service: &Service) -> impl Iterator<Item = Value> {
    let named = json!({"id": service.id.get(), "name": service.title});
    let teams = service.settings.dependent_teams.iter();
    teams.map(move |team| json!({"service": named, "team": team_ref(team)}))
}

/// Returns an application by id and name.
pub fn graph_application(id: ApplicationId, name: &str) -> Value {
    json!({"id": id.get(), "name": name})
}
