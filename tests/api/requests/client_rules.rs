//! The wire rules of public clients (docs/reference/http/README.md), and an example of each kind of response.

use crate::api::demo::{CONSUMER, OWNER, SERVICES, SUBMIT, TEAMS, VALIDATE, definition};
use crate::api::example::{Example, SHARED, declaration};
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_http::{Access, Code, CursorKey, Event, ROUTES};
use expect_test::expect_file;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use support::{Answer, ApiRequest};

const COMPATIBILITY: &str = include_str!("../../../docs/reference/compatibility.md");

/// Collects the values of all members with one of these names, at any depth.
fn members<'a>(value: &'a Value, names: &[&str], actual: &mut Vec<&'a Value>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                if names.contains(&name.as_str()) {
                    actual.push(value);
                }
                members(value, names, actual);
            }
        }
        Value::Array(array) => array.iter().for_each(|value| members(value, names, actual)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether a text has the format of times: `2025-02-28T13:18:31.651446Z`.
fn is_timestamp(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000000Z";
    let fits = |(byte, form): (u8, u8)| byte == form || (form == b'0' && byte.is_ascii_digit());
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

/// Returns a response of each object and list, with its path and API key.
fn replies(example: &Example) -> Vec<(String, &'static str, Answer)> {
    let Example { change, share, item, deployed, .. } = example;
    let submission = example.submitted.at("/id");
    let get = |path: String, key: &'static str| {
        let answer = example.system.get(&path, key);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        (path, key, answer)
    };
    vec![
        get(TEAMS.to_owned(), "awesome-key"),
        get(format!("{CONSUMER}/service_items/"), "awesome-key"),
        get(format!("{CONSUMER}/service_items/{item}/"), "awesome-key"),
        get(format!("{OWNER}/change_instances/"), "vm-owner-key"),
        get(format!("{OWNER}/change_instances/{change}/"), "vm-owner-key"),
        get(format!("{OWNER}/change_instances/{change}/history/"), "vm-owner-key"),
        get(format!("{OWNER}/change_instances/{share}/"), "np-owner-key"),
        get(format!("{CONSUMER}/change_instances/dependant/"), "awesome-key"),
        get(format!("{CONSUMER}/service_items/dependant/"), "awesome-key"),
        get(format!("{CONSUMER}/services/dependant/"), "awesome-key"),
        get(format!("{OWNER}/deployed_items/"), "vm-owner-key"),
        get(format!("{CONSUMER}/deployed_items/{deployed}/"), "awesome-key"),
        get(format!("{CONSUMER}/submissions/"), "awesome-key"),
        get(format!("{CONSUMER}/submissions/{submission}/"), "awesome-key"),
        get(format!("{CONSUMER}/services/"), "awesome-key"),
        get(format!("{CONSUMER}/services/1/"), "awesome-key"),
        get(format!("{CONSUMER}/applications/"), "awesome-key"),
        (SUBMIT.to_owned(), "awesome-key", example.submitted.clone()),
    ]
}

/// Returns the names of the members of an object.
fn names(object: &Value) -> Vec<&String> {
    object.as_object().unwrap().keys().collect()
}

#[test]
fn rule_1_the_first_call_returns_the_team_or_401() {
    let system = &SHARED.system;
    let answer = system.get(TEAMS, "awesome-key");
    assert_eq!(answer.status, 200);
    assert_eq!(names(&answer.body), ["count", "next", "previous", "results"]);
    let team = answer.at("/results/0");
    assert_eq!(names(team), ["confirm_removals", "id", "metadata", "name", "role"]);
    assert_eq!(team["name"], "AwesomeConsumer");
    let refused = system.get(TEAMS, "no-such-key");
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), Some("Api-Key"));
}

#[test]
fn rule_2_lists_are_objects_whose_next_goes_on_by_itself() {
    let system = &SHARED.system;
    let list = format!("{CONSUMER}/service_items/?limit=1&runtime_state=REQUESTED,IN_SERVICE&ordering=-name");
    let first = system.get(&list, "awesome-key");
    assert_eq!(names(&first.body), ["count", "next", "previous", "results"]);
    let next = first.at("/next").as_str().unwrap();
    assert!(next.starts_with(&format!("{}{CONSUMER}/service_items/?", system.base)), "{next}");
    for part in ["limit=1&", "runtime%5Fstate=REQUESTED%2CIN%5FSERVICE&", "ordering=%2Dname&", "cursor="] {
        assert!(next.contains(part), "{next} without {part}");
    }
    let second = system.get(next, "awesome-key");
    assert_eq!(second.rows().len(), 1);
    assert_ne!(first.at("/results/0/id"), second.at("/results/0/id"));
}

#[test]
fn rule_3_a_slash_at_the_end_makes_no_difference_and_nothing_redirects() {
    let system = &SHARED.system;
    for route in ROUTES {
        for side in ["serviceowner", "consumer"] {
            let path = route.path.replace("{pov}", side).replace("{id}", "77").replace("{code}", "blocked");
            for method in route.methods {
                let answer = |path: &str| {
                    let mut answer = system.call(method, path, "np-owner-key", &json!({}));
                    // A cache may expire between two requests, so their costs may differ.
                    let varies = ["apigw-requestid", "date", "server-timing"];
                    answer.headers.retain(|(name, _)| !varies.contains(&name.as_str()));
                    answer
                };
                let (bare, slashed) = (answer(&path), answer(&format!("{path}/")));
                assert_eq!(bare, slashed, "{method} {path}");
                assert!(!(300..400).contains(&bare.status), "{method} {path}");
                assert_ne!(bare.at("/code"), "no_such_route", "{method} {path}");
            }
        }
    }
}

#[test]
fn rule_3_head_answers_as_get_without_a_body() {
    let Example { system, item, .. } = &*SHARED;
    for (path, key) in [
        (format!("{CONSUMER}/service_items/"), "awesome-key"),
        (format!("{CONSUMER}/service_items/{item}/"), "awesome-key"),
        (format!("{CONSUMER}/service_items/"), "no-such-key"),
        ("/v1/account/api_keys/".to_owned(), "awesome-key"),
        ("/v1/health".to_owned(), "awesome-key"),
        ("/v1/openapi.json".to_owned(), "awesome-key"),
    ] {
        let [get, head] = ["GET", "HEAD"].map(|method| system.call(method, &path, key, &Value::Null));
        assert_eq!((head.status, &head.body), (get.status, &Value::Null), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
    }
    system.expect(405, "HEAD", SUBMIT, "awesome-key", &Value::Null);
    let allowed = system.call("DELETE", "/v1/health", "awesome-key", &Value::Null);
    assert_eq!(allowed.header("allow"), Some("GET, HEAD"));
}

#[test]
fn rule_4_success_is_200_or_201() {
    let example = Example::new();
    let system = &example.system;
    let call =
        |method: &str, path: &str, key: &str, body: Value| system.call(method, path, key, &body).status;
    assert_eq!(example.submitted.status, 201, "a submission that changes something");
    assert_eq!(call("POST", SUBMIT, "awesome-key", declaration()), 200, "a submission that changes nothing");
    assert_eq!(call("POST", VALIDATE, "awesome-key", declaration()), 200);
    let mut newer = definition("New");
    newer["description"] = json!("newer");
    for (path, schema, status, what) in [
        ("validate/?dry_run=true", definition("New"), 200, "a dry run"),
        ("", definition("New"), 201, "a new service"),
        ("", definition("New"), 200, "the same definition once more"),
        ("", newer, 200, "a new version of it"),
    ] {
        assert_eq!(call("POST", &format!("{SERVICES}{path}"), "vm-owner-key", schema), status, "{what}");
    }
    let deployed = format!("{OWNER}/deployed_items/");
    let body = |ip: &str| json!({"data": {"ip": ip}, "change_instance": example.change});
    assert_eq!(call("POST", &deployed, "vm-owner-key", body("10.0.0.2")), 201, "a new version");
    let same = system.call("POST", &deployed, "vm-owner-key", &body("10.0.0.2"));
    assert_eq!((same.status, same.at("/message")), (200, &json!("no change detected")));
    let path = example.fresh("refused");
    assert_eq!(call("PATCH", &path, "vm-owner-key", json!({"state": "REJECTED"})), 200);
    assert_eq!(call("POST", &format!("{path}retry/"), "vm-owner-key", Value::Null), 201, "a new attempt");
}

#[test]
fn rule_5_errors_use_the_statuses_that_clients_can_read() {
    let statuses: BTreeSet<u16> = Code::ALL.into_iter().map(Code::status).collect();
    assert_eq!(statuses, BTreeSet::from([400, 401, 403, 404, 405, 412, 422, 429, 500, 503]));
    let of = |status: u16| -> Vec<&str> {
        Code::ALL.into_iter().filter(|code| code.status() == status).map(Code::name).collect()
    };
    assert_eq!(of(401), ["unauthenticated"]);
    // The first two and the last two codes are about people. Existing clients use API keys and never get them. They
    // also never call the routes of operators.
    let teams = ["choose_team", "not_a_member"];
    let keys = ["read_only_key", "needs_admin", "needs_platform", "foreign_service", "not_owner"];
    assert_eq!(of(403), [&teams[..], &keys, &["manual_approval", "manual_completion"]].concat());
    assert_eq!(of(404), ["no_such_route", "not_found"]);
    assert_eq!(of(412), ["plan_changed", "changed_meanwhile"], "a client that sends If-Match can read 412");
    assert_eq!(of(422), ["idempotency_key_reused"], "a client that sends a key can read 422");
    assert_eq!(of(429), ["too_many_requests"], "429 needs no more than its status and `Retry-After`");
    assert_eq!(of(503), ["submission_in_flight", "contended", "storage_full", "unavailable"]);
}

#[test]
fn rule_6_an_invalid_document_is_400_with_a_dict_of_dicts() {
    let system = &SHARED.system;
    for path in [SUBMIT, VALIDATE] {
        for body in [&b"{"[..], b"[]", b"", br#"{"AwesomeConsumer": []}"#, br#"{"AwesomeConsumer2": {}}"#] {
            let (method, key, body) = ("POST", Some("awesome-key"), body.to_vec());
            let answer = system.send(&ApiRequest { method, path, key, body, ..ApiRequest::default() });
            answer.assert_is(400, &json!({"/is_valid": false}));
            let errors = answer.at("/errors").as_object().unwrap();
            assert!(!errors.is_empty());
            for dict in errors.values() {
                assert!(dict.as_object().is_some_and(|dict| !dict.is_empty()), "{errors:?}");
            }
        }
    }
    let nested =
        json!({"AwesomeConsumer": {"NewApp1": {"services": {"VM": [{"name": "CoreVM1", "cpu": "x"}]}}}});
    let answer = system.call("POST", VALIDATE, "awesome-key", &nested);
    let message = answer.at("/errors/AwesomeConsumer/NewApp1/VM/CoreVM1/cpu/0").as_str().unwrap();
    assert!(message.contains("integer"), "{message}");
}

#[test]
fn rule_7_times_have_six_digits_and_z() {
    for (path, _, answer) in replies(&SHARED) {
        let mut times = Vec::new();
        members(&answer.body, &["created", "modified"], &mut times);
        assert!(!times.is_empty() || path.contains("teams"), "{path}");
        for time in times {
            assert!(time.as_str().is_some_and(is_timestamp), "{path}: {time}");
        }
    }
}

#[test]
fn rule_8_an_empty_body_is_an_empty_object() {
    let path = SHARED.fresh("empty");
    let system = &SHARED.system;
    let before = system.get(&path, "vm-owner-key");
    for method in ["PATCH", "PUT", "POST"] {
        let answer = system.call(method, &path, "vm-owner-key", &Value::Null);
        assert_eq!((answer.status, &answer.body), (200, &before.body), "{method}");
    }
    let answer = system.call("POST", VALIDATE, "awesome-key", &Value::Null);
    assert_eq!(answer.at("/problems/0/rule"), "one_team", "an empty body is read as {{}}: {answer:?}");
}

#[test]
fn rule_9_patch_put_and_post_mean_update() {
    let system = &SHARED.system;
    for method in ["PATCH", "PUT", "POST"] {
        let path = SHARED.fresh(method);
        let call = |path: &str, body: Value| {
            let answer = system.call(method, path, "vm-owner-key", &body);
            assert_eq!(answer.status, 200, "{method}: {answer:?}");
            answer
        };
        assert_eq!(call(&path, json!({"log": "looking at it"})).at("/log"), "looking at it");
        let unknown = call(&path, json!({"log": "seen", "colour": "red", "id": 7}));
        assert_eq!((unknown.at("/state"), unknown.at("/log")), (&json!("PENDING"), &json!("seen")));
        assert_eq!(unknown.at("/warnings"), &json!(["/colour is unknown and has no effect"]));
        assert_eq!(call(&path, json!({"log": "looking at it"})).at("/warnings"), &Value::Null);
        assert_eq!(call(&path, json!({"state": null, "log": ""})).at("/log"), "looking at it");
        assert_eq!(call(path.trim_end_matches('/'), json!({"state": "APPROVED"})).at("/state"), "APPROVED");
        let deployed = call(&path, json!({"deployed_item": {"ip": method}}));
        assert_eq!(deployed.at("/service_item/deployed_item"), &json!({"ip": method}));
        let refused = system.call(method, &path, "vm-owner-key", &json!({"deployed_item": null}));
        refused.assert_is(400, &json!({"/deployed_item": ["This field may not be null."]}));
        let refused = system.call(method, &path, "vm-owner-key", &json!({"state": "PENDING"}));
        let detail = "cannot switch from state APPROVED to PENDING directly, allowed: COMPLETED, ERRORED";
        assert_eq!(refused.at("/detail"), detail);
        assert_eq!(call(&path, json!({"state": "ERROR"})).at("/state"), "ERRORED");
    }
}

#[test]
fn rule_10_ids_are_integers_and_urls_absolute() {
    let example = &*SHARED;
    let system = &example.system;
    for (path, key, answer) in replies(example) {
        let (mut ids, mut urls) = (Vec::new(), Vec::new());
        members(&answer.body, &["id"], &mut ids);
        members(&answer.body, &["url"], &mut urls);
        assert!(!ids.is_empty(), "{path}");
        let largest = (1 << 53) - 1;
        assert!(ids.iter().all(|id| id.as_u64().is_some_and(|id| id > 0 && id <= largest)), "{path}");
        for url in urls.into_iter().filter_map(Value::as_str) {
            assert!(url.starts_with(&format!("{}/v1/orcabase/", system.base)), "{url}");
            let there = system.get(url, key);
            assert_eq!((there.status, there.at("/url")), (200, &json!(url)), "{url}");
        }
    }
    let path = example.fresh("by url");
    let approved = system.call("PATCH", &path, "vm-owner-key", &json!({"state": "APPROVED"}));
    let item = approved.at("/service_item/url");
    for (number, field, url) in [(0, "change_instance", approved.at("/url")), (1, "service_item", item)] {
        let body = json!({"data": {"number": number}, field: url});
        let answer = system.call("POST", &format!("{OWNER}/deployed_items/"), "vm-owner-key", &body);
        assert_eq!((answer.status, answer.at(&format!("/{field}"))), (201, url), "{answer:?}");
    }
}

#[test]
fn rule_10_host_and_stage_of_a_url_are_those_of_the_request() {
    let example = &*SHARED;
    let mut event = Event::default();
    event.raw_path = Some(format!("/prod{CONSUMER}/service_items/{}/", example.item));
    event.request_context.stage = Some("prod".to_owned());
    event.headers.insert("host", "api.example.com".parse().unwrap());
    event.headers.insert("authorization", "Api-Key awesome-key".parse().unwrap());
    let table = &example.system.table;
    let (key, authorizer) = (CursorKey::new("secret"), Authorizer::default());
    let (fair_use, console) = (Arc::default(), &functions::PLAIN_CONSOLE);
    let answering = functions::answer(table, &key, &authorizer, &fair_use, console, event);
    let reply = example.system.block_on(answering);
    assert_eq!(reply.status_code, 200);
    let body = format!("{:?}", reply.body);
    let url = format!("https://api.example.com/prod{CONSUMER}/service_items/{}/", example.item);
    assert!(body.contains(&url), "{body}");
}

#[test]
fn rule_11_query_values_come_as_clients_write_them() {
    let system = &SHARED.system;
    let filters = "service_name=VM,LoadBalancer&application_name=NewApp1";
    for (query, count) in [
        ("runtime_state=REQUESTED,IN_SERVICE", 2),
        ("runtime_state=REQUESTED%2CIN_SERVICE", 2),
        ("runtime_state=IN_SERVICE", 1),
        ("service_id=[1,%202]", 2),
        ("service_id=%5B1,+2%5D", 2),
    ] {
        let answer = system.get(&format!("{CONSUMER}/service_items/?{filters}&{query}"), "awesome-key");
        assert_eq!((answer.status, answer.at("/count")), (200, &json!(count)), "{query}: {answer:?}");
    }
    let lists = ROUTES.iter().filter(|route| {
        route.access != Access::Anyone && route.methods == ["GET"] && !route.path.contains("{id}")
    });
    for route in lists {
        let path = format!("{}/?colour=red", route.path.replace("{pov}", "consumer"));
        let key = if route.access == Access::Platform { "platform-key" } else { "awesome-key" };
        let answer = system.get(&path, key);
        assert_eq!((answer.status, &answer.body), (400, &json!(["Filter param not found."])), "{path}");
    }
}

/// Returns a response without values that differ in each run.
fn normalised(value: &Value, base: &str) -> Value {
    match value {
        Value::String(text) if is_timestamp(text) => json!("2025-02-28T13:18:31.651446Z"),
        Value::String(text) => json!(text.replace(base, "https://api.example.com")),
        Value::Array(array) => array.iter().map(|value| normalised(value, base)).collect(),
        Value::Object(object) => {
            let member = |(name, value): (&String, &Value)| {
                let value = if name == "request" { json!("a1b2c3") } else { normalised(value, base) };
                (name.clone(), value)
            };
            Value::Object(object.iter().map(member).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[test]
fn each_kind_of_reply_looks_like_its_example() {
    let example = Example::new();
    let system = &example.system;
    let golden = |name: &str, status: u16, answer: &Answer| {
        assert_eq!(answer.status, status, "{answer:?}");
        let text = serde_json::to_string_pretty(&normalised(&answer.body, &system.base)).unwrap();
        expect_file![format!("../../golden/http/{name}.json")].assert_eq(&format!("{text}\n"));
    };
    let get = |path: String, key: &str| system.get(&path, key);
    let Example { change, share, item, deployed, .. } = &example;
    golden("team", 200, &get(TEAMS.to_owned(), "awesome-key"));
    golden("submitted", 201, &example.submitted);
    golden("declaration", 200, &get(format!("{CONSUMER}/declaration/"), "awesome-key"));
    golden("service_item", 200, &get(format!("{CONSUMER}/service_items/{item}/"), "awesome-key"));
    golden("graph", 200, &get(format!("{CONSUMER}/service_items/{item}/graph/"), "awesome-key"));
    golden("change_instance", 200, &get(format!("{OWNER}/change_instances/{change}/"), "vm-owner-key"));
    let share = get(format!("{OWNER}/change_instances/{share}/"), "np-owner-key");
    golden("change_instance_of_a_dependent", 200, &share);
    golden("history", 200, &get(format!("{OWNER}/change_instances/{change}/history/"), "vm-owner-key"));
    golden("deployed_item", 200, &get(format!("{OWNER}/deployed_items/{deployed}/"), "vm-owner-key"));
    let submission = example.submitted.at("/id");
    golden("submission", 200, &get(format!("{CONSUMER}/submissions/{submission}/"), "awesome-key"));
    golden("service", 200, &get(format!("{CONSUMER}/services/2/"), "awesome-key"));
    let applications = get(format!("{CONSUMER}/applications/"), "awesome-key");
    let application = applications.at("/results/0/url").as_str().unwrap();
    golden("application", 200, &get(application.to_owned(), "awesome-key"));
    let mut other = declaration();
    other["AwesomeConsumer"]["NewApp1"]["services"]["VM"][0]["cpu"] = json!(16);
    golden("validate", 200, &system.call("POST", VALIDATE, "awesome-key", &other));
    let invalid = json!({"AwesomeConsumer": {"NewApp1": {"services": {
        "VM": [{"name": "CoreVM1", "cpu": "eight"}],
        "LoadBalancer": [{"name": "Entry", "related_vms": ["CoreVM2"]}]}}}});
    golden("invalid_declaration", 400, &system.call("POST", VALIDATE, "awesome-key", &invalid));
    let path = format!("{OWNER}/change_instances/{change}/");
    golden("problem", 400, &system.call("PATCH", &path, "vm-owner-key", &json!({"state": "REJECTED"})));
}

#[test]
fn a_reply_lists_the_errors_of_all_fields() {
    let (change, deployed) = (SHARED.fresh("several-errors"), format!("{OWNER}/deployed_items/"));
    let cases = [
        (
            "PATCH",
            change.as_str(),
            json!({"state": "DONE", "log": 2, "deployed_item": null}),
            "state: must be one of PENDING, REJECTED, APPROVED, ERRORED, COMPLETED, CLOSED; log: must be a string; \
             deployed_item: This field may not be null.",
        ),
        (
            "POST",
            deployed.as_str(),
            json!({"data": [], "change_instance": "x", "service_item": "y"}),
            "data: must be a JSON object; change_instance: must be an id or a URL of change_instances; service_item: \
             must be an id or a URL of service_items",
        ),
        (
            "POST",
            deployed.as_str(),
            json!({"data": null}),
            "data: This field may not be null.; change_instance: must be present, unless service_item is",
        ),
        (
            "POST",
            "/v1/account/api_keys/",
            json!({"name": 5, "role": "OWNER", "expires": "2001-01-01"}),
            "name: must be a string; role: must be one of ADMIN, GENERAL, READ_ONLY; expires: must be in the future",
        ),
        (
            "POST",
            "/v1/account/members/",
            json!({"subject": "", "role": "OWNER"}),
            "subject: must not be empty; name: must be a string; role: must be one of ADMIN, GENERAL, READ_ONLY",
        ),
    ];
    for (method, path, body, detail) in cases {
        let answer = SHARED.system.call(method, path, "vm-owner-key", &body);
        assert_eq!((answer.status, answer.at("/detail")), (400, &json!(detail)), "{body}: {answer:?}");
    }
}

/// The Go program checks every row of the page. This test checks the rows about decisions.
#[test]
fn the_page_of_compatibility_has_the_real_differences() {
    let patch =
        |path: &str, state: &str| SHARED.system.call("PATCH", path, "vm-owner-key", &json!({"state": state}));
    let rejected = SHARED.fresh("rejected-for-good");
    assert_eq!(patch(&rejected, "REJECTED").status, 200);
    let completed = SHARED.fresh("completed-for-good");
    let approved = json!({"state": "APPROVED", "deployed_item": {"v": 1}});
    SHARED.system.expect(200, "PATCH", &completed, "vm-owner-key", &approved);
    assert_eq!(patch(&completed, "COMPLETED").status, 200);
    let failed = SHARED.fresh("failed-by-another-name");
    assert_eq!(patch(&failed, "APPROVED").status, 200);
    let version = SHARED.system.get(&format!("{OWNER}/deployed_items/?limit=1"), "vm-owner-key");
    let version = format!("{OWNER}/deployed_items/{}/", version.at("/results/0/id"));
    let removed = SHARED.system.call("DELETE", &version, "vm-owner-key", &Value::Null);
    for (difference, answer, field) in [
        ("REJECTED to PENDING", patch(&rejected, "PENDING"), "code"),
        ("COMPLETED to CLOSED", patch(&completed, "CLOSED"), "code"),
        ("The state name ERROR", patch(&failed, "ERROR"), "state"),
        ("DELETE of a deployed", removed, "code"),
    ] {
        let row = COMPATIBILITY.lines().find(|line| line.starts_with(&format!("| {difference}")));
        let (_, reply) = row.unwrap().trim_end_matches(" |").rsplit_once(" | ").unwrap();
        let value = answer.at(&format!("/{field}")).as_str().unwrap();
        let value = if field == "state" { format!(r#""state":"{value}""#) } else { value.to_owned() };
        assert_eq!(reply, format!("{}, `{value}`", answer.status), "{difference}: {answer:?}");
    }
}
