//! Traces: the segments for X-Ray's daemon. They contain operations and codes, and nothing of a request.

use crate::api::demo::SUBMIT;
use dovetail_aws::{Tracer, observed};
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_http::{CursorKey, Event, Function, logged, respond};
use dovetail_outbound::{Outbound, Targets};
use serde_json::{Value, json};
use std::net::UdpSocket;
use std::sync::Arc;
use support::Running;

const TRACED: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";

/// Returns a submission with unique words.
fn submission() -> Event {
    let mut event = Event::default();
    event.request_context.http.method = hyper::Method::POST;
    event.request_context.request_id = Some("the-request".to_owned());
    event.raw_path = Some(SUBMIT.to_owned());
    event.headers.insert("authorization", "Api-Key awesome-key".parse().unwrap());
    let vm = json!({"name": "canary-item"});
    event.body = Some(json!({"AwesomeConsumer": {"CanaryApp": {"services": {"VM": [vm]}}}}).to_string());
    event
}

/// Returns the segments of a submission with this trace header.
fn segments(system: &Running, header: Option<&str>) -> Vec<String> {
    let daemon = UdpSocket::bind("127.0.0.1:0").unwrap();
    daemon.set_nonblocking(true).unwrap();
    let tracer = Tracer::to(&daemon.local_addr().unwrap().to_string());
    let (key, outbound) = (CursorKey::new("secret"), Outbound::new(Targets::Any));
    let mut event = submission();
    let caller = system.block_on(Authorizer::default().on(&system.table, &event)).unwrap();
    event.request_context.authorizer = Some(caller);
    let function = Function::Submit;
    let handle = |request| {
        functions::handle(function, &system.table, &key, &outbound, &functions::PLAIN_CONSOLE, request)
    };
    let to = (&tracer, header.map(str::to_owned));
    let reply = system.block_on(respond(event, |request| Box::pin(logged(function, to, request, handle))));
    assert!([200, 201].contains(&reply.status_code), "{reply:?}");
    let mut buffer = vec![0; 65_536];
    std::iter::from_fn(|| {
        let length = daemon.recv(&mut buffer).ok()?;
        Some(String::from_utf8(buffer[..length].to_vec()).unwrap())
    })
    .collect()
}

#[test]
fn a_traced_invocation_is_one_segment_with_a_call_of_the_table_beneath_it_for_each() {
    let system = Running::demo();
    let all = segments(&system, Some(TRACED));
    let (header, segment) = all[0].split_once('\n').unwrap();
    assert_eq!((all.len(), header), (1, r#"{"format": "json", "version": 1}"#));
    let segment: Value = serde_json::from_str(segment).unwrap();
    let text = |name: &str| segment[name].as_str().unwrap();
    assert_eq!(text("trace_id"), "1-5759e988-bd862e3fe1be46a994272793");
    assert_eq!((text("parent_id"), text("name"), text("type")), ("53995c3f42cd8ad8", "submit", "subsegment"));
    let annotations =
        json!({"Operation": "Submit", "Outcome": "ok", "Status": 201, "Request": "the-request", "Team": 4});
    assert_eq!(segment["annotations"], annotations);
    let seconds = |of: &Value, name: &str| of[name].as_f64().unwrap();
    let (began, ended) = (seconds(&segment, "start_time"), seconds(&segment, "end_time"));
    let calls = segment["subsegments"].as_array().unwrap();
    let operations: Vec<&str> = calls.iter().map(|call| call["aws"]["operation"].as_str().unwrap()).collect();
    for operation in ["BatchGetItem", "TransactWriteItems"] {
        assert!(operations.contains(&operation), "{operation}: {operations:?}");
    }
    for call in calls {
        assert_eq!((&call["name"], &call["namespace"]), (&json!("DynamoDB"), &json!("aws")));
        assert!(began <= seconds(call, "start_time") && seconds(call, "end_time") <= ended, "{call}");
        assert!(call["id"].as_str().is_some_and(|id| id.len() == 16), "{call}");
    }
    // A segment must not contain names or content of the request.
    for word in ["anary", "wesome", "VM"] {
        assert!(!all[0].contains(word), "{word}: {}", all[0]);
    }
}

#[test]
fn an_untraced_invocation_sends_no_segment() {
    let system = Running::demo();
    let unsampled = TRACED.replace("Sampled=1", "Sampled=0");
    assert_eq!(segments(&system, None), Vec::<String>::new());
    for header in [unsampled.as_str(), "", "Root=1-2-3;Sampled=1", "Sampled=1;=;;"] {
        assert_eq!(segments(&system, Some(header)), Vec::<String>::new(), "{header}");
    }
}

#[test]
fn without_a_daemon_the_request_is_answered() {
    let system = Running::demo();
    let unused_address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let tracer = Tracer::to(&unused_address);
    let (key, authorizer) = (CursorKey::new("secret"), Authorizer::default());
    let (fair_use, console) = (Arc::default(), &functions::PLAIN_CONSOLE);
    for _ in 0..2 {
        let answering = functions::answer(&system.table, &key, &authorizer, &fair_use, console, submission());
        let (reply, observed) = system.block_on(observed(answering));
        tracer.send("submit", Some(TRACED.to_owned()), &observed.trace, &[]);
        assert!([200, 201].contains(&reply.status_code), "{reply:?}");
    }
}
