//! The way from the functions' own AWS client to the engine, and what may happen on it.
//!
//! A request goes its way as a task of its own: it may arrive long after the one who sent it has given up, or has died.

use crate::cloud::Cloud;
use crate::invocation::{Call, Invocation};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use embedded::{Reply, asked};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// The way to a cloud.
#[derive(Clone, Debug)]
pub struct Network(pub Arc<Cloud>);

/// What becomes of a request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// How long it takes to arrive.
    pub there: Duration,
    /// How long its reply takes.
    pub back: Duration,
    /// Whether it arrives.
    pub arrives: bool,
    /// Whether its reply does.
    pub is_answered: bool,
    /// Whether its sender is told that the connection broke, where something is lost; otherwise it hears nothing.
    pub is_told: bool,
}

impl HttpClient for Network {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Network {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (target, body) = asked(&request);
        let invocation = Invocation::under_way();
        let call = invocation.as_ref().map_or(Call::Made, |invocation| invocation.call());
        if call == Call::NotMade {
            if let Some(invocation) = &invocation {
                invocation.die();
            }
            return HttpConnectorFuture::new(std::future::pending());
        }
        let (answer, answered) = oneshot::channel();
        let cloud = Arc::clone(&self.0);
        self.0.set_off(async move {
            let fate = cloud.fate(&target);
            let reply = carry(&cloud, fate, &target, body).await;
            if let Some(invocation) = invocation.filter(|_| call == Call::Last) {
                invocation.die();
            }
            match reply {
                Some(reply) => drop(answer.send(reply)),
                None if fate.is_told => drop(answer),
                // Nobody hears of it, ever.
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
