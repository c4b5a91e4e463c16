//! Faults in the records of the past.

use super::{Planted, assert_each_is_reported, consumer, with_catalogue};
use crate::world::{APP, CONSUMER, World, application, document, vm};
use domain::Hash;
use domain::audit::invariant::Snapshot;
use domain::model::declaration::METADATA_BYTES_MAX;
use domain::model::metadata::{Of, Replaced};
use domain::model::submission::Scope;
use domain::model::team::Application;
use serde_json::json;

/// Returns a snapshot of three submissions with different metadata; the second one has the item's last version.
fn thrice() -> Snapshot {
    let mut world = World::new();
    for n in 1..=3 {
        let mut content = application(&[vm("a", u64::min(n, 2))]);
        content["metadata"] = json!({"n": n});
        let mut body = document(&[(APP, content)]);
        body[CONSUMER]["metadata"] = json!({"n": n});
        world.submit(&body, Scope::Whole).unwrap();
    }
    with_catalogue(world)
}

fn application_of(snapshot: &mut Snapshot) -> &mut Application {
    snapshot.applications.values_mut().next().unwrap()
}

/// Returns the oldest replaced metadata of an application.
fn oldest_replaced(snapshot: &mut Snapshot) -> &mut Replaced {
    let of_it = |(of, _): &&(Of, u64)| matches!(of, Of::Application(_));
    let key = *snapshot.replaced.keys().find(of_it).unwrap();
    snapshot.replaced.get_mut(&key).unwrap()
}

const METADATA_HISTORY: &[Planted] = &[
    ("I19 application", "its replaced metadata are not stored", |s| {
        s.replaced.retain(|(of, _), _| matches!(of, Of::Team(_)));
    }),
    ("I19 team", "its replaced metadata are not stored", |s| {
        s.replaced.remove(&(Of::Team(consumer()), 0));
    }),
    ("I19 application", "metadata are stored that it never had", |s| {
        let other = Replaced { since: domain::model::metadata::Since::EVER, ..oldest_replaced(s).clone() };
        s.replaced.insert((other.of, 0), other);
    }),
    ("I19 application", "metadata are stored that it never had", |s| {
        let now = application_of(s).replaced();
        s.replaced.insert((now.of, 3), Replaced { metadata: "{}".to_owned(), ..now });
    }),
    ("I19 application", "the submission that declared its metadata does not exist", |s| {
        application_of(s).since.submission = 90;
    }),
    ("I24 application", "bytes of replaced metadata: 4097, must be at most 4096", |s| {
        oldest_replaced(s).metadata = "x".repeat(METADATA_BYTES_MAX + 1);
    }),
    ("I8 head", "its root does not match its newest submission", |s| {
        let newest = s.submissions.iter_mut().max_by_key(|one| one.id).unwrap();
        newest.root = Some(Hash::of("another"));
    }),
    ("I8 application", "the number of its last changing submission is out of range", |s| {
        application_of(s).changed = 90;
    }),
    ("I8 application", "an item changed after its last changing submission", |s| {
        application_of(s).changed = 1;
    }),
];

#[test]
fn replaced_declarations_are_stored() {
    assert_each_is_reported(thrice, METADATA_HISTORY);
}

#[test]
fn a_replaced_declaration_of_an_aborted_submission_is_sound() {
    let mut snapshot = thrice();
    let now = application_of(&mut snapshot).replaced();
    snapshot.replaced.insert((now.of, now.since.submission), now);
    assert_eq!(super::violation_lines(&snapshot), [""; 0]);
}
