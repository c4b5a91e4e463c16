//! World files: a second load changes nothing, later changes survive a restart, and invalid files list their errors.

use domain::Timestamp;
use domain::catalog::service::{Service, UpdateStrategy};
use dovetail_daemon::load::{self, NewKey, Plan};
use dovetail_daemon::settings::{Settings, WorldChoice};
use dovetail_daemon::{System, world};
use serde_json::{Value, json};
use std::path::Path;
use support::{Running, WORLD_SCHEMA, on_the_embedded_engine_alone, world_schema_problems};

const LOCAL: &str = include_str!("../../docs/how-to/run-locally.md");
const CONFIGURATION: &str = include_str!("../../docs/reference/configuration.md");

/// Returns all data of the system in `directory` after a load of the demo world.
fn loaded(directory: &Path) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let demo = world::parse(world::DEMO).expect("the demo world");
        let listen = "127.0.0.1:0".parse().expect("an address");
        let (data, world) = (directory.to_owned(), Some(WorldChoice::Demo));
        let settings = Settings { listen, data, world, ..Settings::default() };
        let system = System::prepare(&settings, &demo).await.expect("a system");
        let snapshot = system.handles.table.snapshot().await.expect("a snapshot");
        let mut services: Vec<Option<Service>> = Vec::new();
        for title in ["VM", "LoadBalancer"] {
            services.push(system.handles.table.service(title).await.expect("a service"));
        }
        let held = format!("{snapshot:#?}{services:#?}");
        system.serve(std::future::ready(())).await.expect("a clean stop");
        held
    })
}

#[test]
fn loading_a_world_twice_changes_nothing() {
    on_the_embedded_engine_alone();
    let directory = tempfile::tempdir().expect("a directory");
    let first = loaded(directory.path());
    assert!(first.contains("AwesomeConsumer2") && first.contains("LoadBalancer"), "{first}");
    assert_eq!(loaded(directory.path()), first);
}

/// Starts a system on a directory with a choice of world, stops it, and returns the printed text.
fn start(directory: &Path, world: Option<WorldChoice>) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    let settings = Settings { listen, data: directory.to_owned(), world, ..Settings::default() };
    let mut out = Vec::new();
    runtime.block_on(dovetail_daemon::start(&settings, &mut out, std::future::ready(()))).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_demo_world_is_loaded_into_an_empty_database_or_when_named() {
    on_the_embedded_engine_alone();
    let parent = tempfile::tempdir().unwrap();
    let own = parent.path().join("world.json");
    std::fs::write(&own, r#"{"teams": [{"name": "Payments", "api_keys": ["payments-key"]}]}"#).unwrap();
    let data = parent.path().join("own");
    let printed = start(&data, Some(WorldChoice::File(own)));
    assert!(printed.contains("Payments  Payments-1  ADMIN  payments-key\n"), "{printed}");
    for _ in 0..2 {
        let printed = start(&data, None);
        assert!(printed.contains("the demo world is not loaded"), "{printed}");
        assert!(!printed.contains("vm-owner-key"), "{printed}");
    }
    let printed = start(&data, Some(WorldChoice::Demo));
    assert!(printed.contains("VMOwnerTeam-1") && !printed.contains("payments-key"), "{printed}");
    // A new directory gets the demo world. Only the first start prints its keys.
    let fresh = parent.path().join("fresh");
    let [first, second] = [(); 2].map(|()| start(&fresh, None));
    assert!(first.contains("VMOwnerTeam-1       ADMIN     vm-owner-key"), "{first}");
    let url = second.lines().nth(1).unwrap().strip_prefix("Dovetail answers at ").unwrap();
    let second = second.replace(url, "http://127.0.0.1:9000").replace(fresh.to_str().unwrap(), ".dovetail");
    let is_documented = LOCAL.contains(&format!("```text\n{second}```\n"));
    assert!(is_documented, "docs/how-to/run-locally.md has the text of a second start: {second}");
}

#[test]
fn a_service_that_its_owner_has_changed_stays_as_it_is() {
    let system = Running::demo();
    let settings = json!({"approval_required": false});
    let path = "/v1/orcabase/serviceowner/services/1/";
    let changed = system.call("PATCH", path, "vm-owner-key", &settings);
    assert_eq!((changed.status, changed.at("/approval_required")), (200, &json!(false)));
    let demo = world::parse(world::DEMO).expect("the demo world");
    let now = Timestamp::from_micros(0);
    system.block_on(load::world(&system.table, &demo, now, &mut |_| Ok(()))).expect("a loaded world");
    let read = system.get(path, "vm-owner-key");
    assert_eq!(read.body, changed.body);
}

#[test]
fn a_key_without_a_secret_is_made_and_printed_once() {
    let system = Running::demo();
    let world = json!({"teams": [
        {"name": "AwesomeConsumer", "api_keys": [{"name": "pipeline"}, {"name": "report", "role": "READ_ONLY"}]},
        {"name": "Newcomers", "api_keys": [{"name": "pipeline"}]},
    ]});
    let world = world::parse(&world.to_string()).unwrap();
    let reload = || {
        let mut made = Vec::new();
        let mut keep = |key: &NewKey| {
            made.push(key.clone());
            Ok(())
        };
        let now = Timestamp::from_micros(1);
        system.block_on(load::world(&system.table, &world, now, &mut keep)).unwrap();
        made
    };
    let made = reload();
    let names: Vec<_> = made.iter().map(|key| (key.team.as_str(), key.name.as_str())).collect();
    let expected =
        [("AwesomeConsumer", "pipeline"), ("AwesomeConsumer", "report"), ("Newcomers", "pipeline")];
    assert_eq!(names, expected);
    for key in &made {
        // The prefix lets secret scanners find the key. 32 random bytes follow.
        assert_eq!((key.key.len(), &key.key[..4]), (77, "dvt_"));
        assert!(!format!("{key:?}").contains(&key.key), "no log shows a key");
        let answer = system.get("/v1/account/teams/", &key.key);
        assert_eq!((answer.status, answer.at("/results/0/name")), (200, &json!(key.team)));
    }
    let refused = system.call("POST", "/v1/orcabase/consumer/submissions/submit/", &made[1].key, &json!({}));
    assert_eq!(refused.at("/code"), "read_only_key", "{refused:?}");
    assert_eq!(reload(), [], "a second load prints no key");
    assert_eq!(system.get("/v1/account/teams/", &made[0].key).status, 200);
}

#[test]
fn a_world_with_a_schema_that_breaks_rules_is_refused() {
    let schema = |title: &str, ty: &str| json!({"title": title, "properties": {"cpu": {"type": ty}}});
    let service = |title: &str, ty: &str| json!({"owner": "Newcomers", "schema": schema(title, ty)});
    let services = [service("Disk", "integer"), service("Tape", "reel"), service("Card", "hole")];
    let world = json!({"teams": [{"name": "Newcomers"}], "services": services});
    let error = world::parse(&world.to_string()).unwrap_err();
    for at in [1, 2] {
        assert!(error.contains(&format!("/services/{at}/schema/properties/cpu/type: ")), "{error}");
    }
}

/// Loads a world into a running system. Returns the differences, or the errors.
fn load_into(system: &Running, world: &Value) -> Result<Vec<String>, String> {
    let world = world::parse(&world.to_string())?;
    let mut ignore = |_: &NewKey| Ok(());
    let loading = load::world(&system.table, &world, Timestamp::from_micros(1), &mut ignore);
    system.block_on(loading).map_err(|failure| failure.to_string())
}

/// Returns a world that differs from [`first_world`] in every possible way.
fn second_world() -> Value {
    json!({
        "teams": [
            {"name": "Payments", "metadata": {"note": "b"}, "api_keys": [
                {"name": "ci", "role": "READ_ONLY"},
                {"key": "another-key", "name": "deploy"},
                {"key": "third-key", "name": "renamed", "role": "GENERAL"},
                {"name": "gone"},
                {"key": "fourth-key", "name": "withdrawn"},
            ]},
            {"name": "New", "api_keys": [{"name": "ci"}]},
        ],
        "services": [
            {"owner": "Payments", "approval_required": false, "update_strategy": "REPLACE",
                "complete_unneeded": true, "claim_required": true, "dependent_teams": ["New"],
                "allowed_teams": ["Payments"], "schema": schema("Ledger", "integer")},
            {"owner": "New", "update_strategy": "REPLACE", "complete_unneeded": true, "claim_required": true,
                "schema": schema("Fresh", "integer")},
        ],
    })
}

fn first_world() -> Value {
    json!({
        "teams": [{"name": "Payments", "metadata": {"note": "a"}, "api_keys": [
            {"name": "ci", "role": "GENERAL"}, {"key": "deploy-key", "name": "deploy"}, "third-key",
            {"name": "gone"}, {"key": "fourth-key", "name": "withdrawn"}]}],
        "services": [{"owner": "Payments", "allowed_teams": ["Payments", "Other"], "schema": schema("Ledger", "string")}],
    })
}

fn schema(title: &str, ty: &str) -> Value {
    json!({"title": title, "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "cpu": {"type": ty}}})
}

/// The differences that a load of [`second_world`] over [`first_world`] reports and leaves.
const DIFFERENCES: [&str; 14] = [
    "team Payments has other metadata",
    "key Payments/ci has role GENERAL, file says READ_ONLY",
    "key Payments/deploy has another secret, or was revoked",
    "key Payments/Payments-3 has role ADMIN, file says GENERAL",
    "key Payments/Payments-3 has this name, file says renamed",
    "key Payments/gone was revoked",
    "key Payments/withdrawn has another secret, or was revoked",
    "service Ledger has another schema, version 1",
    "service Ledger has approval_required true, file says false",
    "service Ledger has update_strategy MODIFY, file says REPLACE",
    "service Ledger has complete_unneeded false, file says true",
    "service Ledger has claim_required false, file says true",
    "service Ledger has dependent_teams [], file says [New]",
    "service Ledger has allowed_teams [Other, Payments], file says [Payments]",
];

/// Revokes a key of the team Payments.
fn revoke(system: &Running, name: &str) {
    let keys = system.get("/v1/account/api_keys/", "deploy-key");
    let keys = keys.at("/results").as_array().unwrap();
    let id = &keys.iter().find(|key| key["name"] == name).unwrap()["id"];
    let path = format!("/v1/account/api_keys/{id}/");
    assert_eq!(system.call("DELETE", &path, "deploy-key", &Value::Null).status, 204);
}

#[test]
fn differences_are_reported_and_left() {
    let system = Running::demo();
    assert_eq!(load_into(&system, &first_world()), Ok(Vec::new()));
    assert_eq!(load_into(&system, &first_world()), Ok(Vec::new()), "a world has no difference from itself");
    revoke(&system, "gone");
    revoke(&system, "withdrawn");
    // A plan lists the steps and writes nothing.
    let rows = system.rows();
    let second = world::parse(&second_world().to_string()).unwrap();
    let plan = system.block_on(Plan::of(&system.table, &second, Timestamp::from_micros(1))).unwrap();
    let steps: Vec<String> = plan.steps().collect();
    let expected = ["create team New", "create key New/ci with role ADMIN", "publish service Fresh of New"];
    assert_eq!(steps, expected);
    let differences = DIFFERENCES.map(|what| format!("differs, left unchanged: {what}"));
    assert_eq!(plan.differences, differences);
    assert_eq!(system.rows(), rows);
    // The load executes the steps and leaves the differences. A revoked key must stay revoked.
    assert_eq!(load_into(&system, &second_world()), Ok(differences.to_vec()));
    let ledger = system.block_on(system.table.service("Ledger")).unwrap().unwrap();
    assert_eq!((ledger.schema_version, ledger.settings.approval_required), (1, true));
    assert_eq!(system.get("/v1/account/teams/", "fourth-key").status, 401);
    assert_eq!(system.get("/v1/account/teams/", "another-key").status, 401);
    let fresh = system.block_on(system.table.service("Fresh")).unwrap().unwrap().settings;
    assert_eq!(fresh.update_strategy, UpdateStrategy::Replace);
    assert!(fresh.complete_unneeded && fresh.claim_required, "a new service has the settings of the file");
    system.assert_sound();
}

#[test]
fn a_world_that_does_not_fit_the_tables_changes_nothing() {
    let system = Running::demo();
    let metadata =
        json!({"type": "object", "required": ["budget"], "properties": {"budget": {"type": "integer"}}});
    let more = |n| json!({"key": format!("more-{n}"), "name": format!("more {n}")});
    let more: Vec<Value> = (0..100).map(more).collect();
    let world = json!({
        "teams": [
            {"name": "Newcomers", "metadata": {"budget": "much"}, "api_keys": ["awesome-key"]},
            {"name": "AwesomeConsumer", "api_keys": more},
        ],
        "services": [{"owner": "Newcomers", "schema": schema("VM", "integer")}],
        "mandatory_metadata": {"team": metadata},
    });
    let before = system.rows();
    let error = load_into(&system, &world).unwrap_err();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 4, "{error}");
    assert!(lines[0].starts_with("/teams/0/metadata/budget: "), "{error}");
    assert_eq!(
        lines[1..],
        [
            "/teams/0/api_keys/0/key: must not be a key of another team",
            "/teams/1/api_keys: must be at most 100, including the 1 of the table",
            "/services/0/owner: must be VMOwnerTeam, the owner of service VM",
        ]
    );
    assert_eq!(system.rows(), before);
    assert_eq!(system.get("/v1/account/teams/", "more-0").status, 401);
}

#[test]
fn a_world_sets_replaces_and_removes_metadata_schemas() {
    let system = Running::demo();
    let load = |metadata_policy: &serde_json::Value| {
        let world = json!({"teams": [], "mandatory_metadata": metadata_policy});
        load_into(&system, &world)
    };
    let version = || system.block_on(system.table.newest_metadata_policy()).unwrap();
    let submit = || {
        let declared = json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": "one", "cpu": 1}]}}}});
        system.call("POST", "/v1/orcabase/consumer/submissions/validate/", "awesome-key", &declared).status
    };
    assert_eq!((version(), submit()), (None, 200));
    let owned = json!({"application": {"type": "object", "required": ["owner"]}});
    for _ in 0..2 {
        load(&owned).unwrap();
        assert_eq!((version().unwrap().number, submit()), (1, 400), "the same schemas add no version");
    }
    // An invalid world lists all errors and changes nothing. A world without schemas leaves the present ones.
    let wrong = json!({"team": {"type": "list"}, "application": {"$ref": "https://example.com"}});
    let error = load(&wrong).unwrap_err();
    for whose in ["/mandatory_metadata/team/type: ", "/mandatory_metadata/application/$ref: "] {
        assert!(error.contains(whose), "{error}");
    }
    assert!(world::parse(r#"{"teams": [], "mandatory_metadata": {"service": {}}}"#).is_err());
    load(&serde_json::Value::Null).unwrap();
    assert_eq!((version().unwrap().number, submit()), (1, 400));
    load(&json!({"team": null})).unwrap();
    assert_eq!((version().unwrap().number, submit()), (2, 200));
    system.assert_sound();
}

/// Returns a world with every key.
fn full_world() -> Value {
    json!({
        "teams": [{"name": "Payments", "metadata": {"note": "a"}, "api_keys": ["a-key", {"key": "b-key", "name": "b", "role": "GENERAL"}],
            "notify": {"url": "http://127.0.0.1:9100/", "pattern": {"detail-type": ["Submission.StateChanged.v1"]}}}],
        "services": [{"owner": "Payments", "approval_required": false, "dependent_teams": ["Network"],
            "update_strategy": "REPLACE", "complete_unneeded": true, "claim_required": true,
            "allowed_teams": ["Payments"], "schema": schema("Ledger", "integer")}],
        "mandatory_metadata": {"team": {"type": "object"}, "application": null},
    })
}

#[test]
fn the_json_schema_accepts_worlds_that_the_program_accepts() {
    let demo: Value = serde_json::from_str(world::DEMO).unwrap();
    for world in [demo, full_world(), first_world(), second_world()] {
        assert_eq!(world_schema_problems(&world), Vec::<String>::new());
        world::parse(&world.to_string()).unwrap();
    }
}

#[test]
fn the_json_schema_and_the_program_reject_unknown_keys_and_wrong_values() {
    for (pointer, key, value) in [
        ("", "$schema", json!("world.schema.json")),
        ("", "services", json!(null)),
        ("/teams/0", "role", json!("ADMIN")),
        ("/teams/0", "name", json!(" Payments")),
        ("/teams/0", "notify", json!("https://example.com")),
        ("/teams/0/api_keys/1", "secret", json!("c-key")),
        ("/teams/0/api_keys/1", "key", json!("with space")),
        ("/teams/0/api_keys/1", "role", json!("BOSS")),
        ("/teams/0/notify", "header", json!("x")),
        ("/services/0", "dependant_teams", json!([])),
        ("/services/0", "allowed_teams", json!(["Network", "Network"])),
        ("/services/0", "approval_required", json!("no")),
        ("/services/0", "update_strategy", json!("MOVE")),
        ("/services/0", "complete_unneeded", json!("no")),
        ("/services/0", "claim_required", json!(1)),
        ("/services/0/schema", "type", json!("array")),
        ("/services/0/schema", "required", json!([])),
        ("/mandatory_metadata", "service", json!({"type": "object"})),
        ("/mandatory_metadata", "team", json!({"type": "list"})),
    ] {
        let mut world = full_world();
        world.pointer_mut(pointer).unwrap()[key] = value;
        assert!(!world_schema_problems(&world).is_empty(), "the schema accepts {pointer}/{key}");
        assert!(world::parse(&world.to_string()).is_err(), "the program accepts {pointer}/{key}");
    }
}

#[test]
fn the_page_of_configuration_has_every_key_of_the_json_schema() {
    let schema: Value = serde_json::from_str(WORLD_SCHEMA).unwrap();
    let objects = ["team", "key", "notify", "service", "mandatory"].map(|name| &schema["$defs"][name]);
    for object in objects.into_iter().chain([&schema]) {
        for key in object["properties"].as_object().unwrap().keys() {
            assert!(CONFIGURATION.contains(&format!("\n| `{key}` | ")), "{key}");
        }
    }
}
