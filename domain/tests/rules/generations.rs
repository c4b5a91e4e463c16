//! Numbers of applications (R45): when a new application takes the number of an empty one.

use crate::world::{CONSUMER, World, application, broken, document, team, vm};
use domain::State;
use domain::base::id::{APPLICATIONS_MAX, ApplicationId, ITEM_NUMBERS};
use domain::model::submission::Scope;
use domain::rules::plan::Refused;
use domain::views::history::{self, Moment};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns a partial declaration of an application with one VM.
fn one(name: &str) -> Value {
    document(&[(name, application(&[vm("x", 1)]))])
}

fn empty(name: &str) -> Value {
    document(&[(name, application(&[]))])
}

fn submit(world: &mut World, body: &Value) -> Vec<domain::ChangeId> {
    let plan = world.submit(body, Scope::Partial).unwrap();
    plan.created.iter().map(|change| change.id).collect()
}

/// Approves and completes change instances.
fn complete(world: &mut World, changes: &[domain::ChangeId]) {
    for change in changes {
        world.decide(*change, State::Approved);
        world.decide(*change, State::Completed);
    }
}

/// Creates an application, removes its item, and completes both.
fn emptied(world: &mut World, name: &str) {
    let created = submit(world, &one(name));
    complete(world, &created);
    let removed = submit(world, &empty(name));
    complete(world, &removed);
}

/// Returns a world in which each new application prefers the number of an empty one.
fn reusing() -> World {
    World::new().reusing_from(1)
}

fn id(world: &World, name: &str) -> ApplicationId {
    world.application(name).id
}

fn first(number: u64) -> ApplicationId {
    ApplicationId::new(team(CONSUMER).id, number).unwrap()
}

fn second(number: u64) -> ApplicationId {
    first(number).next_generation().unwrap()
}

#[test]
fn r45_a_new_application_takes_the_number_of_an_empty_one_and_has_an_id_of_its_own() {
    let mut world = reusing();
    emptied(&mut world, "a");
    submit(&mut world, &one("b"));
    assert_eq!(id(&world, "b"), second(1));
    let retired = &world.snapshot.applications[&first(1)];
    assert_eq!((retired.name.as_str(), retired.retired), ("a", Some(world.head().submissions)));
    let b = world.application("b");
    assert_eq!((b.items_before, b.next_item), (1, 3), "the numbers of items go on");
    let item = world.item_in("b", "x");
    assert_eq!((item.application_id(), item.id.number()), (second(1), 2));
    assert_eq!(world.head().next_application, 2, "no number is used up");
}

#[test]
fn r45_a_team_with_few_applications_takes_free_numbers() {
    let mut world = World::new().reusing_from(2);
    emptied(&mut world, "a");
    submit(&mut world, &one("b"));
    assert_eq!(id(&world, "b"), first(2));
    submit(&mut world, &one("c"));
    assert_eq!(id(&world, "c"), second(1));
}

#[test]
fn r45_a_number_with_a_live_item_is_not_free() {
    let mut world = reusing();
    let created = submit(&mut world, &one("a"));
    complete(&mut world, &created);
    let removed = submit(&mut world, &empty("a"));
    world.decide(removed[0], State::Approved);
    submit(&mut world, &one("b"));
    assert_eq!(id(&world, "b"), first(2));
}

#[test]
fn r45_until_then_the_name_means_the_same_application() {
    let mut world = reusing();
    emptied(&mut world, "a");
    submit(&mut world, &one("a"));
    assert_eq!(id(&world, "a"), first(1), "declared again");

    let mut world = reusing();
    emptied(&mut world, "a");
    submit(&mut world, &one("b"));
    submit(&mut world, &one("a"));
    assert_eq!(id(&world, "a"), first(2), "its number has another application, so the name means a new one");
}

#[test]
fn r45_a_name_in_the_declaration_does_not_lose_its_number() {
    let mut world = reusing();
    emptied(&mut world, "a");
    let both = document(&[("a", application(&[])), ("b", application(&[vm("x", 1)]))]);
    submit(&mut world, &both);
    assert_eq!((id(&world, "a"), id(&world, "b")), (first(1), first(2)));
}

#[test]
fn r45_a_number_with_few_item_numbers_left_is_not_used_again() {
    let mut world = reusing();
    emptied(&mut world, "a");
    world.snapshot.applications.get_mut(&first(1)).unwrap().next_item = ITEM_NUMBERS - 9_999;
    let planned = world.planned(&one("b"), Scope::Partial).unwrap();
    assert_eq!(planned.created[0].application_id(), first(2));
    world.snapshot.applications.get_mut(&first(1)).unwrap().next_item -= 1;
    let planned = world.planned(&one("b"), Scope::Partial).unwrap();
    assert_eq!(planned.created[0].application_id(), second(1));
}

#[test]
fn r45_a_reuse_counts_twice_among_the_changed_applications() {
    let mut world = World::new().reusing_from(60);
    let named = |prefix: &str| -> Vec<String> { (0..60).map(|n| format!("{prefix}{n}")).collect() };
    let declared = |prefix: &str, metadata: &Value| {
        let named = named(prefix);
        document(&named.iter().map(|name| (name.as_str(), json!({"metadata": metadata}))).collect::<Vec<_>>())
    };
    submit(&mut world, &declared("a", &json!({"env": "dev"})));
    submit(&mut world, &declared("a", &json!({})));
    submit(&mut world, &declared("b", &json!({"env": "dev"})));
    let generations = |world: &World| world.applications().filter(|one| one.id.generation() == 1).count();
    assert_eq!(
        (generations(&world), world.head().next_application),
        (30, 91),
        "30 reuses and 30 free numbers"
    );
}

#[test]
fn r45_a_team_without_a_number_gets_an_error_until_an_application_is_empty() {
    let mut world = reusing();
    emptied(&mut world, "a");
    let max = u64::try_from(APPLICATIONS_MAX).unwrap();
    world.snapshot.heads.get_mut(&team(CONSUMER).id).unwrap().next_application = max + 1;
    // Both applications want a number, and one is free.
    let two = document(&[("b", application(&[vm("x", 1)])), ("c", application(&[vm("x", 1)]))]);
    let refused = world.planned(&two, Scope::Partial).unwrap_err();
    let Refused::Invalid(problems) = &refused else { panic!("{refused:?}") };
    assert_eq!((problems[0].pointer.as_str(), problems.len()), ("/AwesomeConsumer/c", 1));
    assert_eq!(broken(refused), ["applications_full"]);
    assert_eq!(world.planned(&one("b"), Scope::Partial).unwrap().created[0].application_id(), second(1));
}

#[test]
fn r45_a_revert_declares_a_retired_application_by_its_name() {
    let mut world = reusing();
    let created = submit(&mut world, &one("a"));
    complete(&mut world, &created);
    let at = world.head().submissions;
    let removed = submit(&mut world, &empty("a"));
    complete(&mut world, &removed);
    submit(&mut world, &one("b"));
    submit(&mut world, &document(&[("a", application(&[vm("x", 2)]))]));
    let (metadata, still, then) =
        crate::revert::then(&world, Moment { at: world_now(&world), submission: Some(at) });
    let root = world.snapshot.submissions.iter().find(|one| one.id.number() == at).unwrap().root;
    assert_eq!(Some(history::root(&metadata, &still, &then)), root, "the retired one counts");
    let declared = history::to_declare(&then);
    let items: BTreeMap<&str, usize> =
        declared.iter().map(|then| (then.now.name.as_str(), then.items.len())).collect();
    assert_eq!(
        (declared.len(), items),
        (2, BTreeMap::from([("a", 1), ("b", 0)])),
        "one `a`, and an empty `b`"
    );
}

fn world_now(world: &World) -> domain::Timestamp {
    domain::Timestamp::from_micros(world.clock)
}
