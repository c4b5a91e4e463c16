//! Tests of the connection at the start of a function.

use crate::twin::{run, settings};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use dovetail_aws::Endpoint;
use dovetail_table::Table;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// A client to an endpoint that never answers, or that is unreachable.
#[derive(Clone, Debug, Default)]
struct Dead {
    is_unreachable: bool,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
}

impl HttpClient for Dead {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Dead {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        self.requests.lock().unwrap().push(request);
        if self.is_unreachable {
            return HttpConnectorFuture::ready(Err(ConnectorError::io("unreachable".into())));
        }
        HttpConnectorFuture::new(std::future::pending())
    }
}

impl Dead {
    /// Returns a table behind this client, with a URL.
    fn table(&self, url: &str) -> Table {
        let config = dovetail_aws::config(Endpoint::Through(SharedHttpClient::new(self.clone())));
        let config = config.into_builder().endpoint_url(url).build();
        Table::connect_by(settings(), Endpoint::Account(Box::new(config)))
    }
}

#[test]
fn the_request_of_the_start_has_no_content_and_no_signature() {
    run(|| async {
        let dead = Dead::default();
        dead.table("https://table.invalid").open_connection().await;
        let requests = dead.requests.lock().unwrap();
        let [request] = &requests[..] else { panic!("{requests:?}") };
        assert_eq!((request.method(), request.uri()), ("GET", "https://table.invalid/"));
        assert_eq!(request.headers().iter().next(), None);
        assert_eq!(request.body().bytes(), Some(&b""[..]));
    });
}

#[test]
fn a_start_without_tls_sends_nothing() {
    run(|| async {
        let dead = Dead::default();
        dead.table("http://table.invalid").open_connection().await;
        assert!(dead.requests.lock().unwrap().is_empty());
    });
}

#[test]
fn a_start_waits_for_a_connection_at_most_for_one_second() {
    run(|| async {
        for is_unreachable in [false, true] {
            let dead = Dead { is_unreachable, ..Dead::default() };
            let (table, began) = (dead.table("https://table.invalid"), Instant::now());
            table.open_connection().await;
            assert!(began.elapsed() <= Duration::from_millis(1_010), "{:?}", began.elapsed());
            assert!(!dead.requests.lock().unwrap().is_empty());
        }
    });
}
