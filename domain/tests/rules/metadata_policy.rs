//! The platform's schemas for metadata (R42).

use crate::world::{World, application, broken, document, vm};
use domain::catalog::schema;
use domain::model::submission::Scope;
use domain::rules::plan::Refused;
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns a world with a schema for teams' metadata and one for applications'.
fn world() -> World {
    let mut world = World::new();
    world.metadata_policy = metadata_policy();
    world
}

fn metadata_policy() -> domain::catalog::metadata_policy::MetadataPolicy {
    let of = |schema: Value| Some(Arc::new(schema::of_metadata(schema.to_string().as_bytes()).unwrap()));
    let required = |name: &str, ty: &str| json!({"type": "object", "required": [name], "properties": {name: {"type": ty}}});
    domain::catalog::metadata_policy::MetadataPolicy {
        team: of(required("budget_code", "integer")),
        application: of(required("owner", "string")),
    }
}

/// Returns the consumer's declaration, with metadata of the team and of one application if given.
fn declared(team: Option<Value>, of_application: Option<Value>) -> Value {
    let mut application = application(&[vm("CoreVM1", 8)]);
    if let Some(metadata) = of_application {
        application["metadata"] = metadata;
    }
    let mut body = document(&[("NewApp1", application)]);
    if let Some(metadata) = team {
        body.as_object_mut().unwrap().values_mut().for_each(|team| team["metadata"] = metadata.clone());
    }
    body
}

/// Returns the rules and paths of a refused declaration's problems.
fn problems_of(world: &mut World, body: &Value, scope: Scope) -> Vec<String> {
    match world.submit(body, scope) {
        Ok(_) => Vec::new(),
        Err(Refused::Invalid(problems)) => problems
            .iter()
            .map(|problem| format!("{} {}", problem.rule, problem.path[1..].join(">")))
            .collect(),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn r42_metadata_are_checked_against_the_schemas_of_the_platform() {
    let (code, owner) = (json!({"budget_code": 5}), json!({"owner": "jane"}));
    let (no_code, no_owner) = ("metadata metadata>budget_code", "metadata NewApp1>metadata>owner");
    for (team, of_application, scope, expected) in [
        (Some(&code), Some(&owner), Scope::Whole, &[][..]),
        // Missing metadata count as an empty object.
        (None, None, Scope::Whole, &[no_code, no_owner]),
        (Some(&json!({"budget_code": "x"})), Some(&json!({"owner": 5})), Scope::Whole, &[no_code, no_owner]),
        // A partial submission without team metadata leaves those of the team unchecked.
        (None, Some(&owner), Scope::Partial, &[]),
        (Some(&json!({})), None, Scope::Partial, &[no_code, no_owner]),
    ] {
        let body = declared(team.cloned(), of_application.cloned());
        assert_eq!(problems_of(&mut world(), &body, scope), expected, "{body}");
    }
}

#[test]
fn r42_with_everything_else_that_is_wrong() {
    let mut body = declared(None, None);
    let team = body.as_object_mut().unwrap().values_mut().next().unwrap();
    team["NewApp1"]["services"]["VM"][0]["cpu"] = json!("eight");
    let problems = problems_of(&mut world(), &body, Scope::Whole);
    let expected =
        ["metadata metadata>budget_code", "metadata NewApp1>metadata>owner", "schema NewApp1>VM>CoreVM1>cpu"];
    assert_eq!(problems, expected);
}

#[test]
fn r42_earlier_metadata_of_a_team_count_until_it_declares_others() {
    let mut world = world();
    let (code, owner) = (json!({"budget_code": 5}), json!({"owner": "jane"}));
    world.submit(&declared(Some(code), Some(owner.clone())), Scope::Whole).unwrap();
    world.submit(&declared(None, Some(owner)), Scope::Whole).unwrap();
    // An emptied application needs no metadata; any other needs them, changed or not.
    let emptied = document(&[("NewApp1", application(&[]))]);
    assert_eq!(
        problems_of(&mut world, &declared(None, None), Scope::Partial),
        ["metadata NewApp1>metadata>owner"]
    );
    world.submit(&emptied, Scope::Partial).unwrap();
}

#[test]
fn r42_repeated_metadata_are_checked_against_the_present_schema() {
    let mut world = World::new();
    let body = declared(None, None);
    world.submit(&body, Scope::Whole).unwrap();
    world.metadata_policy = metadata_policy();
    assert_eq!(broken(world.submit(&body, Scope::Whole).unwrap_err()), ["metadata", "metadata"]);
    world.audit();
    world.metadata_policy = domain::catalog::metadata_policy::MetadataPolicy::default();
    world.submit(&body, Scope::Whole).unwrap();
}
