//! Hostile texts of `x-derived`: refused at publication, or absent in the document, and the read succeeds within bounded
//! calls (R70).

use crate::security::{SUBMIT, app};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{Answer, ApiRequest, Running, Watched};

const OWNER: &str = "/v1/orcabase/serviceowner";
const CONSUMER: &str = "/v1/orcabase/consumer";

/// Maximum number of storage calls of a page.
const CALLS_MAX: usize = 60;

fn derived(text: &str) -> Value {
    json!({"type": "string", "readOnly": true, "x-derived": text})
}

/// Publishes the service `Web` with a reference list to itself, and with these derived values.
fn publish(system: &Running, derived: impl IntoIterator<Item = (String, Value)>) -> Answer {
    let mut definition = json!({"title": "Web", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "list": {"type": "array"}, "password": {"type": "string", "writeOnly": true},
        "to": {"type": "array", "format": "reference_list", "service_reference": "Web"}}});
    definition["properties"].as_object_mut().unwrap().extend(derived);
    system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition)
}

fn declare(system: &Running, items: &[Value]) {
    let answer = system.call("POST", SUBMIT, "awesome-key", &app(&json!({"Web": items})));
    assert_eq!(answer.status, 201, "{answer:?}");
    system.wait_idle();
}

/// Returns the rows of each page of the items with their documents.
fn pages(system: &Running, filter: &str) -> Vec<Vec<Value>> {
    let watched = Watched::on(system);
    let mut next = Some(format!("{CONSUMER}/service_items/?{filter}&document=true&limit=100"));
    let mut pages = Vec::new();
    while let Some(path) = next {
        let (page, seen) = watched.send(&ApiRequest::with_key("GET", &path, "awesome-key", &Value::Null));
        assert_eq!(page.status, 200, "{page:?}");
        assert!(seen.len() <= CALLS_MAX, "{} calls", seen.len());
        pages.push(page.at("/results").as_array().unwrap().clone());
        next = page.at("/next").as_str().map(str::to_owned);
    }
    pages
}

#[test]
fn a_malformed_text_is_refused_with_its_position() {
    let system = Running::demo();
    let long = "a".repeat(1_025);
    for (text, detail) in [
        ("{", "character 1: a name must end with `}`, and a brace must be `{{`"),
        ("{{}{a.b.}", "character 5: must have a name before and after each dot"),
        (
            "{at.secret}",
            "character 2: must be one of `at.application`, `at.name`, `at.runtime_state`, `at.service`, `at.team`",
        ),
        (long.as_str(), "must be at most 1024 bytes"),
    ] {
        let answer = publish(&system, [("x".to_owned(), derived(text))]);
        assert_eq!(answer.status, 400, "{text}: {answer:?}");
        let problem =
            json!({"rule": "invalid_expression", "pointer": "/properties/x/x-derived", "detail": detail});
        assert_eq!(answer.body["problems"], json!([problem]), "{text}");
    }
}

#[test]
fn values_that_name_each_other_many_times_end_at_a_limit() {
    let system = Running::demo();
    // Each text names a derived value of 99 other items 60 times, except the last one.
    let next = |n: u64| derived(&format!("{{to.*.p{:02}}}", n + 1).repeat(60));
    let texts = (0..31).map(|n| (format!("p{n:02}"), next(n)));
    let texts = texts.chain([("p31".to_owned(), derived("{name}"))]);
    assert_eq!(publish(&system, texts).status, 201);
    let names: Vec<String> = (0..100).map(|n| format!("w{n}")).collect();
    let others = |name: &String| names.iter().filter(|other| *other != name).cloned().collect::<Vec<_>>();
    let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "to": others(name)})).collect();
    declare(&system, &items);
    let start = Instant::now();
    let rows = pages(&system, "service_name=Web").concat();
    // A test build is many times slower than a release. Without the limits, the work would never end.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert_eq!(rows.len(), 100);
    for row in rows {
        let problems = row["document_problems"].as_array().unwrap();
        assert!(
            problems.len() == 31 && problems.iter().all(|problem| problem["rule"] == "derived"),
            "{problems:?}"
        );
    }
}

#[test]
fn large_values_end_at_a_limit() {
    let system = Running::demo();
    let texts = [
        ("{list.*.*}", "many"),
        ("{list.*}", "arrays"),
        ("{name}{at.team}", "a_short"),
        ("{password}", "b_secret"),
    ];
    assert_eq!(publish(&system, texts.map(|(text, name)| (name.to_owned(), derived(text)))).status, 201);
    declare(&system, &[json!({"name": "w", "list": vec![json!([]); 30_000], "password": "canary"})]);
    let row = pages(&system, "service_name=Web").concat().remove(0);
    assert!(!row["document"].to_string().contains("canary"), "{row}");
    assert_eq!(row["document"]["a_short"], "wAwesomeConsumer");
    let details: Vec<&str> = row["document_problems"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["detail"].as_str())
        .collect();
    assert_eq!(
        details,
        [
            "`list.*` must be a string, a number, or true or false",
            "`password` must not be `writeOnly`",
            "must need at most 10000 steps",
        ]
    );
}

#[test]
fn a_page_ends_before_an_item_that_needs_too_many_others() {
    let system = Running::demo();
    assert_eq!(publish(&system, [("x".to_owned(), derived("{to.*.name}"))]).status, 201);
    // Twenty items name 90 others each: more than one response reads.
    let named = |user: u64| (0..90).map(move |n| format!("t{user}-{n}"));
    let users =
        (0..20).map(|user| json!({"name": format!("a{user}"), "to": named(user).collect::<Vec<_>>()}));
    let others = (0..20).flat_map(named).map(|name| json!({"name": name}));
    declare(&system, &users.chain(others).collect::<Vec<_>>());
    let names: Vec<String> = (0..20).map(|user| format!("a{user}")).collect();
    let pages = pages(&system, &format!("name={}", names.join(",")));
    assert!(pages.len() > 1, "one page would need 1,800 documents");
    let rows = pages.concat();
    assert_eq!(rows.len(), names.len());
    for row in rows {
        let joined = row["document"]["x"].as_str().map(|joined| joined.split(", ").count());
        assert_eq!(joined, Some(90), "{row}");
    }
}
