//! The Lambda functions in this process: those behind API Gateway, and those that the stream, the queue and the
//! schedule invoke.

use dovetail_aws::with_places;
use dovetail_emulator::{
    gateway::plain,
    mapping::{GENERATE, Mapping, NOTIFY},
};
use dovetail_events::Bus;
use dovetail_http::{
    Answering, CursorKey, Event, EventReply, FairUse, Function, Request, function_of, respond,
};
use dovetail_outbound::{Outbound, Targets};
use dovetail_queue::Queue;
use dovetail_table::{
    Table,
    stream::{FILTER_EVENTS, FILTER_WORK},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Semaphore;
pub use web_console::Settings as ConsoleSettings;

use crate::authorizer::Authorizer;

/// Returns the event source mappings of the stream with their filters.
pub fn mappings() -> Result<Vec<Mapping>, String> {
    Ok(vec![Mapping::new(GENERATE, &[FILTER_WORK])?, Mapping::new(NOTIFY, &[FILTER_EVENTS])?])
}

/// Settings of a console without a sign-in of people and without demo teams.
pub static PLAIN_CONSOLE: ConsoleSettings = ConsoleSettings::NONE;

/// The clients of the functions.
#[derive(Debug)]
pub struct Handles {
    pub table: Table,
    pub bus: Bus,
    pub queue: Queue,
    /// Client for the receivers of webhooks; it allows this machine, where most of them run.
    pub outbound: Outbound,
    /// Key that signs the positions in lists.
    pub cursor_key: CursorKey,
    /// Cache of authorizer responses.
    pub authorizer: Authorizer,
    /// Token buckets of the teams, for all functions together.
    pub fair_use: Arc<FairUse>,
    /// Settings of the web console.
    pub console: ConsoleSettings,
}

/// Answers a request of the API: authorizes it and calls the function of its route.
pub async fn answer(
    table: &Table,
    cursor_key: &CursorKey,
    authorizer: &Authorizer,
    fair_use: &Arc<FairUse>,
    console: &ConsoleSettings,
    mut event: Event,
) -> EventReply {
    let path = event.raw_path.clone().unwrap_or_default();
    let Ok(response) = authorizer.on(table, &event).await else {
        // API Gateway answers this when an authorizer fails.
        return plain(500, &json!({"message": "Internal Server Error"}));
    };
    event.request_context.authorizer = Some(response);
    let function = function_of(event.request_context.http.method.as_str(), &path);
    let outbound = Outbound::new(Targets::Any);
    respond(event, |mut request| {
        request.extensions_mut().insert(Arc::clone(fair_use));
        handle(function, table, cursor_key, &outbound, console, request)
    })
    .await
}

/// Calls a function behind API Gateway.
pub fn handle<'a>(
    function: Function,
    table: &'a Table,
    cursor_key: &'a CursorKey,
    outbound: &'a Outbound,
    console: &'a ConsoleSettings,
    request: Request,
) -> Answering<'a> {
    match function {
        Function::Submit => submit::handle(table, cursor_key, request),
        Function::List => list::handle(table, cursor_key, request),
        Function::UpdateState => update_state::handle(table, request),
        Function::History => history::handle(table, cursor_key, request),
        Function::Catalog => catalog::handle(table, cursor_key, request),
        Function::About => about::handle(table, request),
        Function::WebConsole => web_console::handle(console, request),
        Function::Account => account::handle(table, cursor_key, request),
        Function::Webhooks => webhooks::handle(table, cursor_key, outbound, request),
    }
}

/// Invokes a function that has no route in the API.
pub async fn invoke(handles: &Handles, function: &str, payload: Value) -> Result<Value, String> {
    // The engine serves one call after the other, and requests must not wait for a hundred of them.
    with_places(Arc::new(Semaphore::new(1)), invoked(handles, function, payload)).await
}

async fn invoked(handles: &Handles, function: &str, payload: Value) -> Result<Value, String> {
    match function {
        "generate" => reply(Ok(generate::handle(&handles.table, event(payload)?).await)),
        "notify" => reply(Ok(notify::handle(&handles.bus, event(payload)?).await)),
        "deliver" => {
            let Handles { table, queue, outbound, .. } = handles;
            let (table, queue, outbound) = (table.clone(), queue.clone(), outbound.clone());
            let handles = deliver::Handles { table, queue, outbound };
            reply(Ok(deliver::handle(&handles, event(payload)?).await.0))
        }
        "sweep" => {
            let swept = sweep::answer(&handles.table, &handles.queue, event(payload)?, false).await;
            reply(swept.map(|answer| answer.reply))
        }
        other => Err(format!("function {other} does not exist")),
    }
}

fn event<T: DeserializeOwned>(payload: Value) -> Result<T, String> {
    serde_json::from_value(payload).map_err(|error| error.to_string())
}

fn reply<T: Serialize>(reply: Result<T, dovetail_table::Error>) -> Result<Value, String> {
    serde_json::to_value(reply.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}
