//! Tests of the user agent, which the client computes once.

use crate::twin::{Twin, run, table_by};
use crate::world::{VM_OWNER, World, team};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use embedded::{Engine, target_and_body};
use std::sync::{Arc, Mutex};

/// A client that records the user agents of its requests.
#[derive(Clone, derive_more::Debug)]
#[debug("Recording")]
struct Recording {
    engine: Arc<Engine>,
    user_agents: Arc<Mutex<Vec<Vec<String>>>>,
}

impl HttpClient for Recording {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Recording {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let headers = request.headers();
        let values = headers.get_all("user-agent").chain(headers.get_all("x-amz-user-agent"));
        self.user_agents.lock().unwrap().push(values.map(str::to_owned).collect());
        let (target, body) = target_and_body(&request);
        let operation = target.rsplit('.').next().unwrap_or_default();
        HttpConnectorFuture::ready(Ok(self.engine.call(operation, &body).response()))
    }
}

#[test]
fn every_call_sends_the_user_agent_of_the_sdk_once() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let client = Recording { engine: Arc::clone(&twin.engine), user_agents: Arc::default() };
        let table = table_by(client.clone()).await;
        let owner = team(VM_OWNER).id;
        // The first two calls begin before either has computed the text.
        let (one, other) = tokio::join!(table.team(owner), table.head(owner));
        assert!(one.is_ok() && other.is_ok());
        table.stored_team(owner).await.unwrap();
        table.count_work().await.unwrap();
        let user_agents = client.user_agents.lock().unwrap();
        let first = &user_agents[0];
        assert!(first.len() == 2 && first.iter().all(|value| value.contains(" api/dynamodb/")), "{first:?}");
        assert!(user_agents.len() > 3 && user_agents.iter().all(|other| other == first), "{user_agents:?}");
    });
}
