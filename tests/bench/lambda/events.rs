//! Events in the form of API Gateway and of the stream.

use crate::built;
use crate::rates::SUBMIT;
use aws_lambda_events::apigw::ApiGatewayRequestAuthorizer;
use dovetail_emulator::gateway::{Received, to_event};
use dovetail_emulator::queue;
use dovetail_http::{AuthorizerEvent, Identity, authorizer_response, valid_key};
use hyper::Request;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use support::Running;
use time::OffsetDateTime;

pub(super) const OWNER: &str = "/v1/orcabase/serviceowner";

static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// Returns a request with an API key as API Gateway delivers it, with the authorizer's response.
pub(super) fn request(system: &Running, method: &str, path: &str, key: &str, body: &Value) -> String {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("authorization", format!("Api-Key {key}"))
        .header("content-type", "application/json")
        .body(())
        .unwrap();
    let (parts, ()) = request.into_parts();
    let received = Received {
        id: format!("JKJaXmPLvH{:05}=", REQUESTS.fetch_add(1, Ordering::Relaxed)),
        at: OffsetDateTime::now_utc(),
        client: "127.0.0.1:1".parse().unwrap(),
        port: 443,
    };
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let mut event = to_event(&parts, body, &received);
    let key = system.block_on(valid_key(&system.table, &event.headers)).unwrap();
    let mut authorizer = ApiGatewayRequestAuthorizer::default();
    authorizer.fields = authorizer_response(key.map(Identity::Key).as_ref()).context.into_iter().collect();
    event.request_context.authorizer = Some(authorizer);
    serde_json::to_string(&event).unwrap()
}

/// Returns an event of the authorizer. Without an API key, the authorizer responds at once.
pub(super) fn authorization(key: Option<&str>) -> String {
    let mut event = AuthorizerEvent::default();
    event.version = Some("2.0".to_owned());
    event.type_ = Some("REQUEST".to_owned());
    event.raw_path = Some(format!("{OWNER}/change_instances/"));
    if let Some(key) = key {
        event.headers.insert("authorization", format!("Api-Key {key}").parse().unwrap());
    }
    serde_json::to_string(&event).unwrap()
}

/// An event that can be repeated: a repetition writes nothing new.
pub(super) struct Simple {
    pub(super) function: &'static str,
    /// The work of a repeated event.
    pub(super) operation: &'static str,
    pub(super) event: String,
}

/// Returns one simple event for each function.
///
/// # Panics
///
/// Panics if a function has no event.
pub(super) fn simple(system: &Running) -> Vec<Simple> {
    let vm = json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": "vm", "cpu": 8}]}}}});
    let submitted = system.call("POST", SUBMIT, "awesome-key", &vm);
    let change = format!("{OWNER}/change_instances/{}/", submitted.at("/change_instances/0/id"));
    let approved = json!({"state": "APPROVED"});
    system.call("PATCH", &change, "vm-owner-key", &approved);
    let of_submission = submissions(system).swap_remove(0);
    let batch = json!({"Records": [of_submission]}).to_string();
    let all = requests(system, &vm, &change).into_iter().chain(background(system, batch));
    let simple = |(function, operation, event)| Simple { function, operation, event };
    let all: Vec<Simple> = all.map(simple).collect();
    let mut names: Vec<&str> = all.iter().map(|simple| simple.function).collect();
    names.sort_unstable();
    assert_eq!(names, built::functions(), "each function has a simple event");
    all
}

/// A function, an operation, and an event.
type Event = (&'static str, &'static str, String);

/// Returns an event for each function with requests.
fn requests(system: &Running, vm: &Value, change: &str) -> [Event; 9] {
    let of_owner = |method, path: &str, body: &Value| request(system, method, path, "vm-owner-key", body);
    let of_consumer = |method, path: &str, body: &Value| request(system, method, path, "awesome-key", body);
    let null = Value::Null;
    let schema = json!({"title": "New", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
    let validate = "/v1/orcabase/consumer/submissions/validate/";
    let history = format!("{change}history/");
    let services = format!("{OWNER}/services/validate/");
    [
        ("submit", "a preview without a change", of_consumer("POST", validate, vm)),
        ("list", "the list of teams", of_consumer("GET", "/v1/account/teams/", &null)),
        ("update-state", "a repeated approval", of_owner("PATCH", change, &json!({"state": "APPROVED"}))),
        ("history", "a history", of_owner("GET", &history, &null)),
        ("catalog", "a check of a definition", of_owner("POST", &services, &schema)),
        ("about", "the health", of_consumer("GET", "/v1/health", &null)),
        ("web-console", "the page", of_consumer("GET", "/", &null)),
        ("account", "the list of API keys", of_consumer("GET", "/v1/account/api_keys", &null)),
        ("webhooks", "the list of webhooks", of_owner("GET", "/v1/external/serviceowner/webhooks/", &null)),
    ]
}

/// Returns an event for each other function.
fn background(system: &Running, batch: String) -> [Event; 5] {
    system.wait_idle();
    let rule = queue::rule().unwrap();
    let published = system.events(0).into_iter().map(|published| published.envelope);
    let event = published.into_iter().find(|event| rule.matches(event)).unwrap();
    [
        ("authorize", "an API key", authorization(Some("awesome-key"))),
        ("generate", "a submission without generated change instances", batch.clone()),
        ("notify", "a record without new events", batch),
        ("deliver", "an event without a webhook", messages(&[event.to_string()])),
        ("sweep", "a minute without work", "{}".to_owned()),
    ]
}

/// Returns messages of the queue as a batch.
pub(super) fn messages(bodies: &[String]) -> String {
    let record = |body: &String| json!({"messageId": "1", "body": body});
    json!({"Records": bodies.iter().map(record).collect::<Vec<_>>()}).to_string()
}

/// Returns the records of submissions in the stream, in order.
pub(super) fn submissions(system: &Running) -> Vec<Value> {
    let mut records = system.stream(None);
    records.retain(|record| record["dynamodb"]["NewImage"]["ty"]["S"] == "SUBMISSION");
    records
}

/// Panics unless the function accepted the event: a request has a status below 300, a batch has no failures.
pub(super) fn assert_answered(name: &str, reply: &[u8]) {
    let reply: Value = serde_json::from_slice(reply).unwrap();
    let status = reply["statusCode"].as_u64().unwrap_or(200);
    assert!(status < 300, "{name}: {reply}");
    let failed = reply.get("batchItemFailures").and_then(Value::as_array).map_or(0, Vec::len);
    assert_eq!(failed, 0, "{name}: {reply}");
}
