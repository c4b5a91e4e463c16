//! The cases of Terraform, and cases of the merges of arrays and of what an owner sends.

use super::*;
use crate::catalog::schema;
use serde_json::json;

fn proposed(root: &Part, prior: Option<&Value>, declared: &Value) -> Value {
    super::proposed(root, prior, declared).unwrap().into_value()
}

fn filled(root: &Part, sent: &Value, base: &Value) -> Value {
    super::filled(root, sent, base).unwrap().into_value()
}

/// Terraform's own test cases as facts, and three of Dovetail.
const TERRAFORM: &str = include_str!("../../../../tests/cases/terraform.json");

fn paths(properties: &Value) -> Part {
    let definition = json!({"type": "object", "properties": properties});
    let forms = schema::decision_forms(definition.to_string().as_bytes());
    forms.unwrap_or_else(|problems| panic!("{problems:?}")).paths
}

fn rules(problems: Vec<Problem>) -> Vec<(&'static str, String)> {
    problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect()
}

/// Disks with an owner-filled id, a computed class and a secret, next to a note of the owner.
fn disks() -> Part {
    paths(&json!({
        "disks": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"}, "wwn": {"type": "string", "readOnly": true},
            "class": {"type": ["string", "null"], "x-computed": true}, "key": {"writeOnly": true}}}},
        "ip": {"type": "string", "readOnly": true},
        "password": {"type": "string", "writeOnly": true},
    }))
}

#[test]
fn the_cases_of_terraform_hold() {
    let results = cases::run(TERRAFORM.as_bytes(), None).unwrap();
    // A replacement is not supported yet.
    let (replacing, others): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|case| case.id.starts_with('R'));
    assert_eq!((replacing.len(), others.len()), (2, 19));
    for case in others {
        assert_eq!(case.differences, [""; 0], "{}", case.id);
    }
}

#[test]
fn a_case_with_another_result_or_a_bad_form_differs() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let case = |members: Value| {
        let mut case = json!({"schema": schema, "prior": null, "declared": {"a": "x"}, "item": {"a": "y"}});
        case.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        cases::run(json!([case]).to_string().as_bytes(), None).unwrap().remove(0).differences
    };
    let differs = |members, text: &str| {
        let differences = case(members);
        assert!(differences.len() == 1 && differences[0].contains(text), "{differences:?}");
    };
    differs(json!({"kind": "proposed", "expect": {"proposed": {}}}), r#"proposed must be {}, not {"a":"x"}"#);
    differs(json!({"kind": "holds", "expect": {"problems": []}}), "must have no problem at \"/a\"");
    let missing =
        json!({"problems": [{"pointer": "/b", "rule": "count"}, {"pointer": "/a", "rule": "declared"}]});
    differs(json!({"kind": "holds", "expect": missing}), "must have a problem at \"/b\" with the rule count");
    let unknown = json!({"kind": "proposed", "expect": {"proposed": {"a": "x"}, "unknown": ["/b"]}});
    differs(unknown, r#"unknown must be ["/b"], not []"#);
    let filled =
        json!({"kind": "filled", "base": {"a": "x"}, "sent": {"a": null}, "expect": {"filled": {"a": "x"}}});
    differs(filled, r#"filled must be {"a":"x"}, not {}"#);
    differs(json!({"kind": "agrees", "expect": {"problems": []}}), "/planned: must be present");
    differs(json!({"kind": "replaces"}), "/kind: must be one of");
    differs(json!({"kind": "holds", "schema": {"type": "array"}}), "/schema/type");
    assert_eq!(
        case(json!({"kind": "holds", "expect": {"problems": [{"pointer": "", "rule": "declared"}]}})),
        [""; 0]
    );
    assert!(cases::run(b"{}", None).is_err());
    assert!(cases::run(b"{", None).is_err());
}

#[test]
fn a_case_expects_the_unknown_values_in_any_order_and_valid_items() {
    let properties = json!({"b": {"type": "string", "x-computed": true}, "a": {"type": "string", "readOnly": true},
        "cpu": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": properties});
    let differences = |mut case: Value| {
        case["schema"] = schema.clone();
        cases::run(json!([case]).to_string().as_bytes(), None).unwrap().remove(0).differences
    };
    for unknown in [json!(["/a", "/b"]), json!(["/b", "/a"])] {
        let case =
            json!({"kind": "proposed", "declared": {}, "expect": {"proposed": {}, "unknown": unknown}});
        assert_eq!(differences(case), [""; 0]);
    }
    // The server refuses such an item at the decision, also where the plan allows the path to change.
    let agrees = |later: Value, problems: Value| {
        differences(
            json!({"kind": "agrees", "planned": {"cpu": 2}, "later": later, "expect": {"problems": problems}}),
        )
    };
    assert_eq!(agrees(json!({"cpu": 2, "a": "x"}), json!([])), [""; 0]);
    assert_eq!(agrees(json!({"cpu": 2, "a": 1}), json!([{"pointer": "/a", "rule": "schema"}])), [""; 0]);
    assert_ne!(agrees(json!({"cpu": 2, "a": 1}), json!([])), [""; 0]);
}

#[test]
fn elements_belong_together_by_name() {
    let root = disks();
    let prior = json!({"disks": [{"name": "a", "wwn": "1", "note": 1}, {"name": "b", "wwn": "2", "class": "x"}], "ip": "i"});
    let declared = json!({"disks": [{"name": "b"}, {"name": "c"}, {"name": "a"}], "password": "p"});
    let expected = json!({"disks": [{"name": "b", "wwn": "2", "class": "x"}, {"name": "c"}, {"name": "a", "wwn": "1"}],
        "ip": "i"});
    assert_eq!(proposed(&root, Some(&prior), &declared), expected);
    assert_eq!(unknown(&root, &expected), ["/disks/1/class", "/disks/1/wwn", "/disks/2/class"]);
    // Another order of the same elements holds; another name does not.
    let sent = json!({"disks": [{"name": "a"}, {"name": "c"}, {"name": "b"}]});
    assert_eq!(holds(&root, None, &declared, &sent), []);
    let renamed = json!({"disks": [{"name": "a"}, {"name": "d"}, {"name": "b"}]});
    assert_eq!(
        rules(holds(&root, None, &declared, &renamed)),
        [("declared", "/disks".to_owned()), ("not_declared", "/disks/1".to_owned())]
    );
    // In a plan, the order of elements counts.
    assert_eq!(agrees(&root, &sent, &sent), []);
    assert_ne!(agrees(&root, &declared, &sent), []);
}

#[test]
fn an_owner_sends_what_changes() {
    let root = disks();
    let base = json!({"disks": [{"name": "a", "wwn": "1", "class": "x"}, {"name": "b"}], "ip": "i", "note": {"n": 1}});
    let filled = |sent: Value| filled(&root, &sent, &base);
    assert_eq!(filled(json!({})), base);
    assert_eq!(filled(json!({"ip": null, "note": null})), json!({"disks": base["disks"]}));
    let sent = json!({"disks": [{"name": "c"}, {"name": "a", "wwn": null, "class": null}], "note": {"m": 2}});
    let expected =
        json!({"disks": [{"name": "a", "class": null}, {"name": "c"}], "ip": "i", "note": {"m": 2}});
    assert_eq!(filled(sent), expected);
    // Without its name, an element is a new one.
    let nameless = json!({"disks": [{"wwn": "9"}]});
    assert_eq!(filled(nameless)["disks"], json!([{"wwn": "9"}]));
}

#[test]
fn a_value_of_the_owner_stays_with_the_name_of_its_element() {
    let root = disks();
    let prior = json!({"disks": [{"name": "a", "wwn": "WA"}, {"name": "b", "wwn": "WB"}]});
    let table = [
        (json!([{"name": "b"}, {"name": "a"}]), json!(["WB", "WA"])),
        (json!([{"name": "b"}, {"name": "a"}, {"name": "a"}]), json!(["WB", null, null])),
        (json!([{"name": "b"}, {"name": "a"}, {}]), json!(["WB", "WA", null])),
        (json!([{"name": "b"}, {"name": 1}]), json!(["WB", null])),
        (json!([{}, {}]), json!([null, null])),
    ];
    for (elements, expected) in table {
        let proposed = proposed(&root, Some(&prior), &json!({"disks": elements}));
        let values = proposed["disks"].as_array().unwrap().iter().map(|disk| disk["wwn"].clone()).collect();
        assert_eq!(Value::Array(values), expected, "{elements}");
    }
    // A name that the owner gives does not identify an element of the consumer.
    let members = json!({"name": {"readOnly": true}, "size": {"type": "integer"}, "wwn": {"readOnly": true}});
    let of_owner =
        paths(&json!({"disks": {"type": "array", "items": {"type": "object", "properties": members}}}));
    let prior = json!({"disks": [{"name": "d1", "size": 1, "wwn": "W"}]});
    let grown = json!({"disks": [{"name": "d1", "size": 2, "wwn": "W"}]});
    assert_eq!(self::proposed(&of_owner, Some(&prior), &json!({"disks": [{"size": 2}]})), grown);
    let nameless = json!({"disks": [{"wwn": "1"}, {"wwn": "2"}]});
    assert_eq!(proposed(&root, Some(&nameless), &json!({"disks": [{}]})), json!({"disks": [{"wwn": "1"}]}));
}

/// Returns all lists of up to three elements, each with one of these names or none.
fn lists(names: &[Value]) -> Vec<Vec<Value>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..3 {
        let longer = |list: &Vec<Value>| {
            let element = |name: &Value| if name.is_null() { json!({}) } else { json!({"name": name}) };
            let more = names.iter().map(element);
            more.map(|element| [list.clone(), vec![element]].concat()).collect::<Vec<_>>()
        };
        let longer: Vec<Vec<Value>> = lists.iter().flat_map(longer).collect();
        lists.extend(longer);
    }
    lists
}

#[test]
fn no_list_moves_a_value_of_the_owner_to_another_element() {
    let root = disks();
    let lists = lists(&[json!("a"), json!("b"), json!(1), json!(null)]);
    for stored in &lists {
        let prior = stored.iter().enumerate().map(|(index, disk)| {
            let mut disk = disk.clone();
            disk["wwn"] = json!(index.to_string());
            disk
        });
        let prior = json!({"disks": prior.collect::<Vec<_>>()});
        let name = |disk: &Value| disk["name"].as_str().map(str::to_owned);
        let is_named = |list: &[Value]| list.iter().any(|disk| name(disk).is_some());
        for declared in &lists {
            let proposed = proposed(&root, Some(&prior), &json!({"disks": declared}));
            let disks = proposed["disks"].as_array().unwrap();
            assert_eq!(disks.len(), declared.len());
            let mut taken = BTreeSet::new();
            for (index, disk) in disks.iter().enumerate() {
                let Some(wwn) = disk["wwn"].as_str() else { continue };
                assert!(taken.insert(wwn), "{stored:?} {declared:?}: a value of two elements");
                let from = &stored[wwn.parse::<usize>().unwrap()];
                if is_named(stored) || is_named(declared) {
                    assert!(name(disk).is_some() && name(disk) == name(from), "{stored:?} {declared:?}");
                } else {
                    assert_eq!(wwn, index.to_string(), "{stored:?} {declared:?}");
                }
            }
            // The proposed item holds the declaration, in any order of unique names.
            assert_eq!(holds(&root, Some(&prior), &json!({"disks": declared}), &proposed), []);
        }
    }
}

#[test]
fn no_version_and_no_plan_contains_a_secret() {
    let root = disks();
    let declared = json!({"password": "p", "disks": [{"name": "a", "key": "k"}]});
    assert_eq!(proposed(&root, None, &declared), json!({"disks": [{"name": "a"}]}));
    assert_eq!(holds(&root, None, &declared, &json!({"disks": [{"name": "a"}]})), []);
    let expected = ["/disks/0/key", "/password"];
    let found = rules(holds(&root, None, &declared, &declared));
    assert_eq!(found, expected.map(|at| ("write_only", at.to_owned())));
    assert_eq!(filled(&root, &json!({}), &declared), json!({"disks": [{"name": "a"}]}));
}

#[test]
fn the_checked_item_has_the_declared_secrets_and_no_others() {
    let root = disks();
    let declared = json!({"password": "p", "disks": [{"name": "a", "key": 1}]});
    let prior = json!({"password": "old", "ip": "10.0.0.1", "disks": [{"name": "a", "wwn": "w", "key": 2}]});
    let expected = json!({"password": "p", "ip": "10.0.0.1", "disks": [{"name": "a", "wwn": "w", "key": 1}]});
    let proposed = self::proposed(&root, Some(&prior), &declared);
    assert_eq!(proposed, json!({"ip": "10.0.0.1", "disks": [{"name": "a", "wwn": "w"}]}));
    assert_eq!(with_secrets(&root, &proposed, &declared), expected);
    // A name may repeat in a list without owner paths.
    let users =
        paths(&json!({"users": {"type": "array", "items": {"properties": {"key": {"writeOnly": true}}}}}));
    let declared_users = json!({"users": [{"name": "u", "key": 1}, {"name": "u", "key": 2}, {"key": 3}]});
    let checked = self::proposed(&users, None, &declared_users);
    assert_eq!(with_secrets(&users, &checked, &declared_users), declared_users);
    let sent = rules(secrets(&root, &declared));
    assert_eq!(sent, [("write_only", "/disks/0/key".to_owned()), ("write_only", "/password".to_owned())]);
    assert_eq!(secrets(&root, &proposed), []);
}

/// Users and ports without an order. A user has an id of the owner and a secret.
fn sets() -> Part {
    paths(&json!({
        "users": {"type": "array", "x-unordered": true, "items": {"type": "object", "properties": {
            "login": {"type": "string"}, "ports": {"type": "array", "x-unordered": true, "items": {"type": "integer"}},
            "id": {"type": "integer", "readOnly": true}, "class": {"type": "string", "x-computed": true},
            "key": {"writeOnly": true}}}},
        "tags": {"type": "array", "x-unordered": true},
    }))
}

#[test]
fn elements_without_an_order_belong_together_by_the_consumers_values() {
    let root = sets();
    let prior = json!({"users": [{"login": "a", "ports": [1, 2], "id": 1, "class": "x", "note": 1},
        {"login": "b", "id": 2}, {"login": "b", "id": 3}]});
    let declared = json!({"users": [{"login": "b"}, {"login": "c"}, {"login": "a", "ports": [2, 1], "key": "k"}],
        "tags": [1, 2]});
    // No element gets the values of another one.
    let users = json!([{"login": "b", "id": 2}, {"login": "c"},
        {"login": "a", "ports": [2, 1], "id": 1, "class": "x"}]);
    let expected = json!({"users": users, "tags": [1, 2]});
    assert_eq!(proposed(&root, Some(&prior), &declared), expected);
    let sent = json!({"users": [{"login": "a", "ports": [1, 2], "id": 1, "note": 2},
        {"login": "b", "class": "y"}, {"login": "c"}], "tags": [2, 1]});
    assert_eq!(holds(&root, None, &declared, &sent), []);
    let later = json!({"users": [sent["users"][0], {"login": "c"}, {"login": "b", "id": 2}], "tags": [2, 1]});
    assert_eq!(rules(agrees(&root, &expected, &later)), [("planned", "/users/0/class".to_owned())]);
    // An element that the owner sends with its declared values keeps the others, in the order of the base.
    let users = json!([{"login": "b", "id": 2, "class": "y"}, {"login": "c"},
        {"login": "a", "ports": [2, 1], "id": 1, "class": "x", "note": 2}]);
    assert_eq!(filled(&root, &sent, &expected), json!({"users": users, "tags": [1, 2]}));
    assert_eq!(with_secrets(&root, &sent, &declared)["users"][0]["key"], "k");
}

#[test]
fn elements_without_an_order_differ_by_as_few_values_as_possible() {
    let root = sets();
    let users = |logins: &[&str]| -> Value {
        json!({"users": logins.iter().map(|login| json!({"login": login})).collect::<Vec<_>>()})
    };
    let declared = users(&["a", "b", "b", "z"]);
    let found = holds(&root, None, &declared, &users(&["z", "b", "x", "a"]));
    assert_eq!(rules(found), [("declared", "/users/2/login".to_owned())]);
    // A value that the system has changed before may stay (R51).
    let prior = users(&["x", "z", "b", "a"]);
    assert_eq!(holds(&root, Some(&prior), &declared, &users(&["z", "b", "x", "a"])), []);
    assert_eq!(rules(holds(&root, None, &declared, &users(&["a"]))), [("count", "/users".to_owned())]);
    let tags = |tags: &[u64]| json!({"tags": tags});
    assert_eq!(holds(&root, None, &tags(&[1, 1, 2]), &tags(&[2, 1, 1])), []);
    assert_eq!(
        rules(holds(&root, None, &tags(&[1, 1, 2]), &tags(&[1, 2, 2]))),
        [("declared", "/tags".to_owned())]
    );
    assert_eq!(differences(&root, None, &declared, &users(&["b", "z", "a", "b"])), []);
}

#[test]
fn r70_no_party_sends_a_derived_value() {
    let title = json!({"type": "string", "readOnly": true, "x-derived": "{cpu} CPUs"});
    let ip = json!({"type": "string", "readOnly": true});
    let root = paths(&json!({"cpu": {"type": "integer"}, "ip": ip, "title": title}));
    let old = json!({"cpu": 1, "ip": "10.0.0.1", "title": "stored before the word"});
    let declared = json!({"cpu": 2});
    // A value from before the word is not carried over.
    assert_eq!(proposed(&root, Some(&old), &declared), json!({"cpu": 2, "ip": "10.0.0.1"}));
    assert_eq!(filled(&root, &json!({"cpu": 3}), &old), json!({"cpu": 3, "ip": "10.0.0.1"}));
    // The owner owes no value, and no comparison asks for one.
    assert_eq!(unknown(&root, &declared), ["/ip"]);
    assert!(holds(&root, None, &declared, &json!({"cpu": 2, "title": "any"})).is_empty());
    assert!(agrees(&root, &declared, &json!({"cpu": 2, "title": "any"})).is_empty());
    assert_eq!(rules(derived(&root, &old)), [("derived", "/title".to_owned())]);
    assert!(derived(&root, &json!({"title": null})).is_empty(), "the owner may remove an older value");
}
