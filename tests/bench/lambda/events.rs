//! Events in the form of API Gateway and of the stream.

use aws_lambda_events::apigw::ApiGatewayRequestAuthorizer;
use dovetail_emulator::gateway::{Received, to_event};
use dovetail_http::{AuthorizerEvent, Identity, authorizer_response, valid_key};
use hyper::Request;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use support::Running;
use time::OffsetDateTime;

pub(super) const CONSUMER: &str = "/v1/orcabase/consumer";
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

/// Returns one simple event for each function. Repeated invocations write nothing new.
pub(super) fn simple(system: &Running) -> Vec<(&'static str, String)> {
    let vm = json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": "vm", "cpu": 8}]}}}});
    let submitted = system.call("POST", &format!("{CONSUMER}/submissions/submit/"), "awesome-key", &vm);
    let change = format!("{OWNER}/change_instances/{}/", submitted.at("/change_instances/0/id"));
    let approved = json!({"state": "APPROVED"});
    system.call("PATCH", &change, "vm-owner-key", &approved);
    let schema = json!({"title": "New", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
    let validate = format!("{CONSUMER}/submissions/validate/");
    let null = Value::Null;
    let records = system.stream(None);
    let of_submission =
        records.iter().find(|record| record["dynamodb"]["NewImage"]["ty"]["S"] == "SUBMISSION");
    let batch = json!({"Records": [of_submission]}).to_string();
    vec![
        ("submit", request(system, "POST", &validate, "awesome-key", &vm)),
        ("list", request(system, "GET", "/v1/account/teams/", "awesome-key", &null)),
        ("update-state", request(system, "PATCH", &change, "vm-owner-key", &approved)),
        ("history", request(system, "GET", &format!("{change}history/"), "vm-owner-key", &null)),
        ("catalog", request(system, "POST", &format!("{OWNER}/services/validate/"), "vm-owner-key", &schema)),
        ("about", request(system, "GET", "/v1/health", "awesome-key", &null)),
        ("web-console", request(system, "GET", "/", "awesome-key", &null)),
        ("account", request(system, "GET", "/v1/account/api_keys", "awesome-key", &null)),
        ("authorize", authorization(Some("awesome-key"))),
        ("generate", batch.clone()),
        ("notify", batch),
        ("sweep", "{}".to_owned()),
    ]
}

/// Panics unless the function accepted the event: a request has a status below 300, a batch has no failures.
pub(super) fn assert_answered(name: &str, reply: &[u8]) {
    let reply: Value = serde_json::from_slice(reply).unwrap();
    let status = reply["statusCode"].as_u64().unwrap_or(200);
    assert!(status < 300, "{name}: {reply}");
    let failed = reply.get("batchItemFailures").and_then(Value::as_array).map_or(0, Vec::len);
    assert_eq!(failed, 0, "{name}: {reply}");
}
