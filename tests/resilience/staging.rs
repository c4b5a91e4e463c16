//! Staged submissions with crashes and concurrent cleanup: an accepted submission is completed once, a rejected one
//! leaves nothing (docs/explanation/staging.md).

use domain::model::work::TRIES_MAX;
use dovetail_table::{Settings, Table};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use support::costs::Figures;
use support::{
    Answer, ApiRequest, Calls, Fate, Proxy, Running, dying_after, functions_on, send, spawn_in_test, timeless,
};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const HEADERS: &[(&str, &str)] = &[("idempotency-key", "the-very-same")];

/// Returns load balancers of one application. Each causes pending work for its dependent team.
fn balancers(team: &str, count: u64) -> Value {
    let balancer = |n: u64| json!({"name": format!("CoreLB{n}"), "algorithm": "a"});
    let all: Vec<Value> = (1..=count).map(balancer).collect();
    json!({team: {"App": {"metadata": {"env": "dev"}, "services": {"LoadBalancer": all}}}})
}

fn request(body: &Value) -> ApiRequest<'static> {
    let (key, body) = (Some("awesome-key"), body.to_string().into_bytes());
    ApiRequest { method: "POST", path: SUBMIT, key, headers: HEADERS, body }
}

/// Starts a system with every submission staged. Only `submit` and the sweep process work.
fn staging() -> Running {
    let system = Running::demo_with(1);
    system.enable("generate", false);
    system
}

fn sweep(system: &Running) -> Value {
    let body = json!({"older_than_seconds": 0, "abandoned_after_seconds": 0});
    let answer = system.call("POST", "/_local/sweep", "", &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// Sends a request to separate functions behind a proxy. Returns no response if they die.
pub(super) fn through(
    system: &Running,
    actions_max: usize,
    fate: impl Fn(&str) -> Fate + Send + Sync + 'static,
    request: &ApiRequest<'_>,
) -> Option<Answer> {
    // `fate` can block its thread while the system must continue, so it needs a separate runtime.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let proxy = Proxy::before(system.engine.clone(), fate).await;
        let settings = Settings { actions_max, ..system.tables_through(&proxy.endpoint) };
        let (base, serving) = functions_on(Table::connect(settings)).await;
        tokio::select! {
            answer = send(&base, request) => Some(answer),
            () = proxy.died() => None,
            () = serving => unreachable!(),
        }
    })
}

/// Submits with a death at the call after this many. Returns the calls; with `answer_lost`, the engine executed the
/// last one.
fn dying(system: &Running, passes: usize, answer_lost: bool) -> Vec<String> {
    let calls = Calls::default();
    let fate = dying_after(passes, answer_lost, &calls);
    through(system, 1, fate, &request(&balancers("AwesomeConsumer", 3)));
    calls.lock().unwrap().clone()
}

#[test]
fn a_staged_submission_that_dies_at_any_call_is_completed_once_or_leaves_nothing() {
    let calm = staging();
    let calls = dying(&calm, usize::MAX, false);
    calm.assert_sound();
    let expected = timeless(&calm.rows());
    let points: Vec<(usize, bool)> = (0..calls.len()).flat_map(|at| [(at, false), (at, true)]).collect();
    for some in points.chunks(8) {
        std::thread::scope(|scope| {
            for (point, answer_lost) in some {
                let (expected, operation) = (&expected, &calls[*point]);
                spawn_in_test(scope, move || {
                    let context = format!("{operation}, the call at {point}, answer lost: {answer_lost}");
                    let system = staging();
                    dying(&system, *point, *answer_lost);
                    system.assert_sound();
                    // The client retries with its idempotency key. Then the sweep removes abandoned staging.
                    let repeated = system.send(&request(&balancers("AwesomeConsumer", 3)));
                    assert_eq!(repeated.status, 201, "{context}: {repeated:?}");
                    assert_eq!(repeated.at("/change_instances").as_array().unwrap().len(), 3, "{context}");
                    sweep(&system);
                    system.assert_sound();
                    assert!(timeless(&system.rows()) == *expected, "{context}: the table is another");
                });
            }
        });
    }
}

#[test]
fn a_staging_removed_before_its_commit_is_never_committed() {
    let system = Arc::new(staging());
    let (sweeping, transactions) = (Arc::clone(&system), Mutex::new(0));
    let cleared: Arc<Mutex<Vec<Value>>> = Arc::default();
    let collected = Arc::clone(&cleared);
    // The second transaction is the commit. The sweep runs just before it, and treats the staging as abandoned.
    let fate = move |operation: &str| {
        if operation == "TransactWriteItems" {
            let mut transactions = transactions.lock().unwrap();
            *transactions += 1;
            if *transactions == 2 {
                let sweeping = Arc::clone(&sweeping);
                collected.lock().unwrap().push(std::thread::spawn(move || sweep(&sweeping)).join().unwrap());
            }
        }
        Fate::Pass
    };
    let answer = through(&system, 1, fate, &request(&balancers("AwesomeConsumer", 3))).unwrap();
    // The commit finds that the staging has left OPEN, so `submit` stages again and commits once.
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(cleared.lock().unwrap()[0]["cleared"], 1);
    let submissions = system.get("/v1/orcabase/consumer/submissions/", "awesome-key");
    let (count, state) = (submissions.at("/count"), submissions.at("/results/0/state"));
    assert_eq!((count, state), (&json!(1), &json!("SETTLED")));
    let is_leftover = |row: &Value| row["ty"]["S"] == "STAGING" || row["ty"]["S"] == "WORK";
    assert!(!system.rows().iter().any(is_leftover), "no staging and no work is left");
    system.assert_sound();
}

#[test]
fn a_committed_staging_is_never_removed_and_the_sweep_completes_it() {
    let system = staging();
    let answer = system.send(&request(&balancers("AwesomeConsumer", 250)));
    assert_eq!((answer.status, answer.at("/state")), (201, &json!("COMMITTED")));
    let url = answer.at("/url").as_str().unwrap().to_owned();
    let response = system.get(&url, "awesome-key");
    assert_eq!((response.at("/landed"), response.at("/remaining")), (&json!(200), &json!(300)));
    system.assert_sound();
    // Another team does not wait. The same team's next submission gets 503 with `Retry-After`.
    let other = system.call("POST", SUBMIT, "awesome2-key", &balancers("AwesomeConsumer2", 1));
    assert_eq!(other.status, 201, "{other:?}");
    let next = system.call("POST", SUBMIT, "awesome-key", &balancers("AwesomeConsumer", 1));
    assert_eq!((next.status, next.at("/code")), (503, &json!("submission_in_flight")));
    assert!(next.header("retry-after").is_some(), "{next:?}");
    let swept = sweep(&system);
    let expected = json!({"carried_out": 2, "failed": 0, "redriven": 0, "cleared": 0,
        "owed": 0, "oldest_seconds": 0, "quarantined": 0});
    assert_eq!(swept, expected);
    let response = system.get(&url, "awesome-key");
    assert_eq!((response.at("/state"), response.at("/landed")), (&json!("SETTLED"), &json!(500)));
    let listed = system.get(answer.at("/change_instances_next").as_str().unwrap(), "awesome-key");
    assert_eq!(listed.at("/count"), 500);
    let next = system.call("POST", SUBMIT, "awesome-key", &balancers("AwesomeConsumer", 1));
    assert_eq!(next.status, 201, "{next:?}");
    system.assert_sound();
    system.assert_published();
}

#[test]
fn redriven_work_counts_by_the_age_of_its_staging() {
    let system = staging();
    assert_eq!(system.send(&request(&balancers("AwesomeConsumer", 250))).at("/state"), "COMMITTED");
    let set_version = |version: &Value| {
        let mut work = system.rows().into_iter().find(|row| row["ty"]["S"] == "WORK").unwrap();
        let former = std::mem::replace(&mut work["v"]["N"], version.clone());
        system.put_row(&work);
        former
    };
    let readable = set_version(&json!((dovetail_table::RECORD_FORMAT + 1).to_string()));
    for _ in 0..TRIES_MAX {
        sweep(&system);
    }
    assert_eq!(sweep(&system)["quarantined"], 1);
    let redriven = system.call("POST", "/_local/sweep", "", &json!({"redrive": true})).body;
    assert_eq!((&redriven["redriven"], &redriven["quarantined"]), (&json!(1), &json!(0)));
    assert!(redriven["oldest_seconds"].as_u64().unwrap() < 3_600, "{redriven}");
    set_version(&readable);
    sweep(&system);
    system.assert_sound();
}

#[test]
fn a_reply_shows_a_hundred_change_instances_however_many_teams_have_a_share() {
    let system = staging();
    let services = system.get("/v1/orcabase/serviceowner/services/", "lb-owner-key");
    let service = services.at("/results/0/url").as_str().unwrap();
    let shared = json!({"dependent_teams": ["NPOwnerTeam", "VMOwnerTeam", "AwesomeConsumer2"]});
    assert_eq!(system.call("PATCH", service, "lb-owner-key", &shared).status, 200);
    for _ in 0..2 {
        let answer = system.send(&request(&balancers("AwesomeConsumer", 150)));
        assert_eq!((answer.status, answer.at("/state")), (201, &json!("COMMITTED")));
        assert_eq!(answer.at("/change_instances").as_array().unwrap().len(), 100);
        sweep(&system);
    }
    system.assert_sound();
}

#[test]
fn the_list_of_a_submission_begins_with_its_own() {
    let system = Running::demo();
    let first = system.call("POST", SUBMIT, "awesome-key", &balancers("AwesomeConsumer", 150));
    system.wait_idle();
    let second = system.call("POST", SUBMIT, "awesome-key", &balancers("AwesomeConsumer", 151));
    system.wait_idle();
    for (submission, count) in [(&first, 300), (&second, 2)] {
        let path = format!("/v1/orcabase/consumer/change_instances/?submission_id={}", submission.at("/id"));
        let listed = system.get(&path, "awesome-key");
        assert_eq!(listed.at("/count"), count, "{listed:?}");
        if count == 2 {
            // A read of all change instances of the team would cost more than 50 units.
            let read = Figures::from_answer(&listed).read;
            assert!(read <= 15_000, "{read} thousandths of a read unit");
        }
    }
}

#[test]
fn an_unreadable_staging_delays_no_other() {
    let system = staging();
    let broken = json!({
        "pk": {"S": "STAGING#7"}, "sk": {"S": "c82b1ff083f85"}, "ty": {"S": "STAGING"}, "v": {"N": "9"},
        "gs3pk": {"S": "STAGING"}, "gs3sk": {"S": "0000000000000001#0000000000000001"},
    });
    system.put_row(&broken);
    let answer = system.send(&request(&balancers("AwesomeConsumer", 250)));
    assert_eq!((answer.status, answer.at("/state")), (201, &json!("COMMITTED")));
    let swept = sweep(&system);
    assert_eq!((&swept["carried_out"], &swept["failed"], &swept["owed"]), (&json!(2), &json!(1), &json!(1)));
    assert_eq!(system.get(answer.at("/url").as_str().unwrap(), "awesome-key").at("/state"), "SETTLED");
}
