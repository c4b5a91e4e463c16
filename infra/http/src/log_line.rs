//! The log line of each request of a deployed function: metrics and outcome, without content of the request.

use crate::caller;
use crate::code::Code;
use crate::event::{self, Event, EventReply};
use crate::operation::{Function, Operation};
use crate::route::{self, Access};
use dovetail_aws::{metrics, now, tell, trace};
use dovetail_table::{Spent, spent};
use serde_json::{Map, Value, json};
use std::cell::Cell;

tokio::task_local! {
    /// The error code of the present request, once it has one.
    static OUTCOME: Cell<Option<Code>>;
}

/// Notes the outcome of a request for its log line.
pub(crate) fn note(code: Option<Code>) {
    // A handler may also run outside of `told`, as on a local system, and then has no log line.
    let _unasked = OUTCOME.try_with(|outcome| outcome.set(code));
}

/// Runs `handle` and writes the log line: operation, outcome, team, request id and metrics.
pub async fn told<H, A>(function: Function, event: Event, handle: H) -> EventReply
where
    H: FnOnce(Event) -> A,
    A: Future<Output = EventReply>,
{
    let operation = operation(&event);
    let request = event.request_context.request_id.clone();
    // The lowest access, so the line also names the team of a caller whose role was too low.
    let caller = caller::caller(&event, Access::Known, now()).ok();
    let answering = async {
        let (reply, spent) = spent(handle(event)).await;
        (reply, spent, OUTCOME.with(Cell::get))
    };
    let (reply, spent, outcome) = OUTCOME.scope(Cell::default(), answering).await;
    // 201 means a change; a submission without one returns 200.
    let submissions = (operation == Some(Operation::Submit)).then(|| u64::from(reply.status_code == 201));
    let mut line = line(function, operation, &spent, submissions);
    let told = [
        ("Status", json!(reply.status_code)),
        ("Outcome", json!(outcome.map_or("ok", Code::name))),
        ("Team", json!(caller.map(|(caller, _)| caller.team.id.get()))),
        ("Request", json!(request)),
    ];
    for (name, value) in told {
        trace::annotate(name, value.clone());
        line.insert(name.to_owned(), value);
    }
    tell(line);
    reply
}

/// Returns the operation; none for a path without a route.
fn operation(event: &Event) -> Option<Operation> {
    let (_, path) = event::place(event);
    let found = route::find(event.request_context.http.method.as_str(), path);
    found.ok().map(|found| found.route.operation)
}

fn line(
    function: Function,
    operation: Option<Operation>,
    spent: &Spent,
    submissions: Option<u64>,
) -> Map<String, Value> {
    let mut figures = spent.figures().to_vec();
    figures.extend(submissions.map(|submissions| ("Submissions", json!(submissions))));
    let mut line = metrics(&[("Function", function.name())], &figures);
    // The operation is a field and not a dimension, because CloudWatch charges for each metric (ADR 18).
    let operation = json!(operation.map(|operation| format!("{operation:?}")));
    trace::annotate("Operation", operation.clone());
    line.insert("Operation".to_owned(), operation);
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    #[test]
    fn a_log_line_has_function_operation_and_figures() {
        let mut event = Event::default();
        event.request_context.http.method = Method::PATCH;
        event.request_context.stage = Some("prod".to_owned());
        event.raw_path = Some("/prod/v1/orcabase/serviceowner/change_instances/7/".to_owned());
        let mut line = line(Function::UpdateState, operation(&event), &Spent::default(), None);
        let mut aws = line.remove("_aws").unwrap();
        assert!(aws["Timestamp"].take().is_u64());
        let metric = |name: &str| json!({"Name": name});
        let metrics = [
            "WriteUnits",
            "ReadUnits",
            "RoundTrips",
            "Microseconds",
            "TableMicroseconds",
            "Conflicts",
            "Retries",
        ]
        .map(metric);
        let directive = json!({"Namespace": "Dovetail", "Dimensions": [["Function"]], "Metrics": metrics});
        assert_eq!(aws, json!({"Timestamp": null, "CloudWatchMetrics": [directive]}));
        let told = json!({"Function": "update-state", "Operation": "UpdateChangeInstance",
            "WriteUnits": 0, "ReadUnits": 0, "RoundTrips": 0, "Microseconds": 0, "TableMicroseconds": 0,
            "Conflicts": 0, "Retries": 0});
        assert_eq!(Value::Object(line), told);
        event.raw_path = Some("/prod/somewhere/".to_owned());
        assert_eq!(operation(&event), None);
    }
}
