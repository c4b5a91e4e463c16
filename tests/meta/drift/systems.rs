//! Parts of the contract that only a system with other settings or services shows.

use super::{CONSUMER, OPERATOR, OWNER};
use dovetail_daemon::functions::ConsoleSettings;
use dovetail_daemon::world;
use dovetail_http::{Access, ROUTES};
use serde_json::{Value, json};
use support::contract::Lines;
use support::{Answer, ApiRequest, Running, Settings};

/// Returns the parts of the contract that the responses to a team beyond its rate show.
pub(super) fn limited() -> Lines {
    let limits = Settings { team_requests_per_second: 1, team_requests_burst: 1, ..Settings::default() };
    let system = Running::start_with(world::DEMO, limits);
    for route in ROUTES.iter().filter(|route| route.access != Access::Anyone) {
        let path = route.path.replace("{pov}", "serviceowner").replace("{id}", "1");
        for method in route.methods {
            // The first request may take the token, and the next one gets none.
            let key = if route.access == Access::Platform { OPERATOR } else { "vm-owner-key" };
            let mut answers = std::iter::repeat_with(|| system.call(method, &path, key, &json!({})));
            assert!(answers.by_ref().take(10).any(|answer| answer.status == 429), "{method} {path}");
        }
    }
    system.seen.lock().unwrap().clone()
}

/// Returns the parts of the state of a system that only work in quarantine and a recorded audit show.
pub(super) fn with_quarantine() -> Lines {
    let system = Running::demo();
    system.set_aside_work();
    assert_eq!(system.send(&ApiRequest::new("POST", "/_local/audit", &Value::Null)).status, 200);
    let status = system.get("/v1/platform/status/", OPERATOR);
    assert!(status.at("/quarantined_work/first/0").is_object(), "{status:?}");
    system.seen.lock().unwrap().clone()
}

/// Returns the parts that only a system with retired applications shows (R45).
pub(super) fn with_retired() -> Lines {
    let system = Running::start_with(world::DEMO, Settings { reuse_from: 1, ..Settings::default() });
    for (name, metadata) in
        [("first", json!({"env": "dev"})), ("first", json!({})), ("second", json!({"a": 1}))]
    {
        let body = json!({"AwesomeConsumer": {name: {"metadata": metadata}}});
        declare(&system, "PATCH", "submit", &body).expect_status(201);
    }
    let listed = system.get(&format!("{CONSUMER}/applications/?retired=true"), "awesome-key");
    assert_eq!(listed.at("/results/0/name"), "first");
    system.seen.lock().unwrap().clone()
}

/// Returns the parts that only a system with an issuer for the console shows.
pub(super) fn with_issuer() -> Lines {
    let issuer = dovetail_issuer::Settings::new("https://id.example", "dovetail").unwrap();
    let console = ConsoleSettings::new(Some(&issuer), "console", "").unwrap();
    let system = Running::start_with(world::DEMO, Settings { console, ..Settings::default() });
    assert_eq!(system.get("/v1/console.json", "vm-owner-key").status, 200);
    system.seen.lock().unwrap().clone()
}

/// Shows the parts that only secrets have (R58).
fn with_secret(system: &Running, change: &str) {
    let change = system.get(&format!("{change}?secrets=true"), "vm-owner-key");
    assert_eq!(change.at("/new_declaration/declaration/key"), "one");
    let read = system.get("/v1/account/records/?limit=1", "vm-owner-key");
    assert_eq!(read.at("/results/0/event"), "SECRETS_READ");
    let host = json!({"AwesomeConsumer": {"Lab": {"services": {"Host": [{"name": "h1", "key": "two"}]}}}});
    let preview = declare(system, "POST", "validate", &host);
    assert_eq!(preview.at("/change_instances/0/differences/0/secret"), true);
}

fn declare(system: &Running, method: &str, path: &str, body: &Value) -> Answer {
    system.call(method, &format!("{CONSUMER}/submissions/{path}/"), "awesome-key", body)
}

/// Sends a decision for the state with a tag.
fn decide(system: &Running, method: &str, path: &str, tag: &str) -> Answer {
    let body = if path.ends_with("/retry/") { json!({}) } else { json!({"log": "late"}) };
    let request = ApiRequest::with_key(method, path, "vm-owner-key", &body);
    system.send(&ApiRequest { headers: &[("if-match", tag)], ..request })
}

/// Sends each decision with the tag of another state, and with that of any state.
fn with_tag(system: &Running, change: &str) {
    let retry = format!("{change}retry/");
    for (method, path) in [("PATCH", change), ("PUT", change), ("POST", change), ("POST", &retry)] {
        let answer = decide(system, method, path, "\"0-0\"");
        assert_eq!(answer.at("/code"), "changed_meanwhile", "{method} {path}: {answer:?}");
        let answer = decide(system, method, path, "*");
        assert_eq!(answer.status, if path == change { 200 } else { 400 }, "{method} {path}: {answer:?}");
    }
}

/// Returns the parts that only a service with words shows (R49).
pub(super) fn with_words() -> Lines {
    let system = Running::start_with(world::DEMO, Settings::default());
    let definition = json!({"title": "Host", "type": "object", "x-verified": true, "required": ["name", "ip"],
        "properties": {"name": {"type": "string"}, "ip": {"type": "string", "readOnly": true},
            "key": {"type": "string", "writeOnly": true}}});
    system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition).expect_status(201);
    let host = json!({"AwesomeConsumer": {"Lab": {"services": {"Host": [{"name": "h1", "key": "one"}]}}}});
    for (path, status) in [("validate", 200), ("submit", 201)] {
        declare(&system, "POST", path, &host).expect_status(status);
    }
    let changes = system.get(&format!("{OWNER}/change_instances/?proposal=true"), "vm-owner-key");
    assert_eq!(changes.at("/results/0/unknown"), &json!(["/ip"]));
    with_secret(&system, changes.at("/results/0/url").as_str().unwrap());
    let items = system.get(&format!("{CONSUMER}/service_items/?document=true"), "awesome-key");
    assert_eq!(items.at("/results/0/document"), &json!({"name": "h1"}));
    let change = changes.at("/results/0/url").as_str().unwrap();
    with_tag(&system, change);
    let planned = json!({"state": "APPROVED", "planned_item": {"ip": "10.0.0.1"}});
    for body in [planned, json!({"state": "ERRORED", "deployed_item": {"ip": "10.0.0.1"}})] {
        assert_eq!(system.call("PATCH", change, "vm-owner-key", &body).status, 200);
    }
    let deployed = system.get(&format!("{OWNER}/deployed_items/"), "vm-owner-key");
    assert_eq!(deployed.at("/results/0/observed"), &json!(true));
    with_drift(&system, change);
    with_unconfirmed_removal(&system);
    with_derived(&system);
    with_reference(&system);
    system.seen.lock().unwrap().clone()
}

/// Previews the removal of an item whose definition wants it confirmed.
fn with_unconfirmed_removal(system: &Running) {
    let definition = json!({"title": "Disk", "type": "object", "required": ["name"], "x-confirm-removal": true,
        "properties": {"name": {"type": "string"}}});
    system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition).expect_status(201);
    let disks = |disks: Value| json!({"AwesomeConsumer": {"Disks": {"services": {"Disk": disks}}}});
    let created = declare(system, "PATCH", "submit", &disks(json!([{"name": "d1"}]))).expect_status(201);
    for state in ["APPROVED", "COMPLETED"] {
        let change = created.at("/change_instances/0/url").as_str().unwrap();
        system.call("PATCH", change, "vm-owner-key", &json!({"state": state})).expect_status(200);
    }
    let preview = declare(system, "PATCH", "validate", &disks(json!([]))).expect_status(200);
    assert_eq!(preview.at("/unconfirmed_removals/1/name"), "d1");
}

/// Reads an item with an absent derived value.
fn with_derived(system: &Running) {
    let definition = json!({"title": "Port", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "title": {"type": "string", "readOnly": true, "x-derived": "{speed} of {name}"}}});
    system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition).expect_status(201);
    let port = json!({"AwesomeConsumer": {"Ports": {"services": {"Port": [{"name": "p1"}]}}}});
    declare(system, "PATCH", "submit", &port).expect_status(201);
    let items = system.get(&format!("{CONSUMER}/service_items/?name=p1&document=true"), "awesome-key");
    assert_eq!(items.at("/results/0/document_problems/0/pointer"), "/title");
}

/// Reads an item that refers to another application and the granted item, and previews the removal of that one.
fn with_reference(system: &Running) {
    let reference = json!({"type": ["string", "object"], "format": "reference", "service_reference": "Port",
        "x-reach": "team"});
    let definition = json!({"title": "Link", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "port": reference}});
    system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition).expect_status(201);
    let link = json!({"name": "l1", "port": {"application": "Ports", "name": "p1"}});
    let links = json!({"AwesomeConsumer": {"Links": {"services": {"Link": [link]}}}});
    let created = declare(system, "PATCH", "submit", &links).expect_status(201);
    let item =
        system.get(created.at("/change_instances/0/service_item/url").as_str().unwrap(), "awesome-key");
    let port = item.at("/references/0/url").as_str().unwrap();
    assert_eq!(system.get(port, "awesome-key").at("/uses"), 1);
    let port = item.at("/references/0/service_item");
    let granted = system.get(&format!("{CONSUMER}/granted_items/{port}/"), "awesome-key");
    assert_eq!(granted.at("/name"), "p1");
    let users = system.get(&format!("{CONSUMER}/service_items/?references={port}"), "awesome-key");
    assert_eq!(users.at("/results/0/name"), "l1");
    with_causes(system);
    let removed = json!({"AwesomeConsumer": {"Ports": {"services": {"Port": []}}}});
    let preview = declare(system, "PATCH", "validate", &removed).expect_status(200);
    assert_eq!(preview.at("/unconfirmed_removals/1/uses"), 1);
}

/// Reads an item that refers to another one of its application, and the change that follows a change of that one (R72,
/// R73).
fn with_causes(system: &Running) {
    let port = system.get(&format!("{OWNER}/services/?name=Port"), "vm-owner-key");
    let port = port.at("/results/0/url").as_str().unwrap();
    let shown = json!({"references_see": "ALL"});
    system.call("PATCH", port, "vm-owner-key", &shown).expect_status(200);
    let lab = |speed: u64| {
        let ports = json!([{"name": "p1", "speed": speed}]);
        let links = json!([{"name": "l1", "port": "p1"}]);
        json!({"AwesomeConsumer": {"Cables": {"services": {"Port": ports, "Link": links}}}})
    };
    declare(system, "PATCH", "submit", &lab(1)).expect_status(201);
    let preview = declare(system, "PATCH", "validate", &lab(2)).expect_status(200);
    assert_eq!(preview.at("/change_instances/1/causes/0/differences/0/new"), 2);
    declare(system, "PATCH", "submit", &lab(2)).expect_status(201);
    system.wait_idle();
    for (list, key) in
        [("referenced/", "/results/0/causes/0/pointers/0"), ("", "/results/0/references/0/name")]
    {
        let path = format!("{OWNER}/change_instances/{list}?references=true&service_name=Link");
        let listed = system.get(&path, "vm-owner-key").expect_status(200);
        assert!(listed.at(key).is_string(), "{listed:?}");
    }
    let dependent = format!("{OWNER}/change_instances/dependant/?references=true&is_ready=true");
    system.get(&dependent, "vm-owner-key").expect_status(200);
    with_order(system);
}

/// Reads a change that waits for the cause that it follows, and completes it too early (R74).
fn with_order(system: &Running) {
    let link = system.get(&format!("{OWNER}/services/?name=Link"), "vm-owner-key");
    let link = link.at("/results/0/url").as_str().unwrap();
    let ordered = json!({"require_ready": true});
    system.call("PATCH", link, "vm-owner-key", &ordered).expect_status(200);
    for list in ["referenced/", ""] {
        let path = format!("{OWNER}/change_instances/{list}?is_ready=false&service_name=Link");
        let waiting = system.get(&path, "vm-owner-key").expect_status(200);
        assert_eq!(waiting.at("/results/0/waits_for/0/name"), "p1", "{waiting:?}");
        let change = waiting.at("/results/0/url").as_str().unwrap();
        system.get(change, "vm-owner-key").expect_status(200);
        if list.is_empty() {
            system.call("PATCH", change, "vm-owner-key", &json!({"state": "APPROVED"})).expect_status(200);
            let early = system.call("PATCH", change, "vm-owner-key", &json!({"state": "COMPLETED"}));
            assert_eq!(early.code(), (400, "not_ready"), "{early:?}");
        }
    }
}

/// Completes a failed change instance of a verified service, and observes another value.
fn with_drift(system: &Running, failed: &str) {
    let retried = decide(system, "POST", &format!("{failed}retry/"), "*");
    let complete = json!({"state": "COMPLETED", "deployed_item": {"ip": "10.0.0.1"}});
    system.call("PATCH", retried.at("/url").as_str().unwrap(), "vm-owner-key", &complete).expect_status(200);
    let found = json!({"change_instance": retried.at("/id"), "data": {"name": "h2"}});
    let found = system.call("POST", &format!("{OWNER}/deployed_items/"), "vm-owner-key", &found);
    assert_eq!(found.at("/is_drifted"), &json!(true), "{found:?}");
    let items = system.get(&format!("{CONSUMER}/service_items/?document=true"), "awesome-key");
    assert_eq!(items.at("/results/0/drift/differences/0/new"), &json!("h2"));
}
