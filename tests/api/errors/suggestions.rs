//! Unknown fields, filters, services and routes: warnings, refusals and suggestions.

use crate::api::demo::{OWNER, SERVICES, SUBMIT, declared};
use dovetail_http::{Access, ROUTES};
use serde_json::{Value, json};
use support::Running;

/// Returns a path for an operation, with the id of an existing object if it needs one.
fn path_of(route: &str, system: &Running, change: &str) -> Option<String> {
    let path = route.replace("{pov}", "serviceowner");
    let url = |list: &str| {
        let list = system.get(list, "vm-owner-key");
        list.at("/results/0/url").as_str().map(str::to_owned)
    };
    let Some((collection, below)) = path.split_once("{id}") else { return Some(path) };
    let object = match collection {
        "/v1/orcabase/serviceowner/change_instances/" => Some(change.to_owned()),
        // A team has no URL, and its key sees itself alone.
        "/v1/account/teams/" => Some(format!("{collection}1/")),
        "/v1/orcabase/serviceowner/charges/" => url("/v1/marketplace/serviceowner/charges/"),
        _ => url(collection),
    };
    object.map(|object| format!("{}{below}", object.trim_end_matches('/')).replace("marketplace", "orcabase"))
}

#[test]
fn unknown_keys_are_named_and_a_body_of_unknown_keys_is_refused() {
    let mut world: Value = serde_json::from_str(dovetail_daemon::world::DEMO).unwrap();
    world["services"][0]["schema"]["metadata"] = json!({"cost_per_change": 5});
    let system = Running::start(&world.to_string());
    let change = declared(&system);
    let done = json!({"state": "APPROVED", "deployed_item": {"ip": "10.0.0.1"}});
    system.expect(200, "PATCH", &change, "vm-owner-key", &done);
    for (path, body) in [
        ("/v1/external/serviceowner/webhooks/", json!({"service": 1, "target_url": "https://example.com/"})),
        ("/v1/account/members/", json!({"subject": "u-1", "name": "Jane", "role": "GENERAL"})),
        ("/v1/orcaexternal/serviceowner/messages/", json!({"description": "VMs rest on Sunday"})),
    ] {
        system.expect(201, "POST", path, "vm-owner-key", &body);
    }
    let before = system.stored();
    let mut seen = 0;
    for route in ROUTES {
        let Some(field) = route.operation.fields().and_then(|fields| fields.first()) else { continue };
        let path = path_of(route.path, &system, &change).unwrap();
        for method in route.methods.iter().filter(|method| **method != "GET") {
            seen += 1;
            let slip = format!("{field}s");
            let key = if route.access == Access::Platform { "platform-key" } else { "vm-owner-key" };
            let answer = system.call(method, &path, key, &json!({slip.as_str(): "x", "colour": "red"}));
            assert_eq!(answer.code(), (400, "unknown_fields"), "{method} {path}: {answer:?}");
            let meant = answer.at(&format!("/{slip}/0")).as_str().unwrap();
            assert!(meant.ends_with(&format!("did you mean `{field}`?")), "{method} {path}: {meant}");
            assert!(answer.at("/detail").as_str().unwrap().contains(meant), "{answer:?}");
        }
    }
    // A lower number would mean that the loop skips routes.
    assert!(seen > 15, "{seen}");
    assert_eq!(system.stored(), before);
}

#[test]
fn a_reply_has_warnings_with_the_intended_field() {
    let system = Running::demo();
    let change = declared(&system);
    let call = |path: &str, body: &Value| system.expect(200, "PATCH", path, "vm-owner-key", body);
    let noted = call(&change, &json!({"status": "APPROVED", "log": "on it", "a/b": 1}));
    let warnings =
        ["/a~1b is unknown and has no effect", "/status is unknown and has no effect, did you mean `state`?"];
    noted.assert_is(200, &json!({"/state": "PENDING", "/log": "on it", "/warnings": warnings}));
    let set = call(&format!("{SERVICES}1/"), &json!({"aproval_required": false, "tags": ["compute"]}));
    let warning = "/aproval_required is unknown and has no effect, did you mean `approval_required`?";
    assert_eq!(set.at("/warnings"), &json!([warning]));
    // Clients send back objects as read. These fields are known, so they cause no warning.
    for body in [&system.get(&change, "vm-owner-key").body, &json!({})] {
        assert_eq!(call(&change, body).at("/warnings"), &Value::Null);
    }
    assert_eq!(system.get(&change, "vm-owner-key").at("/warnings"), &Value::Null);
}

#[test]
fn unknown_filters_services_and_routes_get_a_suggestion() {
    let system = Running::demo();
    for (slip, meant) in
        [("sate=PENDING", "state"), ("service_item=7", "service_item_id"), ("colour=red", "")]
    {
        let path = format!("{OWNER}/change_instances/?{slip}");
        let answer = system.get(&path, "vm-owner-key");
        // Existing clients compare this body, so the suggestion is a header.
        assert_eq!((answer.status, &answer.body), (400, &json!(["Filter param not found."])));
        assert_eq!(answer.header("dovetail-did-you-mean").unwrap_or_default(), meant, "{slip}");
    }
    let body = json!({"AwesomeConsumer": {"App": {"services": {"Vms": [{"name": "one"}], "Nothing": [{"name": "x"}]}}}});
    let answer = system.call("POST", SUBMIT, "awesome-key", &body);
    let problems = answer.at("/problems").as_array().unwrap().iter();
    let mut details: Vec<&str> = problems.map(|problem| problem["detail"].as_str().unwrap()).collect();
    details.sort_unstable();
    let expected = [
        "must be the title of a service, but 'Nothing' does not exist",
        "must be the title of a service, but 'Vms' does not exist, did you mean `VM`?",
    ];
    assert_eq!(details, expected);
    for (path, meant) in [
        ("/v1/orcabase/consumers/change_instance/54/", "/v1/orcabase/{pov}/change_instances/{id}"),
        ("/v1/orcabase/serviceowner/service_items/7/health", ""),
        ("/v1/orcabase/consumer/submission/submit", "/v1/orcabase/consumer/submissions/submit"),
        ("/v1/acount/team", "/v1/account/teams"),
        ("/v2/nothing", ""),
    ] {
        let answer = system.get(path, "awesome-key");
        let rest = if meant.is_empty() { String::new() } else { format!(", did you mean `{meant}`?") };
        assert_eq!(*answer.at("/detail"), format!("no route has this path{rest}"), "{path}");
    }
}
