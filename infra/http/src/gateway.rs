//! The border to API Gateway: events become requests, and handled requests become responses.
//!
//! No other file has the hidden types of `lambda_http`.

use crate::answer::{Answering, Handled};
use crate::auth_mode::AuthMode;
use crate::event::{Event, EventReply, Original, checked};
use dovetail_table::Table;
use lambda_http::request::{LambdaRequest, RequestContext};
use lambda_http::{
    Adapter, Body, Error, IntoResponse, LambdaEvent, Request, RequestExt as _, Response, Service,
};
use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::task::{self, Poll};

/// Answers one event of this process, without Lambda.
pub async fn respond<'a>(event: Event, handle: impl FnOnce(Request) -> Answering<'a>) -> EventReply {
    let (event, original) = checked(event);
    let request = restored(LambdaRequest::ApiGatewayV2(event).into(), original);
    reply(handle(request).await.response)
}

/// Answers the events of Lambda until it ends the process.
pub(crate) async fn serve<'t, H>(
    auth_mode: AuthMode,
    table: Option<&'t Table>,
    handle: &'t H,
) -> Result<(), Error>
where
    H: Fn(Request) -> Answering<'t>,
{
    lambda_http::lambda_runtime::run(Layer { auth_mode, table, handle }).await
}

/// The tower service in front of [`Adapter`], which replaces the parts that the adapter cannot read.
struct Layer<'t, H> {
    auth_mode: AuthMode,
    table: Option<&'t Table>,
    handle: &'t H,
}

impl<'t, H> Service<LambdaEvent<LambdaRequest>> for Layer<'t, H>
where
    H: Fn(Request) -> Answering<'t>,
{
    type Response = <Adapter<'t, Handled, Handler<'t, H>> as Service<LambdaEvent<LambdaRequest>>>::Response;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + 't>>;

    fn poll_ready(&mut self, _context: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, event: LambdaEvent<LambdaRequest>) -> Self::Future {
        let Self { auth_mode, table, handle } = *self;
        Box::pin(async move {
            let LambdaEvent { payload, context } = event;
            let LambdaRequest::ApiGatewayV2(event) = payload else { return Err("unknown event".into()) };
            // Without a gateway, caller and request id in the event are the client's own claims (ADR 9).
            let event = auth_mode.event(table, context.request_id.clone(), event).await?;
            let (event, original) = checked(event);
            let handler = Handler { handle, original: Some(original) };
            let event = LambdaEvent::new(LambdaRequest::ApiGatewayV2(event), context);
            Ok(Adapter::from(handler).call(event).await?)
        })
    }
}

/// The service behind [`Adapter`], for one event.
struct Handler<'t, H> {
    handle: &'t H,
    original: Option<Original>,
}

impl<'t, H> Service<Request> for Handler<'t, H>
where
    H: Fn(Request) -> Answering<'t>,
{
    type Response = Handled;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Handled, Infallible>> + Send + 't>>;

    fn poll_ready(&mut self, _context: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let request = match self.original.take() {
            Some(original) => restored(request, original),
            None => request,
        };
        let answering = (self.handle)(request);
        Box::pin(async move { Ok(answering.await) })
    }
}

impl IntoResponse for Handled {
    // The body is ready at once, because the conversion of other bodies would add all text encodings to each program.
    fn into_response(self) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        Box::pin(ready(self.response))
    }
}

/// Returns a request with the original parts of its event.
fn restored(request: Request, original: Original) -> Request {
    let Original { path, stage, body, rejected } = original;
    let mut request = request.with_raw_http_path(path).map(|_| body);
    let extensions = request.extensions_mut();
    if let Some(RequestContext::ApiGatewayV2(context)) = extensions.get_mut() {
        context.stage = stage;
    }
    if let Some(rejected) = rejected {
        extensions.insert(rejected);
    }
    request
}

/// Returns the response event, with the fields that [`Adapter`] sets.
fn reply(response: Response<Body>) -> EventReply {
    let (parts, body) = response.into_parts();
    let mut reply = EventReply::default();
    reply.status_code = parts.status.as_u16().into();
    reply.headers = parts.headers;
    reply.is_base64_encoded = matches!(body, Body::Binary(_));
    reply.body = Some(body);
    reply
}

#[cfg(test)]
mod tests;
