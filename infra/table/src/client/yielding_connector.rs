//! A connector that yields once before each request. Concurrent calls are then concurrent for the observer, too.

use aws_sdk_dynamodb::config::{ConfigBag, RuntimeComponents, RuntimeComponentsBuilder};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;

/// An HTTP client or connector of the SDK whose calls yield first.
#[derive(Debug)]
pub(crate) struct Paced<T>(pub(crate) T);

impl HttpClient for Paced<SharedHttpClient> {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Paced(self.0.http_connector(settings, components)))
    }

    fn validate_base_client_config(
        &self,
        components: &RuntimeComponentsBuilder,
        config: &ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.validate_base_client_config(components, config)
    }

    fn validate_final_config(
        &self,
        components: &RuntimeComponents,
        config: &ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.validate_final_config(components, config)
    }
}

impl HttpConnector for Paced<SharedHttpConnector> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let connector = self.0.clone();
        HttpConnectorFuture::new(async move {
            // An answer that is ready at once would end its call before the next future of the same `join` starts.
            // The observer would then count two round trips instead of one.
            tokio::task::yield_now().await;
            connector.call(request).await
        })
    }
}
