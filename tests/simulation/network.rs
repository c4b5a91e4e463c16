//! The connection from the functions' AWS client to the engine, with its faults.
//!
//! A request travels in a separate task. It can arrive long after its sender has given up or died.

use crate::cloud::Cloud;
use crate::invocation::{Call, Invocation};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use embedded::{Reply, target_and_body};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

#[derive(Clone, Debug)]
pub struct Network(pub Arc<Cloud>);

/// The fate of a request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Travel time of the request.
    pub there: Duration,
    /// Travel time of the reply.
    pub back: Duration,
    pub arrives: bool,
    pub is_answered: bool,
    /// Whether the sender of a lost request or reply gets a connection error. If not, it waits for ever.
    pub has_connection_error: bool,
}

impl HttpClient for Network {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Network {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (target, body) = target_and_body(&request);
        let invocation = Invocation::under_way();
        let call = invocation.as_ref().map_or(Call::Made, |invocation| invocation.call(&target, &body));
        if call == Call::NotMade {
            if let Some(invocation) = &invocation {
                invocation.die();
            }
            return HttpConnectorFuture::new(std::future::pending());
        }
        let (answer, answered) = oneshot::channel();
        let cloud = Arc::clone(&self.0);
        self.0.set_off(async move {
            if let Some(load) = cloud.load() {
                drop(answer.send(load.carry(&cloud, &target, body).await));
                return;
            }
            let fate = cloud.fate(&target);
            let reply = carry(&cloud, fate, &target, body).await;
            if let Some(invocation) = invocation.filter(|_| call == Call::Last) {
                invocation.die();
            }
            match reply {
                Some(reply) => drop(answer.send(reply)),
                None if fate.has_connection_error => drop(answer),
                // The sender gets neither a reply nor an error.
                None => std::future::pending().await,
            }
        });
        HttpConnectorFuture::new(async move {
            let broken = |error: oneshot::error::RecvError| ConnectorError::io(error.into());
            Ok(answered.await.map_err(broken)?.response())
        })
    }
}

async fn carry(cloud: &Arc<Cloud>, fate: Fate, target: &str, body: Value) -> Option<Reply> {
    tokio::time::sleep(fate.there).await;
    if !fate.arrives {
        return None;
    }
    let reply = cloud.take(target, body, fate.back);
    tokio::time::sleep(fate.back).await;
    fate.is_answered.then_some(reply)
}
