//! A connector from the AWS client to the engine, without faults.

use crate::engine::Engine;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use serde_json::Value;
use std::sync::Arc;

/// Connector to an engine. Every request arrives, and so does every reply.
#[derive(Clone, derive_more::Debug)]
#[debug("Straight")]
pub struct Straight(pub Arc<Engine>);

impl HttpClient for Straight {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Straight {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (target, body) = target_and_body(&request);
        let operation = target.rsplit('.').next().unwrap_or_default();
        HttpConnectorFuture::ready(Ok(self.0.call(operation, &body).response()))
    }
}

/// Returns target and body of a request of the AWS client.
pub fn target_and_body(request: &HttpRequest) -> (String, Value) {
    let target = request.headers().get("x-amz-target").unwrap_or_default().to_owned();
    (target, serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap())
}
