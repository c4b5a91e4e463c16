//! What a submission takes besides the calls of the table.

use super::events::{CONSUMER, request};
use super::function::Function;
use crate::built::Built;
use crate::figure::{Figure, quantile};
use serde_json::{Value, json};
use std::time::Instant;
use tests::{Proxy, Running};

/// How many items a submission declares.
const ITEMS: usize = 10;
/// How many submissions are made.
const SUBMISSIONS: usize = 500;
/// How many are made before, which count for nothing.
const FIRST: usize = 20;
/// How long it may take, in seconds, of 99 submissions in a hundred.
const SECONDS_MAX: f64 = 0.002;

/// Submits to a function that runs, each time with all items changed; what the table takes is not counted, but what
/// the client of the table and the connection to it take is.
pub(super) fn measure(built: &Built) -> Vec<Figure> {
    let system = Running::demo();
    for function in ["generate", "notify"] {
        system.enable(function, false);
    }
    let (proxy, busy) = system.block_on(Proxy::clocking(system.engine.clone()));
    let environment = system.environment.replace(&system.engine, &proxy.endpoint);
    let mut function = Function::start(built.program("submit"), &environment);
    let mut took = Vec::new();
    for number in 0..FIRST + SUBMISSIONS {
        let event = submission(&system, number);
        let (began, before) = (Instant::now(), busy.so_far());
        let reply = function.invoke(&event);
        let (all, table) = (began.elapsed(), busy.so_far() - before);
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        assert_eq!(reply["statusCode"], 201, "{reply}");
        took.push(all.saturating_sub(table).as_secs_f64());
    }
    let took = &took[FIRST..];
    let what = |share: &str| {
        format!("submit, {ITEMS} items, warm: all but the table's own time, {share} of {SUBMISSIONS}")
    };
    let median = crate::figure::time(quantile(took, 0.5));
    vec![
        Figure::shorter(&what("99 %"), SECONDS_MAX, quantile(took, 0.99)),
        Figure::told(&what("the median"), median),
    ]
}

fn submission(system: &Running, number: usize) -> String {
    let items: Vec<Value> =
        (0..ITEMS).map(|item| json!({"name": format!("vm-{item}"), "cpu": number % 64 + 1})).collect();
    let declaration = json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}});
    request(system, "POST", &format!("{CONSUMER}/submissions/submit/"), "awesome-key", &declaration)
}
