//! The export of what a team declares: a submission of all its pages changes nothing (R36).

use super::history::{KEY, State, TEAM, history, submit, vms};
use crate::api::demo::{CONSUMER, OWNER, SERVICES, SUBMIT, VALIDATE, definition};
use domain::base::json::canonical;
use serde_json::{Value, json};
use support::{Answer, Running};

pub(super) const EXPORT: &str = "/v1/orcabase/consumer/declaration/";

/// Adds a page: objects are merged, lists of items are joined, and metadata are the same on all pages.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                match into.get_mut(name).filter(|_| name != "metadata") {
                    Some(old) => merge(old, value),
                    None => drop(into.insert(name.clone(), value.clone())),
                }
            }
        }
        (Value::Array(into), Value::Array(from)) => into.extend(from.iter().cloned()),
        (into, from) => into.clone_from(from),
    }
}

fn merged(pages: &[Answer]) -> Value {
    let mut all = Value::Null;
    for page in pages {
        merge(&mut all, page.at("/declaration"));
    }
    all
}

/// Returns the number of items on a page.
fn items(page: &Answer) -> usize {
    let applications = page.at("/declaration")[TEAM].as_object().unwrap().values();
    let services = applications.filter_map(|application| application["services"].as_object()).flatten();
    services.map(|(_, items)| items.as_array().unwrap().len()).sum()
}

pub(super) fn exported(system: &Running, query: &str) -> Value {
    merged(&system.pages(&format!("{EXPORT}?{query}"), KEY))
}

/// A declaration with unusual names, numbers and applications, and a service with an unusual title.
fn unusual(system: &Running) -> Value {
    let title = "metadata/~\"\u{1f600}";
    system.expect(201, "POST", SERVICES, "vm-owner-key", &definition(title));
    let numbers = json!([1.0, 0.000_000_1, -0.0, 9_007_199_254_740_991_u64, 0.1]);
    json!({TEAM: {
        "metadata": {"budget": 1.0, "a \"b\"": [{}, null, "\u{1f600}\u{fb33}"]},
        "services": {"metadata": {"env": "dev"}, "services": {
            title: [{"name": "a,b/~0 \\ \"", "numbers": numbers}, {"name": "\u{1f600}", "keys": {"\u{1f600}": 1, "\u{fb33}": 2}}],
            "VM": vms(&[8, 4])}},
        "a,b": {"services": {title: [{"name": "one"}], "VM": vms(&[2])}},
        "Only metadata": {"metadata": {"x": 0.000_000_1}},
        "Only a mention": {}}})
}

#[test]
fn a_submission_of_the_export_changes_nothing() {
    let system = Running::demo();
    let none = json!({TEAM: {"metadata": {}}});
    assert_eq!(system.get(EXPORT, KEY).at("/declaration"), &none, "nothing is declared yet");
    let declared = unusual(&system);
    let mut expected = declared.clone();
    expected[TEAM].as_object_mut().unwrap().remove("Only a mention");
    expected[TEAM]["a,b"]["metadata"] = json!({});
    expected[TEAM]["Only metadata"]["services"] = json!({});
    system.expect(201, "POST", SUBMIT, KEY, &declared);
    system.wait_idle();
    for limit in [1, 2, 1_000] {
        let pages = system.pages(&format!("{EXPORT}?limit={limit}"), KEY);
        assert!(pages.iter().all(|page| items(page) <= limit), "{pages:?}");
        assert_eq!(pages.len(), if limit == 1_000 { 1 } else { 1 + 6 / limit }, "{pages:?}");
        let export = merged(&pages);
        assert_eq!(canonical(&export), canonical(&expected), "limit {limit}");
        system.call("POST", VALIDATE, KEY, &export).assert_is(200, &json!({"/changed": false}));
    }
    system.call("POST", SUBMIT, KEY, &exported(&system, "")).assert_is(200, &json!({"/changed": false}));
    system.assert_sound();
}

#[test]
fn an_export_has_the_state_after_each_submission() {
    let system = Running::demo();
    for (id, state) in history(&system) {
        for limit in [1, 1_000] {
            let export = exported(&system, &format!("as_of={id}&limit={limit}"));
            assert_eq!(State::default().after("POST", &export[TEAM]), state, "after {id}");
        }
    }
    assert_eq!(exported(&system, "as_of=1999-12-31"), json!({TEAM: {"metadata": {}}}));
    assert_eq!(exported(&system, "as_of=2999-12-31"), exported(&system, ""));
}

#[test]
fn all_pages_show_the_state_after_the_same_submission() {
    let system = Running::demo();
    let first = json!({"metadata": {"budget": 1}, "A": {"metadata": {"env": "dev"}, "services": {"VM": vms(&[1, 2, 3])}},
        "B": {"services": {"VM": vms(&[4])}}});
    submit(&system, "POST", &first);
    let begun = system.get(&format!("{EXPORT}?limit=2"), KEY);
    for changes in 0..2 {
        // First the items change and are removed, then the removed ones are gone.
        if changes == 0 {
            let less = json!({"metadata": {"budget": 2}, "A": {"services": {"VM": vms(&[1, 5])}}, "C": {}});
            submit(&system, "POST", &less);
        } else {
            let deletions = format!("{OWNER}/change_instances/?state=PENDING&change_type=DELETE");
            for change in system.get(&deletions, "vm-owner-key").rows() {
                for state in ["APPROVED", "COMPLETED"] {
                    let path = change["url"].as_str().unwrap();
                    system.expect(200, "PATCH", path, "vm-owner-key", &json!({"state": state}));
                }
            }
            let gone = system.get(&format!("{CONSUMER}/service_items/?gone=true"), KEY);
            assert_eq!(gone.at("/count"), 2, "{gone:?}");
        }
        let mut all = vec![begun.clone()];
        all.extend(system.pages(begun.at("/next").as_str().unwrap(), KEY));
        assert_eq!(all.len(), 3);
        let mut expected = json!({TEAM: first});
        expected[TEAM]["B"]["metadata"] = json!({});
        assert_eq!(merged(&all), expected, "{changes}");
    }
}

#[test]
fn an_export_of_some_applications_has_these_alone() {
    let system = Running::demo();
    let one = |n| json!({"metadata": {}, "services": {"VM": vms(&[n])}});
    submit(&system, "POST", &json!({"A": one(1), "B": one(2), "A,B": one(3), "C": one(4)}));
    let names = |query: &str| -> Vec<String> {
        let export = exported(&system, query);
        let names = export[TEAM].as_object().unwrap().keys().filter(|name| *name != "metadata");
        names.cloned().collect()
    };
    assert_eq!(names("application_name=A"), ["A"]);
    assert_eq!(names("application_name=C,B&limit=1"), ["B", "C"]);
    // A name may contain a comma, so the whole value is a name as well.
    assert_eq!(names("application_name=A,B"), ["A", "A,B", "B"]);
    assert_eq!(names("application_name=D"), Vec::<String>::new());
    let part = exported(&system, "application_name=B");
    system.call("PATCH", SUBMIT, KEY, &part).assert_is(200, &json!({"/changed": false}));
    // The cursor of another selection is not valid.
    let next = system.get(&format!("{EXPORT}?application_name=A,B&limit=1"), KEY);
    let next = next.at("/next").as_str().unwrap().replace("application%5Fname=A%2CB", "application_name=C");
    assert_eq!(system.get(&next, KEY).at("/code"), "invalid_cursor");
}

#[test]
fn an_export_waits_for_a_submission_in_flight() {
    let system = Running::demo();
    let before = submit(&system, "POST", &json!({"A": {"services": {"VM": vms(&[8])}}}));
    system.enable("generate", false);
    let many = json!({TEAM: {"A": {"services": {"VM": vms(&[4; 120])}}}});
    let flying = system.call("POST", SUBMIT, KEY, &many);
    flying.assert_is(201, &json!({"/state": "COMMITTED"}));
    for query in [String::new(), format!("?as_of={}", flying.at("/id"))] {
        let refused = system.get(&format!("{EXPORT}{query}"), KEY);
        assert_eq!(refused.code(), (503, "submission_in_flight"), "{query}");
        assert!(refused.header("retry-after").is_some(), "{refused:?}");
    }
    let expected = json!({TEAM: {"metadata": {}, "A": {"metadata": {}, "services": {"VM": vms(&[8])}}}});
    assert_eq!(exported(&system, &format!("as_of={before}")), expected);
    system.enable("generate", true);
    system.wait_idle();
    assert_eq!(exported(&system, "")[TEAM]["A"]["services"]["VM"], vms(&[4; 120]));
}

/// The texts of a page end at 5 MB, with whole items.
#[test]
fn a_page_ends_before_its_texts_are_too_long() {
    let system = Running::demo();
    let balancer = |n: u64| json!({"name": format!("lb-{n:02}"), "algorithm": "x".repeat(120_000)});
    let mut expected = json!({});
    for (application, first) in [("One", 0), ("Two", 30)] {
        let balancers: Vec<Value> = (first..first + 30).map(balancer).collect();
        expected[application] = json!({"metadata": {}, "services": {"LoadBalancer": balancers}});
        submit(&system, "PATCH", &json!({application: expected[application]}));
    }
    let pages = system.pages(EXPORT, KEY);
    assert_eq!(pages.iter().map(items).collect::<Vec<_>>(), [41, 19]);
    expected["metadata"] = json!({});
    assert_eq!(merged(&pages), json!({TEAM: expected}));
}
