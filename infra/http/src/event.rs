//! API Gateway's events (payload format 2.0): an event in, a call made of it, a reply out.

use crate::call::Call;
use crate::caller;
use crate::code::Code;
use crate::gzip;
use crate::query::Query;
use crate::reply::{Content, Failure, Reply};
use crate::route::{self, Access, Found, Function, Operation};
use crate::told;
use aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use aws_lambda_events::encodings::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dovetail_table::{Cost, metered};
use http::{HeaderMap, HeaderValue, header};
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;

/// A request as API Gateway sends it to a function.
pub type Event = ApiGatewayV2httpRequest;

/// A reply as API Gateway takes it from a function.
pub type EventReply = ApiGatewayV2httpResponse;

/// A function's answer, being worked out: compiled with the function, once, and not with each program it is a part of.
pub type Answering<'a> = Pin<Box<dyn Future<Output = EventReply> + Send + 'a>>;

/// Answers one event: makes a call of it, lets `handle` answer, makes an event of the reply; a success tells its cost.
pub fn answer<'a, H, A>(event: Event, function: Function, handle: H) -> Answering<'a>
where
    H: FnOnce(Call) -> A + Send + 'a,
    A: Future<Output = Result<Reply, Failure>> + Send + 'a,
{
    answered(event, async move |event| {
        let call = call(event, function)?;
        let (fields, unknown) = (call.operation.fields(), Arc::clone(&call.unknown));
        let mut reply = handle(call).await?;
        if let Some((fields, unknown)) = fields.zip(unknown.get()) {
            unknown.warn(&mut reply, fields);
        }
        Ok(reply)
    })
}

/// The same for what anyone may ask: there is no caller.
pub fn answer_anyone<'a, H, A>(event: Event, function: Function, handle: H) -> Answering<'a>
where
    H: FnOnce(Question) -> A + Send + 'a,
    A: Future<Output = Result<Reply, Failure>> + Send + 'a,
{
    answered(event, async move |event| handle(question(&event, function)?).await)
}

/// A question that anyone may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub operation: Operation,
    /// The error code in the path.
    pub code: Option<String>,
}

fn answered<'a, H, A>(event: Event, handle: H) -> Answering<'a>
where
    H: FnOnce(Event) -> A + Send + 'a,
    A: Future<Output = Result<Reply, Failure>> + Send + 'a,
{
    Box::pin(async move {
        let request = event.request_context.request_id.clone().unwrap_or_default();
        let takes_gzip = gzip::is_accepted(&event.headers);
        let base = base(&event);
        let (answered, cost) = metered(async { handle(event).await }).await;
        let reply = match answered {
            Ok(mut reply) => {
                reply.headers.push(("server-timing", timing(&cost)));
                reply
            }
            // What a refusal has cost would tell what is missing from what is only not the caller's.
            Err(failure) => {
                let (reply, broken) = failure.into_reply();
                log(&request, &reply, broken);
                reply.leading_to(&base)
            }
        };
        told::note(reply.code);
        to_event(reply, takes_gzip)
    })
}

/// One structured line for what is broken; refusals are the caller's own business.
fn log(request: &str, reply: &Reply, broken: Option<String>) {
    if let Some(error) = broken {
        let line =
            serde_json::json!({"level": "ERROR", "request": request, "status": reply.status, "error": error});
        // Where even stderr is gone there is nobody to tell.
        let _unheard = writeln!(std::io::stderr(), "{line}");
    }
}

/// The stage's prefix, and the path behind it.
pub(crate) fn place(event: &Event) -> (String, &str) {
    let stage = event.request_context.stage.as_deref().filter(|stage| *stage != "$default");
    let prefix = stage.map(|stage| format!("/{stage}")).unwrap_or_default();
    let raw = event.raw_path.as_deref().unwrap_or_default();
    let path = raw.strip_prefix(&prefix).unwrap_or(raw);
    (prefix, path)
}

/// Scheme, host and stage prefix, as the caller sees them.
fn base(event: &Event) -> String {
    let text = |name: &str| event.headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = text("x-forwarded-proto").filter(|scheme| *scheme == "http").unwrap_or("https");
    let host = text("host").or(event.request_context.domain_name.as_deref()).unwrap_or("localhost");
    let (prefix, _) = place(event);
    format!("{scheme}://{host}{prefix}")
}

/// The route of an event: one of the function's, and for anyone or not.
fn found(event: &Event, function: Function, for_anyone: bool) -> Result<Found<'_>, Failure> {
    let (_, path) = place(event);
    let method = event.request_context.http.method.as_str();
    let found = route::find(method, path).map_err(|unserved| unserved.refusal(path))?;
    let is_for_anyone = found.route.access == Access::Anyone;
    let is_it = found.route.function == function && is_for_anyone == for_anyone;
    if is_it { Ok(found) } else { Err(Code::NoSuchRoute.into()) }
}

fn question(event: &Event, function: Function) -> Result<Question, Failure> {
    let Found { route, said } = found(event, function, true)?;
    Ok(Question { operation: route.operation, code: said.code.map(str::to_owned) })
}

fn call(mut event: Event, function: Function) -> Result<Call, Failure> {
    let body = event.body.take();
    let Found { route, said } = found(&event, function, false)?;
    let context = &event.request_context;
    let now = dovetail_aws::now();
    let (caller, teams) = caller::caller(&event, route.access, now)?;
    let (_, path) = place(&event);
    Ok(Call {
        operation: route.operation,
        method: context.http.method.as_str().to_owned(),
        pov: said.pov,
        id: said.id,
        query: Query::parse(event.raw_query_string.as_deref().unwrap_or_default()),
        body: gzip::unpacked(&event.headers, bytes(body, event.is_base64_encoded)?)?,
        content_type: sent(&event, "content-type").unwrap_or_default(),
        caller,
        teams,
        request: context.request_id.clone().unwrap_or_default(),
        base: base(&event),
        path: path.to_owned(),
        now,
        idempotency_key: sent(&event, "idempotency-key"),
        if_match: sent(&event, "if-match"),
        unknown: Arc::default(),
    })
}

/// A header as text. One that is no text is a bad one, not an absent one: it becomes empty, which is refused.
fn sent(event: &Event, name: &str) -> Option<String> {
    event.headers.get(name).map(|value| value.to_str().map(str::to_owned).unwrap_or_default())
}

fn bytes(body: Option<String>, base64: bool) -> Result<Vec<u8>, Code> {
    let text = body.unwrap_or_default();
    if base64 { STANDARD.decode(text).map_err(|_| Code::InvalidBody) } else { Ok(text.into_bytes()) }
}

fn to_event(reply: Reply, takes_gzip: bool) -> EventReply {
    let mut headers = HeaderMap::new();
    if reply.body != Content::Nothing {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    }
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    let mut event = EventReply::default();
    event.status_code = i64::from(reply.status);
    event.headers = headers;
    set_body(&mut event, text(reply.body), takes_gzip);
    event
}

/// A body as text: JSON three times as fast as through a formatter, which is left for what cannot happen.
fn text(body: Content) -> String {
    match body {
        Content::Json(body) => serde_json::to_string(&body).unwrap_or_else(|_| body.to_string()),
        Content::Text(text) => text.to_owned(),
        Content::Nothing => String::new(),
    }
}

/// What the request cost at the table, for whoever wonders where they call from.
fn timing(cost: &Cost) -> String {
    let Cost { write_units, read_units, round_trips, .. } = cost;
    format!(
        r#"write_units;desc="{write_units}", read_units;desc="{read_units}", round_trips;desc="{round_trips}""#
    )
}

fn set_body(event: &mut EventReply, text: String, takes_gzip: bool) {
    if !gzip::is_worth_packing(&text) {
        event.body = Some(Body::Text(text));
        return;
    }
    event.headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let packed = if takes_gzip { gzip::packed(&text) } else { None };
    if packed.is_some() {
        event.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        event.is_base64_encoded = true;
    }
    event.body = Some(Body::Text(packed.unwrap_or(text)));
}
