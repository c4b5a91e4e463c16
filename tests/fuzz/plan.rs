//! Target `plan`: a stored declaration, and two requests on it. Requests with different effects have different plan
//! tokens (R34).
//!
//! The bytes choose from a few names and values, so most pairs of requests are alike.

use crate::input::Input;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::id::ServiceId;
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::catalog::schema;
use domain::catalog::service::{Service, Settings};
use domain::model::change::Change;
use domain::model::declaration;
use domain::model::metadata::Since;
use domain::model::submission::Scope;
use domain::model::team::Team;
use domain::rules::charging;
use domain::rules::plan::{self, EarlierValues, Elsewhere, Items, Offer, Offers, REUSE_FROM, Request};
use domain::{Hash, TeamId, TeamRef, Timestamp};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};
use store::{Record, Table, team_of};

const CONSUMER: (u64, &str) = (1, "c");
const APPLICATIONS: [&str; 3] = ["Prod", "Test", "Lab"];
const SERVICES: [&str; 2] = ["V", "L"];
const NAMES: [&str; 3] = ["a", "b", "c"];
/// Maximum number of items in a declaration.
const ITEMS_MAX: u8 = 6;

/// V with a dependent team and prices, and L with references to items of V.
static OFFERS: LazyLock<Offers> = LazyLock::new(|| {
    let v = json!({"title": "V", "type": "object", "required": ["name"], "metadata": {"cost_per_change": 5, "monthly_cost": 1.5},
        "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}});
    let l = json!({"title": "L", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "n": {"type": "integer"},
        "r": {"type": "array", "format": "reference_list", "service_reference": "V"}}});
    [offer(1, &v, vec![team(4, "n")]), offer(2, &l, Vec::new())].into()
});

/// What a request would do, without ids.
#[derive(Debug, PartialEq)]
struct Effects {
    created: BTreeSet<String>,
    closed: BTreeSet<String>,
    after: BTreeSet<String>,
}

pub(crate) fn tokens(bytes: &[u8]) {
    let mut input = Input(bytes);
    let mut table = Table::default();
    let (id, name) = CONSUMER;
    let team = Team {
        id: TeamId::new(id).unwrap(),
        name: name.to_owned(),
        metadata: "{}".to_owned(),
        since: Since::EVER,
        confirm_removals: input.byte() % 2 == 1,
    };
    table.put(Record::Head(team.first_head()));
    table.put(Record::Team(team));
    let [stored, first, second] = [(); 3].map(|()| (scope(&mut input), body(&mut input)));
    if let Some((_, _, committed)) = planned(&table, &stored) {
        table = committed;
    }
    let Some((token, effects, _)) = planned(&table, &first) else { return };
    let Some((other_token, other_effects, _)) = planned(&table, &second) else { return };
    assert!(
        token != other_token || effects == other_effects,
        "{first:?} and {second:?}\n{effects:?}\n{other_effects:?}"
    );
    let again = planned(&table, &first).map(|(token, ..)| token);
    assert_eq!(again, Some(token), "a request has one token");
}

fn scope(input: &mut Input<'_>) -> Scope {
    if input.byte().is_multiple_of(2) { Scope::Whole } else { Scope::Partial }
}

fn body(input: &mut Input<'_>) -> Value {
    let mut applications = Map::new();
    for _ in 0..input.byte() % (ITEMS_MAX + 1) {
        let application = APPLICATIONS[usize::from(input.byte()) % APPLICATIONS.len()];
        let service = SERVICES[usize::from(input.byte()) % SERVICES.len()];
        let mut item = json!({"name": NAMES[usize::from(input.byte()) % NAMES.len()]});
        let value = input.byte();
        match value % 4 {
            0 => {}
            1 | 2 if service == "L" => item["r"] = json!([NAMES[usize::from(value / 4) % NAMES.len()]]),
            _ => item["n"] = json!(value / 4 % 4),
        }
        let application = applications.entry(application).or_insert_with(|| json!({"services": {}}));
        let items = &mut application["services"][service];
        if items.is_null() {
            *items = json!([]);
        }
        items.as_array_mut().unwrap().push(item);
        match input.byte() % 8 {
            0 => application["metadata"] = json!({"stage": "a"}),
            1 => application["metadata"] = json!({"stage": "b"}),
            _ => {}
        }
    }
    if input.byte().is_multiple_of(4) {
        applications.insert("metadata".to_owned(), json!({"cost": input.byte() % 2}));
    }
    json!({CONSUMER.1: applications})
}

/// Returns the plan token, the effects and the table after the submission; none for a refused one.
fn planned(table: &Table, (scope, body): &(Scope, Value)) -> Option<(Hash, Effects, Table)> {
    let declaration = declaration::parse(body.to_string().as_bytes()).ok()?;
    let stored = team_of(table.records())?;
    let read = plan::to_read(&stored, &declaration, *scope).into_iter();
    let with_items = read.map(|id| {
        let live = table.items().filter(|item| item.application_id() == id && !item.is_dead());
        (id, live.cloned().collect())
    });
    let items: Items = with_items.collect();
    let ctx = RequestContext {
        by: Actor::Key { name: "key".to_owned(), team: team(CONSUMER.0, CONSUMER.1) },
        request: "r".to_owned(),
        now: Timestamp::from_micros(1_000_000),
    };
    let request = Request {
        declaration: &declaration,
        unread: &[],
        scope: *scope,
        is_confirmed: true,
        commit_id: None,
        message: None,
        ctx: &ctx,
        idempotency: None,
        metadata_policy: &MetadataPolicy::default(),
        earlier: &EarlierValues::new(),
        elsewhere: &Elsewhere::default(),
        vacant: &[],
        reuse_from: REUSE_FROM,
    };
    let plan = plan::plan(&stored, &items, &OFFERS, &request).ok()?;
    let preview = plan.preview(&items, &ctx).unwrap();
    let texts = &plan.declarations;
    let created = preview.created.iter().map(|change| effect(change, texts).to_string()).collect();
    let closed = preview.closed.iter().map(|closing| {
        let change = table.change(closing.change).unwrap();
        let (service, owner) = (&change.service.title, change.owner.id.get());
        json!([change.application, service, change.item_name, owner, closing.from.name()]).to_string()
    });
    let closed = closed.collect();
    let mut committed = table.clone();
    committed.apply(&plan.at_once(&ctx).ok()?.writes);
    let after = committed.records().filter_map(state).map(|state| state.to_string()).collect();
    Some((preview.plan, Effects { created, closed, after }, committed))
}

/// Returns what a change instance asks of its owner. The list of the token is another one, because a field that is
/// missing there must be found here.
fn effect(change: &Change, texts: &BTreeMap<Hash, String>) -> Value {
    let prices = charging::prices_of(change);
    json!([
        change.application,
        change.service.title,
        change.item_name,
        change.owner.id.get(),
        change.kind.name(),
        change.change_type.name(),
        change.state.name(),
        change.new.and_then(|version| texts.get(&version.hash)),
        change.old.map(|version| version.hash.to_string()),
        prices.per_change.to_string(),
        prices.monthly.to_string(),
    ])
}

/// Returns what a consumer declared, by name.
fn state(record: &Record) -> Option<Value> {
    if let Record::Team(team) = record {
        return Some(json!(["team", team.metadata]));
    }
    if let Record::Application(application) = record {
        return Some(json!([application.name, application.metadata]));
    }
    let Record::Item(item) = record else { return None };
    let (service, hash) = (&item.service.title, item.version.hash.to_string());
    Some(json!([item.application, service, item.name, hash, item.declared]))
}

fn team(id: u64, name: &str) -> TeamRef {
    TeamRef { id: TeamId::new(id).unwrap(), name: name.to_owned() }
}

fn offer(id: u64, definition: &Value, dependent_teams: Vec<TeamRef>) -> (String, Offer) {
    let schema = schema::publish(definition.to_string().as_bytes()).unwrap();
    let created = Timestamp::from_micros(1_000_000);
    let service = Service {
        id: ServiceId::new(id).unwrap(),
        title: schema.title.clone(),
        owner: team(id + 1, "o"),
        settings: Settings { dependent_teams, ..Settings::default() },
        former_dependents: Vec::new(),
        has_docs: false,
        schema_version: 1,
        first_with_words: None,
        revision: 1,
        created,
        modified: created,
    };
    (schema.title.clone(), Offer { service, schema: Arc::new(schema) })
}
