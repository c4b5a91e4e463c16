//! Short builders for teams, services and declarations.

use super::*;
use domain::model::storable::StorableValue;

pub(crate) const VM_OWNER: &str = "VMOwnerTeam";
pub(crate) const LB_OWNER: &str = "LBOwnerTeam";
pub(crate) const NP_OWNER: &str = "NPOwnerTeam";
pub(crate) const CONSUMER: &str = "AwesomeConsumer";
pub(crate) const STRANGER: &str = "Stranger";
pub(crate) const APP: &str = "NewApp1";

pub(super) const TEAMS: [&str; 5] = [VM_OWNER, LB_OWNER, NP_OWNER, CONSUMER, STRANGER];

/// The prices of services: per change, and per month.
pub(crate) const PRICES: [(&str, &str); 3] = [("5", "49.99"), ("0", "10"), ("0.25", "0")];

/// The definitions with each of the prices.
pub(super) static PRICED: LazyLock<BTreeMap<String, Vec<Arc<schema::Schema>>>> = LazyLock::new(|| {
    let priced = |text: &str, (change, month): (&str, &str)| {
        let mut definition: Value = serde_json::from_str(text).unwrap();
        let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        definition["metadata"] = json!({"cost_per_change": number(change), "monthly_cost": number(month)});
        let schema = schema::publish(definition.to_string().as_bytes()).unwrap();
        let amount = |text| domain::base::money::Amount::parse(text).unwrap();
        assert_eq!(schema.prices, Prices { per_change: amount(change), monthly: amount(month) });
        Arc::new(schema)
    };
    let all = |offer: &Offer| PRICES.iter().map(|prices| priced(&offer.schema.text, *prices)).collect();
    OFFERS.iter().map(|(title, offer)| (title.clone(), all(offer))).collect()
});

// Compiled once: a compilation takes longer than a whole scenario.
pub(super) static OFFERS: LazyLock<Offers> = LazyLock::new(|| {
    let integer = json!({"type": "integer"});
    let vm = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": integer, "memory": integer, "tags": {"type": "array"}}});
    let lb = json!({"title": "LoadBalancer", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "algorithm": {"type": "string"},
        "related_vms": {"type": "array", "format": "reference_list", "service_reference": "VM"}}});
    [(1, VM_OWNER, vm), (2, LB_OWNER, lb)]
        .into_iter()
        .map(|(id, owner, definition)| offer(id, owner, &definition))
        .collect()
});

/// A declared service item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    service: &'static str,
    body: Value,
}

pub(crate) fn vm(name: &str, cpu: u64) -> Declared {
    Declared { service: "VM", body: json!({"name": name, "cpu": cpu, "memory": 4}) }
}

pub(crate) fn lb(name: &str, related_vms: &[&str], algorithm: &str) -> Declared {
    let body = json!({"name": name, "related_vms": related_vms, "algorithm": algorithm});
    Declared { service: "LoadBalancer", body }
}

pub(crate) fn item_of(service: &'static str, body: Value) -> Declared {
    Declared { service, body }
}

/// Builds the content of one application.
pub(crate) fn application(items: &[Declared]) -> Value {
    let mut services = serde_json::Map::new();
    for item in items {
        let of_service = services.entry(item.service).or_insert_with(|| json!([]));
        of_service.as_array_mut().unwrap().push(item.body.clone());
    }
    json!({"services": services})
}

/// Builds the consumer's document with these applications.
pub(crate) fn document(applications: &[(&str, Value)]) -> Value {
    let applications: serde_json::Map<_, _> =
        applications.iter().map(|(name, content)| ((*name).to_owned(), content.clone())).collect();
    json!({CONSUMER: applications})
}

pub(crate) fn team(name: &str) -> TeamRef {
    let number = TEAMS.iter().zip(1..).find(|(team, _)| **team == name).unwrap().1;
    TeamRef { id: TeamId::new(number).unwrap(), name: name.to_owned() }
}

pub(crate) fn offer(id: u64, owner: &str, definition: &Value) -> (String, Offer) {
    let schema = schema::publish(definition.to_string().as_bytes()).unwrap();
    let service = Service {
        id: ServiceId::new(id).unwrap(),
        title: schema.title.clone(),
        owner: team(owner),
        settings: Settings::default(),
        former_dependents: Vec::new(),
        has_docs: false,
        schema_version: 1,
        first_with_words: None,
        revision: 1,
        created: Timestamp::from_micros(0),
        modified: Timestamp::from_micros(0),
    };
    (schema.title.clone(), Offer { service, schema: Arc::new(schema) })
}

pub(crate) fn to(state: State) -> Update {
    Update { state: Some(state), ..Update::default() }
}

/// Returns a deployed item or a plan as one of a request.
pub(crate) fn storable(value: Value) -> StorableValue {
    StorableValue::new(value).unwrap()
}

/// Returns the broken rules of a refused submission.
pub(crate) fn broken(refused: Refused) -> Vec<&'static str> {
    match refused {
        Refused::Invalid(problems) => problems.into_iter().map(|problem| problem.rule).collect(),
        Refused::Torn | Refused::InFlight(_) | Refused::OutOfNumbers => panic!("{refused:?}"),
    }
}

/// Returns the created change instances as in the guide's tables: item, type, owner.
pub(crate) fn table<'a>(
    changes: impl IntoIterator<Item = &'a Change>,
) -> Vec<(&'a str, ChangeType, &'a str)> {
    changes.into_iter().map(|c| (c.item_name.as_str(), c.change_type, c.owner.name.as_str())).collect()
}
