//! The answer to a request: from the request to a call, and from a reply to a response.

use crate::call::Call;
use crate::caller::{self, Chosen};
use crate::code::Code;
use crate::event::{QUERY_BYTES_MAX, Rejected};
use crate::fair_use::{self, FairUse};
use crate::gzip;
use crate::operation::{Function, Operation};
use crate::query::Query;
use crate::reply::{Content, Failure, Reply};
use crate::request;
use crate::route::{self, Access, RouteMatch};
use domain::base::actor::Caller;
use domain::{TeamId, Timestamp};
use dovetail_aws::retry::with_budget;
use dovetail_aws::{Cost, observed, with_places};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use lambda_http::{Body, Request, Response};
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;

/// An answered request.
#[derive(Debug)]
pub struct Handled {
    pub response: Response<Body>,
    /// Operation of the request; none for a path without a route.
    pub operation: Option<Operation>,
    /// The caller, even if their role was too low.
    pub caller: Option<Caller>,
    /// Error code; none for a success.
    pub code: Option<Code>,
}

/// The boxed future of an answer.
///
/// The box lets the compiler build a handler once, in its own crate, and not in each program with it.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Handled> + Send + 'a>>;

/// Answers one request: makes a [`Call`], runs `handle` and converts the reply. A success reports its cost.
pub fn answer<'a, H, A>(request: Request, function: Function, handle: H) -> Answering<'a>
where
    H: FnOnce(Call) -> A + Send + 'a,
    A: Future<Output = Result<Reply, Failure>> + Send + 'a,
{
    answered(request, async move |received| {
        let call = received.into_call(function)?;
        let (fields, unknown) = (call.operation.fields(), Arc::clone(&call.unknown));
        let mut reply = handle(call).await?;
        // Only the finished reply shows its own keys, and these get no warning (docs/reference/http/README.md,
        // convention 9).
        if let Some((fields, unknown)) = fields.zip(unknown.get()) {
            unknown.warn(&mut reply, fields)?;
        }
        Ok(reply)
    })
}

/// Answers one request of a route without a caller.
pub fn answer_anyone<'a, H, A>(request: Request, function: Function, handle: H) -> Answering<'a>
where
    H: FnOnce(Question) -> A + Send + 'a,
    A: Future<Output = Result<Reply, Failure>> + Send + 'a,
{
    answered(request, async move |received| handle(received.into_question(function)?).await)
}

/// A request without a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub operation: Operation,
    /// Error code in the path, if the route has one.
    pub code: Option<String>,
    /// The header `Accept`; empty if the client sends none.
    pub accept: String,
    /// The header `If-None-Match`; empty if the client sends none.
    pub if_none_match: String,
    /// Start of every path: the stage of an API Gateway, if paths contain it.
    pub prefix: String,
    /// Path after the prefix.
    pub path: String,
}

fn answered<'a, H, A>(request: Request, handle: H) -> Answering<'a>
where
    H: FnOnce(Received) -> A + Send + 'a,
    A: Future<Output = Result<Reply, Failure>> + Send + 'a,
{
    Box::pin(async move {
        // The turn comes before the time of the request, because the records of the request have this time.
        let turn = fair_use::turn(&request).await;
        let received = Received::from(request);
        let operation = received.route_match.as_ref().ok().map(|route_match| route_match.route.operation);
        let caller = received.chosen.as_ref().ok().map(|chosen| chosen.caller.clone());
        let id = received.id();
        let takes_gzip = gzip::is_accepted(received.request.headers());
        let is_head = received.request.method() == Method::HEAD;
        let base = request::base(&received.request);
        let handled = async {
            match turn? {
                Some(turn) => with_places(turn.places(), handle(received)).await,
                None => handle(received).await,
            }
        };
        let (answered, observed) = observed(with_budget(handled)).await;
        let reply = match answered {
            Ok(mut reply) => {
                reply.headers.push(("server-timing", timing(&observed.cost)));
                reply
            }
            // The cost of a rejection would reveal whether a missing object belongs to another team.
            Err(failure) => {
                let (reply, broken) = failure.into_reply();
                log(&id, &reply, broken);
                reply.leading_to(&base)
            }
        };
        let code = reply.code;
        let mut response = response(reply, takes_gzip);
        if is_head {
            *response.body_mut() = Body::Text(String::new());
        }
        Handled { response, operation, caller, code }
    })
}

/// A request with its route and its caller.
struct Received {
    request: Request,
    route_match: Result<RouteMatch, Failure>,
    chosen: Result<Chosen, Failure>,
    /// The time of the whole request, so that expiry checks and writes agree.
    now: Timestamp,
}

impl From<Request> for Received {
    fn from(request: Request) -> Self {
        let now = dovetail_aws::now();
        let (_, path) = request::path(&request);
        let route_match =
            route::find(request.method().as_str(), path).map_err(|unserved| unserved.refusal(path));
        let chosen = caller::chosen(&request, now);
        Self { request, route_match, chosen, now }
    }
}

impl Received {
    fn id(&self) -> String {
        request::id(&self.request).unwrap_or_default().to_owned()
    }

    fn into_question(self, function: Function) -> Result<Question, Failure> {
        let RouteMatch { route, parameters } = served(self.route_match, function, true)?;
        check_query(self.request.extensions().get())?;
        let header = |name| request::header(&self.request, name).unwrap_or_default();
        let (prefix, path) = request::path(&self.request);
        Ok(Question {
            operation: route.operation,
            code: parameters.code,
            accept: header("accept"),
            if_none_match: header("if-none-match"),
            prefix,
            path: path.to_owned(),
        })
    }

    fn into_call(self, function: Function) -> Result<Call, Failure> {
        let id = self.id();
        let Self { request, route_match, chosen, now } = self;
        let RouteMatch { route, parameters } = served(route_match, function, false)?;
        let (caller, memberships) = chosen?.permitted(route.access)?;
        check_fair_use(request.extensions().get(), caller.team.id, now)?;
        let rejected = request.extensions().get().copied();
        check_query(rejected.as_ref())?;
        if rejected == Some(Rejected::Body) {
            return Err(Code::InvalidBody.into());
        }
        let header = |name| request::header(&request, name);
        let (_, path) = request::path(&request);
        let mut call = Call {
            operation: route.operation,
            method: request.method().as_str().to_owned(),
            side: parameters.side,
            id: parameters.id,
            query: Query::parse(request.uri().query().unwrap_or_default()),
            body: Vec::new(),
            content_type: header("content-type").unwrap_or_default(),
            caller,
            memberships,
            request: id,
            base: request::base(&request),
            path: path.to_owned(),
            now,
            idempotency_key: header("idempotency-key"),
            if_match: header("if-match"),
            unknown: Arc::default(),
        };
        let (parts, body) = request.into_parts();
        call.body = gzip::unpacked(&parts.headers, request::bytes(body))?;
        Ok(call)
    }
}

/// Returns the route, if it belongs to the function and needs a caller or not, as in `for_anyone`.
fn served(
    route_match: Result<RouteMatch, Failure>,
    function: Function,
    for_anyone: bool,
) -> Result<RouteMatch, Failure> {
    let route_match = route_match?;
    let is_for_anyone = route_match.route.access == Access::Anyone;
    // Each function has its own permissions, so a misrouted request must not reach a handler.
    let is_it = route_match.route.function == function && is_for_anyone == for_anyone;
    if is_it { Ok(route_match) } else { Err(Code::NoSuchRoute.into()) }
}

fn check_query(rejected: Option<&Rejected>) -> Result<(), Failure> {
    if rejected != Some(&Rejected::Query) {
        return Ok(());
    }
    let detail = format!("the query must be at most {QUERY_BYTES_MAX} bytes");
    Err(Reply::refused(Code::InvalidFilter, &detail).into())
}

/// Takes a token of the team, if this instance limits requests.
fn check_fair_use(fair_use: Option<&Arc<FairUse>>, team: TeamId, now: Timestamp) -> Result<(), Failure> {
    let taken = fair_use.map_or(Ok(()), |fair_use| fair_use.take(team, now));
    taken.map_err(|wait| {
        // The seconds are rounded up, because an earlier retry would fail again.
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Reply::error(Code::TooManyRequests).retry_after(seconds).into()
    })
}

/// Writes a structured log line for a defect. Expected rejections are not logged.
fn log(request: &str, reply: &Reply, broken: Option<String>) {
    if let Some(error) = broken {
        let line =
            serde_json::json!({"level": "ERROR", "request": request, "status": reply.status, "error": error});
        // A closed stderr leaves no other channel for a report.
        let _ignored = writeln!(std::io::stderr(), "{line}");
    }
}

fn response(reply: Reply, takes_gzip: bool) -> Response<Body> {
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
    let file = if let Content::File(file) = &reply.body { Some(file.packed) } else { None };
    let body = body(&mut headers, text(reply.body), file, takes_gzip);
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = headers;
    response
}

/// Returns a body as text.
fn text(body: Content) -> String {
    match body {
        // A map of values always serializes. `to_string` is three times as fast as the formatter of a value.
        Content::Problem(members) => serde_json::to_string(&members).unwrap_or_default(),
        Content::Text(text) => text.into_owned(),
        Content::File(file) => file.text.to_owned(),
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

/// Returns a body, compressed if that is worthwhile, and adds its headers. A `file` is its compressed form.
fn body(headers: &mut HeaderMap, text: String, file: Option<&[u8]>, takes_gzip: bool) -> Body {
    if !gzip::is_worth_packing(&text) {
        return Body::Text(text);
    }
    // The header is sent without compression too, because a cache must not send this form to clients with another
    // `Accept-Encoding`.
    let vary = if headers.contains_key(header::VARY) { "Accept, Accept-Encoding" } else { "Accept-Encoding" };
    headers.insert(header::VARY, HeaderValue::from_static(vary));
    let pack = || file.map(<[u8]>::to_vec).or_else(|| gzip::packed(&text));
    let Some(packed) = takes_gzip.then(pack).flatten() else { return Body::Text(text) };
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Body::Binary(packed)
}
