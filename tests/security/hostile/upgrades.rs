//! Steps of `x-upgrade` that nest an item without end: refused at publication and in the dry run. A table in which an
//! older release stored such steps, or such an item, is readable for everyone.

use crate::security::{SUBMIT, app};
use domain::model::declaration::DEPTH_MAX;
use serde_json::{Value, json};
use support::Running;

const OWNER: &str = "/v1/orcabase/serviceowner";
const CONSUMER: &str = "/v1/orcabase/consumer";
const KEY: &str = "vm-owner-key";
/// A marker of the second version of the definition, to find its row.
const SECOND: &str = "the second version";

/// Returns a definition with an object that the owner fills.
fn definition(description: &str, steps: &Value) -> Value {
    json!({"title": "Deep", "type": "object", "required": ["name"], "x-verified": true, "x-upgrade": steps,
        "description": description, "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"},
            "a": {"type": "object", "readOnly": true}}})
}

/// Returns a step that adds a value at a path of this many names.
fn deep_step(names: usize) -> Value {
    json!({"op": "add", "path": "/a".repeat(names), "value": 1})
}

fn declare(system: &Running, names: &[&str], cpu: u64) {
    let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "cpu": cpu})).collect();
    let answer = system.call("POST", SUBMIT, "awesome-key", &app(&json!({"Deep": items})));
    assert_eq!(answer.status, 201, "{answer:?}");
}

fn publish(system: &Running, definition: &Value, status: u16) {
    let answer = system.call("POST", &format!("{OWNER}/services/"), KEY, definition);
    assert_eq!(answer.status, status, "{answer:?}");
}

/// Returns a system with completed items of these names, and for each an open change that continues from it in the second
/// version. The owner's object is this one.
fn system_with(names: &[&str], a: &Value, steps: &Value) -> Running {
    let system = Running::demo();
    publish(&system, &definition("the first version", &json!([])), 201);
    declare(&system, names, 1);
    let done = json!({"state": "COMPLETED", "deployed_item": {"a": a}});
    for change in pending(&system) {
        for body in [&json!({"state": "APPROVED"}), &done] {
            let answer = system.call("PATCH", change["url"].as_str().unwrap(), KEY, body);
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
    publish(&system, &definition(SECOND, steps), 200);
    declare(&system, names, 2);
    system
}

fn system() -> Running {
    system_with(&["one"], &json!({}), &json!([]))
}

/// Edits the stored row that has this text, as an older release may have stored it.
fn edit(system: &Running, ty: &str, text: &str, member: &str, edited: &str) {
    let mut row =
        system.rows().into_iter().find(|row| row["ty"]["S"] == ty && row.to_string().contains(text)).unwrap();
    row[member] = json!({"S": edited});
    system.put_row(&row);
}

fn pending(system: &Running) -> Vec<Value> {
    let answer = system.get(&format!("{OWNER}/change_instances/?state=PENDING&service_name=Deep"), KEY);
    answer.at("/results").as_array().unwrap().clone()
}

/// Returns the rows of each page of a list.
fn pages(system: &Running, path: String, key: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut next) = (Vec::new(), Some(path));
    while let Some(path) = next {
        let page = system.get(&path, key);
        assert_eq!(page.status, 200, "{page:?}");
        pages.push(page.at("/results").as_array().unwrap().clone());
        next = page.at("/next").as_str().map(str::to_owned);
    }
    pages
}

/// Returns what the pending change continues with, after all parties have read it.
fn prior_for_all(system: &Running) -> Value {
    let changes = pending(system);
    let id = &changes[0]["id"];
    for (path, key) in [
        (format!("{CONSUMER}/change_instances/{id}/"), "awesome-key"),
        (format!("{CONSUMER}/service_items/"), "awesome-key"),
        (format!("{OWNER}/deployed_items/"), KEY),
    ] {
        assert_eq!(system.get(&path, key).status, 200, "{path}");
    }
    system.get(&format!("{OWNER}/change_instances/{id}/"), KEY).at("/prior").clone()
}

#[test]
fn a_step_that_nests_without_end_is_refused() {
    let system = Running::demo();
    let before = system.stored();
    for names in [DEPTH_MAX + 1, 5_000] {
        let definition = definition("", &json!([deep_step(names)]));
        for path in ["services/", "services/validate/?dry_run=true"] {
            let answer = system.call("POST", &format!("{OWNER}/{path}"), KEY, &definition);
            assert_eq!(answer.status, 400, "{path}: {answer:?}");
            assert_eq!(answer.at("/problems/0/pointer"), "/x-upgrade/0/path", "{path}");
        }
    }
    assert_eq!(before, system.stored(), "a refused definition changes nothing");
}

#[test]
fn a_stored_step_that_nests_without_end_counts_as_absent() {
    let system = system();
    let sick = definition(SECOND, &json!([deep_step(5_000)])).to_string();
    edit(&system, "SCHEMA", SECOND, "text", &sick);
    assert_eq!(prior_for_all(&system), "AS_STORED");
}

#[test]
fn a_stored_item_that_is_nested_too_deep_is_not_carried_over() {
    let system = system();
    for levels in [DEPTH_MAX + 1, 100] {
        let data =
            format!(r#"{{"a":{}1{},"name":"one"}}"#, r#"{"a":"#.repeat(levels - 1), "}".repeat(levels - 1));
        edit(&system, "DEPLOYED", "one", "data", &data);
        assert_eq!(prior_for_all(&system), "UNUSABLE", "{levels} levels");
        let dry_run = format!("{OWNER}/services/validate/?dry_run=true");
        let impact = system.call("POST", &dry_run, KEY, &definition("the third version", &json!([])));
        let rule = impact.at("/dry_run/deployed_items/0/problems/0/rule");
        assert_eq!(rule, "too_deep", "{levels} levels: {impact:?}");
    }
}

/// The steps of this list take the work of almost half a request for an item with `large`.
#[test]
fn a_page_of_upgraded_items_ends_within_the_work_of_a_request() {
    let names = ["one", "two", "three", "four", "five"];
    let large = json!({"b": "b".repeat(60_000)});
    let turn = [json!({"op": "copy", "from": "/a", "path": "/c"}), json!({"op": "remove", "path": "/c"})];
    let steps = Value::from(turn.iter().cycle().take(32).cloned().collect::<Vec<_>>());
    let system = system_with(&names, &large, &steps);
    let changes = format!("{OWNER}/change_instances/?state=PENDING&service_name=Deep");
    let items = format!("{CONSUMER}/service_items/?service_name=Deep");
    for (list, with, key, field) in [
        (changes, "proposal=true", KEY, "proposed_item"),
        (items, "document=true", "awesome-key", "document"),
    ] {
        let plain = pages(&system, list.clone(), key);
        assert_eq!(plain.iter().map(Vec::len).collect::<Vec<_>>(), [names.len()], "{list}");
        assert!(plain[0].iter().all(|row| row.get(field).is_none()), "{list}");
        let pages = pages(&system, format!("{list}&{with}"), key);
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1], "{list}");
        for row in pages.iter().flatten() {
            assert_eq!(row[field]["a"], large, "{list}");
        }
    }
}
