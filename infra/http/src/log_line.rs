//! The log line of each request of a deployed function: metrics and outcome, without content of the request.

use crate::answer::{Answering, Handled};
use crate::code::Code;
use crate::operation::{Function, Operation};
use crate::request;
use dovetail_aws::{Observed, Tracer, emit, metrics, observed};
use lambda_http::Request;
use serde_json::{Map, Value, json};

/// Runs `handle`, writes the log line with operation, outcome, team, request id and metrics, and sends the trace.
pub async fn logged<'a>(
    function: Function,
    (tracer, header): (&Tracer, Option<String>),
    request: Request,
    handle: impl FnOnce(Request) -> Answering<'a>,
) -> Handled {
    let id = request::id(&request).map(str::to_owned);
    let (handled, observed) = observed(handle(request)).await;
    let Handled { response, operation, caller, code } = &handled;
    let status = response.status().as_u16();
    // 201 means a change; a submission without one returns 200.
    let submissions = (*operation == Some(Operation::Submit)).then(|| u64::from(status == 201));
    // The operation is a field and not a dimension, because CloudWatch charges for each metric (ADR 18).
    let fields = [
        ("Operation", json!(operation.map(|operation| format!("{operation:?}")))),
        ("Status", json!(status)),
        ("Outcome", json!(code.map_or("ok", Code::name))),
        ("Team", json!(caller.as_ref().map(|caller| caller.team.id.get()))),
        ("Request", json!(id)),
    ];
    tracer.send(function.name(), header, &observed.trace, &fields);
    emit(line(function, &observed, submissions, fields));
    handled
}

fn line<const N: usize>(
    function: Function,
    observed: &Observed,
    submissions: Option<u64>,
    fields: [(&str, Value); N],
) -> Map<String, Value> {
    let mut figures = observed.figures().to_vec();
    figures.extend(submissions.map(|submissions| ("Submissions", json!(submissions))));
    let mut line = metrics(&[("Function", function.name())], &figures);
    line.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_function_operation_and_figures() {
        let fields = [("Operation", json!("UpdateChangeInstance"))];
        let mut line = line(Function::UpdateState, &Observed::default(), None, fields);
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
