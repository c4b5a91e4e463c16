//! Operators list all teams and create some.

use crate::api::demo::{RECORDS, SERVICES, SUBMIT, definition};
use domain::base::actor::Role;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;
use support::{Answer, Running};

const TEAMS: &str = "/v1/platform/teams/";
const OPERATOR: &str = "platform-key";

fn created(system: &Running, body: &Value) -> Answer {
    system.call("POST", TEAMS, OPERATOR, body)
}

fn names(system: &Running, limit: usize) -> Vec<String> {
    let pages = system.pages(&format!("{TEAMS}?limit={limit}"), OPERATOR);
    assert!(pages.iter().all(|page| page.rows().len() <= limit), "{pages:?}");
    let teams = pages.iter().flat_map(Answer::rows);
    teams.map(|team| team["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn all_teams_are_listed_in_pages_without_their_metadata() {
    let system = Running::demo();
    let expected =
        ["VMOwnerTeam", "LBOwnerTeam", "NPOwnerTeam", "AwesomeConsumer", "AwesomeConsumer2", "Platform"];
    for limit in [1, 3, 4, 6, 100] {
        assert_eq!(names(&system, limit), expected, "{limit}");
    }
    let page = system.get(&format!("{TEAMS}?limit=1"), OPERATOR);
    let team = json!({"id": 1, "name": "VMOwnerTeam", "confirm_removals": false});
    assert_eq!((page.at("/count"), page.at("/results")), (&json!(6), &json!([team])));
    let forged = system.get(&format!("{TEAMS}?cursor=1"), OPERATOR);
    assert_eq!(forged.code(), (400, "invalid_cursor"));
    // A position is valid in its own list alone.
    let next = page.at("/next").as_str().unwrap().replace("/teams/", "/queues/");
    assert_eq!(system.get(&next, OPERATOR).at("/code"), &json!("invalid_cursor"));
}

#[test]
fn a_team_must_not_have_the_name_of_another_thing() {
    let system = Running::demo();
    for name in ["SYSTEM", "system", "Conc (Api Key)", "conc (API KEY)", "metadata", "Services", ".", ".."] {
        let refused = created(&system, &json!({"name": name}));
        assert_eq!(refused.code(), (400, "invalid_field"), "{name}: {refused:?}");
    }
    for name in ["Systems", "Metadata of machines", "Api Key"] {
        assert_eq!(created(&system, &json!({"name": name})).status, 201, "{name}");
    }
}

#[test]
fn a_name_that_looks_like_another_is_taken() {
    let system = Running::demo();
    // The second name has a Cyrillic letter, and the third a capital I.
    for name in ["vmownerteam", "VMOwnerTe\u{430}m", "PIatform", "PLATFORM"] {
        let refused = created(&system, &json!({"name": name}));
        assert_eq!(refused.code(), (400, "team_name_taken"), "{name}: {refused:?}");
        let detail = refused.at("/detail").as_str().unwrap();
        assert!(detail.starts_with("the name looks like that of team '"), "{detail}");
    }
    for name in ["VMOwnerTeam2", "Platforms"] {
        assert_eq!(created(&system, &json!({"name": name})).status, 201, "{name}");
    }
}

#[test]
fn a_title_that_looks_like_another_is_refused_before_and_at_its_publication() {
    let system = Running::demo();
    let problem = json!({"/problems/0/pointer": "/title", "/problems/0/rule": "similar_title"});
    for title in ["vm", "Vm", "loadbalancer", "L\u{43e}adBalancer"] {
        for path in [SERVICES, &format!("{SERVICES}validate/?dry_run=true")] {
            let refused = system.call("POST", path, "vm-owner-key", &definition(title));
            refused.assert_is(400, &problem);
        }
    }
    system.expect(201, "POST", SERVICES, "vm-owner-key", &definition("VM2"));
    system.assert_sound();
}

#[test]
fn a_new_team_works_at_once_with_its_key() {
    let system = Running::demo();
    let team = created(&system, &json!({"name": "Payments"}));
    team.assert_is(201, &json!({"/id": 7, "/confirm_removals": true}));
    let key = team.at("/api_key");
    assert_eq!((&key["name"], &key["role"]), (&json!("Payments-1"), &json!(Role::Admin.name())));
    let secret = key["key"].as_str().unwrap();
    assert_eq!(system.get("/v1/account/teams/", secret).at("/results/0/name"), &json!("Payments"));
    let body = json!({"Payments": {"App": {"services": {"VM": [{"name": "one"}]}}}});
    system.expect(201, "POST", SUBMIT, secret, &body);
    // Its audit log names the operators as the author.
    let records = system.get(RECORDS, secret);
    let entries: BTreeSet<String> =
        records.rows().iter().map(|entry| format!("{} by {}", entry["event"], entry["changed_by"])).collect();
    let by = r#"by "Platform-1 (Api Key)""#;
    let expected = ["API_KEY_CREATED", "TEAM_CREATED"].map(|event| format!("\"{event}\" {by}"));
    assert_eq!(entries, BTreeSet::from(expected));
    assert!(!records.body.to_string().contains(secret));
    assert_eq!(names(&system, 100).last().unwrap(), "Payments");
    system.wait_idle();
    system.assert_sound();
}

#[test]
fn a_taken_name_and_a_bad_field_change_nothing() {
    let system = Running::demo();
    let named = json!({"name": "Payments", "key_name": "first", "confirm_removals": false});
    let team = created(&system, &named);
    team.assert_is(201, &json!({"/confirm_removals": false, "/api_key/name": "first"}));
    // A repeated request is refused as well: its secret exists only in the first response.
    for body in [named, json!({"name": "VMOwnerTeam"})] {
        let refused = created(&system, &body);
        assert_eq!(refused.code(), (400, "team_name_taken"), "{refused:?}");
    }
    for (body, field) in [
        (json!({}), "/name"),
        (json!({"name": " x"}), "/name"),
        (json!({"name": "x".repeat(129)}), "/name"),
        (json!({"name": "x", "key_name": 5}), "/key_name"),
        (json!({"name": "x", "confirm_removals": "yes"}), "/confirm_removals"),
    ] {
        let refused = created(&system, &body);
        assert_eq!(refused.code(), (400, "invalid_field"), "{body}: {refused:?}");
        assert_eq!(refused.at("/pointer"), &json!(field), "{body}");
    }
    assert_eq!(system.get(TEAMS, OPERATOR).at("/count"), &json!(7));
    system.assert_sound();
}

#[test]
fn of_requests_with_one_name_one_wins_and_other_names_all_succeed() {
    let system = Running::demo();
    let results: Vec<(u16, Value)> = thread::scope(|scope| {
        let names = ["same", "same", "same", "one", "two"];
        let send = |name: &'static str| {
            let system = &system;
            scope.spawn(move || created(system, &json!({"name": name})))
        };
        let threads = names.map(send);
        threads.into_iter().map(|one| one.join().unwrap()).map(|one| (one.status, one.body)).collect()
    });
    let won = |range: &[(u16, Value)]| range.iter().filter(|(status, _)| *status == 201).count();
    assert_eq!((won(&results[..3]), won(&results[3..])), (1, 2), "{results:?}");
    assert!(results.iter().all(|(status, body)| *status == 201 || body["code"] == "team_name_taken"));
    assert_eq!(system.get(TEAMS, OPERATOR).at("/count"), &json!(9));
    system.assert_sound();
}
