//! Time of `submit` without its table calls.

use super::disable;
use super::events::request;
use super::function::Function;
use crate::built::Built;
use crate::figure::{Figure, quantile};
use crate::rates::SUBMIT;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::Running;

/// Number of items in a submission.
const ITEMS: usize = 10;
/// Number of measured submissions.
const SUBMISSIONS: usize = 500;
/// Number of unmeasured submissions before them.
const FIRST: usize = 20;
/// Maximum of the 99th percentile, in seconds.
const SECONDS_MAX: f64 = 0.002;

/// Submits to a running function, each time with changes of all items. Subtracts the time with a table call in
/// progress.
pub(super) fn measure(built: &Built) -> Vec<Figure> {
    let system = Running::demo();
    // Their work would compete with `submit` for the CPU.
    disable(&system, &["generate", "notify"]);
    let mut function = Function::start(built.program("submit"), &system.environment);
    let mut all = Vec::new();
    for number in 0..FIRST + SUBMISSIONS {
        let event = submission(&system, number);
        let began = Instant::now();
        let reply = function.invoke(&event);
        all.push(began.elapsed());
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        assert_eq!(reply["statusCode"], 201, "{reply}");
    }
    let of_table = function.table_times();
    assert_eq!(of_table.len(), all.len());
    let own = |(all, of_table): (&Duration, &Duration)| all.saturating_sub(*of_table);
    let seconds = |times: &[Duration]| times[FIRST..].iter().map(Duration::as_secs_f64).collect::<Vec<_>>();
    let own = seconds(&all.iter().zip(&of_table).map(own).collect::<Vec<_>>());
    let what =
        |part: &str, share: &str| format!("submit, {ITEMS} items, warm: {part}, {share} of {SUBMISSIONS}");
    let but_calls = "without table calls";
    let median = |times: &[f64]| crate::figure::time(quantile(times, 0.5));
    vec![
        Figure::shorter(&what(but_calls, "99th percentile"), SECONDS_MAX, quantile(&own, 0.99)),
        Figure::without_goal(&what(but_calls, "median"), median(&own)),
        Figure::without_goal(&what("table calls", "median"), median(&seconds(&of_table))),
    ]
}

/// Returns a submission that changes all items. Its number decides their content.
pub(super) fn submission(system: &Running, number: usize) -> String {
    let items: Vec<Value> =
        (0..ITEMS).map(|item| json!({"name": format!("vm-{item}"), "cpu": number % 64 + 1})).collect();
    let declaration = json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}});
    request(system, "POST", SUBMIT, "awesome-key", &declaration)
}
