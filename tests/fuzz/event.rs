//! Target `event`: every event of API Gateway gets an answer. A function only gets calls with a permitted caller.

use domain::base::actor::Identity;
use domain::model::declaration::BODY_BYTES_MAX;
use dovetail_http::{Call, Code, Event, EventReply, Function, ROUTES, Reply, answer, respond};
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::sync::Mutex;

const FUNCTIONS: [Function; 5] =
    [Function::Submit, Function::List, Function::UpdateState, Function::History, Function::Catalog];

pub(crate) fn answered(bytes: &[u8]) {
    let Ok(event) = serde_json::from_slice::<Event>(bytes) else { return };
    let mut reached = 0;
    for function in FUNCTIONS {
        let (called, reply) = call(event.clone(), function);
        match called {
            Some(call) => {
                reached += 1;
                allowed(&event, function, &call);
                assert_eq!(reply.status_code, 200);
            }
            None => refused(&reply),
        }
    }
    assert!(reached <= 1, "one request reaches at most one function, not {reached}");
}

/// Returns the call of a function, if it gets the request, and the response.
pub(crate) fn call(event: Event, function: Function) -> (Option<Call>, EventReply) {
    let called = Mutex::new(None);
    let handle = async |call: Call| {
        *called.lock().unwrap() = Some(call);
        Reply::new(200, json!({"done": true}))
    };
    let reply = respond(event, |request| answer(request, function, handle)).now_or_never().unwrap();
    (called.into_inner().unwrap(), reply)
}

fn allowed(event: &Event, function: Function, call: &Call) {
    let method = call.method.as_str();
    let route = ROUTES
        .iter()
        .find(|route| route.operation == call.operation && route.methods.contains(&method))
        .unwrap();
    assert_eq!(route.function, function);
    assert!(route.access.is_open_to(call.caller.role), "the role has access");
    let context = &event.request_context.authorizer.as_ref().unwrap().fields;
    // The caller must come from the authorizer, not from another part of the event.
    let (name, of) = match &call.caller.identity {
        Identity::Key(name) => (name, vec![json!(context)]),
        Identity::Person(name) => {
            (name, serde_json::from_str(context["memberships"].as_str().unwrap()).unwrap())
        }
    };
    let is_it = |of: &Value| {
        let field = |name: &str| of[name].as_str().unwrap_or_default();
        field("team").parse() == Ok(call.caller.team.id.get())
            && field("teamName") == call.caller.team.name
            && field("role") == call.caller.role.name()
            && [field("key"), field("person")].contains(&name.as_str())
    };
    assert!(of.iter().any(is_it), "{of:?}");
    // Decompression must stop at the limit, or a small body could fill the memory.
    if event.headers.contains_key("content-encoding") {
        assert!(call.body.len() <= BODY_BYTES_MAX.max(event.body.as_deref().map_or(0, str::len)) + 1);
    }
    if let Ok(object) = call.object() {
        let text = Value::Object(object.clone()).to_string();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), Value::Object(object));
    }
    if let Ok(Some(key)) = call.idempotency_key() {
        assert!((1..=255).contains(&key.len()), "{key}");
    }
    // The debug output reaches logs, which must not contain names. A short name can occur in it by chance.
    assert!(!format!("{call:?}").contains(name) || name.len() < 8, "a log has no name");
}

fn refused(reply: &EventReply) {
    let text = match &reply.body {
        Some(body) => str::from_utf8(body.as_ref()).unwrap(),
        None => panic!("a refusal has a body"),
    };
    let problem: Value = serde_json::from_str(text).unwrap();
    let code = Code::ALL.into_iter().find(|code| problem["code"] == code.name()).unwrap();
    assert_eq!(i64::from(code.status()), reply.status_code);
    assert!((400..500).contains(&reply.status_code), "{text}");
    assert_eq!(reply.headers["content-type"], "application/problem+json");
}
