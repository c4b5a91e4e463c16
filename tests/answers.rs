//! Replies that say what was not done and why: unknown keys, blockers, invalid declarations, refused moves, suggestions.
#![expect(clippy::unwrap_used, reason = "test support")]

use dovetail_http::ROUTES;
use serde_json::{Value, json};
use tests::Running;

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const OWNER: &str = "/v1/orcabase/serviceowner";

fn vms(items: &Value) -> Value {
    json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}})
}

/// Declares one VM; returns the path of its change instance.
fn declared(system: &Running) -> String {
    let answer = system.call("POST", SUBMIT, "awesome-key", &vms(&json!([{"name": "one", "cpu": 1}])));
    assert_eq!(answer.status, 201, "{answer:?}");
    format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"))
}

/// Returns a path for an operation: one of an existing object, where it needs one.
fn path_of(route: &str, system: &Running, change: &str) -> Option<String> {
    let path = route.replace("{pov}", "serviceowner");
    let url = |list: &str| {
        let list = system.get(list, "vm-owner-key");
        list.at("/results/0/url").as_str().map(str::to_owned)
    };
    let Some((collection, below)) = path.split_once("{id}") else { return Some(path) };
    let object = match collection {
        "/v1/orcabase/serviceowner/change_instances/" => Some(change.to_owned()),
        "/v1/orcabase/serviceowner/charges/" => url("/v1/marketplace/serviceowner/charges/"),
        _ => url(collection),
    };
    object.map(|object| format!("{}{below}", object.trim_end_matches('/')).replace("marketplace", "orcabase"))
}

#[test]
fn finding_14_unknown_keys_are_named_and_a_body_of_unknown_keys_is_refused() {
    let mut world: Value = serde_json::from_str(dovetail_local::world::DEMO).unwrap();
    *world.pointer_mut("/services/0/schema/metadata").unwrap_or(&mut Value::Null) = Value::Null;
    let schema = world.pointer_mut("/services/0/schema").and_then(Value::as_object_mut).unwrap();
    schema.insert("metadata".to_owned(), json!({"cost_per_change": 5}));
    let system = Running::start(&world.to_string());
    let change = declared(&system);
    let call = |method: &str, path: &str, body: Value| system.call(method, path, "vm-owner-key", &body);
    let done = json!({"state": "APPROVED", "deployed_item": {"ip": "10.0.0.1"}});
    assert_eq!(call("PATCH", &change, done).status, 200);
    let hook = json!({"service": 1, "target_url": "https://example.com/"});
    assert_eq!(call("POST", "/v1/external/serviceowner/webhooks/", hook).status, 201);
    let person = json!({"subject": "u-1", "name": "Jane", "role": "GENERAL"});
    assert_eq!(call("POST", "/v1/account/members/", person).status, 201);
    let message = json!({"description": "VMs rest on Sunday"});
    assert_eq!(call("POST", "/v1/orcaexternal/serviceowner/messages/", message).status, 201);
    let before = system.stored();
    let mut seen = 0;
    for route in ROUTES {
        let Some(field) = route.operation.fields().and_then(|fields| fields.first()) else { continue };
        let path = path_of(route.path, &system, &change).unwrap();
        for method in route.methods.iter().filter(|method| **method != "GET") {
            seen += 1;
            let slip = format!("{field}s");
            let answer = call(method, &path, json!({slip.as_str(): "x", "colour": "red"}));
            assert_eq!(
                (answer.status, answer.at("/code")),
                (400, &json!("unknown_fields")),
                "{method} {path}: {answer:?}"
            );
            let meant = answer.at(&format!("/{slip}/0")).as_str().unwrap();
            assert!(meant.ends_with(&format!("did you mean `{field}`?")), "{method} {path}: {meant}");
            assert!(answer.at("/detail").as_str().unwrap().contains(meant), "{answer:?}");
        }
    }
    assert!(seen > 15, "{seen}");
    assert_eq!(system.stored(), before);
}

#[test]
fn finding_14_a_reply_has_warnings_with_the_field_that_was_meant() {
    let system = Running::demo();
    let change = declared(&system);
    let call = |path: &str, body: &Value| {
        let answer = system.call("PATCH", path, "vm-owner-key", body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer
    };
    let noted = call(&change, &json!({"status": "APPROVED", "log": "on it", "a/b": 1}));
    assert_eq!((noted.at("/state"), noted.at("/log")), (&json!("PENDING"), &json!("on it")));
    let warnings =
        ["/a~1b is unknown and has no effect", "/status is unknown and has no effect, did you mean `state`?"];
    assert_eq!(noted.at("/warnings"), &json!(warnings));
    let service = format!("{OWNER}/services/1/");
    let set = call(&service, &json!({"aproval_required": false, "tags": ["compute"]}));
    let warning = "/aproval_required is unknown and has no effect, did you mean `approval_required`?";
    assert_eq!(set.at("/warnings"), &json!([warning]));
    // An object sent back as it was read, and an empty body, get no warning.
    for body in [&system.get(&change, "vm-owner-key").body, &json!({})] {
        assert_eq!(call(&change, body).at("/warnings"), &Value::Null);
    }
    assert_eq!(system.get(&change, "vm-owner-key").at("/warnings"), &Value::Null);
}
