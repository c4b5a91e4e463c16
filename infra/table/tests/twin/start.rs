//! Tests of the connection at the start of a function.

use crate::twin::{run, table_by};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
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

#[test]
fn the_request_of_the_start_has_no_content_and_no_signature() {
    run(|| async {
        let dead = Dead::default();
        table_by(dead.clone()).await.open_connection().await;
        let requests = dead.requests.lock().unwrap();
        let [request] = &requests[..] else { panic!("{requests:?}") };
        assert_eq!((request.method(), request.uri()), ("GET", "http://engine.invalid/"));
        assert_eq!(request.headers().iter().next(), None);
        assert_eq!(request.body().bytes(), Some(&b""[..]));
    });
}

#[test]
fn a_start_waits_for_a_connection_at_most_for_one_second() {
    run(|| async {
        for is_unreachable in [false, true] {
            let dead = Dead { is_unreachable, ..Dead::default() };
            let (table, began) = (table_by(dead).await, Instant::now());
            table.open_connection().await;
            assert!(began.elapsed() <= Duration::from_millis(1_010), "{:?}", began.elapsed());
        }
    });
}
