//! The history of declarations over HTTP: reads as of a submission, differences and reverts (R36, R37).

use crate::api::demo::{CONSUMER, TEAMS};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use support::{Answer, Running};

const SUBMISSIONS: &str = "/v1/orcabase/consumer/submissions";
pub(super) const KEY: &str = "awesome-key";
pub(super) const TEAM: &str = "AwesomeConsumer";

/// The declared state: metadata of the team, and metadata and items of each application, by service and name.
///
/// An application without content is equal to an absent one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    metadata: Value,
    applications: BTreeMap<String, (Value, BTreeMap<String, Value>)>,
}

impl State {
    fn without_nothing(mut self) -> Self {
        self.applications.retain(|_, (metadata, items)| *metadata != json!({}) || !items.is_empty());
        self
    }

    /// Returns the state after this submission.
    pub(super) fn after(&self, method: &str, content: &Value) -> Self {
        let mut after = self.clone();
        if method == "POST" {
            after.applications.clear();
        }
        for (name, value) in content.as_object().unwrap() {
            if name == "metadata" {
                after.metadata = value.clone();
                continue;
            }
            let mut items = BTreeMap::new();
            for (service, declared) in value["services"].as_object().into_iter().flatten() {
                for item in declared.as_array().unwrap() {
                    items.insert(format!("{service} {}", item["name"].as_str().unwrap()), item.clone());
                }
            }
            let metadata = value.get("metadata").cloned().unwrap_or_else(|| json!({}));
            after.applications.insert(name.clone(), (metadata, items));
        }
        after.without_nothing()
    }

    /// Returns the state after this difference.
    fn with(&self, difference: &Difference) -> Self {
        let mut after = self.clone();
        let application = |of: &Value| of["application"]["name"].as_str().map(str::to_owned);
        for metadata in &difference.metadata {
            let target = match application(metadata) {
                None => &mut after.metadata,
                Some(name) => {
                    &mut after.applications.entry(name).or_insert_with(|| (json!({}), BTreeMap::new())).0
                }
            };
            metadata["differences"].as_array().unwrap().iter().for_each(|field| apply(target, field));
        }
        for item in &difference.items {
            let items = after.applications.entry(application(item).unwrap());
            let items = &mut items.or_insert_with(|| (json!({}), BTreeMap::new())).1;
            let key =
                format!("{} {}", item["service"]["name"].as_str().unwrap(), item["name"].as_str().unwrap());
            let fields = item["differences"].as_array().unwrap();
            match item["change_type"].as_str().unwrap() {
                "CREATE" => assert_eq!(items.insert(key, fields[0]["new"].clone()), None),
                "DELETE" => assert_eq!(items.remove(&key).as_ref(), fields[0].get("old")),
                _ => fields.iter().for_each(|field| apply(items.get_mut(&key).unwrap(), field)),
            }
        }
        after.without_nothing()
    }
}

/// Applies one field of a difference, and checks its old value.
fn apply(document: &mut Value, field: &Value) {
    let (parent, last) = field["pointer"].as_str().unwrap().rsplit_once('/').unwrap();
    let (old, new) = (field.get("old"), field.get("new").cloned());
    match document.pointer_mut(parent).unwrap() {
        Value::Object(object) => {
            let before = match new {
                Some(new) => object.insert(last.to_owned(), new),
                None => object.remove(last),
            };
            assert_eq!(before.as_ref(), old, "the difference has the old value");
        }
        Value::Array(array) => {
            let at: usize = last.parse().unwrap();
            assert_eq!(array.get(at), old, "the difference has the old value");
            match (new, old) {
                (Some(new), Some(_)) => array[at] = new,
                (Some(new), None) => array.push(new),
                (None, _) => drop(array.remove(at)),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            unreachable!("it has no fields")
        }
    }
}

/// All pages of a difference.
#[derive(Debug, Default)]
struct Difference {
    metadata: Vec<Value>,
    items: Vec<Value>,
}

fn list(answer: &Answer, pointer: &str) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.at(pointer).as_array().unwrap().clone()
}

fn difference(system: &Running, from: u64, to: u64, limit: usize) -> Difference {
    let mut all = Difference::default();
    let path = format!("{SUBMISSIONS}/{from}/difference/?to={to}&limit={limit}");
    for page in system.pages(&path, KEY) {
        let (metadata, items) = (list(&page, "/metadata"), list(&page, "/service_items"));
        assert!(metadata.len() + items.len() <= limit, "{page:?}");
        assert_eq!((page.at("/from"), page.at("/to")), (&json!(from), &json!(to)));
        all.metadata.extend(metadata);
        all.items.extend(items);
    }
    all
}

pub(super) fn submit(system: &Running, method: &str, content: &Value) -> u64 {
    let body = json!({TEAM: content});
    let answer = system.call(method, &format!("{SUBMISSIONS}/submit/"), KEY, &body);
    assert!(answer.status < 300, "{answer:?}");
    system.wait_idle();
    answer.at("/id").as_u64().unwrap()
}

pub(super) fn vms(cpus: &[u64]) -> Value {
    let vm = |(cpu, n): (&u64, u64)| json!({"name": format!("CoreVM{n}"), "cpu": cpu, "memory": 2});
    cpus.iter().zip(1..).filter(|(cpu, _)| **cpu > 0).map(vm).collect()
}

/// Submits several declarations. Returns each submission with the state after it.
pub(super) fn history(system: &Running) -> Vec<(u64, State)> {
    let balancer = |vms: &[&str]| json!([{"name": "CoreLB1", "related_vms": vms, "algorithm": "a"}]);
    let submissions = [
        ("POST", json!({"metadata": {"budget": 1}, "NewApp1": {"services": {"VM": vms(&[8, 8, 8])}}})),
        (
            "POST",
            json!({"metadata": {"budget": 2, "note": "x"}, "NewApp1": {"metadata": {"env": "dev"},
            "services": {"VM": vms(&[8, 16, 0, 4]), "LoadBalancer": balancer(&["CoreVM1"])}}}),
        ),
        ("PATCH", json!({"NewApp2": {"metadata": {"env": "live"}, "services": {"VM": vms(&[1, 1])}}})),
        (
            "PATCH",
            json!({"NewApp1": {"metadata": {"env": "dev", "tags": [1, 2]},
            "services": {"VM": vms(&[8, 16, 2]), "LoadBalancer": balancer(&["CoreVM1", "CoreVM2"])}}}),
        ),
        ("POST", json!({"NewApp2": {"services": {"VM": vms(&[1, 2])}}})),
        ("POST", json!({"metadata": {}})),
        ("POST", json!({"NewApp1": {"metadata": {"env": "dev"}, "services": {"VM": vms(&[8, 16])}}})),
    ];
    let mut state = State { metadata: json!({}), ..State::default() };
    let with_state = |(method, content): (&str, Value)| {
        state = state.after(method, &content);
        (submit(system, method, &content), state.clone())
    };
    submissions.into_iter().map(with_state).collect()
}

#[test]
fn a_difference_leads_from_one_declaration_to_the_other() {
    let system = Running::demo();
    let history = history(&system);
    for (from, before) in &history {
        for (to, after) in &history {
            // Pages of two rows, so that a difference continues on further pages.
            let difference = difference(&system, *from, *to, 2);
            assert_eq!(before.with(&difference), *after, "{from} to {to}: {difference:?}");
            let is_empty = difference.metadata.is_empty() && difference.items.is_empty();
            assert_eq!(is_empty, before == after, "equal declarations have no difference: {difference:?}");
        }
    }
    system.assert_sound();
}

#[test]
fn application_and_team_are_readable_as_each_submission_declared_them() {
    let system = Running::demo();
    let history = history(&system);
    let team = system.get(TEAMS, KEY).at("/results/0/id").clone();
    let applications = list(&system.get(&format!("{CONSUMER}/applications/"), KEY), "/results");
    assert_eq!(applications.len(), 2);
    for (id, state) in &history {
        let then = system.get(&format!("/v1/account/teams/{team}/?as_of={id}"), KEY);
        assert_eq!((then.status, then.at("/metadata")), (200, &state.metadata));
        for application in &applications {
            let name = application["name"].as_str().unwrap();
            let path = format!("{CONSUMER}/applications/{}/?as_of={id}&limit=1", application["id"]);
            let mut pages = vec![system.get(&path, KEY)];
            while let Some(url) = pages.last().unwrap().at("/service_items_next").as_str().map(str::to_owned)
            {
                pages.push(system.get(&url, KEY));
            }
            let Some((metadata, items)) = state.applications.get(name) else {
                let nothing = pages.iter().all(|page| {
                    page.status == 404
                        || (page.at("/metadata") == &json!({}) && page.at("/service_items") == &json!([]))
                });
                assert!(nothing, "{pages:?}");
                continue;
            };
            assert!(pages.iter().all(|page| page.at("/metadata") == metadata), "{pages:?}");
            let declarations = pages.iter().flat_map(|page| list(page, "/service_items"));
            let declarations: BTreeMap<String, Value> = declarations
                .map(|item| {
                    let (service, name) = (item["service"]["name"].as_str(), item["name"].as_str());
                    (format!("{} {}", service.unwrap(), name.unwrap()), item["declaration"].clone())
                })
                .collect();
            assert_eq!(declarations, *items, "{name} after {id}");
        }
    }
    let path = |as_of: &str| format!("{CONSUMER}/applications/{}/?as_of={as_of}", applications[1]["id"]);
    for before in [&*history[0].0.to_string(), "1999-12-31"] {
        assert_eq!(system.get(&path(before), KEY).status, 404, "the application is declared after {before}");
    }
    let future = system.get(&path("2999-12-31"), KEY);
    assert_eq!(future.at("/service_items"), &json!([]), "a time in the future means the present");
    let team = |as_of: &str| system.get(&format!("/v1/account/teams/{team}/?as_of={as_of}"), KEY);
    assert_eq!(team("1999-12-31").at("/metadata"), &json!({}));
    assert_eq!(team("2999-12-31").at("/metadata"), &history[6].1.metadata);
}

/// After a revert, the difference to that submission is empty. The preview shows the same changes as the revert.
#[test]
fn a_revert_declares_the_past_state_as_its_preview_says() {
    let system = Running::demo();
    let history = history(&system);
    for to in [0, 3, 5, 1, 6, 2, 4] {
        let (id, state) = &history[to];
        let path = format!("{SUBMISSIONS}/{id}/revert/");
        let preview = system.call("POST", &format!("{path}validate/"), KEY, &Value::Null);
        let planned = list(&preview, "/change_instances");
        let reverted = system.expect(201, "POST", &path, KEY, &Value::Null);
        assert_eq!(preview.at("/planned"), reverted.at("/planned"));
        let created = reverted.at("/change_instances").as_array().unwrap();
        let names = |of: &[Value]| {
            let direct = of.iter().filter(|change| change["kind"] == "DIRECT");
            direct.map(|change| change["service_item"]["name"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&planned), names(created));
        system.wait_idle();
        let now = reverted.at("/id").as_u64().unwrap();
        let difference = difference(&system, *id, now, 100);
        assert!(difference.metadata.is_empty() && difference.items.is_empty(), "{difference:?}");
        let items = list(&system.get(&format!("{CONSUMER}/service_items/?limit=100"), KEY), "/results");
        let wanted: Map<String, Value> = state
            .applications
            .iter()
            .flat_map(|(name, (_, items))| {
                items.iter().map(move |(key, body)| (format!("{name} {key}"), body.clone()))
            })
            .collect();
        for (name, body) in &wanted {
            let is_it = |item: &&Value| {
                let text = |pointer: &str| item.pointer(pointer).unwrap().as_str().unwrap();
                format!("{} {} {}", text("/application/name"), text("/service/name"), text("/name")) == *name
            };
            assert_eq!(items.iter().find(is_it).unwrap()["declaration"], *body);
        }
        // The second revert changes nothing, because the first has declared that state.
        system.call("POST", &path, KEY, &Value::Null).assert_is(200, &json!({"/changed": false}));
    }
    system.assert_sound();
}

#[test]
fn the_past_of_another_team_is_404_and_invalid_requests_are_400() {
    let system = Running::demo();
    let id = submit(&system, "POST", &json!({"NewApp1": {"services": {"VM": vms(&[8])}}}));
    let other = json!({"AwesomeConsumer2": {"NewApp1": {"services": {"VM": vms(&[4])}}}});
    let other = system.call("POST", &format!("{SUBMISSIONS}/submit/"), "awesome2-key", &other);
    let other = other.at("/id").as_u64().unwrap();
    let (not_found, bad, unknown) = ((404, "not_found"), (400, "invalid_filter"), id + 1);
    for (path, code) in [
        (format!("{other}/difference/?to={id}"), not_found),
        (format!("{id}/difference/?to={other}"), bad),
        (format!("{id}/difference/"), bad),
        (format!("{id}/difference/?to={unknown}"), bad),
        (format!("{id}/difference/?to={id}&cursor=x"), (400, "invalid_cursor")),
    ] {
        assert_eq!(system.get(&format!("{SUBMISSIONS}/{path}"), KEY).code(), code, "{path}");
    }
    for (of, body, code) in [
        (other, Value::Null, not_found),
        (unknown, Value::Null, not_found),
        (id, json!({"NewApp1": {}}), (400, "invalid_body")),
    ] {
        let answer = system.call("POST", &format!("{SUBMISSIONS}/{of}/revert/"), KEY, &body);
        assert_eq!(answer.code(), code, "{answer:?}");
    }
    let as_of = system.get(&format!("{CONSUMER}/applications/32769/?as_of={other}"), KEY);
    assert!([not_found, bad].contains(&as_of.code()), "{as_of:?}");
}

/// The replaced metadata of 90 applications need more writes than one transaction holds.
#[test]
fn the_past_of_ninety_applications_is_stored() {
    let system = Running::demo();
    let round = |n: u64| -> Value {
        (1..=90).map(|app| (format!("App{app}"), json!({"metadata": {"round": n}}))).collect()
    };
    let (first, second) = (submit(&system, "POST", &round(1)), submit(&system, "POST", &round(2)));
    let difference = difference(&system, first, second, 50);
    assert_eq!((difference.metadata.len(), difference.items.len()), (90, 0));
    let one = json!([{"pointer": "/round", "old": 1, "new": 2}]);
    assert!(difference.metadata.iter().all(|of| of["differences"] == one));
    system.assert_sound();
}
