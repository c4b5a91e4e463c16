//! The log line of each request of a deployed function: metrics and outcome, without content of the request.

use crate::answer::{Answering, Handled};
use crate::code::Code;
use crate::operation::{Function, Operation};
use crate::request;
use dovetail_aws::{metrics, print_log_line, trace};
use dovetail_table::{RequestMetrics, with_request_metrics};
use lambda_http::Request;
use serde_json::{Map, Value, json};

/// Runs `handle` and writes the log line: operation, outcome, team, request id and metrics.
pub async fn logged<'a>(
    function: Function,
    request: Request,
    handle: impl FnOnce(Request) -> Answering<'a>,
) -> Handled {
    let id = request::id(&request).map(str::to_owned);
    let (handled, request_metrics) = with_request_metrics(handle(request)).await;
    let Handled { response, operation, caller, code } = &handled;
    let status = response.status().as_u16();
    // 201 means a change; a submission without one returns 200.
    let submissions = (*operation == Some(Operation::Submit)).then(|| u64::from(status == 201));
    let mut line = line(function, *operation, &request_metrics, submissions);
    let fields = [
        ("Status", json!(status)),
        ("Outcome", json!(code.map_or("ok", Code::name))),
        ("Team", json!(caller.as_ref().map(|caller| caller.team.id.get()))),
        ("Request", json!(id)),
    ];
    for (name, value) in fields {
        trace::annotate(name, value.clone());
        line.insert(name.to_owned(), value);
    }
    print_log_line(line);
    handled
}

fn line(
    function: Function,
    operation: Option<Operation>,
    request_metrics: &RequestMetrics,
    submissions: Option<u64>,
) -> Map<String, Value> {
    let mut figures = request_metrics.figures().to_vec();
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

    #[test]
    fn a_line_has_function_operation_and_figures() {
        let operation = Some(Operation::UpdateChangeInstance);
        let mut line = line(Function::UpdateState, operation, &RequestMetrics::default(), None);
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
        let expected = json!({"Function": "update-state", "Operation": "UpdateChangeInstance",
            "WriteUnits": 0, "ReadUnits": 0, "RoundTrips": 0, "Microseconds": 0, "TableMicroseconds": 0,
            "Conflicts": 0, "Retries": 0});
        assert_eq!(Value::Object(line), expected);
    }
}
