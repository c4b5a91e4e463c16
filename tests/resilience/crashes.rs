//! Crashes of generation at each storage call, before the request or before its answer. Later runs must lead to the
//! same table. The file also checks the number of calls.

use domain::model::submission::Submission;
use domain::{SubmissionId, TeamId};
use dovetail_table::Table;
use dovetail_worker::{Carried, TURN, carry_out_all};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::{Calls, Proxy, Running, dying_after, spawn_in_test, timeless};
use tokio::time::Instant;

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";

/// Returns a declaration of load balancers. Each causes pending work for its dependent team.
fn balancers(count: u64) -> Value {
    let balancer = |n: u64| json!({"name": format!("CoreLB{n}"), "algorithm": "a"});
    let all: Vec<Value> = (1..=count).map(balancer).collect();
    json!({"AwesomeConsumer": {"App": {"services": {"LoadBalancer": all}}}})
}

/// Starts a system with generation paused and one submission with pending work.
fn with_pending_work(count: u64) -> (Running, Submission) {
    let system = Running::demo();
    system.enable("generate", false);
    let answer = system.call("POST", SUBMIT, "awesome-key", &balancers(count));
    assert_eq!(answer.status, 201, "{answer:?}");
    let team = system.block_on(system.table.team_by_name("AwesomeConsumer")).unwrap().unwrap();
    let submission = SubmissionId::new(TeamId::new(team.id.get()).unwrap(), 1).unwrap();
    let submission = system.block_on(system.table.submission(submission)).unwrap().unwrap();
    (system, submission)
}

/// Processes work with a death at the call after this many. With `answer_lost`, the engine still executes that call.
///
/// Returns the result and the calls.
pub(crate) fn carry(
    system: &Running,
    submission: &Submission,
    passes: usize,
    answer_lost: bool,
) -> (Result<Vec<Carried>, String>, Vec<String>) {
    let calls = Calls::default();
    let fate = dying_after(passes, answer_lost, &calls);
    let carried = system.block_on(async {
        let proxy = Proxy::before(system.engine.clone(), fate).await;
        let settings = system.tables_through(&proxy.endpoint);
        let table = Table::connect(settings);
        tokio::select! {
            carried = carry_out_all(&table, submission, Instant::now() + TURN) => carried.map_err(|error| error.to_string()),
            () = proxy.died() => Err("the function has died".to_owned()),
        }
    });
    let calls = calls.lock().unwrap().clone();
    (carried, calls)
}

#[test]
fn generation_that_dies_at_any_call_is_completed_once() {
    let (calm, submission) = with_pending_work(3);
    let (carried, calls) = carry(&calm, &submission, usize::MAX, false);
    assert_eq!(carried, Ok(vec![Carried::Out]));
    calm.assert_sound();
    let expected = timeless(&calm.rows());
    std::thread::scope(|scope| {
        for (point, operation) in calls.iter().enumerate() {
            for answer_lost in [false, true] {
                let expected = &expected;
                spawn_in_test(scope, move || {
                    let (system, submission) = with_pending_work(3);
                    let (carried, _) = carry(&system, &submission, point, answer_lost);
                    let context = format!("{operation}, the call at {point}, answer lost: {answer_lost}");
                    assert!(carried.is_err(), "{context}: {carried:?}");
                    // The first run finishes the work. The second run must not find any.
                    for _ in 0..2 {
                        let (carried, _) = carry(&system, &submission, usize::MAX, false);
                        let carried = carried.unwrap();
                        assert!(carried.iter().all(|carried| *carried == Carried::Out), "{context}");
                    }
                    system.assert_sound();
                    assert!(timeless(&system.rows()) == *expected, "{context}: the table is another");
                });
            }
        }
    });
}

#[test]
fn generation_takes_three_reads_a_transaction_an_item_and_one_more() {
    let counted = |calls: &[String]| {
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for call in calls {
            *counted.entry(call.clone()).or_default() += 1;
        }
        counted
    };
    let expected = |calls: &[(&str, u64)]| calls.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    for items in [1, 20] {
        let (system, submission) = with_pending_work(items);
        let (_, calls) = carry(&system, &submission, usize::MAX, false);
        let reads = [("Query", 1), ("BatchGetItem", 2), ("TransactWriteItems", items + 1)];
        assert_eq!(counted(&calls), expected(&reads));
        // A second delivery finds no work after one read.
        let (_, calls) = carry(&system, &submission, usize::MAX, false);
        assert_eq!(counted(&calls), expected(&[("Query", 1)]));
    }
}
