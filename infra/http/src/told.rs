//! What a deployed function tells of each request: one line of metrics, without a word of the request's own.

use crate::caller;
use crate::code::Code;
use crate::event::{self, Event, EventReply};
use crate::route::{self, Access, Function, Operation};
use dovetail_aws::{metrics, now, tell, trace};
use dovetail_table::{Spent, spent};
use serde_json::{Map, Value, json};
use std::cell::Cell;

tokio::task_local! {
    /// How the request under way has ended.
    static OUTCOME: Cell<Option<Code>>;
}

/// Notes how a request has ended, for its line.
pub(crate) fn note(code: Option<Code>) {
    // Nobody asks where no line is told.
    let _unasked = OUTCOME.try_with(|outcome| outcome.set(code));
}

/// Lets `handle` answer and tells what it was, how it ended and what it spent.
pub async fn told<H, A>(function: Function, event: Event, handle: H) -> EventReply
where
    H: FnOnce(Event) -> A,
    A: Future<Output = EventReply>,
{
    let operation = operation(&event);
    let request = event.request_context.request_id.clone();
    let caller = caller::caller(&event, Access::Known, now()).ok();
    let answering = async {
        let (reply, spent) = spent(handle(event)).await;
        (reply, spent, OUTCOME.with(Cell::get))
    };
    let (reply, spent, outcome) = OUTCOME.scope(Cell::default(), answering).await;
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

/// The operation; none where there is no such route.
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
    fn a_line_tells_function_operation_and_figures() {
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
