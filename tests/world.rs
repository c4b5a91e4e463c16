//! Worlds: loading one again changes nothing, what was done survives a restart, and what is wrong with one is told.

#![expect(clippy::expect_used, reason = "test support")]

use domain::service::Service;
use dovetail_local::arguments::Settings;
use dovetail_local::engine::Place;
use dovetail_local::{System, world};
use serde_json::json;
use std::path::Path;
use tests::{Running, on_the_embedded_engine_alone};

/// Everything that the system in `directory` holds once it has loaded the demo world.
fn loaded(directory: &Path) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let demo = world::parse(world::DEMO).expect("the demo world");
        let listen = "127.0.0.1:0".parse().expect("an address");
        let place = Place::Directory(directory.to_owned());
        let settings = Settings { listen, place, ..Settings::default() };
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

#[test]
fn a_service_that_its_owner_has_changed_stays_as_it_is() {
    let system = Running::demo();
    let settings = json!({"approval_required": false});
    let path = "/v1/orcabase/serviceowner/services/1/";
    let changed = system.call("PATCH", path, "vm-owner-key", &settings);
    assert_eq!((changed.status, changed.at("/approval_required")), (200, &json!(false)));
    let demo = world::parse(world::DEMO).expect("the demo world");
    let now = domain::timestamp::Timestamp::from_micros(0);
    system.block_on(dovetail_local::load::world(&system.table, &demo, now)).expect("a loaded world");
    let read = system.get(path, "vm-owner-key");
    assert_eq!(read.body, changed.body);
}
