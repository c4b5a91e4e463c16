//! Gone items (R44): they cost a submission nothing, moves race with submissions, and `bury` moves those of an older
//! release.

use super::races::request;
use domain::TeamId;
use dovetail_table::Table;
use futures_util::future::join;
use serde_json::{Value, json};
use support::{Answer, Calls, Proxy, Running, dying_after, send, spawn_in_test};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";
const ITEMS: &str = "/v1/orcabase/consumer/service_items/";

/// Number of races between a completion and a submission.
const ROUNDS: usize = 60;

/// Number of planted gone items.
const PLANTED: u64 = 1_000;

/// Returns a declaration of VMs by name.
fn vms(names: &[&str]) -> Value {
    let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "cpu": 1})).collect();
    json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}})
}

#[track_caller]
fn submit(system: &Running, names: &[&str]) -> Answer {
    let answer = system.call("POST", SUBMIT, "awesome-key", &vms(names));
    assert_eq!(answer.status, 201, "{answer:?}");
    system.wait_idle();
    answer
}

/// Returns the path of the only change instance of the VMs in this state.
#[track_caller]
fn only(system: &Running, state: &str) -> String {
    let listed = system.get(&format!("{CHANGES}?state={state}"), "vm-owner-key");
    let rows = listed.at("/results").as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    format!("{CHANGES}{}/", rows[0]["id"])
}

#[track_caller]
fn decide(system: &Running, path: &str, state: &str) {
    let answer = system.call("PATCH", path, "vm-owner-key", &json!({"state": state}));
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Approves and completes all pending change instances.
#[track_caller]
fn finish(system: &Running) {
    let listed = system.get(&format!("{CHANGES}?state=PENDING"), "vm-owner-key");
    for row in listed.at("/results").as_array().unwrap() {
        let path = format!("{CHANGES}{}/", row["id"]);
        decide(system, &path, "APPROVED");
        decide(system, &path, "COMPLETED");
    }
}

/// Returns a system with gone items of these names.
fn with_gone_items(names: &[&str]) -> Running {
    let system = Running::demo();
    submit(&system, names);
    finish(&system);
    submit(&system, &[]);
    finish(&system);
    system
}

/// Returns the rows of items in a partition of this kind.
fn rows_of(system: &Running, kind: &str) -> Vec<Value> {
    let mut rows = system.rows();
    rows.retain(|row| row["pk"]["S"].as_str().unwrap().starts_with(kind) && row["ty"]["S"] == "ITEM");
    rows
}

/// Returns the read units of a response.
fn read_units(answer: &Answer) -> f64 {
    let timing = answer.header("server-timing").unwrap();
    let read = timing.split(", ").find_map(|part| part.strip_prefix("read_units;desc=")).unwrap();
    read.trim_matches('"').parse().unwrap()
}

#[test]
fn gone_items_cost_a_submission_nothing() {
    let system = with_gone_items(&["old"]);
    let before = read_units(&submit(&system, &["one"]));
    let gone = rows_of(&system, "GONE#").remove(0);
    for number in 1..=PLANTED {
        let mut row = gone.clone();
        row["sk"] = json!({"S": format!("0001#{:07}", 100 + number)});
        system.put_row(&row);
    }
    let after = read_units(&submit(&system, &["one", "two"]));
    assert!(after <= before + 0.5, "one item more: {before} and {after} read units");
}

#[test]
fn a_completion_and_a_submission_of_the_name_leave_one_live_item() {
    let system = Running::demo();
    submit(&system, &["vm"]);
    finish(&system);
    for round in 0..ROUNDS {
        submit(&system, &[]);
        let delete = only(&system, "PENDING");
        decide(&system, &delete, "APPROVED");
        let complete = request("PATCH", &delete, "vm-owner-key", &json!({"state": "COMPLETED"}));
        let declare = request("POST", SUBMIT, "awesome-key", &vms(&["vm"]));
        let both = join(send(&system.base, &complete), send(&system.base, &declare));
        let (completed, declared) = system.block_on(both);
        assert_eq!((completed.status, declared.status), (200, 201), "round {round}: {declared:?}");
        system.wait_idle();
        let live = system.get(&format!("{ITEMS}?name=vm&gone=false"), "awesome-key");
        assert_eq!(live.at("/count"), 1, "round {round}");
        finish(&system);
    }
    system.assert_sound();
}

#[test]
fn the_command_bury_moves_the_dead_items_of_an_older_release_once() {
    let (system, team, expected) = with_dead_items(&["old"]);
    let rules: Vec<&str> = system.violations().iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, ["I31"]);
    // The planner ignores the dead row, so the name is a new item at once.
    let declared = submit(&system, &["old"]);
    assert_ne!(declared.at("/change_instances/0/service_item/id"), &json!(expected[0]["id"]["N"]));
    for moved in [1, 0] {
        let counts = system.block_on(system.table.move_gone_items(team)).unwrap();
        assert_eq!((counts.moved, counts.skipped), (moved, 0));
    }
    assert_eq!(rows_of(&system, "GONE#"), expected);
    system.assert_sound();
}

/// Returns a system with dead items of an older release, its consumer, and the rows of the items after their move.
fn with_dead_items(names: &[&str]) -> (Running, TeamId, Vec<Value>) {
    let system = with_gone_items(names);
    let mut expected = rows_of(&system, "GONE#");
    assert_eq!(expected.len(), names.len());
    for moved in &mut expected {
        system.remove_row(moved);
        system.put_row(&as_an_older_release_left_it(moved));
        let revision: u64 = moved["rv"]["N"].as_str().unwrap().parse().unwrap();
        moved["rv"] = json!({"N": (revision + 1).to_string()});
    }
    let consumer = system.get("/v1/account/teams/", "awesome-key").at("/results/0/id").as_u64().unwrap();
    (system, TeamId::new(consumer).unwrap(), expected)
}

/// Moves dead items with a death at the call after this many. Returns the number of moved items and the calls.
fn move_gone_items(
    system: &Running,
    team: TeamId,
    passes: usize,
    answer_lost: bool,
) -> (Option<u64>, Vec<String>) {
    let calls = Calls::default();
    let fate = dying_after(passes, answer_lost, &calls);
    let moved_items = system.block_on(async {
        let proxy = Proxy::before(system.engine.clone(), fate).await;
        let table = Table::connect(system.tables_through(&proxy.endpoint));
        tokio::select! {
            moved = table.move_gone_items(team) => Some(moved.unwrap().moved),
            () = proxy.died() => None,
        }
    });
    let calls = calls.lock().unwrap().clone();
    (moved_items, calls)
}

#[test]
fn a_move_that_dies_at_any_call_moves_each_item_once() {
    const NAMES: [&str; 3] = ["one", "two", "three"];
    let (calm, team, expected) = with_dead_items(&NAMES);
    let (moved, calls) = move_gone_items(&calm, team, usize::MAX, false);
    assert_eq!(moved, Some(3));
    assert_eq!(rows_of(&calm, "GONE#"), expected);
    std::thread::scope(|scope| {
        for (point, operation) in calls.iter().enumerate() {
            for answer_lost in [false, true] {
                spawn_in_test(scope, move || {
                    let (system, team, expected) = with_dead_items(&NAMES);
                    let context = format!("{operation}, the call at {point}, answer lost: {answer_lost}");
                    assert_eq!(move_gone_items(&system, team, point, answer_lost).0, None, "{context}");
                    let (moved, _) = move_gone_items(&system, team, usize::MAX, false);
                    assert!(moved.is_some_and(|moved| moved <= 3), "{context}: {moved:?}");
                    // Times differ between the systems, so each compares with its own rows.
                    assert_eq!(rows_of(&system, "GONE#"), expected, "{context}");
                    assert_eq!(rows_of(&system, "ITEM#"), [Value::Null; 0], "{context}");
                    system.assert_sound();
                });
            }
        }
    });
}

/// Returns a gone item's row in the form of record format 2, among the live items.
fn as_an_older_release_left_it(gone: &Value) -> Value {
    let mut row = gone.clone();
    let attributes = row.as_object_mut().unwrap();
    for newer in ["gn", "gs3pk", "gs3sk"] {
        attributes.remove(newer).unwrap();
    }
    let moved = |name: &str, from: &str, to: &str| gone[name]["S"].as_str().unwrap().replace(from, to);
    row["pk"] = json!({"S": moved("pk", "GONE#", "ITEM#")});
    row["gs2pk"] = json!({"S": moved("gs2pk", "#GONE", "#ITEMS")});
    row["v"] = json!({"N": "2"});
    row
}
