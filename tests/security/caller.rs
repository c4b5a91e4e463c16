//! The caller of a function: from API Gateway's authorizer, or without a gateway from the API key alone.

use domain::base::actor::Actor;
use dovetail_aws::observed;
use dovetail_daemon::authorizer::Authorizer;
use dovetail_http::{AuthMode, Call, Event, Function, Reply, answer, respond};
use serde_json::{Value, json};
use support::Running;

const STORED_KEY: &str = "Api-Key awesome-key";
const UNKNOWN: &str = "Api-Key nobodys-key";

/// Returns an event with its own request id and, if `context` has one, its own caller.
fn event(authorization: Option<&str>, context: Option<&Value>) -> Event {
    let mut event = Event::default();
    event.raw_path = Some("/v1/account/teams/".to_owned());
    event.headers.insert("host", "127.0.0.1:9001".parse().unwrap());
    if let Some(authorization) = authorization {
        event.headers.insert("authorization", authorization.parse().unwrap());
    }
    event.request_context.request_id = Some("of-the-event".to_owned());
    if let Some(context) = context {
        let mut authorizer = event.request_context.authorizer.take().unwrap_or_default();
        authorizer.fields = serde_json::from_value(context.clone()).unwrap();
        event.request_context.authorizer = Some(authorizer);
    }
    event
}

fn gateway_context() -> Value {
    json!({"team": "1", "teamName": "VMOwnerTeam", "role": "GENERAL", "key": "from-gateway"})
}

/// Returns the status of a function's response, and its caller, request id and base URL.
fn answered(system: &Running, auth_mode: AuthMode, event: Event) -> (i64, Value) {
    let reply = system.block_on(async {
        let event =
            auth_mode.event(Some(&system.table), "of-the-invocation".to_owned(), event).await.unwrap();
        let handle = async |call: Call| {
            let (team, role) = (&call.caller.team.name, call.caller.role.name());
            let caller = format!("{team} {role} {}", Actor::from(&call.caller).changed_by());
            Reply::new(200, json!({"caller": caller, "request": call.request, "base": call.base}))
        };
        respond(event, |request| answer(request, Function::List, handle)).await
    });
    (reply.status_code, serde_json::from_slice(&reply.body.unwrap()).unwrap())
}

#[test]
fn the_caller_comes_from_the_gateway_or_without_one_from_the_key() {
    let system = Running::demo();
    let gateway_context = gateway_context();
    let half = json!({"team": "1", "teamName": "VMOwnerTeam", "role": "GENERAL"});
    let gateway = Some("VMOwnerTeam GENERAL from-gateway (Api Key)");
    let key = Some("AwesomeConsumer ADMIN AwesomeConsumer-1 (Api Key)");
    // Header and context of the event, then the expected caller behind API Gateway and without it.
    let table = [
        (None, None, None, None),
        (None, Some(&gateway_context), gateway, None),
        (None, Some(&half), None, None),
        (Some(UNKNOWN), None, None, None),
        (Some(UNKNOWN), Some(&gateway_context), gateway, None),
        (Some("Bearer awesome-key"), Some(&gateway_context), gateway, None),
        (Some(STORED_KEY), None, None, key),
        (Some(STORED_KEY), Some(&gateway_context), gateway, key),
        (Some(STORED_KEY), Some(&half), None, key),
    ];
    for (authorization, context, behind_gateway, behind_nothing) in table {
        let modes = [(AuthMode::Gateway, behind_gateway), (AuthMode::Nothing, behind_nothing)];
        for (auth_mode, expected) in modes {
            let (status, body) = answered(&system, auth_mode, event(authorization, context));
            let actual = (status, body["caller"].as_str());
            let expected = (if expected.is_some() { 200 } else { 401 }, expected);
            assert_eq!(actual, expected, "{auth_mode:?}, {authorization:?}, {context:?}: {body}");
        }
    }
}

#[test]
fn with_no_gateway_the_invocation_names_the_request_and_urls_are_plain_http() {
    let system = Running::demo();
    let gateway_context = gateway_context();
    let seen = |auth_mode, scheme: Option<&str>| {
        let mut event = event(Some(STORED_KEY), Some(&gateway_context));
        if let Some(scheme) = scheme {
            event.headers.insert("x-forwarded-proto", scheme.parse().unwrap());
        }
        let (_, body) = answered(&system, auth_mode, event);
        format!("{} {}", body["request"].as_str().unwrap(), body["base"].as_str().unwrap())
    };
    assert_eq!(seen(AuthMode::Gateway, None), "of-the-event https://127.0.0.1:9001");
    assert_eq!(seen(AuthMode::Nothing, None), "of-the-invocation http://127.0.0.1:9001");
    assert_eq!(seen(AuthMode::Nothing, Some("https")), "of-the-invocation https://127.0.0.1:9001");
}

#[test]
fn the_gateway_authorizes_a_caller_once_and_caches_the_result() {
    let system = Running::demo();
    let authorizer = Authorizer::default();
    // Header, expected team, and storage calls of three identical requests. A known caller comes from the cache.
    let table = [
        (Some(STORED_KEY), Some("AwesomeConsumer"), [1, 0, 0]),
        (Some(UNKNOWN), None, [1, 1, 1]),
        (Some("Api-Key vm-owner-key"), Some("VMOwnerTeam"), [1, 0, 0]),
        (Some(STORED_KEY), Some("AwesomeConsumer"), [0, 0, 0]),
        (None, None, [0, 0, 0]),
    ];
    for (sent, team, calls) in table {
        for calls in calls {
            let event = event(sent, None);
            let (response, observed) = system.block_on(observed(authorizer.on(&system.table, &event)));
            let fields = response.unwrap().fields;
            let team_name = fields.get("teamName").and_then(Value::as_str);
            assert_eq!((team_name, observed.cost.round_trips), (team, calls), "{sent:?}");
        }
    }
}
