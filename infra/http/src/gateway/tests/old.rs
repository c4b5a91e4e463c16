//! The reading of events without `lambda_http`, for the comparison.

use crate::call::Call;
use crate::code::Code;
use crate::event::{Event, EventReply};
use crate::gzip;
use crate::operation::Function;
use crate::query::Query;
use crate::reply::{Content, Failure, Reply};
use crate::route::{self, Access, Found};
use aws_lambda_events::encodings::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::base::actor::{Caller, Identity, Role};
use domain::{TeamId, TeamRef, Timestamp};
use dovetail_table::{Cost, metered};
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

type Answering<'a> = Pin<Box<dyn Future<Output = EventReply> + Send + 'a>>;

pub(super) fn seen(event: Event, function: Function, reply: &Reply) -> super::Seen {
    let called = Mutex::new(None);
    let handle = async |call: Call| {
        *called.lock().unwrap() = Some(call);
        Ok(reply.clone())
    };
    let (_, path) = place(&event);
    let found = route::find(event.request_context.http.method.as_str(), path).ok();
    let operation = found.map(|found| found.route.operation);
    let team = caller(&event, Access::Known, dovetail_aws::now()).ok().map(|(caller, _)| caller.team);
    let reply = answer(event, function, handle).now_or_never().unwrap();
    (called.into_inner().unwrap(), reply, (operation, team))
}

/// Answers one event: makes a [`Call`], runs `handle` and converts the reply. A success reports its cost.
fn answer<'a, H, A>(event: Event, function: Function, handle: H) -> Answering<'a>
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
fn found(event: &Event, function: Function, for_anyone: bool) -> Result<Found, Failure> {
    let (_, path) = place(event);
    let method = event.request_context.http.method.as_str();
    let found = route::find(method, path).map_err(|unserved| unserved.refusal(path))?;
    let is_for_anyone = found.route.access == Access::Anyone;
    // Each function has its own permissions, so a misrouted event must not reach a handler.
    let is_it = found.route.function == function && is_for_anyone == for_anyone;
    if is_it { Ok(found) } else { Err(Code::NoSuchRoute.into()) }
}

fn call(mut event: Event, function: Function) -> Result<Call, Failure> {
    let body = event.body.take();
    let Found { route, said } = found(&event, function, false)?;
    let context = &event.request_context;
    // One time for the whole call, so that expiry checks and writes agree.
    let now = dovetail_aws::now();
    let (caller, teams) = caller(&event, route.access, now)?;
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
    let packed = if takes_gzip { gzip::packed(&text).map(|packed| STANDARD.encode(packed)) } else { None };
    if packed.is_some() {
        event.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        event.is_base64_encoded = true;
    }
    event.body = Some(Body::Text(packed.unwrap_or(text)));
}
fn place(event: &Event) -> (String, &str) {
    let stage = event.request_context.stage.as_deref().filter(|stage| *stage != "$default");
    let prefix = stage.map(|stage| format!("/{stage}")).unwrap_or_default();
    let raw = event.raw_path.as_deref().unwrap_or_default();
    let path = raw.strip_prefix(&prefix).unwrap_or(raw);
    (prefix, path)
}
/// Header with the id of the team for which a person acts.
const TEAM_HEADER: &str = "dovetail-team";

/// Returns the caller for the chosen team, and all teams of the caller.
///
/// API Gateway caches the context, so the key or the token may have expired since.
fn caller(event: &Event, access: Access, now: Timestamp) -> Result<(Caller, Vec<TeamRef>), Failure> {
    let authorizer = event.request_context.authorizer.as_ref().ok_or(Code::Unauthenticated)?;
    let (subject, callers) = callers(&authorizer.fields, now).ok_or(Code::Unauthenticated)?;
    let teams = callers.iter().map(|caller| caller.team.clone()).collect();
    let chosen = match event.headers.get(TEAM_HEADER) {
        Some(team) => callers.iter().find(|caller| caller.team.id.to_string().as_bytes() == team.as_bytes()),
        // The list of teams needs no choice: a person reads the ids for the header from it.
        None if callers.len() > 1 && access != Access::Known => return Err(Code::ChooseTeam.into()),
        None => callers.first(),
    };
    let chosen = chosen.cloned().ok_or_else(|| not_a_member(subject))?;
    if !access.is_open_to(chosen.role) {
        let refused = if chosen.role == Role::ReadOnly { Code::ReadOnlyKey } else { Code::NeedsAdmin };
        return Err(refused.into());
    }
    Ok((chosen, teams))
}

/// The context of a key, or one membership in the context of a person.
type Fields = HashMap<String, Value>;

/// Returns the rejection of a caller without the team. An ADMIN needs the person's subject to add them.
fn not_a_member(subject: Option<&str>) -> Failure {
    let Some(subject) = subject else { return Code::NotAMember.into() };
    let detail = format!("an ADMIN of the team can add you as a member with your subject: {subject}");
    Reply::refused(Code::NotAMember, &detail).into()
}

/// Returns the subject of a person, and a caller for each of their teams.
///
/// It returns `None` for an expired or malformed context, so anything missing is a rejection (ADR 4).
fn callers(told: &Fields, now: Timestamp) -> Option<(Option<&str>, Vec<Caller>)> {
    // API Gateway caches the context by the header alone, for one minute by default: also beyond the expiry.
    if let Some(expires) = field(told, "expires")
        && now.micros() >= expires.parse().ok()?
    {
        return None;
    }
    let Some(memberships) = field(told, "memberships") else {
        return Some((None, vec![one(told, "key", Identity::Key)?]));
    };
    let memberships: Vec<Fields> = serde_json::from_str(memberships).ok()?;
    let callers = memberships.iter().map(|of| one(of, "person", Identity::Person)).collect::<Option<_>>()?;
    Some((field(told, "subject"), callers))
}

fn one(told: &Fields, name: &str, identity: fn(String) -> Identity) -> Option<Caller> {
    let id = TeamId::new(field(told, "team")?.parse().ok()?)?;
    Some(Caller {
        team: TeamRef { id, name: field(told, "teamName")?.to_owned() },
        role: Role::parse(field(told, "role")?)?,
        identity: identity(field(told, name)?.to_owned()),
    })
}

fn field<'a>(told: &'a Fields, name: &str) -> Option<&'a str> {
    told.get(name)?.as_str()
}
