//! Effects of a new definition: the items that would become invalid (docs/reference/http/services.md).
//! docs/reference/figures/costs.md has the cost for 10,000 items.

use crate::api::demo::{self, OWNER, SERVICES, SUBMIT, VALIDATE};
use crate::api::lists::library::teams;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use support::{Answer, Random, Running, assert_values};

const PLAIN: &str = "/v1/orcabase/serviceowner/services/validate/";
const DRY_RUN: &str = "/v1/orcabase/serviceowner/services/validate/?dry_run=true";

/// Returns a definition of VM with these properties and all others.
fn definition(properties: &Value) -> Value {
    let mut definition = demo::definition("VM");
    definition["properties"].as_object_mut().unwrap().extend(properties.as_object().unwrap().clone());
    definition
}

/// Starts a system: Alpha and Beta declare VMs of One, and Two owns DB.
fn system() -> Running {
    let service = |owner: &str, title: &str| json!({"owner": owner, "schema": demo::definition(title)});
    let world = json!({
        "teams": teams(&["Alpha", "Beta", "One", "Two"]),
        "services": [service("One", "VM"), service("One", "Disk"), service("Two", "DB")],
    });
    Running::start(&world.to_string())
}

fn declare(system: &Running, team: &str, services: &Value) {
    let body = json!({team: {"web": {"services": services}}});
    let answer = system.call("POST", SUBMIT, &team.to_lowercase(), &body);
    assert!(matches!(answer.status, 200 | 201), "{answer:?}");
}

#[test]
fn a_reference_to_a_service_that_the_team_does_not_see_is_a_warning() {
    let system = system();
    let references = |names: &[&str]| {
        let reference = |name: &&str| {
            let property = json!({"type": "string", "format": "reference", "service_reference": name});
            ((*name).to_owned(), property)
        };
        definition(&names.iter().map(reference).collect::<Map<_, _>>().into())
    };
    let warning =
        "/properties/Router/service_reference names a service that your team does not see: `Router`";
    for path in [PLAIN, DRY_RUN, SERVICES] {
        let warned = system.call("POST", path, "one", &references(&["DB", "Router", "VM"]));
        warned.assert_is(200, &json!({"/warnings": [warning]}));
        let seen = system.call("POST", path, "one", &references(&["DB", "Disk", "VM"]));
        assert!(seen.body.get("warnings").is_none_or(|warnings| *warnings == json!([])), "{seen:?}");
    }
}

#[track_caller]
fn dry_run(system: &Running, path: &str, definition: &Value) -> Answer {
    let answer = system.call("POST", path, "one", definition);
    assert_eq!((answer.status, answer.at("/is_valid")), (200, &json!(true)), "{path}: {answer:?}");
    answer
}

/// Returns the errors by team and item over all pages, the number of checked items, and the number of pages.
fn schema_impact(
    system: &Running,
    path: &str,
    definition: &Value,
) -> (BTreeMap<(String, String), Value>, u64, usize) {
    let (mut errors, mut checked, mut pages) = (BTreeMap::new(), 0, 0);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        let page = dry_run(system, &path, definition);
        let mut failing = 0;
        for team in page.at("/dry_run/teams").as_array().unwrap() {
            for item in team["items"].as_array().unwrap() {
                let name = (text(&team["name"]), text(&item["name"]));
                let previous = errors.insert(name, item["errors"].clone());
                assert!(previous.is_none(), "each item is listed once: {item}");
                failing += 1;
            }
        }
        assert_eq!(page.at("/dry_run/failing"), failing);
        checked += page.at("/dry_run/checked").as_u64().unwrap();
        next = page.at("/dry_run/next").as_str().map(str::to_owned);
        pages += 1;
    }
    (errors, checked, pages)
}

#[test]
fn a_dry_run_uses_the_parts_of_other_definitions() {
    let system = system();
    declare(&system, "Alpha", &json!({"VM": [{"name": "a", "cpu": 8}, {"name": "b", "cpu": 1}]}));
    system.wait_idle();
    let mut other = demo::definition("DB");
    other["$defs"] = json!({"Count": {"type": "integer", "minimum": 2}});
    assert_eq!(system.call("POST", SERVICES, "two", &other).status, 200);
    let stricter = definition(&json!({"cpu": {"$ref": "dovetail:DB/2#/$defs/Count"}}));
    let answer = dry_run(&system, DRY_RUN, &stricter);
    answer.assert_is(200, &json!({"/dry_run/checked": 2, "/dry_run/failing": 1}));
    assert_eq!(answer.at("/dry_run/teams/0/items/0/name"), "b");
    let earlier = definition(&json!({"cpu": {"$ref": "dovetail:DB/1#/$defs/Count"}}));
    let refused = system.call("POST", DRY_RUN, "one", &earlier);
    assert_eq!((refused.status, refused.at("/is_valid")), (400, &json!(false)), "{refused:?}");
}

#[test]
fn a_dry_run_lists_invalid_items_by_team_and_writes_nothing() {
    let system = system();
    let alpha = json!({"VM": [{"name": "a", "cpu": 8}, {"name": "b", "cpu": 1}],
        "Disk": [{"name": "c", "cpu": "many"}], "DB": [{"name": "d", "cpu": "many"}]});
    let mut first = alpha.clone();
    first["VM"].as_array_mut().unwrap().push(json!({"name": "gone"}));
    declare(&system, "Alpha", &first);
    declare(&system, "Alpha", &alpha);
    let beta = json!({"VM": [{"name": "a", "cpu": "many"}, {"name": "e", "cpu": 1, "size": {"x": 1}}]});
    declare(&system, "Beta", &beta);
    system.wait_idle();
    let before = system.rows();
    let integer = json!({"type": "integer", "minimum": 2});
    let stricter = definition(&json!({"cpu": integer, "size": {"additionalProperties": false}}));
    let answer = dry_run(&system, DRY_RUN, &stricter);
    answer.assert_is(200, &json!({"/dry_run/checked": 4, "/dry_run/failing": 3, "/dry_run/next": null}));
    let teams: Vec<&Value> = answer.at("/dry_run/teams").as_array().unwrap().iter().collect();
    let names: Vec<&Value> = teams.iter().map(|team| &team["name"]).collect();
    assert_eq!(names, ["Alpha", "Beta"]);
    let b = &teams[0]["items"][0];
    let item = system.get(b["url"].as_str().unwrap(), "one");
    item.assert_is(200, &json!({"/name": "b", "/id": b["id"], "/application/name": "web"}));
    assert_eq!(b["application"], json!({"id": item.at("/application/id"), "name": "web"}));
    let less = "1 is less than the minimum of 2";
    assert_eq!(b["errors"], json!({"cpu": [less]}));
    assert_eq!(b["problems"], json!([{"pointer": "/cpu", "rule": "schema", "detail": less}]));
    assert_eq!(teams[1]["items"][0]["errors"], json!({"cpu": ["\"many\" is not of type \"integer\""]}));
    let nested = json!({"cpu": [less], "size": {"x": ["must be absent: the definition does not allow this property"]}});
    assert_eq!(teams[1]["items"][1]["errors"], nested);
    assert_eq!(system.rows(), before, "a dry run writes nothing");
}

/// Scenario P6 (R67).
#[test]
fn a_dry_run_accepts_another_order_of_an_array_without_an_order() {
    let system = system();
    let hosts = json!({"type": "array", "x-unordered": true, "items": {"type": "string"}});
    let unordered = definition(&json!({"hosts": hosts}));
    system.call("POST", SERVICES, "one", &unordered).assert_is(200, &json!({"/name": "VM"}));
    for hosts in [["a", "b"], ["b", "a"]] {
        declare(&system, "Alpha", &json!({"VM": [{"name": "vm1", "hosts": hosts}]}));
    }
    let answer = dry_run(&system, DRY_RUN, &unordered);
    answer.assert_is(200, &json!({"/dry_run/checked": 1, "/dry_run/failing": 0, "/dry_run/teams": []}));
}

#[test]
fn a_dry_run_checks_owner_title_and_parameters() {
    let system = system();
    declare(&system, "Alpha", &json!({"VM": [{"name": "a"}]}));
    let other = demo::definition;
    for query in ["", "?dry_run=false", "?dry_run="] {
        let answer = dry_run(&system, &format!("{PLAIN}{query}"), &other("VM"));
        assert_eq!(answer.at("/dry_run"), &Value::Null, "{query}");
    }
    let nothing = json!({"checked": 0, "failing": 0, "teams": [], "deployed_items": [], "next": null});
    assert_eq!(dry_run(&system, DRY_RUN, &other("New")).at("/dry_run"), &nothing, "a new title");
    for path in [DRY_RUN.to_owned(), DRY_RUN.replace("serviceowner", "consumer")] {
        assert_eq!(dry_run(&system, &path, &other("VM")).at("/dry_run/checked"), 1, "{path}");
        // The publication gets the same code.
        for path in [path.as_str(), &path.replace("validate/?dry_run=true", "")] {
            for (title, key) in [("VM", "two"), ("DB", "one")] {
                let answer = system.call("POST", path, key, &other(title));
                assert_eq!(answer.code(), (403, "foreign_service"), "{path} {title} {key}: {answer:?}");
            }
        }
    }
    let refused = |path: &str, body: &Value, code: &str| {
        let answer = system.call("POST", path, "one", body);
        assert_eq!(answer.code(), (400, code), "{path}: {answer:?}");
    };
    refused(DRY_RUN, &json!({"title": "VM", "type": "array"}), "invalid_schema");
    refused(&format!("{PLAIN}?dry_run=perhaps"), &other("VM"), "invalid_filter");
    refused(&format!("{DRY_RUN}&limit=x"), &other("VM"), "invalid_filter");
    refused(&format!("{DRY_RUN}&cursor=x"), &other("VM"), "invalid_cursor");
    let unknown = system.call("POST", &format!("{PLAIN}?colour=red"), "one", &other("VM"));
    assert_eq!((unknown.status, &unknown.body), (400, &json!(["Filter param not found."])));
}

#[test]
fn pages_check_each_item_once_and_a_position_is_good_for_its_definition() {
    let system = system();
    let vms: Vec<Value> = (0..45).map(|n| json!({"name": format!("vm{n:02}"), "cpu": n})).collect();
    let disks: Vec<Value> = (0..30).map(|n| json!({"name": format!("disk{n:02}"), "cpu": 0})).collect();
    declare(&system, "Alpha", &json!({"VM": vms, "Disk": disks}));
    system.wait_idle();
    let stricter = definition(&json!({"cpu": {"multipleOf": 3}}));
    let whole = schema_impact(&system, DRY_RUN, &stricter);
    assert_eq!((whole.0.len(), whole.1, whole.2), (30, 45, 1));
    for limit in [1, 7, 44, 45, 46, 5_000, 0] {
        let paged = schema_impact(&system, &format!("{DRY_RUN}&limit={limit}"), &stricter);
        assert_eq!((&paged.0, paged.1), (&whole.0, whole.1), "limit {limit}");
    }
    let first = dry_run(&system, &format!("{DRY_RUN}&limit=7"), &stricter);
    let next = first.at("/dry_run/next").as_str().unwrap();
    let start = format!("{}{PLAIN}?dry%5Frun=true&limit=7&cursor=", system.base);
    assert!(next.starts_with(&start), "{next}");
    for (body, key) in [(definition(&json!({})), "one"), (stricter, "two")] {
        let answer = system.call("POST", next, key, &body);
        assert_eq!(answer.code(), (400, "invalid_cursor"), "{key}");
    }
}

#[test]
fn a_page_that_would_be_too_large_to_send_ends_early() {
    let system = system();
    let long = |n: usize| format!("{n:03}{}", "x".repeat(400));
    let item = |n: usize| {
        let mut item: Map<String, Value> = (0..100).map(|n| (long(n), json!(n))).collect();
        item.insert("name".to_owned(), json!(format!("vm{n:02}")));
        Value::Object(item)
    };
    let vms: Vec<Value> = (0..90).map(item).collect();
    declare(&system, "Alpha", &json!({"VM": vms}));
    system.wait_idle();
    let mut closed = definition(&json!({}));
    closed["additionalProperties"] = json!(false);
    let first = dry_run(&system, DRY_RUN, &closed);
    assert!(first.body.to_string().len() < 6_000_000);
    let (errors, checked, pages) = schema_impact(&system, DRY_RUN, &closed);
    assert!(errors.values().all(|errors| errors.as_object().unwrap().len() == 100));
    assert_eq!((errors.len(), checked), (90, 90));
    assert!(pages > 1, "{pages}");
}

/// Returns a random schema for a property, or `None`.
fn property(random: &mut Random) -> Option<Value> {
    Some(match random.below(7) {
        0 => json!({"type": "integer"}),
        1 => json!({"type": "string", "maxLength": random.below(3)}),
        2 => json!({"minimum": random.below(4)}),
        3 => json!({"enum": [0, 1, "x", null]}),
        4 => json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}),
        5 => json!({"type": ["array", "integer"], "items": {"maximum": 2}}),
        _ => return None,
    })
}

fn value(random: &mut Random) -> Option<Value> {
    Some(match random.below(7) {
        0 => json!(random.below(5)),
        1 => json!("x".repeat(random.index(4))),
        2 => json!({"a": random.below(2)}),
        3 => json!({"b": "y"}),
        4 => json!([random.below(4), "z"]),
        5 => Value::Null,
        _ => return None,
    })
}

const FIELDS: [&str; 4] = ["a", "b", "c", "d"];

/// Returns an item with the round as a note. The note modifies the item, so it is checked in each round (R20).
fn item(name: &str, fields: &Map<String, Value>, round: u64) -> Value {
    let mut item = fields.clone();
    item.insert("name".to_owned(), json!(name));
    item.insert("note".to_owned(), json!(round));
    Value::Object(item)
}

#[test]
fn a_dry_run_lists_exactly_the_items_that_the_published_definition_refuses() {
    let (system, mut random) = (system(), Random::seeded());
    let items: Vec<(String, Map<String, Value>)> = (0..40)
        .map(|n| {
            let fields =
                FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), value(&mut random)?))).collect();
            (format!("vm{n:02}"), fields)
        })
        .collect();
    let declared =
        |round: u64| -> Vec<Value> { items.iter().map(|(name, fields)| item(name, fields, round)).collect() };
    declare(&system, "Alpha", &json!({"VM": declared(0)}));
    system.wait_idle();
    let (mut refusing, mut failing) = (0, 0);
    for round in 1..=60 {
        let properties: Map<String, Value> =
            FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), property(&mut random)?))).collect();
        let mut definition = definition(&Value::Object(properties));
        if random.below(3) == 0 {
            definition["required"] = json!(["name", FIELDS[random.index(4)]]);
        }
        if random.below(4) == 0 {
            definition["properties"]["note"] = json!({});
            definition["additionalProperties"] = json!(false);
        }
        let (impact, checked, _) = schema_impact(&system, &format!("{DRY_RUN}&limit=15"), &definition);
        assert_eq!(checked, 40);
        let published = system.call("POST", SERVICES, "one", &definition);
        assert!(matches!(published.status, 200 | 201), "{published:?}");
        let touched = json!({"Alpha": {"web": {"services": {"VM": declared(round)}}}});
        let answer = system.call("POST", VALIDATE, "alpha", &touched);
        let refused = answer.at("/errors/Alpha/web/VM").as_object().cloned().unwrap_or_default();
        assert_eq!(answer.status == 200, impact.is_empty(), "{definition}: {answer:?}");
        let errors_by_item: Map<String, Value> =
            impact.into_iter().map(|((_, name), errors)| (name, errors)).collect();
        assert_eq!(errors_by_item, refused, "{definition}");
        refusing += u64::from(!errors_by_item.is_empty());
        failing += errors_by_item.len();
    }
    // The random definitions must reject some items often, but not all items always.
    assert!(refusing > 20 && failing > 200 && failing < 60 * 40, "{refusing} {failing}");
}

#[test]
fn a_dry_run_lists_deployed_items_that_cannot_be_carried_over() {
    let system = system();
    let verified = |name: &str, upgrade: &Value| {
        let mut definition = definition(&json!({name: {"type": "integer"}}));
        definition["x-verified"] = json!(true);
        definition["additionalProperties"] = json!(false);
        definition["x-upgrade"] = upgrade.clone();
        definition
    };
    let first = verified("cpu", &json!([]));
    system.expect(200, "POST", SERVICES, "one", &first);
    declare(&system, "Alpha", &json!({"VM": [{"name": "a", "cpu": 8}, {"name": "b", "cpu": 8}]}));
    let changes = system.get(&format!("{OWNER}/change_instances/"), "one");
    let change = changes.rows().iter().find(|change| change["service_item"]["name"] == "a").unwrap();
    for state in ["APPROVED", "COMPLETED"] {
        system.expect(200, "PATCH", change["url"].as_str().unwrap(), "one", &json!({"state": state}));
    }
    // Only the completed item has a version to carry over.
    let listed = |definition: &Value| dry_run(&system, DRY_RUN, definition).at("/dry_run").clone();
    let renamed = listed(&verified("cores", &json!([])));
    assert_values(&renamed, &json!({"/checked": 2, "/failing": 2}));
    let [item] = renamed["deployed_items"].as_array().unwrap().as_slice() else { panic!("{renamed:?}") };
    assert_values(item, &json!({"/name": "a", "/problems/0/pointer": "/cpu"}));
    let moved = json!([{"op": "move", "from": "/cpu", "path": "/cores"}]);
    assert_eq!(listed(&verified("cores", &moved))["deployed_items"], json!([]));
}
