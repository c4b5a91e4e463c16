//! The `given` lines of a scenario: changes of the demo world.

use domain::rules::plan::REUSE_FROM;
use dovetail_daemon::world;
use serde_json::{Value, json};
use simulation::system::Limits;
use std::collections::BTreeMap;
use support::issuer::Issuer;
use support::{Running, Settings};

/// Starts the demo world with these settings. Returns also the API key of each team, by name.
pub(super) fn start(settings: &[String], actions_max: usize) -> (Running, BTreeMap<String, String>) {
    let (world, Limits { actions_max, reuse_from }) = (world(settings), limits(settings, actions_max));
    // Two systems that play the same scenario have the same masks.
    let cursor_secret = Some("the secret of every scenario".to_owned());
    let settings = Settings { actions_max, reuse_from, cursor_secret, ..Settings::default() };
    (Running::start_with(&world.to_string(), settings), keys(&world))
}

/// Starts it with an issuer of tokens. Each team gets a member, and the member's subject is the name of the team.
pub(super) fn start_with_people(settings: &[String]) -> (Running, BTreeMap<String, String>, Issuer) {
    let (world, issuer) = (world(settings), Issuer::start());
    let system = Settings { issuer: Some(issuer.settings()), ..Settings::default() };
    let (system, keys) = (Running::start_with(&world.to_string(), system), keys(&world));
    for (team, key) in &keys {
        let member = json!({"subject": team, "name": format!("Somebody of {team}"), "role": "GENERAL"});
        system.call("POST", "/v1/account/members/", key, &member).expect_status(201);
    }
    (system, keys, issuer)
}

/// Returns the limits with these settings.
pub(super) fn limits(settings: &[String], actions_max: usize) -> Limits {
    let reuse_from = settings.iter().find_map(|setting| reuse_from(setting));
    Limits { actions_max, reuse_from: reuse_from.unwrap_or(REUSE_FROM) }
}

/// Returns the number of applications from which numbers are used again, if the setting sets it.
fn reuse_from(setting: &str) -> Option<usize> {
    setting.strip_prefix("numbers of applications again from ").map(|number| number.parse().unwrap())
}

/// Returns the first API key of each team, by name. The team of operators has a key with another role, and takes no part.
pub(super) fn keys(world: &Value) -> BTreeMap<String, String> {
    let teams = world["teams"].as_array().unwrap().iter();
    let key =
        |team: &Value| Some((team["name"].as_str()?.to_owned(), team["api_keys"][0].as_str()?.to_owned()));
    teams.filter_map(key).collect()
}

/// Returns the demo world with these settings.
pub(super) fn world(settings: &[String]) -> Value {
    let mut world: Value = serde_json::from_str(world::DEMO).unwrap();
    // Most scenarios remove applications on the way, and only those of R57 are about a confirmation.
    for team in world["teams"].as_array_mut().unwrap() {
        team["confirm_removals"] = json!(false);
    }
    for setting in settings.iter().filter(|setting| reuse_from(setting).is_none()) {
        apply(&mut world, setting);
    }
    world
}

fn apply(world: &mut Value, setting: &str) {
    if let Some((of, schema)) = setting.strip_prefix("metadata of ").and_then(|rest| rest.split_once(' ')) {
        world["mandatory_metadata"][of] = serde_json::from_str(schema).unwrap();
        return;
    }
    let words: Vec<&str> = setting.split(' ').collect();
    if let ["team", name, "confirms", "removals"] = words.as_slice() {
        let mut teams = world["teams"].as_array_mut().unwrap().iter_mut();
        teams.find(|team| team["name"] == *name).unwrap()["confirm_removals"] = json!(true);
        return;
    }
    let ["service", title, words @ ..] = words.as_slice() else { panic!("`{setting}` is no setting") };
    let mut services = world["services"].as_array_mut().unwrap().iter_mut();
    let service = services.find(|service| service["schema"]["title"] == *title).unwrap();
    match words {
        ["approval", "not", "required"] => service["approval_required"] = json!(false),
        ["without", "dependents"] => service["dependent_teams"] = json!([]),
        ["dependents", teams @ ..] => service["dependent_teams"] = json!(teams),
        ["allows", teams @ ..] => service["allowed_teams"] = json!(teams),
        _ => panic!("`{setting}` is no setting"),
    }
}
