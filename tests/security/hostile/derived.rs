//! Hostile texts of `x-derived`: refused at publication, or absent in the document, and the read succeeds within bounded
//! calls (R71).

use crate::security::{SUBMIT, app};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{Answer, ApiRequest, Running, Watched};

const OWNER: &str = "/v1/orcabase/serviceowner";
const CONSUMER: &str = "/v1/orcabase/consumer";

/// Maximum number of storage calls of a page.
const CALLS_MAX: usize = 30;

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
}

/// Returns the rows of each page of the items with their documents.
fn pages(system: &Running, limit: usize) -> Vec<Vec<Value>> {
    let watched = Watched::on(system);
    let mut next = Some(format!("{CONSUMER}/service_items/?service_name=Web&document=true&limit={limit}"));
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
        (&long, "must be at most 1024 bytes"),
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
    // Each of the 32 texts names derived values of 99 other items 60 times.
    let texts =
        (0..32).map(|n| (format!("p{n:02}"), derived(&format!("{{to.*.p{:02}}}", (n + 1) % 32).repeat(60))));
    assert_eq!(publish(&system, texts).status, 201);
    let names: Vec<String> = (0..100).map(|n| format!("w{n}")).collect();
    let others = |name: &String| names.iter().filter(|other| *other != name).cloned().collect::<Vec<_>>();
    let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "to": others(name)})).collect();
    declare(&system, &items);
    let start = Instant::now();
    let rows = pages(&system, 100).concat();
    // A test build is many times slower than a release. Without the limits, the work would never end.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert_eq!(rows.len(), 100);
    for row in rows {
        let problems = row["document_problems"].as_array().unwrap();
        assert!(
            problems.len() == 32 && problems.iter().all(|problem| problem["rule"] == "derived"),
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
        ("{name}{at.team}", "short"),
        ("{password}", "secret"),
    ];
    assert_eq!(publish(&system, texts.map(|(text, name)| (name.to_owned(), derived(text)))).status, 201);
    declare(&system, &[json!({"name": "w", "list": vec![json!([]); 30_000], "password": "canary"})]);
    let row = pages(&system, 10).concat().remove(0);
    assert!(!row["document"].to_string().contains("canary"), "{row}");
    assert_eq!(row["document"]["short"], "wAwesomeConsumer");
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
            "must need at most 10000 steps",
            "`password` must not be `writeOnly`",
        ]
    );
}

#[test]
fn a_page_ends_before_an_item_that_needs_too_many_others() {
    let system = Running::demo();
    assert_eq!(publish(&system, [("x".to_owned(), derived("{to.*.name}"))]).status, 201);
    // Ten items name 90 others each: together more than one round reads.
    let mut items: Vec<Value> = Vec::new();
    for user in 0..10 {
        let targets: Vec<String> = (0..90).map(|n| format!("t{user}-{n}")).collect();
        items.push(json!({"name": format!("a{user}"), "to": targets}));
        items.extend(targets.iter().map(|name| json!({"name": name})));
    }
    declare(&system, &items);
    let pages = pages(&system, 1_000);
    assert!(pages.len() > 1, "one page would read 900 documents");
    let rows = pages.concat();
    assert_eq!(rows.len(), items.len());
    let users = rows.iter().filter(|row| row["document"].get("to").is_some());
    for user in users {
        assert_eq!(
            user["document"]["x"].as_str().map(|joined| joined.split(", ").count()),
            Some(90),
            "{user}"
        );
    }
}
