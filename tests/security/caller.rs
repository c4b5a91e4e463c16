//! The caller of a function: from API Gateway's authorizer, or without a gateway from the API key alone.

use domain::base::actor::Actor;
use dovetail_aws::observed;
use dovetail_daemon::verdicts::Verdicts;
use dovetail_http::{Call, Event, Front, Function, Reply, answer, respond};
use serde_json::{Value, json};
use support::Running;

const KNOWN: &str = "Api-Key awesome-key";
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

/// Returns the status of a function's response, and its caller, request id and base URL.
fn answered(system: &Running, front: Front, event: Event) -> (i64, Value) {
    let reply = system.block_on(async {
        let event = front.event(&system.table, "of-the-invocation".to_owned(), event).await.unwrap();
        let handle = async |call: Call| {
            let team = format!(
                "{} {} {}",
                call.caller.team.name,
                call.caller.role.name(),
                Actor::from(&call.caller).changed_by()
            );
            Ok(Reply::new(200, json!({"caller": team, "request": call.request, "base": call.base})))
        };
        respond(event, |request| answer(request, Function::List, handle)).await
    });
    (reply.status_code, serde_json::from_slice(&reply.body.unwrap()).unwrap())
}

#[test]
fn the_caller_comes_from_the_gateway_or_without_one_from_the_key() {
    let system = Running::demo();
    let told = json!({"team": "1", "teamName": "VMOwnerTeam", "role": "GENERAL", "key": "told"});
    let half = json!({"team": "1", "teamName": "VMOwnerTeam", "role": "GENERAL"});
    let gateway = Some("VMOwnerTeam GENERAL told (Api Key)");
    let key = Some("AwesomeConsumer ADMIN AwesomeConsumer-1 (Api Key)");
    // Header and context of the event, then the expected caller behind API Gateway and without it.
    let table = [
        (None, None, None, None),
        (None, Some(&told), gateway, None),
        (None, Some(&half), None, None),
        (Some(UNKNOWN), None, None, None),
        (Some(UNKNOWN), Some(&told), gateway, None),
        (Some("Bearer awesome-key"), Some(&told), gateway, None),
        (Some(KNOWN), None, None, key),
        (Some(KNOWN), Some(&told), gateway, key),
        (Some(KNOWN), Some(&half), None, key),
    ];
    for (authorization, context, behind_gateway, behind_nothing) in table {
        for (front, expected) in [(Front::Gateway, behind_gateway), (Front::Nothing, behind_nothing)] {
            let (status, body) = answered(&system, front, event(authorization, context));
            let found = (status, body["caller"].as_str());
            let expected = (if expected.is_some() { 200 } else { 401 }, expected);
            assert_eq!(found, expected, "{front:?}, {authorization:?}, {context:?}: {body}");
        }
    }
}

#[test]
fn with_no_gateway_the_invocation_names_the_request_and_urls_are_plain_http() {
    let system = Running::demo();
    let told = json!({"team": "1", "teamName": "VMOwnerTeam", "role": "GENERAL", "key": "told"});
    let seen = |front, scheme: Option<&str>| {
        let mut event = event(Some(KNOWN), Some(&told));
        if let Some(scheme) = scheme {
            event.headers.insert("x-forwarded-proto", scheme.parse().unwrap());
        }
        let (_, body) = answered(&system, front, event);
        format!("{} {}", body["request"].as_str().unwrap(), body["base"].as_str().unwrap())
    };
    assert_eq!(seen(Front::Gateway, None), "of-the-event https://127.0.0.1:9001");
    assert_eq!(seen(Front::Nothing, None), "of-the-invocation http://127.0.0.1:9001");
    assert_eq!(seen(Front::Nothing, Some("https")), "of-the-invocation https://127.0.0.1:9001");
}

#[test]
fn the_gateway_asks_once_who_a_known_caller_is() {
    let system = Running::demo();
    let verdicts = Verdicts::default();
    // Header, expected team, and storage calls of three identical requests. A known caller comes from the cache.
    let table = [
        (Some(KNOWN), Some("AwesomeConsumer"), [1, 0, 0]),
        (Some(UNKNOWN), None, [1, 1, 1]),
        (Some("Api-Key vm-owner-key"), Some("VMOwnerTeam"), [1, 0, 0]),
        (Some(KNOWN), Some("AwesomeConsumer"), [0, 0, 0]),
        (None, None, [0, 0, 0]),
    ];
    for (sent, team, calls) in table {
        for calls in calls {
            let event = event(sent, None);
            let (verdict, observed) = system.block_on(observed(verdicts.on(&system.table, &event)));
            let told = verdict.unwrap().fields.get("teamName").and_then(Value::as_str).map(str::to_owned);
            assert_eq!((told.as_deref(), observed.cost.round_trips), (team, calls), "{sent:?}");
        }
    }
}
