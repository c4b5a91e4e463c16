//! Error responses and warnings: unknown fields, blockers, invalid declarations, illegal transitions, and
//! suggestions.

use dovetail_http::ROUTES;
use serde_json::{Value, json};
use support::{Answer, Running};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const OWNER: &str = "/v1/orcabase/serviceowner";

fn vms(items: &Value) -> Value {
    json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}})
}

/// Declares one VM. Returns the path of its change instance for the service owner.
fn declared(system: &Running) -> String {
    declared_as(system, 1)
}

fn declared_as(system: &Running, cpu: u64) -> String {
    let answer = system.call("POST", SUBMIT, "awesome-key", &vms(&json!([{"name": "one", "cpu": cpu}])));
    assert_eq!(answer.status, 201, "{answer:?}");
    format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"))
}

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
    // A lower number would mean that the loop skips routes.
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
    // Clients send back objects as read. These fields are known, so they cause no warning.
    for body in [&system.get(&change, "vm-owner-key").body, &json!({})] {
        assert_eq!(call(&change, body).at("/warnings"), &Value::Null);
    }
    assert_eq!(system.get(&change, "vm-owner-key").at("/warnings"), &Value::Null);
}

#[test]
fn finding_15_a_blocker_shows_why_who_and_since_when() {
    let system = Running::demo();
    let change = declared(&system);
    let rejected = json!({"state": "REJECTED", "log": "no capacity in zone 2"});
    let rejected = system.call("PATCH", &change, "vm-owner-key", &rejected);
    let since = rejected.at("/modified").clone();
    // A log text is not a transition, so `since` stays the time of the rejection.
    let noted = json!({"log": "no capacity in zones 2 and 3"});
    assert_eq!(system.call("PATCH", &change, "vm-owner-key", &noted).status, 200);
    let answer = system.call("POST", SUBMIT, "awesome-key", &vms(&json!([{"name": "one", "cpu": 1}])));
    assert_eq!((answer.status, answer.at("/code")), (400, &json!("blocked")), "{answer:?}");
    let problem = answer.at("/problems/0");
    let seen = system.get(&change.replace("serviceowner", "consumer"), "awesome-key");
    let expected = json!({"id": seen.at("/id"), "url": seen.at("/url"), "state": "REJECTED", "owner": seen.at("/owner"),
        "since": since, "log": "no capacity in zones 2 and 3"});
    assert_eq!(problem.get("change_instance"), Some(&expected), "{answer:?}");
    for detail in [problem.get("detail").unwrap(), answer.at("/detail")] {
        let detail = detail.as_str().unwrap();
        for part in ["id", "state", "since", "log"].map(|name| expected[name].to_string()) {
            assert!(detail.contains(part.trim_matches('"')), "{part}: {detail}");
        }
        assert!(
            detail.contains("VMOwnerTeam") && detail.contains(": modify or remove the item ("),
            "{detail}"
        );
    }
}

#[test]
fn finding_15_twenty_blockers_are_shown_with_their_number() {
    let system = Running::demo();
    let items: Vec<Value> = (0..23).map(|number| json!({"name": format!("vm-{number}")})).collect();
    let body = vms(&json!(items));
    assert_eq!(system.call("POST", SUBMIT, "awesome-key", &body).status, 201);
    system.settle();
    let pending = system.get(&format!("{OWNER}/change_instances/?state=PENDING&limit=100"), "vm-owner-key");
    for change in pending.at("/results").as_array().unwrap() {
        let rejected = json!({"state": "REJECTED", "log": "x".repeat(1024)});
        let url = change.get("url").and_then(Value::as_str).unwrap();
        assert_eq!(system.call("PATCH", url, "vm-owner-key", &rejected).status, 200);
    }
    let answer = system.call("POST", SUBMIT, "awesome-key", &body);
    assert_eq!((answer.status, answer.at("/code")), (400, &json!("blocked")), "{answer:?}");
    let problems = answer.at("/problems").as_array().unwrap();
    let shown = problems.iter().filter(|problem| problem.get("change_instance").is_some()).count();
    assert_eq!((problems.len(), shown), (23, 20));
    let detail = answer.at("/detail").as_str().unwrap();
    assert!(detail.starts_with("23 change instances block the submission, the first 20: "), "{detail}");
}

#[test]
fn finding_17_an_item_without_a_name_hides_no_other_problem() {
    let system = Running::demo();
    let body = json!({"AwesomeConsumer": {"App": {"services": {
        "VM": [{"cpu": 1}, {"name": "one", "cpu": "x"}, {"name": "two"}, {"name": "two", "memory": "y"}, 5],
        "Vm": [{"name": "three"}],
        "LoadBalancer": [{"name": "entry", "related_vms": ["ghost", "one"]}]}},
        "Other": {"services": {"VM": {}, "LoadBalancer": [{"name": "entry", "related_vms": ["one"]}]}}}});
    let vm = "/AwesomeConsumer/App/services/VM";
    let expected = [
        ("missing_name", format!("{vm}/0/name")),
        ("schema", format!("{vm}/1/cpu")),
        ("duplicate_name", format!("{vm}/3/name")),
        ("schema", format!("{vm}/3/memory")),
        ("wrong_type", format!("{vm}/4")),
        ("unknown_service", "/AwesomeConsumer/App/services/Vm".to_owned()),
        ("dangling_reference", "/AwesomeConsumer/App/services/LoadBalancer/0/related_vms/0".to_owned()),
        ("wrong_type", "/AwesomeConsumer/Other/services/VM".to_owned()),
    ];
    for path in [SUBMIT, "/v1/orcabase/consumer/submissions/validate/"] {
        let answer = system.call("POST", path, "awesome-key", &body);
        assert_eq!((answer.status, answer.at("/code")), (400, &json!("invalid_declaration")), "{answer:?}");
        let problems = answer.at("/problems").as_array().unwrap().iter();
        let mut problems: Vec<(&str, String)> = problems
            .map(|problem| {
                (problem["rule"].as_str().unwrap(), problem["pointer"].as_str().unwrap().to_owned())
            })
            .collect();
        problems.sort_by_key(|problem| expected.iter().position(|known| known == problem));
        assert_eq!(problems, expected, "{path}");
    }
}

#[test]
fn finding_18_a_reference_has_its_problem_under_its_own_property() {
    let mut world: Value = serde_json::from_str(dovetail_local::world::DEMO).unwrap();
    let properties =
        world.pointer_mut("/services/1/schema/properties").and_then(Value::as_object_mut).unwrap();
    let main = json!({"type": "string", "format": "reference", "service_reference": "VM"});
    properties.insert("main/vm".to_owned(), main);
    let system = Running::start(&world.to_string());
    let balancer = json!({"name": "entry", "related_vms": ["one", "ghost"], "main/vm": "ghost"});
    let body = |vm: &str| json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": vm}], "LoadBalancer": [balancer]}}}});
    let places = |answer: &Answer| -> Vec<String> {
        let problems = answer.at("/problems").as_array().unwrap().iter();
        let place = |problem: &Value| {
            format!("{} {}", problem["rule"].as_str().unwrap(), problem["pointer"].as_str().unwrap())
        };
        problems.map(place).collect()
    };
    let answer = system.call("POST", SUBMIT, "awesome-key", &body("one"));
    let item = "/AwesomeConsumer/App/services/LoadBalancer/0";
    let expected =
        [format!("dangling_reference {item}/main~1vm"), format!("dangling_reference {item}/related_vms/1")];
    assert_eq!(places(&answer), expected, "{answer:?}");
    let errors = answer.at("/errors/AwesomeConsumer/App/LoadBalancer/entry");
    let message = "VM 'ghost' must be declared in application 'App'";
    assert_eq!(*errors, json!({"main/vm": [message], "related_vms": [message]}));
    // An unchanged item is checked as well: its reference to the removed VM dangles (R15).
    let mut both = body("one");
    let vms = both.pointer_mut("/AwesomeConsumer/App/services/VM").and_then(Value::as_array_mut).unwrap();
    vms.push(json!({"name": "ghost"}));
    assert_eq!(system.call("POST", SUBMIT, "awesome-key", &both).status, 201);
    system.settle();
    assert_eq!(places(&system.call("POST", SUBMIT, "awesome-key", &body("one"))), expected);
}

#[test]
fn finding_24_the_count_of_a_submission_is_exact_beyond_what_a_page_reads() {
    let system = Running::demo();
    let items: Vec<Value> = (0..1_020).map(|number| json!({"name": format!("vm-{number}")})).collect();
    let submitted = system.call("POST", SUBMIT, "awesome-key", &vms(&json!(items)));
    assert_eq!(submitted.status, 201, "{submitted:?}");
    system.settle();
    let list = format!("/v1/orcabase/consumer/change_instances/?submission_id={}", submitted.at("/id"));
    let page = system.get(&format!("{list}&limit=1"), "awesome-key");
    assert_eq!(page.at("/count"), 1_020, "{:?}", page.at("/results/0/id"));
    let (mut next, mut seen) = (Some(format!("{list}&limit=100")), 0);
    while let Some(url) = next {
        let page = system.get(&url, "awesome-key");
        assert_eq!(page.at("/count"), 1_020, "after {seen}");
        seen += page.at("/results").as_array().unwrap().len();
        next = page.at("/next").as_str().map(str::to_owned);
    }
    assert_eq!(seen, 1_020);
}

#[test]
fn finding_25_a_refused_move_names_the_allowed_ones_and_the_retry() {
    let system = Running::demo();
    let change = declared(&system);
    let moved = |state: &str| system.call("PATCH", &change, "vm-owner-key", &json!({"state": state}));
    let refused = |to: &str, from: &str, allowed: &[&str], rest: &str| {
        let answer = moved(to);
        assert_eq!((answer.status, answer.at("/code")), (400, &json!("illegal_transition")), "{answer:?}");
        assert_eq!(answer.at("/allowed"), &json!(allowed));
        assert_eq!(
            *answer.at("/detail"),
            format!("cannot switch from state {from} to {to} directly, {rest}")
        );
        answer.at("/retry").clone()
    };
    let none = Value::Null;
    assert_eq!(
        refused("COMPLETED", "PENDING", &["APPROVED", "REJECTED"], "allowed: APPROVED, REJECTED"),
        none
    );
    assert_eq!(moved("REJECTED").status, 200);
    let retry = system.get(&change, "vm-owner-key").at("/url").as_str().unwrap().to_owned() + "retry/";
    let rest = "allowed: CLOSED, or a new attempt by retry";
    assert_eq!(refused("APPROVED", "REJECTED", &["CLOSED"], rest), retry);
    assert_eq!(moved("CLOSED").status, 200);
    assert_eq!(refused("APPROVED", "CLOSED", &[], "CLOSED is final"), none);
    // A newer change instance replaced this one, so the response offers no retry.
    let change = declared_as(&system, 2);
    let moved = |path: &str, state: &str| {
        let answer = system.call("PATCH", path, "vm-owner-key", &json!({"state": state}));
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    moved(&change, "APPROVED");
    let newer = declared_as(&system, 3);
    moved(&change, "ERRORED");
    let overtaken = system.call("PATCH", &change, "vm-owner-key", &json!({"state": "COMPLETED"}));
    assert_eq!(
        (overtaken.at("/allowed"), overtaken.at("/retry")),
        (&json!(["CLOSED"]), &Value::Null),
        "{newer}"
    );
}

#[test]
fn finding_25_unknown_filters_services_and_routes_get_a_suggestion() {
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
    let mut details: Vec<&str> = answer
        .at("/problems")
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["detail"].as_str().unwrap())
        .collect();
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

#[test]
fn finding_25_a_private_service_is_suggested_to_no_other_team() {
    let system = Running::demo();
    let private = json!({"allowed_teams": ["AwesomeConsumer2"]});
    assert_eq!(system.call("PATCH", &format!("{OWNER}/services/1/"), "vm-owner-key", &private).status, 200);
    for (team, key, rest) in
        [("AwesomeConsumer", "awesome-key", ""), ("AwesomeConsumer2", "awesome2-key", ", did you mean `VM`?")]
    {
        let answer = system.call(
            "POST",
            SUBMIT,
            key,
            &json!({team: {"App": {"services": {"Vms": [{"name": "one"}]}}}}),
        );
        assert_eq!(
            *answer.at("/problems/0/detail"),
            format!("must be the title of a service, but 'Vms' does not exist{rest}")
        );
    }
}

#[test]
fn finding_25_earlier_schema_versions_can_be_read() {
    let system = Running::demo();
    let path = "/v1/orcabase/serviceowner/services/1/";
    let first = system.get(path, "vm-owner-key");
    let stricter = json!({"title": "VM", "type": "object", "required": ["name", "owner"],
        "properties": {"name": {"type": "string"}}});
    let published = system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &stricter);
    assert_eq!((published.status, published.at("/schema/version")), (200, &json!(2)));
    for (pov, key) in [("serviceowner", "vm-owner-key"), ("consumer", "awesome-key")] {
        let path = path.replace("serviceowner", pov);
        for (query, schema) in [
            ("", published.at("/schema")),
            ("?version=2", published.at("/schema")),
            ("?version=1", first.at("/schema")),
        ] {
            let answer = system.get(&format!("{path}{query}"), key);
            assert_eq!((answer.status, answer.at("/schema")), (200, schema), "{path}{query}");
        }
        for (query, status, code) in [
            ("3", 404, "not_found"),
            ("0", 404, "not_found"),
            ("x", 400, "invalid_filter"),
            ("9007199254740991", 404, "not_found"),
        ] {
            let answer = system.get(&format!("{path}?version={query}"), key);
            assert_eq!((answer.status, answer.at("/code")), (status, &json!(code)), "{query}");
        }
    }
}
