//! Defaults and generated items from metadata (R66).

use crate::world::{APP, CONSUMER, NP_OWNER, World, broken, document, offer, table};
use domain::base::json::canonical;
use domain::base::problem::Problem;
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::catalog::schema::publish;
use domain::model::declaration;
use domain::model::declaration::expansion::{ENTRIES_MAX, KEYS_BYTES_MAX, KEYS_OF_TEAM_BYTES_MAX};
use domain::model::declaration::{DECLARATION_BYTES_MAX, ITEMS_MAX, METADATA_BYTES_MAX, SERVICES_MAX};
use domain::model::secrets::{MaskKey, SecretOwner};
use domain::model::submission::Scope;
use domain::rules::expand::{Previewed, expand, warnings};
use domain::rules::plan::Refused;
use domain::rules::secrets;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Returns a world with a service PROBE whose items refer to VMs.
fn world() -> World {
    let mut world = World::new();
    let integer = json!({"type": "integer"});
    world.redefine(
        "VM",
        &json!({"title": "VM", "type": "object", "required": ["name"], "additionalProperties": false, "properties": {
            "name": {"type": "string"}, "cpu": integer, "memory": integer, "region": {"type": "string"},
            "tags": {"type": "array"}}}),
    );
    let probe = json!({"title": "PROBE", "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "interval": integer,
            "vm": {"type": "string", "format": "reference", "service_reference": "VM"},
            "lb": {"type": "string", "format": "reference", "service_reference": "LoadBalancer"}}});
    world.offers.extend([offer(3, NP_OWNER, &probe)]);
    world
}

/// Returns the entry that generates a PROBE for each VM with the tag `web`.
fn probes() -> Value {
    json!({"service": "PROBE", "for": "VM", "as": "vm", "item": {"name": "load", "interval": 30},
        "where": {"properties": {"tags": {"contains": {"const": "web"}}}, "required": ["tags"]}})
}

/// Returns the consumer's document with one application.
pub(crate) fn declared(team: &Value, own: &Value, services: &Value) -> Value {
    let mut body = document(&[(APP, json!({"metadata": own, "services": services}))]);
    body[CONSUMER]["metadata"] = team.clone();
    body
}

/// Returns the problems of a submission as `rule pointer`, also of one that does not parse.
fn problems(world: &World, body: &Value) -> Vec<String> {
    let line = |problem: Problem| format!("{} {}", problem.rule, problem.pointer);
    match world.clone().planned(body, Scope::Whole) {
        Ok(_) => Vec::new(),
        Err(Refused::Invalid(problems)) => problems.into_iter().map(line).collect(),
        Err(other) => panic!("{other:?}"),
    }
}

/// Returns the items of a document with the additions, as texts by service.
fn items(body: &Value) -> Vec<String> {
    let (declaration, problems) = World::expanded(&World::new().stored(), body, Scope::Whole).unwrap();
    assert_eq!(problems, []);
    let items = declaration.applications.iter().flat_map(|application| &application.items);
    items.map(|item| format!("{} {}", item.service, item.canonical)).collect()
}

#[test]
fn r66_a_missing_member_comes_from_the_application_or_else_from_the_team() {
    let team = json!({"dovetail_defaults": {"VM": {"cpu": 1, "memory": 2, "region": "eu"}}});
    let own = json!({"dovetail_defaults": {"VM": {"memory": 4, "region": null}, "LB": {"cpu": 9}}});
    let vms =
        json!({"VM": [{"name": "a"}, {"name": "b", "cpu": 3, "region": null}, {"name": "c", "cpu": {}}]});
    assert_eq!(
        items(&declared(&team, &own, &vms)),
        [
            r#"VM {"cpu":1,"memory":4,"name":"a"}"#,
            r#"VM {"cpu":3,"memory":4,"name":"b","region":null}"#,
            // A default is a whole member, so the parts of two objects do not mix.
            r#"VM {"cpu":{},"memory":4,"name":"c"}"#,
        ]
    );
    assert_eq!(
        items(&declared(&team, &json!({}), &vms))[0],
        r#"VM {"cpu":1,"memory":2,"name":"a","region":"eu"}"#
    );
}

#[test]
fn r66_each_target_gets_an_item_with_defaults_of_its_own() {
    let own = json!({"dovetail_each": [probes()], "dovetail_defaults": {"PROBE": {"region": "eu"}}});
    let team = json!({"dovetail_defaults": {"VM": {"tags": ["web"]}},
        "dovetail_each": [{"service": "VM", "for": "PROBE", "as": "of", "item": {"name": "host"}}]});
    let services = json!({"VM": [{"name": "web2"}, {"name": "db1", "tags": []}, {"name": "web1"}],
        "PROBE": [{"name": "own", "region": "us"}]});
    assert_eq!(
        items(&declared(&team, &own, &services)),
        [
            r#"PROBE {"name":"own","region":"us"}"#,
            r#"VM {"name":"web2","tags":["web"]}"#,
            r#"VM {"name":"db1","tags":[]}"#,
            r#"VM {"name":"web1","tags":["web"]}"#,
            // The condition holds with the defaults of the target. The entries of the application come first.
            r#"PROBE {"interval":30,"name":"load.web2","region":"eu","vm":"web2"}"#,
            r#"PROBE {"interval":30,"name":"load.web1","region":"eu","vm":"web1"}"#,
            // Generated items are no targets: neither `load.web1` for VM, nor this one for PROBE.
            r#"VM {"name":"host.own","of":"own","tags":["web"]}"#,
        ]
    );
}

#[test]
fn r66_an_earlier_entry_and_a_written_item_win() {
    let entry = |interval: u64| json!({"service": "PROBE", "for": "VM", "as": "vm", "item": {"name": "load", "interval": interval}});
    let team = json!({"dovetail_each": [entry(1)]});
    let own = json!({"dovetail_each": [probes(), entry(2)]});
    let services = json!({"VM": [{"name": "a", "tags": ["web"]}, {"name": "b"}, {"name": "c"}],
        "PROBE": [{"name": "load.c"}]});
    let probes = |own: &Value| -> Vec<String> {
        let all = items(&declared(&team, own, &services));
        all.into_iter().filter(|item| item.starts_with("PROBE")).collect()
    };
    let [a, b] = ["a", "b"].map(|vm| {
        move |interval: u64| format!(r#"PROBE {{"interval":{interval},"name":"load.{vm}","vm":"{vm}"}}"#)
    });
    let written = r#"PROBE {"name":"load.c"}"#.to_owned();
    assert_eq!(probes(&own), [written.clone(), a(30), b(2)]);
    assert_eq!(probes(&json!({})), [written, a(1), b(1)]);
}

#[test]
fn r66_without_the_keys_a_declaration_stays_as_it_is() {
    let body = declared(&json!({"env": "dev"}), &json!({"owner": "jane"}), &json!({"VM": [{"name": "a"}]}));
    let declaration = declaration::parse(body.to_string().as_bytes()).unwrap();
    assert!(expand(&declaration, &World::new().stored(), Scope::Whole).unwrap().is_none());
}

#[test]
fn r66_stored_metadata_of_the_team_count_for_the_applications_that_a_submission_names() {
    let mut world = world();
    let cpu = |cpu: u64| json!({"dovetail_defaults": {"VM": {"cpu": cpu}}});
    let mut body = declared(&cpu(1), &json!({}), &json!({"VM": [{"name": "a"}]}));
    body[CONSUMER]["Other"] = body[CONSUMER][APP].clone();
    world.submit(&body, Scope::Whole).unwrap();
    // The metadata of the team are those after the submission. A partial one leaves other applications unchanged (R18).
    body[CONSUMER].as_object_mut().unwrap().remove("Other");
    body[CONSUMER]["metadata"] = cpu(2);
    let plan = world.submit(&body, Scope::Partial).unwrap();
    assert_eq!(plan.created.len(), 1);
    body[CONSUMER].as_object_mut().unwrap().remove("metadata");
    assert_eq!(world.submit(&body, Scope::Partial).unwrap().created.len(), 0);
    let other = body[CONSUMER].as_object_mut().unwrap().remove(APP).unwrap();
    body[CONSUMER]["Other"] = other;
    assert_eq!(world.submit(&body, Scope::Partial).unwrap().created.len(), 1);
}

#[test]
fn r66_the_planner_gets_the_generated_items() {
    let mut world = world();
    let own = json!({"dovetail_each": [probes()]});
    let web = |name: &str, cpu: u64| json!({"name": name, "cpu": cpu, "tags": ["web"]});
    let vms = |vms: Value| declared(&json!({}), &own, &json!({"VM": vms}));
    let plan = world.submit(&vms(json!([web("a", 1), web("b", 1)])), Scope::Whole).unwrap();
    assert_eq!(plan.created.len(), 4);
    world.generate();
    for name in ["load.a", "load.b"] {
        world.finish(name, NP_OWNER);
    }
    // A modified target causes a referenced change (R14), and a removed one removes its item.
    let plan = world.submit(&vms(json!([web("a", 2)])), Scope::Whole).unwrap();
    let changes = [("a", Create), ("b", Delete), ("load.b", Delete)];
    let mut created: Vec<_> = table(&plan.created).into_iter().map(|(name, of, _)| (name, of)).collect();
    created.sort_unstable_by_key(|(name, _)| *name);
    assert_eq!(created, changes);
    assert_eq!(table(&world.generate()), [("load.a", Modify, NP_OWNER)]);
}

#[test]
fn r66_a_problem_of_a_value_in_metadata_is_there_once() {
    let world = world();
    let vms = json!({"VM": [{"name": "a", "tags": ["web"]}, {"name": "b", "tags": ["web"]}]});
    let team = "/AwesomeConsumer/metadata";
    let own = "/AwesomeConsumer/NewApp1/metadata";
    let each = |member: &str, value: Value| {
        let mut entry = probes();
        *entry.pointer_mut(member).unwrap() = value;
        json!({"dovetail_each": [entry]})
    };
    let none = json!({});
    let long = "x".repeat(127);
    for (of_team, of_application, expected) in [
        (
            &json!({"dovetail_defaults": {"VM": {"cpu": "one"}}}),
            &none,
            format!("schema {team}/dovetail_defaults/VM/cpu"),
        ),
        (
            &none,
            &json!({"dovetail_defaults": {"VM": {"colour": 1}}}),
            format!("schema {own}/dovetail_defaults/VM/colour"),
        ),
        (&none, &each("/item/interval", json!("30")), format!("schema {own}/dovetail_each/0/item/interval")),
        (&each("/item/interval", json!("30")), &none, format!("schema {team}/dovetail_each/0/item/interval")),
        (&none, &each("/as", json!("machine")), format!("schema {own}/dovetail_each/0/as")),
        (&none, &each("/as", json!("lb")), format!("dangling_reference {own}/dovetail_each/0/as")),
        (&none, &each("/service", json!("PROBES")), format!("unknown_service {own}/dovetail_each/0/service")),
        (&none, &each("/item/name", json!(long)), format!("invalid_name {own}/dovetail_each/0/item/name")),
    ] {
        assert_eq!(problems(&world, &declared(of_team, of_application, &vms)), [expected]);
    }
}

#[test]
fn r66_keys_of_a_wrong_form_break_the_rule_metadata() {
    let world = world();
    let vms = json!({"VM": [{"name": "a", "cpu": "one", "tags": ["web"]}]});
    let entry = |name: &str, value: Value| {
        let mut entry = probes();
        entry[name] = value;
        json!({"dovetail_each": [probes(), entry]})
    };
    let without = |name: &str| {
        let mut entry = probes();
        entry.as_object_mut().unwrap().remove(name);
        json!({"dovetail_each": [probes(), entry]})
    };
    for (metadata, below) in [
        (json!({"dovetail_defaults": []}), "dovetail_defaults"),
        (json!({"dovetail_defaults": {"VM": 1}}), "dovetail_defaults/VM"),
        (json!({"dovetail_defaults": {" VM": {}}}), "dovetail_defaults/ VM"),
        (json!({"dovetail_defaults": {"VM": {"name": "a"}}}), "dovetail_defaults/VM/name"),
        (json!({"dovetail_each": {}}), "dovetail_each"),
        (json!({"dovetail_each": vec![probes(); ENTRIES_MAX + 1]}), "dovetail_each"),
        (json!({"dovetail_each": [probes(), "x"]}), "dovetail_each/1"),
        (without("service"), "dovetail_each/1/service"),
        (without("for"), "dovetail_each/1/for"),
        (without("as"), "dovetail_each/1/as"),
        (without("item"), "dovetail_each/1/item"),
        (entry("service", json!(1)), "dovetail_each/1/service"),
        (entry("for", json!("VM ")), "dovetail_each/1/for"),
        (entry("as", json!("name")), "dovetail_each/1/as"),
        (entry("as", json!("")), "dovetail_each/1/as"),
        (entry("as", json!("interval")), "dovetail_each/1/item/interval"),
        (entry("item", json!({"interval": 1})), "dovetail_each/1/item/name"),
        (entry("item", json!({"name": "a "})), "dovetail_each/1/item/name"),
        (entry("item", json!({"name": 1})), "dovetail_each/1/item/name"),
        (entry("where", json!(true)), "dovetail_each/1/where"),
        (entry("where", json!({"required": "tags"})), "dovetail_each/1/where/required"),
        (
            entry("where", json!({"properties": {"a": {"pattern": "(?=x)"}}})),
            "dovetail_each/1/where/properties/a/pattern",
        ),
        (entry("where", json!({"$ref": "https://example.com/a"})), "dovetail_each/1/where/$ref"),
        (entry("if", json!({})), "dovetail_each/1/if"),
    ] {
        // Everything else that is wrong is in the same answer.
        let expected = ["schema /AwesomeConsumer/NewApp1/services/VM/0/cpu".to_owned()];
        let own = [format!("metadata /AwesomeConsumer/NewApp1/metadata/{below}")];
        let document = declared(&json!({}), &metadata, &vms);
        match declaration::parse(document.to_string().as_bytes()) {
            Ok(_) => assert_eq!(problems(&world, &document), [own, expected].concat()),
            Err(found) => {
                let found: Vec<_> = found.iter().map(|p| format!("{} {}", p.rule, p.pointer)).collect();
                assert_eq!(found, own);
            }
        }
    }
    assert_eq!(
        problems(&world, &declared(&json!({}), &without("where"), &vms)).len(),
        1,
        "`where` may be absent"
    );
}

#[test]
fn r66_two_targets_cannot_generate_the_same_item() {
    let entry = |service: &str, name: &str| json!({"service": "PROBE", "for": service, "as": "of", "item": {"name": name}});
    let own = json!({"dovetail_each": [entry("VM", "load"), entry("LB", "load"), entry("VM", "load.a")]});
    let at = |entry: u64| {
        format!("duplicate_name /AwesomeConsumer/NewApp1/metadata/dovetail_each/{entry}/item/name")
    };
    for (services, expected) in [
        (json!({"VM": [{"name": "x"}], "LB": [{"name": "y"}]}), None),
        (json!({"VM": [{"name": "x"}], "LB": [{"name": "x"}]}), Some(0)),
        (json!({"VM": [{"name": "x"}, {"name": "a.x"}]}), Some(2)),
        // A written item decides.
        (json!({"VM": [{"name": "x"}], "LB": [{"name": "x"}], "PROBE": [{"name": "load.x"}]}), None),
    ] {
        let body = declared(&json!({}), &own, &services);
        let (_, found) = World::expanded(&World::new().stored(), &body, Scope::Whole).unwrap();
        let found: Vec<_> = found.iter().map(|p| format!("{} {}", p.rule, p.pointer)).collect();
        assert_eq!(found, expected.map(at).into_iter().collect::<Vec<_>>(), "{services}");
    }
}

#[test]
fn r66_a_default_is_nested_as_deep_as_an_item_may_be() {
    let world = world();
    for (levels, expected) in [(26, "schema"), (27, "metadata")] {
        let deep = (0..levels).fold(json!(1), |value, _| json!([value]));
        let team = json!({"dovetail_defaults": {"VM": {"cpu": deep}}});
        let found = problems(&world, &declared(&team, &json!({}), &json!({"VM": [{"name": "a"}]})));
        assert_eq!(found, [format!("{expected} /AwesomeConsumer/metadata/dovetail_defaults/VM/cpu")]);
    }
}

/// Returns the rules and pointers of a declaration that exceeds a limit.
fn exceeded(body: &Value) -> Vec<(&'static str, String)> {
    let found = World::expanded(&World::new().stored(), body, Scope::Whole).err().unwrap_or_default();
    found.into_iter().map(|problem| (problem.rule, problem.pointer)).collect()
}

#[test]
fn r66_generated_items_count_for_every_limit() {
    let entries = |count: usize| -> Value {
        let entry = |n: usize| json!({"service": "PROBE", "for": "VM", "as": "vm", "item": {"name": format!("p{n}")}});
        json!({"dovetail_each": (0..count).map(entry).collect::<Vec<_>>()})
    };
    let vms = |count: usize| -> Value {
        json!({"VM": (0..count).map(|n| json!({"name": format!("v{n}")})).collect::<Vec<_>>()})
    };
    let all = declared(&json!({}), &entries(24), &vms(ITEMS_MAX / 25));
    assert_eq!(items(&all).len(), ITEMS_MAX);
    let more = declared(&json!({}), &entries(24), &vms(ITEMS_MAX / 25 + 1));
    assert_eq!(exceeded(&more), [("too_many_items", "/AwesomeConsumer".to_owned())]);

    let service =
        |n: usize| json!({"service": format!("S{n}"), "for": "VM", "as": "vm", "item": {"name": "p"}});
    let of_services = |count: usize| {
        let half = count / 2;
        let entries =
            [0..half.min(ENTRIES_MAX), half..count].map(|range| range.map(service).collect::<Vec<_>>());
        entries.map(|entries| json!({"dovetail_each": entries}))
    };
    let [team, own] = of_services(2 * ENTRIES_MAX);
    let services: Map<String, Value> =
        (1..SERVICES_MAX - 2 * ENTRIES_MAX).map(|n| (format!("T{n}"), json!([{"name": "x"}]))).collect();
    let mut services = Value::Object(services);
    services["VM"] = json!([{"name": "x"}]);
    assert_eq!(exceeded(&declared(&team, &own, &services)), []);
    services["T"] = json!([{"name": "x"}]);
    assert_eq!(
        exceeded(&declared(&team, &own, &services)),
        [("too_many_services", "/AwesomeConsumer".to_owned())]
    );

    // A small document must not become a large declaration.
    let large = json!({"dovetail_defaults": {"VM": {"region": "x".repeat(60_000)}}});
    assert_eq!(exceeded(&declared(&large, &json!({}), &vms(80))), []);
    assert_eq!(
        exceeded(&declared(&large, &json!({}), &vms(90))),
        [("too_large", "/AwesomeConsumer".to_owned())]
    );
    let item = json!({"VM": [{"name": "a", "note": "x".repeat(DECLARATION_BYTES_MAX - 60_000)}]});
    let body = declared(&large, &json!({}), &item);
    let (_, found) = World::expanded(&World::new().stored(), &body, Scope::Whole).unwrap();
    assert_eq!(
        (found[0].rule, found[0].pointer.as_str()),
        ("too_large", "/AwesomeConsumer/NewApp1/services/VM/0")
    );
}

#[test]
fn r66_the_keys_have_limits_of_their_own() {
    let metadata = |bytes: usize, others: usize| {
        let empty = canonical(&json!({"dovetail_defaults": {"VM": {"region": ""}}})).len();
        json!({"dovetail_defaults": {"VM": {"region": "x".repeat(bytes - empty)}}, "a": "y".repeat(others - 8)})
    };
    let parsed = |metadata: Value| {
        let body = declared(&metadata, &json!({}), &json!({}));
        let problems = declaration::parse(body.to_string().as_bytes()).err().unwrap_or_default();
        problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect::<Vec<_>>()
    };
    let at = |rule| vec![(rule, "/AwesomeConsumer/metadata".to_owned())];
    assert_eq!(parsed(metadata(KEYS_BYTES_MAX, METADATA_BYTES_MAX)), []);
    assert_eq!(parsed(metadata(KEYS_BYTES_MAX + 1, METADATA_BYTES_MAX)), at("metadata"));
    assert_eq!(parsed(metadata(KEYS_BYTES_MAX, METADATA_BYTES_MAX + 1)), at("too_large"));

    // One transaction writes the metadata of many applications.
    let all = |count: usize| {
        let mut body = declared(&json!({}), &json!({}), &json!({}));
        for n in 0..count {
            body[CONSUMER][format!("App{n}")] = json!({"metadata": metadata(KEYS_BYTES_MAX, 8)});
        }
        body
    };
    let most = KEYS_OF_TEAM_BYTES_MAX / KEYS_BYTES_MAX;
    assert_eq!(exceeded(&all(most)), []);
    assert_eq!(exceeded(&all(most + 1)), [("metadata", "/AwesomeConsumer".to_owned())]);
    // The stored metadata of other applications count too.
    let mut world = world();
    world.submit(&all(most), Scope::Whole).unwrap();
    let one_more = document(&[("More", json!({"metadata": metadata(KEYS_BYTES_MAX, 8)}))]);
    assert_eq!(broken(world.planned(&one_more, Scope::Partial).unwrap_err()), ["metadata"]);
    world.planned(&one_more, Scope::Whole).unwrap();
}

#[test]
fn r66_conditions_share_the_steps_and_the_memory_of_a_request() {
    let many: Vec<Value> =
        (0..3_000).map(|n| json!({"name": format!("v{n}"), "tags": "x".repeat(1_000)})).collect();
    let entry = |pattern: String| {
        json!({"service": "PROBE", "for": "VM", "as": "vm", "item": {"name": "p"},
            "where": {"properties": {"tags": {"pattern": pattern}}}})
    };
    let own = json!({"dovetail_each": [entry("(a|b)*c.{20}d".to_owned())]});
    let found = exceeded(&declared(&json!({}), &own, &json!({"VM": many})));
    assert_eq!(
        found,
        [("too_complex", "/AwesomeConsumer/NewApp1/metadata/dovetail_each/0/where".to_owned())]
    );
    let large: Vec<Value> = (0..ENTRIES_MAX).map(|n| entry(format!("^.{{{}}}$", 200 + n))).collect();
    let body = declared(&json!({}), &json!({"dovetail_each": large}), &json!({"VM": [{"name": "a"}]}));
    let (_, found) = World::expanded(&World::new().stored(), &body, Scope::Whole).unwrap();
    let memory = found.iter().filter(|problem| problem.message.contains("memory")).count();
    assert!(memory > 0 && memory < ENTRIES_MAX, "{memory} conditions are beyond the memory");
}

#[test]
fn r66_metadata_hold_no_secret_and_no_condition_depends_on_one() {
    let mut world = world();
    let vault = json!({"title": "Vault", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "note": {"type": "string"}, "password": {"type": "string", "writeOnly": true},
        "user": {"type": "object", "properties": {"token": {"type": "string", "writeOnly": true}}}}});
    let (title, mut vault) = offer(4, NP_OWNER, &vault);
    vault.schema = Arc::new(publish(vault.schema.text.as_bytes()).unwrap());
    world.offers.insert(title, vault);
    let exposed = |own: &Value, services: &Value| -> Vec<String> {
        let body = declared(&json!({}), own, services);
        let declaration = declaration::parse(body.to_string().as_bytes()).unwrap();
        let expanded = expand(&declaration, &world.stored(), Scope::Whole).unwrap().unwrap();
        let (stored, items) = world.read(&body, Scope::Whole);
        let found = expanded.exposed(&expanded.declaration, (&stored, &items), &world.offers);
        let below = |problem: Problem| problem.pointer.replace("/AwesomeConsumer/NewApp1/metadata/", "");
        found
            .into_iter()
            .map(|problem| {
                assert_eq!(problem.rule, "metadata");
                below(problem)
            })
            .collect()
    };
    let own = json!({
        "dovetail_defaults": {"Vault": {"password": "p", "user": {"id": 1, "token": "t"}, "note": "n"}},
        "dovetail_each": [
            {"service": "Vault", "for": "VM", "as": "password", "item": {"name": "v", "user": {"token": "t"}}}]});
    let [password, token] = ["dovetail_defaults/Vault/password", "dovetail_defaults/Vault/user/token"];
    // An item with values of its own makes no difference, because every reader of the metadata sees the default.
    let vaults = json!({"Vault": [{"name": "a", "password": "q", "user": {}}]});
    let item = "dovetail_each/0/item/user/token";
    assert_eq!(exposed(&own, &vaults), [password, token, "dovetail_each/0/as", item]);
    assert_eq!(exposed(&own, &json!({"LoadBalancer": [{"name": "a"}]})), [""; 0], "no item of the service");
    let null = json!({"dovetail_defaults": {"Vault": {"password": null}}});
    assert_eq!(exposed(&null, &vaults), [""; 0]);
}

#[test]
fn r66_no_condition_depends_on_a_secret() {
    let definition = json!({"title": "Vault", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "password": {"type": "string", "writeOnly": true}}});
    let (title, vault) = offer(4, NP_OWNER, &definition);
    let paths = vault.schema.paths().unwrap();
    let mut world = world();
    world.offers.insert(title, vault);
    let owner = SecretOwner {
        team: world.stored().team.id,
        application: APP.to_owned(),
        service: "Vault".to_owned(),
        item: "a".to_owned(),
    };
    let found = |condition: Value| {
        let entry = json!({"service": "PROBE", "for": "Vault", "as": "of", "where": condition, "item": {"name": "p"}});
        let own = json!({"dovetail_each": [entry]});
        let body = declared(&json!({}), &own, &json!({"Vault": [{"name": "a", "password": "hunter2"}]}));
        let written = declaration::parse(body.to_string().as_bytes()).unwrap();
        let expanded = expand(&written, &world.stored(), Scope::Whole).unwrap().unwrap();
        let mut masked = expanded.declaration.clone();
        let item = &mut masked.applications[0].items[0];
        secrets::mask(item, &paths, &MaskKey::new(b"key"), (&owner, CONSUMER), &[]).unwrap();
        let (stored, items) = world.read(&body, Scope::Whole);
        let found = expanded.exposed(&masked, (&stored, &items), &world.offers);
        found.into_iter().map(|problem| (problem.rule, problem.pointer)).collect::<Vec<_>>()
    };
    let at = "/AwesomeConsumer/NewApp1/metadata/dovetail_each/0/where".to_owned();
    let password = |schema: Value| json!({"properties": {"password": schema}});
    assert_eq!(found(password(json!({"maxLength": 7}))), [("metadata", at.clone())]);
    assert_eq!(found(password(json!({"const": "hunter2"}))), [("metadata", at)]);
    // Whether there is a secret is not a secret.
    assert_eq!(found(json!({"required": ["password"]})), []);
}

/// Returns the warnings of a preview without secrets.
fn warned(world: &World, body: &Value, scope: Scope) -> Vec<String> {
    let written = declaration::parse(body.to_string().as_bytes()).unwrap();
    let (stored, items) = world.read(body, scope);
    let expanded = expand(&written, &stored, scope).unwrap();
    let expanded = expanded.as_ref();
    warnings(Previewed { written: &written, expanded, scope, stored: &stored, items: &items })
}

#[test]
fn r66_a_preview_warns_of_changes_by_metadata() {
    let mut world = world();
    let (team, own) =
        (|cpu: u64| json!({"dovetail_defaults": {"VM": {"cpu": cpu}}}), json!({"dovetail_each": [probes()]}));
    let web = |name: &str| json!({"name": name, "tags": ["web"]});
    let services = json!({"VM": [web("a"), web("b"), {"name": "c", "cpu": 7}]});
    let first = declared(&team(1), &own, &services);
    assert_eq!(
        warned(&world, &first, Scope::Whole),
        ["dovetail_defaults or dovetail_each of the team differ; changed items: 2"]
    );
    world.submit(&first, Scope::Whole).unwrap();
    assert_eq!(warned(&world, &first, Scope::Whole), [""; 0]);
    let changed = ["dovetail_defaults or dovetail_each of the team differ; changed items: 2"];
    assert_eq!(warned(&world, &declared(&team(2), &own, &services), Scope::Whole), changed);
    let lost = ["application 'NewApp1' is declared without its dovetail_each; changed items: 2"];
    assert_eq!(warned(&world, &declared(&team(1), &json!({}), &services), Scope::Whole), lost);
    let mut without_metadata = document(&[(APP, json!({"services": services}))]);
    assert_eq!(warned(&world, &without_metadata, Scope::Partial), lost);
    // The wish is clear if the key is empty.
    without_metadata[CONSUMER][APP]["metadata"] = json!({"dovetail_each": []});
    assert_eq!(warned(&world, &without_metadata, Scope::Partial), [""; 0]);
    let mut written = services;
    written["PROBE"] = json!([{"name": "load.a", "interval": 5}]);
    let wins = [
        "PROBE 'load.a' of application 'NewApp1' is declared, so the one that dovetail_each generates does not count",
    ];
    assert_eq!(warned(&world, &declared(&team(1), &own, &written), Scope::Whole), wins);
}
