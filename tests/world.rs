//! Worlds: loading one again changes nothing, what was done survives a restart, and what is wrong with one is told.

#![expect(clippy::expect_used, reason = "test support")]

use domain::service::Service;
use domain::timestamp::Timestamp;
use dovetail_local::arguments::{Settings, WorldChoice};
use dovetail_local::engine::Place;
use dovetail_local::load::{self, NewKey};
use dovetail_local::{System, world};
use serde_json::json;
use std::path::Path;
use tests::{Running, on_the_embedded_engine_alone};

const LOCAL: &str = include_str!("../docs/local.md");

/// Everything that the system in `directory` holds once it has loaded the demo world.
fn loaded(directory: &Path) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let demo = world::parse(world::DEMO).expect("the demo world");
        let listen = "127.0.0.1:0".parse().expect("an address");
        let place = Place::Directory(directory.to_owned());
        let settings = Settings { listen, place, world: WorldChoice::Demo, ..Settings::default() };
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
fn loading_a_world_again_changes_nothing() {
    on_the_embedded_engine_alone();
    let directory = tempfile::tempdir().expect("a directory");
    let first = loaded(directory.path());
    assert!(first.contains("AwesomeConsumer2") && first.contains("LoadBalancer"), "{first}");
    assert_eq!(loaded(directory.path()), first);
}

/// Starts on a directory with a choice of world, stops, and returns what was printed.
fn start(directory: &Path, world: WorldChoice) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    let place = Place::Directory(directory.to_owned());
    let settings = Settings { listen, place, world, ..Settings::default() };
    let mut out = Vec::new();
    runtime.block_on(dovetail_local::start(&settings, &mut out, std::future::ready(()))).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn finding_20_the_demo_world_is_loaded_into_an_empty_database_or_when_named() {
    on_the_embedded_engine_alone();
    let parent = tempfile::tempdir().unwrap();
    let own = parent.path().join("world.json");
    std::fs::write(&own, r#"{"teams": [{"name": "Payments", "api_keys": ["payments-key"]}]}"#).unwrap();
    let data = parent.path().join("own");
    let printed = start(&data, WorldChoice::File(own));
    assert!(printed.contains("Payments  Payments-1  ADMIN  payments-key\n"), "{printed}");
    for _ in 0..2 {
        let printed = start(&data, WorldChoice::DemoIfEmpty);
        assert!(printed.contains("the demo world is not loaded"), "{printed}");
        assert!(!printed.contains("vm-owner-key"), "{printed}");
    }
    let printed = start(&data, WorldChoice::Demo);
    assert!(printed.contains("VMOwnerTeam-1") && !printed.contains("payments-key"), "{printed}");
    // A fresh directory gets the demo world, and its keys are shown once.
    let fresh = parent.path().join("fresh");
    let [first, second] = [(); 2].map(|()| start(&fresh, WorldChoice::DemoIfEmpty));
    assert!(first.contains("VMOwnerTeam-1       ADMIN  vm-owner-key"), "{first}");
    let url = second.lines().next().unwrap().strip_prefix("Dovetail answers at ").unwrap();
    let second = second.replace(url, "http://127.0.0.1:9000").replace(fresh.to_str().unwrap(), ".dovetail");
    assert!(LOCAL.contains(&format!("```text\n{second}```\n")), "docs/local.md has not: {second}");
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
fn a_key_that_is_only_named_is_made_and_shown_once() {
    let system = Running::demo();
    let world = json!({"teams": [
        {"name": "AwesomeConsumer", "api_keys": [{"name": "pipeline"}, {"name": "report", "role": "READ_ONLY"}]},
        {"name": "Newcomers", "api_keys": [{"name": "pipeline"}]},
    ]});
    let world = world::parse(&world.to_string()).unwrap();
    let load_again = || {
        let mut made = Vec::new();
        let mut keep = |key: &NewKey| {
            made.push(key.clone());
            Ok(())
        };
        let now = Timestamp::from_micros(1);
        system.block_on(load::world(&system.table, &world, now, &mut keep)).unwrap();
        made
    };
    let made = load_again();
    let names: Vec<_> = made.iter().map(|key| (key.team.as_str(), key.name.as_str())).collect();
    let expected =
        [("AwesomeConsumer", "pipeline"), ("AwesomeConsumer", "report"), ("Newcomers", "pipeline")];
    assert_eq!(names, expected);
    for key in &made {
        // 32 bytes of chance behind what secret scanners know it by.
        assert_eq!((key.key.len(), &key.key[..4]), (77, "dvt_"));
        assert!(!format!("{key:?}").contains(&key.key), "a key is not to be logged");
        let answer = system.get("/v1/account/teams/", &key.key);
        assert_eq!((answer.status, answer.at("/results/0/name")), (200, &json!(key.team)));
    }
    let refused = system.call("POST", "/v1/orcabase/consumer/submissions/submit/", &made[1].key, &json!({}));
    assert_eq!(refused.at("/code"), "read_only_key", "{refused:?}");
    assert_eq!(load_again(), [], "nobody sees it again");
    assert_eq!(system.get("/v1/account/teams/", &made[0].key).status, 200);
}

#[test]
fn a_world_with_a_schema_that_breaks_rules_changes_nothing() {
    let system = Running::demo();
    let schema = |title: &str, ty: &str| json!({"title": title, "properties": {"cpu": {"type": ty}}});
    let service = |title: &str, ty: &str| json!({"owner": "Newcomers", "schema": schema(title, ty)});
    let services = [service("Disk", "integer"), service("Tape", "reel"), service("Card", "hole")];
    let world = json!({"teams": [{"name": "Newcomers"}], "services": services});
    let world = world::parse(&world.to_string()).unwrap();
    let before = system.rows();
    let mut ignore = |_: &NewKey| Ok(());
    let loading = load::world(&system.table, &world, Timestamp::from_micros(1), &mut ignore);
    let told = system.block_on(loading).unwrap_err().to_string();
    for title in ["Tape", "Card"] {
        assert!(told.contains(&format!("service '{title}': /properties/cpu/type")), "{told}");
    }
    assert_eq!(system.rows(), before);
}

#[test]
fn what_metadata_have_to_be_is_set_replaced_and_taken_back_by_a_world() {
    let system = Running::demo();
    let load = |mandatory: &serde_json::Value| {
        let world = json!({"teams": [], "mandatory_metadata": mandatory});
        let world = world::parse(&world.to_string()).unwrap();
        let mut ignore = |_: &NewKey| Ok(());
        let loading = load::world(&system.table, &world, Timestamp::from_micros(1), &mut ignore);
        system.block_on(loading).map_err(|failure| failure.to_string())
    };
    let version = || system.block_on(system.table.newest_mandatory()).unwrap();
    let submit = || {
        let declared = json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": "one", "cpu": 1}]}}}});
        system.call("POST", "/v1/orcabase/consumer/submissions/validate/", "awesome-key", &declared).status
    };
    assert_eq!((version(), submit()), (None, 200));
    let owned = json!({"application": {"type": "object", "required": ["owner"]}});
    for _ in 0..2 {
        load(&owned).unwrap();
        assert_eq!((version().unwrap().number, submit()), (1, 400), "the same again is no new version");
    }
    // Everything that is wrong is told, and nothing changes; a world that says nothing of it leaves it.
    let wrong = json!({"team": {"type": "list"}, "application": {"$ref": "https://example.com"}});
    let told = load(&wrong).unwrap_err();
    for whose in ["mandatory metadata of teams: /type", "mandatory metadata of applications: /$ref"] {
        assert!(told.contains(whose), "{told}");
    }
    assert!(world::parse(r#"{"teams": [], "mandatory_metadata": {"service": {}}}"#).is_err());
    load(&serde_json::Value::Null).unwrap();
    assert_eq!((version().unwrap().number, submit()), (1, 400));
    load(&json!({"team": null})).unwrap();
    assert_eq!((version().unwrap().number, submit()), (2, 200));
    system.assert_sound();
}
