//! The first connection of a client, opened while the function starts.
//!
//! Lambda starts a function with a full CPU and runs a request with a fraction of it, so a TLS handshake in the first
//! request would be slower (docs/adr/0014-amazons-roots.md).

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextMut;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::ConfigBag;
use aws_types::SdkConfig;
use std::time::Duration;
use tokio::time::timeout;

/// Longest time for a connection at the start of a function.
const OPENING_MAX: Duration = Duration::from_secs(1);

/// The interceptor that replaces the request of a call by `GET /`, without a signature.
///
/// Any answer proves the connection, and the client uses it again. Without a signature, the function needs no
/// permission for the call.
#[derive(Debug)]
pub struct Handshake;

impl Intercept for Handshake {
    fn name(&self) -> &'static str {
        "Handshake"
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let mut plain = HttpRequest::new(SdkBody::empty());
        plain.set_uri(context.request().uri().to_owned())?;
        *context.request_mut() = plain;
        Ok(())
    }
}

/// Returns whether connections use TLS. AWS's own endpoints use TLS, and another endpoint uses TLS if its URL says so.
///
/// A connection without TLS is cheap, so it needs no preparation.
pub fn uses_tls(config: &SdkConfig) -> bool {
    config.endpoint_url().is_none_or(|url| url.starts_with("https:"))
}

/// Awaits a call with [`Handshake`], at most for one second.
///
/// A failure has no effect: the first request opens the connection instead.
pub async fn open<T, E>(call: impl Future<Output = Result<T, E>>) {
    // The client cannot read the answer as a response of the call, so the outcome says nothing.
    let _any = timeout(OPENING_MAX, call).await;
}
