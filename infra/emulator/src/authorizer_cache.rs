//! A cache of authorizer responses, like the one of API Gateway with a time to live.
//!
//! As there, a removed key continues to work until its entry expires.

use std::time::Duration;

use aws_lambda_events::apigw::ApiGatewayRequestAuthorizer;
use dovetail_aws::{TtlCache, now};
use dovetail_http::{AuthorizerEvent, AuthorizerReply, Event, key_hash};

/// The default lifetime of a response, the same as in the template of the stack.
pub const REMEMBERED: Duration = Duration::from_secs(60);
/// The most responses; a full cache is emptied.
const RESPONSES_MAX: usize = 1_000;

/// The cached responses, by the hash of the `Authorization` header.
#[derive(Debug)]
pub struct AuthorizerCache(TtlCache<String, ApiGatewayRequestAuthorizer>);

impl Default for AuthorizerCache {
    fn default() -> Self {
        Self::remembered_for(REMEMBERED)
    }
}

impl AuthorizerCache {
    /// Returns a cache with this lifetime.
    pub fn remembered_for(remembered: Duration) -> Self {
        Self(TtlCache::new(remembered, RESPONSES_MAX))
    }

    /// Returns the response of the authorizer for a request. It calls `authorize` only without a cached response.
    pub async fn on<F, E>(
        &self,
        event: &Event,
        authorize: impl FnOnce(AuthorizerEvent) -> F,
    ) -> Result<ApiGatewayRequestAuthorizer, E>
    where
        F: Future<Output = Result<AuthorizerReply, E>>,
    {
        let sent = event.headers.get("authorization").and_then(|sent| sent.to_str().ok()).map(key_hash);
        let now = now();
        if let Some(response) = sent.as_ref().and_then(|sent| self.0.get(sent, now)) {
            return Ok(response);
        }
        let reply = authorize(authorizer_event(event)).await?;
        let mut response = ApiGatewayRequestAuthorizer::default();
        response.fields = reply.context.into_iter().collect();
        // An unknown caller is not cached, because a load or an administrator may create the key a moment later.
        if let Some(sent) = sent.filter(|_| !response.fields.is_empty()) {
            self.0.insert(sent, response.clone(), now);
        }
        Ok(response)
    }
}

fn authorizer_event(event: &Event) -> AuthorizerEvent {
    let mut authorizer_event = AuthorizerEvent::default();
    authorizer_event.version = Some("2.0".to_owned());
    authorizer_event.type_ = Some("REQUEST".to_owned());
    authorizer_event.raw_path.clone_from(&event.raw_path);
    authorizer_event.raw_query_string.clone_from(&event.raw_query_string);
    authorizer_event.headers.clone_from(&event.headers);
    authorizer_event.request_context = event.request_context.clone();
    authorizer_event
}
