//! API Gateway's events (payload format 2.0): an event in, a call made of it, a reply out.

use crate::authorizer;
use crate::call::Call;
use crate::code::Code;
use crate::query::Query;
use crate::reply::{Failure, Reply};
use crate::route::{self, Access, Function};
use aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use aws_lambda_events::encodings::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::actor::Role;
use http::{HeaderMap, HeaderValue, header};
use std::io::Write as _;

/// A request as API Gateway sends it to a function.
pub type Event = ApiGatewayV2httpRequest;

/// A reply as API Gateway takes it from a function.
pub type EventReply = ApiGatewayV2httpResponse;

/// Answers one event: makes a call of it, lets `handle` answer, makes an event of the reply.
pub async fn answer<H, A>(event: Event, function: Function, handle: H) -> EventReply
where
    H: FnOnce(Call) -> A,
    A: Future<Output = Result<Reply, Failure>>,
{
    let request = event.request_context.request_id.clone().unwrap_or_default();
    let reply = match call(event, function) {
        Ok(call) => handle(call).await.unwrap_or_else(|failure| {
            let (reply, broken) = failure.into_reply();
            log(&request, &reply, broken);
            reply
        }),
        Err(code) => Reply::error(code),
    };
    to_event(reply)
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

fn call(event: Event, function: Function) -> Result<Call, Code> {
    let context = event.request_context;
    let stage = context.stage.as_deref().filter(|stage| *stage != "$default");
    let prefix = stage.map(|stage| format!("/{stage}")).unwrap_or_default();
    let raw = event.raw_path.unwrap_or_default();
    let path = raw.strip_prefix(&prefix).unwrap_or(&raw);
    let method = context.http.method.as_str();
    let found = route::find(method, path)?;
    if found.route.function != function {
        return Err(Code::NoSuchRoute);
    }
    let caller = context.authorizer.as_ref().and_then(authorizer::caller).ok_or(Code::Unauthenticated)?;
    if found.route.access == Access::Write && caller.role == Role::ReadOnly {
        return Err(Code::ReadOnlyKey);
    }
    let text = |name: &str| event.headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = text("x-forwarded-proto").filter(|scheme| *scheme == "http").unwrap_or("https");
    let host = text("host").or(context.domain_name.as_deref()).unwrap_or("localhost");
    Ok(Call {
        operation: found.route.operation,
        method: method.to_owned(),
        pov: found.pov,
        id: found.id,
        query: Query::parse(event.raw_query_string.as_deref().unwrap_or_default()),
        body: body(event.body, event.is_base64_encoded)?,
        caller,
        request: context.request_id.clone().unwrap_or_default(),
        base: format!("{scheme}://{host}{prefix}"),
        path: path.to_owned(),
        now: dovetail_aws::now(),
        // One that is no text is a bad one, not an absent one: it becomes empty, which is refused.
        idempotency_key: event
            .headers
            .get("idempotency-key")
            .map(|key| key.to_str().map(str::to_owned).unwrap_or_default()),
    })
}

fn body(body: Option<String>, base64: bool) -> Result<Vec<u8>, Code> {
    let text = body.unwrap_or_default();
    if base64 { STANDARD.decode(text).map_err(|_| Code::InvalidBody) } else { Ok(text.into_bytes()) }
}

fn to_event(reply: Reply) -> EventReply {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    let mut event = EventReply::default();
    event.status_code = i64::from(reply.status);
    event.headers = headers;
    event.body = Some(Body::Text(reply.body.to_string()));
    event
}
