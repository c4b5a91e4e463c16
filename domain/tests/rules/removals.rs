//! Removals of whole applications with a confirmation (R57).

use crate::world::{APP, CONSUMER, World, application, document, team, vm};
use domain::model::submission::Scope;
use domain::rules::plan;
use domain::rules::plan::{REMOVAL_NOT_CONFIRMED, Refused, Removal};
use serde_json::{Value, json};

const OTHER: &str = "Other";

/// Returns a team with two applications that wants removals confirmed.
fn confirming() -> World {
    let mut world = World::new();
    world.snapshot.teams.get_mut(&team(CONSUMER).id).unwrap().confirm_removals = true;
    let (one, two) = (application(&[vm("CoreVM1", 1)]), application(&[vm("Web1", 1), vm("Web2", 1)]));
    world.submit(&document(&[(APP, one), (OTHER, two)]), Scope::Whole).unwrap();
    world
}

fn without_other() -> Value {
    document(&[(APP, application(&[vm("CoreVM1", 2)]))])
}

/// Returns the rules and pointers of the problems; empty for an accepted declaration.
fn problems(world: &mut World, body: &Value, scope: Scope) -> Vec<(&'static str, String)> {
    match world.planned(body, scope) {
        Ok(_) => Vec::new(),
        Err(Refused::Invalid(problems)) => {
            problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect()
        }
        Err(other) => panic!("{other:?}"),
    }
}

fn removals(world: &World, body: &Value, scope: Scope) -> Vec<(String, usize)> {
    let (stored, items) = world.read(body, scope);
    let declaration = domain::model::declaration::parse(body.to_string().as_bytes()).unwrap();
    let removals = plan::unconfirmed(&stored, &items, &declaration, scope).into_iter();
    removals.map(|Removal { name, items, .. }| (name, items)).collect()
}

#[test]
fn r57_an_unnamed_application_with_items_needs_a_confirmation() {
    let mut world = confirming();
    let expected = [(REMOVAL_NOT_CONFIRMED, format!("/{CONSUMER}/{OTHER}"))];
    assert_eq!(problems(&mut world, &without_other(), Scope::Whole), expected);
    assert_eq!(removals(&world, &without_other(), Scope::Whole), [(OTHER.to_owned(), 2)]);
    assert_eq!(problems(&mut world, &document(&[]), Scope::Whole).len(), 2);
    world.is_confirmed = true;
    let removed = world.submit(&without_other(), Scope::Whole).unwrap();
    assert_eq!(removed.created.len(), 3);
    // Nothing is left to remove, so the repetition needs no confirmation.
    world.is_confirmed = false;
    assert_eq!(problems(&mut world, &without_other(), Scope::Whole), []);
    assert_eq!(removals(&world, &without_other(), Scope::Whole), []);
}

#[test]
fn r57_a_named_application_without_items_needs_a_confirmation() {
    let mut world = confirming();
    let expected = [(REMOVAL_NOT_CONFIRMED, format!("/{CONSUMER}/{OTHER}"))];
    let empty = [json!({"services": {}}), json!({"services": {"VM": []}}), json!({})];
    for application in empty {
        let body = document(&[(OTHER, application)]);
        assert_eq!(problems(&mut world, &body, Scope::Partial), expected);
        assert_eq!(removals(&world, &body, Scope::Partial), [(OTHER.to_owned(), 2)]);
    }
    let named = document(&[(APP, application(&[vm("CoreVM1", 1)])), (OTHER, json!({"services": {}}))]);
    assert_eq!(problems(&mut world, &named, Scope::Whole), expected);
    world.is_confirmed = true;
    assert_eq!(world.submit(&named, Scope::Whole).unwrap().created.len(), 2);
    // An application without declared items loses nothing.
    world.is_confirmed = false;
    assert_eq!(problems(&mut world, &named, Scope::Whole), []);
}

#[test]
fn r57_a_submission_that_leaves_items_in_each_application_needs_none() {
    let mut world = confirming();
    assert_eq!(problems(&mut world, &without_other(), Scope::Partial), []);
    let fewer = document(&[(APP, application(&[vm("CoreVM1", 1)])), (OTHER, application(&[vm("Web1", 1)]))]);
    assert_eq!(problems(&mut world, &fewer, Scope::Whole), []);
}

#[test]
fn r57_a_team_without_the_setting_removes_at_once() {
    let mut world = confirming();
    world.snapshot.teams.get_mut(&team(CONSUMER).id).unwrap().confirm_removals = false;
    assert_eq!(problems(&mut world, &document(&[]), Scope::Whole), []);
    assert_eq!(removals(&world, &document(&[]), Scope::Whole), []);
}

#[test]
fn r57_an_unconfirmed_removal_is_one_of_all_problems() {
    let mut world = confirming();
    let wrong = json!({CONSUMER: {APP: {"services": {"VM": [{"name": "CoreVM1", "cpu": "many"}]}}}});
    let rules: Vec<&str> =
        problems(&mut world, &wrong, Scope::Whole).into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(rules, [REMOVAL_NOT_CONFIRMED, "schema"]);
    // An application under another team is the first problem to correct.
    let foreign = json!({"Stranger": {}});
    let rules: Vec<&str> =
        problems(&mut world, &foreign, Scope::Whole).into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(rules, ["foreign_team"]);
}
