//! Events of API Gateway (payload format 2.0).

use aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};

/// A request from API Gateway.
pub type Event = ApiGatewayV2httpRequest;

/// A response for API Gateway.
pub type EventReply = ApiGatewayV2httpResponse;

/// Returns the prefix of the stage, and the path after it.
pub(crate) fn place(event: &Event) -> (String, &str) {
    // URLs of the default stage have no prefix.
    let stage = event.request_context.stage.as_deref().filter(|stage| *stage != "$default");
    let prefix = stage.map(|stage| format!("/{stage}")).unwrap_or_default();
    let raw = event.raw_path.as_deref().unwrap_or_default();
    let path = raw.strip_prefix(&prefix).unwrap_or(raw);
    (prefix, path)
}
