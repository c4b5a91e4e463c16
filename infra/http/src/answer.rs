//! The answer to an event: from the event to a call, and from a reply to a response.

use crate::call::Call;
use crate::caller;
use crate::code::Code;
use crate::event::{Event, EventReply, place};
use crate::gzip;
use crate::log_line;
use crate::operation::{Function, Operation};
use crate::query::Query;
use crate::reply::{Content, Failure, Reply};
use crate::route::{self, Access, Found};
use aws_lambda_events::encodings::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dovetail_table::{Cost, metered};
use http::{HeaderMap, HeaderValue, header};
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;

/// The boxed future of a response.
///
/// The box lets the compiler build a handler once, in its own crate, and not in each program with it.
pub type Answering<'a> = Pin<Box<dyn Future<Output = EventReply> + Send + 'a>>;

/// Answers one event: makes a [`Call`], runs `handle` and converts the reply. A success reports its cost.
pub fn answer<'a, H, A>(event: Event, function: Function, handle: H) -> Answering<'a>
where
    H: FnOnce(Call) -> A + Send + 'a,
    A: Future<Output = Result<Reply, Failure>> + Send + 'a,
{
    answered(event, async move |event| {
        let call = call(event, function)?;
        let (fields, unknown) = (call.operation.fields(), Arc::clone(&call.unknown));
        let mut reply = handle(call).await?;
        // Only the finished reply shows its own keys, and these get no warning (docs/reference/http/README.md,
        // convention 9).
        if let Some((fields, unknown)) = fields.zip(unknown.get()) {
            unknown.warn(&mut reply, fields);
        }
        Ok(reply)
    })
}

/// Answers one event of a route without a caller.
pub fn answer_anyone<'a, H, A>(event: Event, function: Function, handle: H) -> Answering<'a>
where
    H: FnOnce(Question) -> A + Send + 'a,
    A: Future<Output = Result<Reply, Failure>> + Send + 'a,
{
    answered(event, async move |event| handle(question(&event, function)?).await)
}

/// A request without a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub operation: Operation,
    /// Error code in the path, if the route has one.
    pub code: Option<String>,
    /// The header `Accept`; empty if the client sends none.
    pub accept: String,
    /// Start of every path: the stage of an API Gateway, if paths contain it.
    pub prefix: String,
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
            // The cost of a rejection would reveal whether a missing object belongs to another team.
            Err(failure) => {
                let (reply, broken) = failure.into_reply();
                log(&request, &reply, broken);
                reply.leading_to(&base)
            }
        };
        log_line::note(reply.code);
        to_event(reply, takes_gzip)
    })
}

/// Writes a structured log line for a defect. Expected rejections are not logged.
fn log(request: &str, reply: &Reply, broken: Option<String>) {
    if let Some(error) = broken {
        let line =
            serde_json::json!({"level": "ERROR", "request": request, "status": reply.status, "error": error});
        // A closed stderr leaves no other channel for a report.
        let _unheard = writeln!(std::io::stderr(), "{line}");
    }
}

/// Returns scheme, host and stage prefix of the client's URL.
fn base(event: &Event) -> String {
    let text = |name: &str| event.headers.get(name).and_then(|value| value.to_str().ok());
    // A client or a proxy may send anything in this header, but links need one of the two schemes.
    let scheme = text("x-forwarded-proto").filter(|scheme| *scheme == "http").unwrap_or("https");
    let host = text("host").or(event.request_context.domain_name.as_deref()).unwrap_or("localhost");
    let (prefix, _) = place(event);
    format!("{scheme}://{host}{prefix}")
}

/// Returns the route of an event, if it belongs to the function and needs a caller or not, as in `for_anyone`.
fn found(event: &Event, function: Function, for_anyone: bool) -> Result<Found<'_>, Failure> {
    let (_, path) = place(event);
    let method = event.request_context.http.method.as_str();
    let found = route::find(method, path).map_err(|unserved| unserved.refusal(path))?;
    let is_for_anyone = found.route.access == Access::Anyone;
    // Each function has its own permissions, so a misrouted event must not reach a handler.
    let is_it = found.route.function == function && is_for_anyone == for_anyone;
    if is_it { Ok(found) } else { Err(Code::NoSuchRoute.into()) }
}

fn question(event: &Event, function: Function) -> Result<Question, Failure> {
    let Found { route, said } = found(event, function, true)?;
    Ok(Question {
        operation: route.operation,
        code: said.code.map(str::to_owned),
        accept: sent(event, "accept").unwrap_or_default(),
        prefix: place(event).0,
    })
}

fn call(mut event: Event, function: Function) -> Result<Call, Failure> {
    let body = event.body.take();
    let Found { route, said } = found(&event, function, false)?;
    let context = &event.request_context;
    // One time for the whole call, so that expiry checks and writes agree.
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

/// Returns a header as text. A value that is not text becomes empty, so the later check rejects it.
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
        // An invalid header value must not turn a finished request into an error.
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

/// Returns a body as text. `to_string` of `serde_json` is three times as fast as the formatter, its fallback.
fn text(body: Content) -> String {
    match body {
        Content::Json(body) => serde_json::to_string(&body).unwrap_or_else(|_| body.to_string()),
        Content::Text(text) => text.into_owned(),
        Content::Nothing => String::new(),
    }
}

/// Returns the value of `Server-Timing`: the cost of the request at the table.
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
    // Also without compression: a cache must not send this form to clients with another `Accept-Encoding`.
    let vary =
        if event.headers.contains_key(header::VARY) { "Accept, Accept-Encoding" } else { "Accept-Encoding" };
    event.headers.insert(header::VARY, HeaderValue::from_static(vary));
    let packed = if takes_gzip { gzip::packed(&text) } else { None };
    if packed.is_some() {
        event.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        event.is_base64_encoded = true;
    }
    event.body = Some(Body::Text(packed.unwrap_or(text)));
}
