//! The authorizer in this process: the function `authorize` behind the cache of API Gateway.

use std::time::Duration;

use aws_lambda_events::apigw::ApiGatewayRequestAuthorizer;
use dovetail_emulator::authorizer_cache::AuthorizerCache;
use dovetail_http::Event;
use dovetail_issuer::Issuer;
use dovetail_table::{Error, Table};

/// The authorizer of a system.
#[derive(Debug, Default)]
pub struct Authorizer {
    cache: AuthorizerCache,
    issuer: Option<Issuer>,
}

impl Authorizer {
    /// Returns an authorizer whose responses have this lifetime.
    pub fn remembered_for(remembered: Duration) -> Self {
        Self { cache: AuthorizerCache::remembered_for(remembered), issuer: None }
    }

    /// Adds an issuer of user tokens.
    pub fn with(self, issuer: Option<Issuer>) -> Self {
        Self { issuer, ..self }
    }

    /// Returns the response of the authorizer for a request, from the cache if possible.
    pub async fn on(&self, table: &Table, event: &Event) -> Result<ApiGatewayRequestAuthorizer, Error> {
        self.cache.on(event, |event| authorize::handle(table, self.issuer.as_ref(), event)).await
    }
}
