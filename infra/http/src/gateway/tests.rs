//! Generated events: none causes a panic, and each call has the parts of its event.

mod sent;

use super::*;
use crate::answer::answer;
use crate::call::Call;
use crate::event::QUERY_BYTES_MAX;
use crate::gateway::tests::sent::Sent;
use crate::operation::Function;
use crate::query::Query;
use crate::reply::{Content, Reply};
use futures_util::FutureExt as _;
use lambda_http::Context;
use serde_json::{Value, json};
use std::sync::Mutex;

/// Number of generated events.
const EVENTS: u64 = 5_000;

/// Returns the call of an event, if there was one, and the response.
fn seen(event: Event, function: Function, reply: &Reply) -> (Option<Call>, EventReply) {
    let called = Mutex::new(None);
    let handle = async |call: Call| {
        *called.lock().unwrap() = Some(call);
        Ok(reply.clone())
    };
    let reply = respond(event, |request| answer(request, function, handle)).now_or_never().unwrap();
    (called.into_inner().unwrap(), reply)
}

/// Returns the response that Lambda gets for an event.
fn adapted(event: Event, function: Function, reply: &Reply) -> Value {
    let (event, original) = checked(event);
    let handle = |request| answer(request, function, async |_| Ok(reply.clone()));
    let handler = Handler { handle: &handle, original: Some(original) };
    let event = LambdaEvent::new(LambdaRequest::ApiGatewayV2(event), Context::default());
    let response = Adapter::from(handler).call(event).now_or_never().unwrap().unwrap();
    serde_json::to_value(response).unwrap()
}

fn reply(sent: &mut Sent) -> Reply {
    let text = sent.response();
    let mut reply = Reply::new(200, json!({"state": text})).unwrap();
    if sent.rng.bool() {
        reply.headers.push(("vary", "Accept".to_owned()));
        reply.body = Content::Text(text.into());
    }
    reply
}

#[test]
fn a_call_has_the_parts_of_its_event() {
    let mut calls = 0;
    for seed in 0..EVENTS {
        let mut sent = Sent::new(seed);
        let function = sent.function();
        let (call, response) = seen(sent.event(), function, &Reply::nothing());
        let status = if call.is_some() { 204..205 } else { 400..500 };
        assert!(status.contains(&response.status_code), "{seed}: {response:?}");
        let Some(call) = call else { continue };
        calls += 1;
        assert_eq!(call.method, sent.method.as_str(), "{seed}");
        assert_eq!(Some(call.path), sent.path, "{seed}");
        assert_eq!(call.query, Query::parse(sent.query.as_deref().unwrap_or_default()), "{seed}");
        let stage = sent.stage.as_deref().filter(|stage| *stage != "$default");
        let prefix = stage.map(|stage| format!("/{stage}")).unwrap_or_default();
        let host = sent.link_host().unwrap_or("localhost");
        assert_eq!(call.base, format!("{}://{host}{prefix}", sent.scheme()), "{seed}");
        if let Some(body) = sent.body.filter(|_| !sent.is_base64) {
            assert_eq!(call.body, body.into_bytes(), "{seed}");
        }
    }
    assert!(calls > EVENTS / 5, "{calls} calls of {EVENTS} events");
}

#[test]
fn lambda_gets_the_response_of_the_local_gateway() {
    for seed in 0..EVENTS {
        let mut sent = Sent::new(seed);
        let (event, function, reply) = (sent.event(), sent.function(), reply(&mut sent));
        let (_, response) = seen(event.clone(), function, &reply);
        assert_eq!(serde_json::to_value(&response).unwrap(), adapted(event, function, &reply), "{seed}");
    }
}

#[test]
fn a_query_is_limited_in_its_encoded_form() {
    let mut event = Event::default();
    event.raw_path = Some("/v1/orcabase/consumer/services/".to_owned());
    let mut authorizer = event.request_context.authorizer.take().unwrap_or_default();
    let caller = json!({"team": "1", "teamName": "Team", "role": "ADMIN", "key": "k"});
    authorizer.fields = serde_json::from_value(caller).unwrap();
    event.request_context.authorizer = Some(authorizer);
    let max = QUERY_BYTES_MAX;
    let table = [("x", max, 204), ("x", max + 1, 400), (" ", max / 3, 204), (" ", max / 3 + 1, 400)];
    for (text, times, status) in table {
        event.raw_query_string = Some(text.repeat(times));
        let (_, response) = seen(event.clone(), Function::List, &Reply::nothing());
        assert_eq!(response.status_code, status, "{text:?} {times}");
    }
    for path in ["/x".repeat(40_000), "x".repeat(70_000), "ä".repeat(40_000)] {
        event.raw_path = Some(path);
        let (_, response) = seen(event.clone(), Function::List, &Reply::nothing());
        assert_eq!(response.status_code, 404);
    }
}
