//! I34: applications with one number (R45).

use super::*;
use domain::base::id::ApplicationId;
use domain::model::team::Application;

const FOLLOWS: &str = "its generation or its first item does not follow the application before it";

/// Returns a retired application with a gone item, and one with its number and a live item.
fn generations() -> Snapshot {
    let mut world = World::new().reusing_from(1);
    world.declare(&[vm("a", 1)]);
    world.finish("a", VM_OWNER);
    world.declare(&[]);
    world.finish("a", VM_OWNER);
    world.submit(&document(&[("other", application(&[vm("b", 1)]))]), Scope::Partial).unwrap();
    with_catalogue(world)
}

fn retired(snapshot: &mut Snapshot) -> &mut Application {
    snapshot.applications.values_mut().find(|application| application.retired.is_some()).unwrap()
}

fn current(snapshot: &mut Snapshot) -> &mut Application {
    snapshot.applications.values_mut().find(|application| application.retired.is_none()).unwrap()
}

/// Moves the current application to another generation.
fn with_generation(snapshot: &mut Snapshot, generations: u64) {
    let application = current(snapshot).clone();
    snapshot.applications.remove(&application.id);
    let id = (0..generations).fold(application.id, |id, _| ApplicationId::next_generation(id).unwrap());
    snapshot.applications.insert(id, Application { id, ..application });
}

const GENERATIONS: &[Planted] = &[
    ("I34 application", FOLLOWS, |s| with_generation(s, 1)),
    ("I34 application", FOLLOWS, |s| current(s).items_before = 0),
    ("I34 application", FOLLOWS, |s| {
        let id = retired(s).id;
        s.applications.remove(&id);
    }),
    ("I34 application", "it is older than the end of the application before it", |s| {
        current(s).since.submission = 1;
    }),
    ("I34 application", "its number has another application, but it has not retired", |s| {
        retired(s).retired = None;
    }),
    ("I34 application", "its number has another application, but it has not retired", |s| {
        retired(s).retired = Some(9);
    }),
    ("I34 application", "the newest application of its number has retired", |s| current(s).retired = Some(3)),
    ("I34 application", "it has retired, but declares something", |s| retired(s).digest = Hash::of("x")),
    ("I34 application", "it has retired, but has a live item", |s| item(s, "a").declared = true),
    ("I34 item", "its number belongs to another application", |s| item(s, "b").generation = 0),
    ("I16 item", "its application has another name or does not exist", |s| item(s, "b").generation = 7),
    ("I16 change", "names or teams differ from those of its item", |s| {
        change(s, "b", VM_OWNER).generation = 0;
    }),
];

#[test]
fn applications_with_one_number_follow_each_other() {
    assert_each_is_reported(generations, GENERATIONS);
}
