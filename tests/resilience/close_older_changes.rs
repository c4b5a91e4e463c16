//! Items with more rejections and errors than one transaction closes. The change that answers them must still be
//! applied (docs/explanation/staging.md).

use super::crashes::carry;
use domain::model::submission::Submission;
use domain::model::work::{TRIES_MAX, WorkId};
use domain::{Change, State};
use dovetail_table::{Settings, Table};
use dovetail_worker::Carried;
use serde_json::{Value, json};
use std::fmt::Display;
use std::sync::{LazyLock, Mutex};
use support::{Answer, ApiRequest, Fate, Proxy, Running, functions_on, send, timeless};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const SUBMISSIONS: &str = "/v1/orcabase/consumer/submissions/";
const SERVICE: &str = "/v1/orcabase/serviceowner/services/1/";
const CONSUMER_CHANGES: &str = "/v1/orcabase/consumer/change_instances/";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";

/// Maximum number of dependent teams of a service at a time.
const AT_A_TIME: usize = 15;

/// Number of teams with a rejection and an error, so with two open change instances each.
const TEAMS: usize = 60;

/// Returns a world with a service of Own, possible dependent teams, and a consumer.
fn world(teams: usize) -> String {
    let team = |name: String| json!({"name": name, "api_keys": [name.to_lowercase()]});
    let names = ["Con".to_owned(), "Own".to_owned()].into_iter().chain((1..=teams).map(dependent));
    let teams: Vec<Value> = names.map(team).collect();
    let schema = json!({"title": "Net", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": {"type": "integer"}}});
    json!({"teams": teams, "services": [{"owner": "Own", "schema": schema}]}).to_string()
}

fn dependent(n: usize) -> String {
    format!("D{n}")
}

/// Returns the consumer's declaration of one item, or of nothing.
fn declaration(cpu: Option<usize>) -> Value {
    let items: Vec<Value> = cpu.iter().map(|cpu| json!({"name": "net", "cpu": cpu})).collect();
    json!({"Con": {"App": {"services": {"Net": items}}}})
}

#[track_caller]
fn set(system: &Running, settings: &Value) {
    let answer = system.call("PATCH", SERVICE, "own", settings);
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[track_caller]
fn submit(system: &Running, cpu: Option<usize>) -> Answer {
    let answer = system.call("POST", &format!("{SUBMIT}?allow_removal=true"), "con", &declaration(cpu));
    assert_eq!(answer.status, 201, "{answer:?}");
    answer
}

/// Returns the change instances of a team in this state.
fn owned(system: &Running, team: &str, state: &str) -> Vec<Value> {
    let listed = system.get(&format!("{CHANGES}?state={state}"), &team.to_lowercase());
    listed.at("/results").as_array().unwrap().clone()
}

/// Moves the only change instance of a team in this state.
#[track_caller]
fn decide(system: &Running, team: &str, from: &str, to: &str) {
    let of_team = owned(system, team, from);
    assert_eq!(of_team.len(), 1, "{team} in {from}");
    let path = format!("{CHANGES}{}/", of_team[0]["id"]);
    let answer = system.call("PATCH", &path, &team.to_lowercase(), &json!({"state": to, "log": "no"}));
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Declares the item until each team has two undecided shares.
///
/// A service names at most 15 dependent teams at a time, so the list changes after each 15.
fn shared(system: &Running, teams: usize) {
    let all: Vec<String> = (1..=teams).map(dependent).collect();
    for (round, some) in all.chunks(AT_A_TIME).enumerate() {
        for (n, approval_required) in [false, true].into_iter().enumerate() {
            set(system, &json!({"dependant_teams": some, "approval_required": approval_required}));
            submit(system, Some(2 * round + n + 1));
            system.wait_idle();
        }
    }
}

/// Rejects one share of each team and reports an error for the other.
fn refused(system: &Running, teams: usize) {
    for team in (1..=teams).map(dependent) {
        decide(system, &team, "PENDING", "REJECTED");
        decide(system, &team, "APPROVED", "ERRORED");
    }
}

/// Rows of a system with an item that has a rejection and an error of 60 teams.
static REFUSED: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let system = Running::start(&world(TEAMS));
    shared(&system, TEAMS);
    refused(&system, TEAMS);
    system.assert_sound();
    system.rows()
});

/// The same rows with a committed submission that modifies the item. None of its changes exists yet.
static COMMITTED: LazyLock<(Vec<Value>, Submission)> = LazyLock::new(|| {
    let system = with(&REFUSED);
    let submission = committed(&system);
    system.assert_sound();
    (system.rows(), submission)
});

/// Submits with a death after the staging and its commit.
fn committed(system: &Running) -> Submission {
    // Three transactions: the staging, its work, the commit.
    let transactions = Mutex::new(0);
    let fate = move |operation: &str| {
        let mut transactions = transactions.lock().unwrap();
        if *transactions == 3 {
            return Fate::DiesBefore;
        }
        *transactions += usize::from(operation == "TransactWriteItems");
        Fate::Pass
    };
    system.block_on(async {
        let proxy = Proxy::before(system.engine.clone(), fate).await;
        let settings = Settings { actions_max: 1, ..system.tables_through(&proxy.endpoint) };
        let (base, serving) = functions_on(Table::connect(settings)).await;
        let body = declaration(Some(100)).to_string().into_bytes();
        let request =
            ApiRequest { method: "POST", path: SUBMIT, key: Some("con"), body, ..ApiRequest::default() };
        tokio::select! {
            answer = send(&base, &request) => unreachable!("{answer:?}"),
            () = proxy.died() => {}
            () = serving => unreachable!(),
        }
    });
    let submissions = system.block_on(system.table.snapshot()).unwrap().submissions;
    let newest = submissions.into_iter().max_by_key(|submission| submission.id).unwrap();
    assert_eq!((newest.opened, newest.work_left), (0, 1));
    newest
}

/// Starts a system with these rows, with generation and publishing paused.
fn with(rows: &[Value]) -> Running {
    let system = Running::start(&world(TEAMS));
    system.enable("generate", false);
    system.enable("notify", false);
    restore(&system, rows);
    system
}

fn restore(system: &Running, rows: &[Value]) {
    let now = system.rows();
    for row in now.iter().filter(|row| !rows.contains(row)) {
        system.remove_row(row);
    }
    for row in rows.iter().filter(|row| !now.contains(row)) {
        system.put_row(row);
    }
}

/// Returns the number of dependent teams' change instances that a submission's direct change answered and closed.
fn answered(system: &Running, submission: impl Display) -> usize {
    let own = format!("{CONSUMER_CHANGES}?submission_id={submission}&is_dependant=false");
    let direct = system.get(&own, "con").at("/results/0/id").as_u64();
    let snapshot = system.block_on(system.table.snapshot()).unwrap();
    let is_so = |change: &&Change| {
        let by = change.answered_by().map(|by| by.get());
        change.is_dependant() && change.state == State::Closed && by.is_some() && by == direct
    };
    snapshot.changes.values().filter(is_so).count()
}

fn submission_response(system: &Running, id: impl Display) -> Answer {
    system.get(&format!("{SUBMISSIONS}{id}/"), "con")
}

/// Fails unless the team's next submission is accepted and applied.
fn assert_free(system: &Running) {
    let next = submit(system, Some(101));
    system.sweep();
    assert_eq!(submission_response(system, next.at("/id")).at("/state"), "SETTLED");
    system.assert_sound();
}

#[test]
fn an_item_with_120_rejections_and_errors_does_not_block_its_team() {
    let system = with(&REFUSED);
    let answer = submit(&system, Some(100));
    system.assert_sound();
    system.sweep();
    assert_eq!(submission_response(&system, answer.at("/id")).at("/state"), "SETTLED");
    assert_eq!(answered(&system, answer.at("/id")), 2 * TEAMS);
    system.assert_sound();
    assert_free(&system);
}

#[test]
fn a_removal_closes_the_same_and_leaves_unanswered_changes_open() {
    let system = with(&REFUSED);
    // A former dependent team retries its rejection.
    let retried = retry(&system, "D20");
    let answer = submit(&system, None);
    system.sweep();
    assert_eq!(submission_response(&system, answer.at("/id")).at("/state"), "SETTLED");
    assert_eq!(answer.at("/change_instances/0/change_type"), "DELETE");
    assert_eq!(answered(&system, answer.at("/id")), 2 * TEAMS - 1);
    // The removal does not close the new attempt (R22), so the item stays in the list.
    let pending = owned(&system, "D20", "PENDING");
    assert_eq!(pending.iter().map(|change| &change["id"]).collect::<Vec<_>>(), [&retried]);
    assert_eq!(system.get("/v1/orcabase/consumer/service_items/", "con").at("/count"), 1);
    system.assert_sound();
}

#[test]
fn a_service_names_at_most_100_dependent_teams_in_its_life() {
    let system = Running::start(&world(101));
    let name = |teams: &[String]| system.call("PATCH", SERVICE, "own", &json!({"dependant_teams": teams}));
    let all: Vec<String> = (1..=101).map(dependent).collect();
    for some in all[..100].chunks(AT_A_TIME) {
        assert_eq!(name(some).status, 200);
    }
    let refused = name(&all[100..]);
    assert_eq!((refused.status, refused.at("/code")), (400, &json!("invalid_field")), "{refused:?}");
    let message = "must have at most 100 different teams over the life of the service";
    assert_eq!(refused.at("/dependant_teams"), &json!([message]));
    // Teams from earlier lists do not count again.
    assert_eq!(name(&all[..AT_A_TIME]).status, 200);
    assert_eq!(name(&[]).status, 200);
    assert_eq!(name(&all[86..101]).status, 400);
    system.assert_sound();
}

/// Retries the rejected change instance of a team. Returns the id of the new attempt.
fn retry(system: &Running, team: &str) -> Value {
    let rejected = owned(system, team, "REJECTED");
    let path = format!("{CHANGES}{}/retry/", rejected[0]["id"]);
    let answer = system.call("POST", &path, &team.to_lowercase(), &Value::Null);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.at("/id").clone()
}

#[test]
fn closing_that_dies_at_any_call_is_completed_once() {
    let (rows, submission) = &*COMMITTED;
    let system = with(rows);
    let (carried, calls) = carry(&system, submission, usize::MAX, false);
    assert_eq!(carried, Ok(vec![Carried::Out]));
    // One transaction closes the excess, one opens the change, and one removes the work record.
    assert_eq!(calls.iter().filter(|call| *call == "TransactWriteItems").count(), 3);
    let expected = timeless(&system.rows());
    for (point, operation) in calls.iter().enumerate() {
        for answer_lost in [false, true] {
            let context = format!("{operation}, the call at {point}, answer lost: {answer_lost}");
            restore(&system, rows);
            let (carried, _) = carry(&system, submission, point, answer_lost);
            assert!(carried.is_err(), "{context}: {carried:?}");
            system.assert_sound();
            for _ in 0..2 {
                let (carried, _) = carry(&system, submission, usize::MAX, false);
                assert!(carried.unwrap().iter().all(|carried| *carried == Carried::Out), "{context}");
            }
            system.assert_sound();
            assert!(timeless(&system.rows()) == expected, "{context}: the table is another");
        }
    }
    assert_free(&system);
}

#[test]
fn a_retry_between_closings_stays_open() {
    let (rows, submission) = &*COMMITTED;
    let system = with(rows);
    let (_, calls) = carry(&system, submission, usize::MAX, false);
    let first = calls.iter().position(|call| call == "TransactWriteItems").unwrap();
    restore(&system, rows);
    // The function dies after the first closing: the engine executed it, but the answer got lost.
    carry(&system, submission, first, true).0.unwrap_err();
    let is_closed = |team: &str| owned(&system, team, "REJECTED").is_empty();
    assert_eq!([is_closed("D1"), is_closed("D22"), is_closed("D23")], [true, true, false]);
    let retried = retry(&system, "D30");
    system.assert_sound();
    assert_eq!(carry(&system, submission, usize::MAX, false).0, Ok(vec![Carried::Out]));
    let pending = owned(&system, "D30", "PENDING");
    assert_eq!(pending.iter().map(|change| &change["id"]).collect::<Vec<_>>(), [&retried]);
    assert!(owned(&system, "D30", "ERRORED").is_empty());
    system.assert_sound();
    assert_free(&system);
}

#[test]
fn a_redrive_completes_work_quarantined_by_an_older_release() {
    let (rows, submission) = &*COMMITTED;
    let system = with(rows);
    let id = WorkId { submission: submission.id, staging: submission.staging, number: 1 };
    for n in 1..=TRIES_MAX {
        assert_eq!(system.block_on(system.table.count_failure(id)).unwrap(), n == TRIES_MAX);
    }
    // Quarantined work stays until a redrive, and keeps the team's head in flight.
    let row = system.rows().into_iter().find(|row| row["ty"]["S"] == "WORK").unwrap();
    let key = ["pk", "sk"].map(|name| row[name]["S"].as_str().unwrap());
    let violations = system.violations();
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert_eq!(violations[0].rule, "SET_ASIDE");
    assert_eq!(violations[0].subject.to_string(), format!("record {}", key.join(" / ")));
    assert_eq!(system.sweep()["quarantined"], 1);
    let next = system.call("POST", SUBMIT, "con", &declaration(Some(101)));
    assert_eq!((next.status, next.at("/code")), (503, &json!("submission_in_flight")));
    let swept = system.call("POST", "/_local/sweep", "", &json!({"redrive": true, "older_than_seconds": 0}));
    let counts =
        ["carried_out", "failed", "redriven", "owed", "quarantined"].map(|name| swept.body[name].clone());
    assert_eq!(counts, [1, 0, 1, 0, 0].map(|count| json!(count)));
    assert_eq!(submission_response(&system, submission.id).at("/state"), "SETTLED");
    system.assert_sound();
    assert_free(&system);
}

#[test]
fn fifteen_dependents_with_two_refusals_each_are_closed_in_the_landing_itself() {
    let system = Running::start(&world(AT_A_TIME));
    shared(&system, AT_A_TIME);
    refused(&system, AT_A_TIME);
    system.enable("generate", false);
    let submission = committed(&system);
    let (carried, calls) = carry(&system, &submission, usize::MAX, false);
    assert_eq!(carried, Ok(vec![Carried::Out]));
    // One transaction opens the change with all closings, and one removes the work record.
    assert_eq!(calls.iter().filter(|call| *call == "TransactWriteItems").count(), 2);
    assert_eq!(answered(&system, submission.id), 2 * AT_A_TIME);
    system.assert_sound();
}
