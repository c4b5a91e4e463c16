//! The number of calls at an engine at once.
//!
//! DynamoDB serves a hundred reads at the same time. The embedded engine serves one call after the other, so a team
//! that sends all of its reads at once would make every other team wait for them.

use aws_smithy_runtime_api::client::http::{
    HttpClient as _, HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector,
    http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use std::sync::Arc;
use tokio::sync::Semaphore;

tokio::task_local! {
    static PLACES: Arc<Semaphore>;
}

/// Runs a request whose calls at an engine each wait for one of these places.
pub async fn with_places<F: Future>(places: Arc<Semaphore>, request: F) -> F::Output {
    PLACES.scope(places, request).await
}

/// Returns a client whose calls wait for a place, if their request has places.
///
/// The calls wait within themselves, so the cost of the request still counts calls that begin together as one round
/// trip.
pub(crate) fn in_places(client: SharedHttpClient) -> SharedHttpClient {
    http_client_fn(move |settings, components| {
        SharedHttpConnector::new(InPlaces(client.http_connector(settings, components)))
    })
}

#[derive(Debug)]
struct InPlaces(SharedHttpConnector);

impl HttpConnector for InPlaces {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let connector = self.0.clone();
        let Ok(places) = PLACES.try_with(Arc::clone) else { return connector.call(request) };
        HttpConnectorFuture::new(async move {
            let _place = places.acquire_owned().await;
            connector.call(request).await
        })
    }
}
