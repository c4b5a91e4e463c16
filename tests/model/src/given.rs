//! The world of every configuration: a consumer, two services with their owners, and a dependent team.

use crate::config::{Application, Config, Item};
use domain::base::id::ServiceId;
use domain::catalog::schema;
use domain::catalog::service::{Service, Settings, UpdateStrategy};
use domain::model::declaration;
use domain::model::declaration::Declaration;
use domain::model::metadata::Since;
use domain::model::team::Team;
use domain::rules::plan::{Offer, Offers};
use domain::{TeamId, TeamRef, Timestamp};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use store::{Record, Table};

/// The only moment of the model. No rule depends on a clock, and further moments would only multiply the states.
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_000_000);

/// Maximum number of applications.
pub(crate) const APPLICATIONS_MAX: u64 = 3;
/// Maximum number of items in an application.
pub(crate) const ITEMS_MAX: u64 = 6;

const NAMES: [&str; 7] = ["c", "v", "l", "n", "x", "y", "z"];

fn team(number: u64) -> TeamRef {
    let name = NAMES.iter().zip(1..).find(|(_, n)| *n == number).map_or("", |(name, _)| *name);
    TeamRef { id: TeamId::new(number).unwrap(), name: name.to_owned() }
}

pub(crate) fn consumer() -> TeamRef {
    team(1)
}

/// Returns the services: V, and L with references to items of V.
pub(crate) fn offers(config: &Config) -> Offers {
    offers_for(config, &[])
}

/// Returns the services with the former dependent teams of V.
pub(crate) fn earlier_offers(config: &Config) -> Offers {
    let former_dependents: Vec<TeamRef> = (5..).take(config.former_dependents).map(team).collect();
    offers_for(config, &former_dependents)
}

fn offers_for(config: &Config, of_v: &[TeamRef]) -> Offers {
    let mut v = json!({"title": "V", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "n": {"type": "integer"}}});
    if config.verified {
        v["x-verified"] = json!(true);
        v["properties"]["ip"] = json!({"type": "integer", "readOnly": true});
    }
    let l = json!({"title": "L", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "n": {"type": "integer"},
        "r": {"type": "array", "format": "reference_list", "service_reference": "V"}}});
    let offered = [(1, 2, &v, of_v), (2, 3, &l, &[])].into_iter();
    offered.map(|(id, owner, text, more)| offer(id, owner, text, config, more)).collect()
}

fn offer(id: u64, owner: u64, definition: &Value, config: &Config, more: &[TeamRef]) -> (String, Offer) {
    let schema = schema::publish(definition.to_string().as_bytes()).unwrap();
    let service = Service {
        id: ServiceId::new(id).unwrap(),
        title: schema.title.clone(),
        owner: team(owner),
        settings: Settings {
            approval_required: config.approval,
            update_strategy: if config.replaces { UpdateStrategy::Replace } else { UpdateStrategy::Modify },
            dependent_teams: config
                .dependents
                .contains(&schema.title.as_str())
                .then(|| team(4))
                .into_iter()
                .chain(more.iter().cloned())
                .collect(),
            ..Settings::default()
        },
        former_dependents: Vec::new(),
        has_docs: false,
        schema_version: 1,
        first_with_words: schema.has_words.then_some(1),
        revision: 1,
        created: NOW,
        modified: NOW,
    };
    (schema.title.clone(), Offer { service, schema: Arc::new(schema) })
}

/// Returns the table before the first submission.
pub(crate) fn table() -> Table {
    let TeamRef { id, name } = consumer();
    let team = Team { id, name, metadata: "{}".to_owned(), since: Since::EVER, confirm_removals: false };
    let head = team.first_head();
    let mut table = Table::default();
    table.put(Record::Team(team));
    table.put(Record::Head(head));
    table
}

/// Returns the parsed declaration of a command.
pub(crate) fn declaration(applications: &[Application]) -> Declaration {
    let declared: Map<String, Value> = applications
        .iter()
        .map(|(name, items)| ((*name).to_owned(), json!({"services": services(items)})))
        .collect();
    let body = json!({consumer().name: declared});
    declaration::parse(body.to_string().as_bytes()).unwrap()
}

fn services(items: &[Item]) -> Map<String, Value> {
    let mut services = Map::new();
    for item in items {
        let (service, body) = match *item {
            Item::V(name, n) => ("V", json!({"name": name, "n": n})),
            Item::L(name, references, n) => ("L", json!({"name": name, "r": references, "n": n})),
        };
        let of_service = services.entry(service).or_insert_with(|| json!([]));
        of_service.as_array_mut().unwrap().push(body);
    }
    services
}
