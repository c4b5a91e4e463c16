//! The small world of every configuration: a consumer, two services and their owners, a dependent team.

use crate::config::{Application, Config, Item};
use domain::actor::TeamRef;
use domain::declaration::{self, Declaration};
use domain::id::{ServiceId, TeamId};
use domain::metadata::Since;
use domain::plan::{Offer, Offers};
use domain::schema;
use domain::service::{Service, Settings};
use domain::team::Team;
use domain::timestamp::Timestamp;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use store::{Record, Table};

/// The one time that it ever is: no rule rests on a clock, and states that differ in time alone are one.
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_000_000);

/// How many applications there can be.
pub(crate) const APPLICATIONS_MAX: u64 = 2;
/// How many items an application can have.
pub(crate) const ITEMS_MAX: u64 = 3;

const NAMES: [&str; 7] = ["c", "v", "l", "n", "x", "y", "z"];

fn team(number: u64) -> TeamRef {
    let name = NAMES.iter().zip(1..).find(|(_, n)| *n == number).map_or("", |(name, _)| *name);
    TeamRef { id: TeamId::new(number).unwrap(), name: name.to_owned() }
}

/// The team that submits.
pub(crate) fn consumer() -> TeamRef {
    team(1)
}

/// The services: V, and L whose items refer to those of V.
pub(crate) fn offers(config: &Config) -> Offers {
    offers_for(config, &[])
}

/// The services while the teams that are former dependents later still depend on V.
pub(crate) fn earlier_offers(config: &Config) -> Offers {
    let former: Vec<TeamRef> = (5..).take(config.former).map(team).collect();
    offers_for(config, &former)
}

fn offers_for(config: &Config, of_v: &[TeamRef]) -> Offers {
    let v = json!({"title": "V", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "n": {"type": "integer"}}});
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
        revision: 1,
        created: NOW,
        modified: NOW,
    };
    (schema.title.clone(), Offer { service, schema: Arc::new(schema) })
}

/// The table before the first submission.
pub(crate) fn table() -> Table {
    let TeamRef { id, name } = consumer();
    let team = Team { id, name, metadata: "{}".to_owned(), since: Since::EVER };
    let head = team.first_head();
    let mut table = Table::default();
    table.put(Record::Team(team));
    table.put(Record::Head(head));
    table
}

/// What a command declares, as it is parsed.
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
