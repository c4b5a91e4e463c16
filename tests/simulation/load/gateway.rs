//! API Gateway and Lambda: a bucket of requests, a cache of the authorizer, and a number of instances.

use super::bucket::Bucket;
use super::limits::Load;
use crate::invocation::{Death, Invocation};
use crate::locked;
use crate::system::{ApiRequest, System};
use dovetail_daemon::authorizer::Authorizer;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Requests per second of the stack: the default of the template.
pub const REQUESTS: u32 = 100;
/// Concurrent invocations of an account: the default quota of Lambda.
pub const INSTANCES: usize = 1_000;
/// Time limit of a request. After it, API Gateway answers 503.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct Gateway {
    pub system: Arc<System>,
    pub load: Arc<Load>,
    authorizer: Authorizer,
    requests: Mutex<Bucket>,
    busy: AtomicUsize,
}

/// A response with its measurements.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub body: Value,
    /// Time from the request to the response.
    pub time: Duration,
    /// Time of the response.
    pub at: Duration,
    /// Number of calls of the table that write, with every repetition.
    pub writes: usize,
}

impl Gateway {
    /// Creates the gateway of a system with a rate of requests per second, and a burst.
    pub fn new(system: &Arc<System>, load: &Arc<Load>, rate: u32, burst: u32) -> Arc<Self> {
        Arc::new(Self {
            system: Arc::clone(system),
            load: Arc::clone(load),
            authorizer: Authorizer::default(),
            requests: Mutex::new(Bucket::new(rate, burst)),
            busy: AtomicUsize::new(0),
        })
    }

    pub async fn send(&self, request: &ApiRequest) -> Response {
        let began = self.load.now();
        let invocation = Invocation::new(Death::Never);
        let (status, body) = self.status_and_body(request, &invocation).await;
        let at = self.load.now();
        Response { status, body, time: at - began, at, writes: invocation.effects().len() }
    }

    async fn status_and_body(&self, request: &ApiRequest, invocation: &Arc<Invocation>) -> (u16, Value) {
        let is_admitted = locked(&self.requests).take(self.load.now());
        if !is_admitted {
            return (429, json!({"message": "Too Many Requests"}));
        }
        let unavailable = (503, json!({"message": "Service Unavailable"}));
        if self.busy.fetch_add(1, Ordering::Relaxed) >= INSTANCES {
            self.busy.fetch_sub(1, Ordering::Relaxed);
            return unavailable;
        }
        let id = self.system.next_request();
        let answering = self.system.answer_by(&self.authorizer, request, &id);
        let answering = self.system.run_until(invocation, answering);
        let answer = tokio::time::timeout(PATIENCE, answering).await.ok().flatten();
        self.busy.fetch_sub(1, Ordering::Relaxed);
        answer.map_or(unavailable, |answer| (answer.status, answer.body))
    }
}
