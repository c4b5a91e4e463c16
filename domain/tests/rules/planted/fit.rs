//! Items of a verified service with drift, base and definition.

use super::*;
use crate::observations::completed_item;
use domain::model::item::{Base, Drift};

const NAME: &str = "CoreVM1";

/// Returns a snapshot with an item that the owner has found with another value.
fn found() -> Snapshot {
    let (mut world, id) = completed_item();
    world.deploy(id, VM_OWNER, &json!({"cpu": 4})).unwrap();
    with_catalogue(world)
}

/// Returns a snapshot with an item of a definition that is not verified, with a value of the owner.
fn plain() -> Snapshot {
    let mut world = World::new();
    let mut definition = crate::definitions::verified();
    definition.as_object_mut().unwrap().remove("x-verified");
    world.redefine("VM", &definition);
    let id = world.declare(&[vm(NAME, 8)]).created[0].id;
    world.decide(id, domain::State::Approved);
    let complete = crate::definitions::deploying(domain::State::Completed, r#"{"ip":"10.0.0.1"}"#);
    world.update(id, VM_OWNER, &complete).unwrap();
    with_catalogue(world)
}

/// Replaces the data of a version, and all copies of its hash.
fn replace(snapshot: &mut Snapshot, version: usize, data: &str) {
    let deployed = &mut snapshot.deployed[version];
    (deployed.data, deployed.hash) = (data.to_owned(), Hash::of(data));
    let (id, hash) = (deployed.id, deployed.hash);
    let newest = item(snapshot, NAME).deployed.as_mut().unwrap();
    if newest.id == id {
        newest.hash = hash;
    }
}

#[test]
fn drift_is_what_the_newest_version_shows() {
    assert_each_is_reported(
        found,
        &[
            ("I12 item", "its last completed declaration is another one", |s| item(s, NAME).drift = None),
            ("I12 item", "it is idle and has drifted", |s| {
                let drifted = item(s, NAME);
                drifted.completed_target = drifted.reached_target();
            }),
            ("I12 item", "its last completed declaration is another one", |s| {
                let declared = Hash::of("another");
                let since = item(s, NAME).created;
                item(s, NAME).drift = Some(Drift { since, declared, replaces: false });
            }),
            ("I15 item", "its base is another deployed version, or of an earlier life", |s| {
                let latest = item(s, NAME).latest_change;
                let id = domain::base::id::DeployedId::new(consumer(), latest.number() + 9).unwrap();
                item(s, NAME).base = Base::Earlier(id);
            }),
            ("I15 item", "its newest deployed item is another one", |s| {
                item(s, NAME).deployed.as_mut().unwrap().schema_version = None;
            }),
            ("I27 item", "but its newest version says false", |s| {
                replace(s, 1, r#"{"cpu":8,"ip":"10.0.0.1","name":"CoreVM1"}"#);
            }),
            ("I27 item", "but its newest version says true", |s| {
                let drifted = item(s, NAME);
                drifted.completed_target = drifted.reached_target();
                drifted.drift = None;
            }),
            ("I27 application", "it counts 2 drifted items, but has 1", |s| {
                s.applications.values_mut().for_each(|application| application.drifted = 2);
            }),
            ("I28 item", r#"does not fit its definition at ["/ip"]"#, |s| {
                replace(s, 0, r#"{"cpu":8,"name":"CoreVM1"}"#);
            }),
        ],
    );
}

#[test]
fn a_completed_item_fits_its_definition() {
    assert_each_is_reported(
        plain,
        &[
            ("I27 item", "but its newest version says false", |s| {
                let settled = item(s, NAME);
                let declared = settled.completed_target.take().unwrap().hash().unwrap();
                settled.drift = Some(Drift { since: settled.created, declared, replaces: false });
            }),
            ("I28 item", r#"does not fit its definition at ["/ip"]"#, |s| replace(s, 0, "{}")),
        ],
    );
    let no_words: &[Planted] = &[("I27 item", "but no definition checked its last change", |s| {
        let settled = item(s, "l");
        let declared = settled.version.hash;
        settled.drift = Some(Drift { since: settled.created, declared, replaces: false });
    })];
    assert_each_is_reported(busy, no_words);
}
