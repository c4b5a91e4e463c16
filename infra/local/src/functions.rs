//! The functions in this process: those behind API Gateway, where the authorizer comes first and then the
//! function that the route leads to, and those that the stream and the schedule invoke.

use std::time::Duration;

use aws_lambda_events::apigw::ApiGatewayRequestAuthorizer;
use dovetail_events::Bus;
use dovetail_http::{AuthorizerEvent, CursorKey, Event, EventReply, Function, function_of};
use dovetail_table::{
    Table,
    stream::{FILTER_OWED, FILTER_TOLD},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    control::plain,
    mapping::{Mapping, Settings, delivery::Policy},
};

/// How the stream reaches `generate`.
pub const GENERATE: Settings = Settings {
    function: "generate",
    batch_size: 10,
    batch_window: Duration::ZERO,
    policy: Policy {
        retries: 5,
        bisect: true,
        record_age: Duration::from_secs(3_600),
        pause: Duration::from_millis(100),
    },
};

/// How the stream reaches `notify`.
pub const NOTIFY: Settings = Settings {
    function: "notify",
    batch_size: 100,
    batch_window: Duration::ZERO,
    policy: Policy {
        retries: 20,
        bisect: true,
        record_age: Duration::from_secs(21_600),
        pause: Duration::from_millis(100),
    },
};

/// The functions that the stream invokes, each with the filters of its records.
pub fn mappings() -> Result<Vec<Mapping>, String> {
    Ok(vec![Mapping::new(GENERATE, &[FILTER_OWED])?, Mapping::new(NOTIFY, &[FILTER_TOLD])?])
}

/// What the functions reach.
#[derive(Debug)]
pub struct Handles {
    /// The tables on the engine.
    pub table: Table,
    /// The event bus.
    pub bus: Bus,
    /// What positions in lists are signed with.
    pub cursor_key: CursorKey,
}

/// Answers a request as the deployed system would.
pub async fn answer(table: &Table, cursor_key: &CursorKey, mut event: Event) -> EventReply {
    let path = event.raw_path.clone().unwrap_or_default();
    let asked = authorize::handle(table, authorizer_event(&event)).await;
    let Ok(verdict) = asked else {
        // As API Gateway answers when an authorizer fails.
        return plain(500, &json!({"message": "Internal Server Error"}));
    };
    let mut authorizer = ApiGatewayRequestAuthorizer::default();
    authorizer.fields = verdict.context.into_iter().collect();
    event.request_context.authorizer = Some(authorizer);
    match function_of(event.request_context.http.method.as_str(), &path) {
        Function::Submit => submit::handle(table, event).await,
        Function::List => list::handle(table, cursor_key, event).await,
        Function::UpdateState => update_state::handle(table, event).await,
        Function::History => history::handle(table, event).await,
        Function::Catalog => catalog::handle(table, event).await,
    }
}

fn authorizer_event(event: &Event) -> AuthorizerEvent {
    let mut asked = AuthorizerEvent::default();
    asked.version = Some("2.0".to_owned());
    asked.type_ = Some("REQUEST".to_owned());
    asked.raw_path.clone_from(&event.raw_path);
    asked.raw_query_string.clone_from(&event.raw_query_string);
    asked.headers.clone_from(&event.headers);
    asked.request_context = event.request_context.clone();
    asked
}

/// Invokes a function that no request leads to.
pub async fn invoke(handles: &Handles, function: &str, payload: Value) -> Result<Value, String> {
    match function {
        "generate" => reply(Ok(generate::handle(&handles.table, event(payload)?).await)),
        "notify" => reply(Ok(notify::handle(&handles.bus, event(payload)?).await)),
        "sweep" => reply(sweep::handle(&handles.table, event(payload)?).await),
        other => Err(format!("there is no function {other}")),
    }
}

fn event<T: DeserializeOwned>(payload: Value) -> Result<T, String> {
    serde_json::from_value(payload).map_err(|error| error.to_string())
}

fn reply<T: Serialize>(reply: Result<T, dovetail_table::Error>) -> Result<Value, String> {
    serde_json::to_value(reply.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}
