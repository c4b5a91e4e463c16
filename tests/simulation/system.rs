//! The system: the delivered functions, each invocation on a separate machine with a possible death.

use crate::cloud::{Cloud, KEYS_TABLE, TABLE};
use crate::faults::{Faults, befalls};
use crate::invocation::{Death, Invocation};
use crate::network::Network;
use crate::stream::GENERATE;
use aws_lambda_events::encodings::Body;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use domain::Timestamp;
use domain::rules::plan::REUSE_FROM;
use dovetail_aws::{Clock, Endpoint};
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::{functions, load, world};
use dovetail_emulator::gateway::{Received, to_event};
use dovetail_events::Bus;
use dovetail_http::CursorKey;
use dovetail_table::{Settings, Table};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::time::Instant;

/// Start of every run, in microseconds since 1970.
const BEGINNING: u64 = 1_790_000_000_000_000;

/// Limit of writes in one transaction. With it, every submission is staged.
pub const STAGED: usize = 1;

/// Time limit of a function.
const LIFETIME: Duration = Duration::from_secs(60);

/// Number of calls of a function with a possible death.
const CALLS_MAX: u64 = 16;

/// A request of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiRequest {
    pub method: String,
    /// Path with its query.
    pub path: String,
    /// API key of the team.
    pub key: String,
    pub idempotency_key: Option<String>,
    /// Value of the header `If-Match`: a plan token.
    pub if_match: Option<String>,
    /// JSON body, or null.
    pub body: Value,
}

/// Path of a consumer's submissions.
pub const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";

/// Path of an owner's change instances.
pub const OWNED: &str = "/v1/orcabase/serviceowner/change_instances/";

impl ApiRequest {
    /// Creates a request without an idempotency key and without a plan.
    pub fn new(method: &str, path: &str, key: &str, body: Value) -> Self {
        let [method, path, key] = [method, path, key].map(str::to_owned);
        Self { method, path, key, idempotency_key: None, if_match: None, body }
    }
}

/// A response of the API.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// JSON body, or null.
    pub body: Value,
}

pub struct System {
    pub cloud: Arc<Cloud>,
    /// Client of the tables, as in a function.
    pub table: Table,
    bus: Bus,
    cursor_key: CursorKey,
    began: Instant,
    requests: AtomicU64,
}

/// Limits of a system that tests lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of writes in one transaction.
    pub actions_max: usize,
    /// Number of applications from which numbers are used again (R45).
    pub reuse_from: usize,
}

impl Limits {
    /// Returns the usual limits, with another number of writes in one transaction.
    pub const fn of_actions(actions_max: usize) -> Self {
        Self { actions_max, reuse_from: REUSE_FROM }
    }
}

impl System {
    /// Creates a system with a world.
    pub async fn start(world: &Value, limits: Limits, cloud: Cloud) -> Arc<Self> {
        let system = Self::on(cloud, limits).await;
        let world = world::parse(&world.to_string()).unwrap();
        load::world(&system.table, &world, system.now(), &mut |_| Ok(())).await.unwrap();
        system
    }

    /// Creates a system with empty tables.
    pub async fn on(cloud: Cloud, limits: Limits) -> Arc<Self> {
        let cloud = Arc::new(cloud);
        let endpoint = Endpoint::Through(SharedHttpClient::new(Network(Arc::clone(&cloud))));
        let (table, keys_table) = (TABLE.to_owned(), KEYS_TABLE.to_owned());
        let Limits { actions_max, reuse_from } = limits;
        let settings = Settings { table, keys_table, endpoint: None, actions_max, reuse_from };
        let table = Table::connect_by(settings, endpoint.clone());
        let bus = dovetail_events::Settings { bus: "dovetail".to_owned(), endpoint: None };
        let bus = Bus::connect_by(bus, endpoint);
        table.create().await.unwrap();
        let (began, requests) = (Instant::now(), AtomicU64::new(0));
        Arc::new(Self { cloud, table, bus, cursor_key: CursorKey::new("secret"), began, requests })
    }

    /// Returns the correct time.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_micros(micros_since(self.began))
    }

    /// Draws a machine's clock and the moment of its death.
    fn machine(&self, faults: &Faults) -> (Clock, Death) {
        let skew = u64::try_from(faults.skew.as_micros()).unwrap();
        let (ahead, by) = self.cloud.draw(|dice| (dice.bool(), dice.u64(0..=skew)));
        if by > 1_000_000 {
            self.cloud.count("clock is off");
        }
        let began = self.began;
        let clock: Clock = Arc::new(move || {
            let now = micros_since(began);
            Timestamp::from_micros(if ahead { now + by } else { now - by })
        });
        let death = self.cloud.draw(|dice| {
            if !befalls(dice, faults.crash) {
                return Death::Never;
            }
            // Most functions make few calls, so early deaths are more likely.
            let most = dice.u64(0..CALLS_MAX);
            let at = dice.u64(0..=most);
            if dice.bool() { Death::Before(at) } else { Death::After(at) }
        });
        (clock, death)
    }

    /// Runs a function on a machine. Returns `None` if it dies or takes too long.
    pub async fn run<F: Future>(&self, function: F) -> Option<F::Output> {
        let (clock, death) = self.machine(&self.cloud.faults());
        let invocation = Invocation::new(death);
        let output = self.run_on(clock, &invocation, function).await;
        if invocation.is_dead() {
            self.cloud.count("function dies");
        }
        output
    }

    /// Runs an invocation on a machine with a correct clock. Returns `None` if it dies or takes too long.
    pub async fn run_until<F: Future>(&self, invocation: &Arc<Invocation>, function: F) -> Option<F::Output> {
        let (clock, _) = self.machine(&Faults::none());
        self.run_on(clock, invocation, function).await
    }

    async fn run_on<F: Future>(
        &self,
        clock: Clock,
        invocation: &Arc<Invocation>,
        function: F,
    ) -> Option<F::Output> {
        tokio::time::timeout(LIFETIME, invocation.run(clock, function)).await.ok().flatten()
    }

    /// Returns the next request id, in the format of API Gateway.
    pub fn next_request(&self) -> String {
        format!("{:04x}-0", self.requests.fetch_add(1, Ordering::Relaxed))
    }

    /// Sends a request to the API. Returns `None` if the function dies or takes too long.
    pub async fn send(&self, api_request: &ApiRequest, id: &str) -> Option<Answer> {
        self.run(self.answer(api_request, id)).await
    }

    /// Executes a request in the current invocation.
    pub async fn answer(&self, api_request: &ApiRequest, id: &str) -> Answer {
        self.answer_by(&Authorizer::default(), api_request, id).await
    }

    /// Executes a request in the current invocation, with the cache of an authorizer.
    pub async fn answer_by(&self, authorizer: &Authorizer, api_request: &ApiRequest, id: &str) -> Answer {
        let mut request = http::Request::builder()
            .method(api_request.method.as_str())
            .uri(&api_request.path)
            .header("host", "dovetail.example")
            .header("authorization", format!("Api-Key {}", api_request.key))
            .header("content-type", "application/json");
        if let Some(key) = &api_request.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        if let Some(plan) = &api_request.if_match {
            request = request.header("if-match", plan);
        }
        let body =
            if api_request.body.is_null() { Vec::new() } else { api_request.body.to_string().into_bytes() };
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let received = Received {
            id: id.to_owned(),
            at: OffsetDateTime::UNIX_EPOCH,
            client: ([127, 0, 0, 1], 1).into(),
            port: 443,
        };
        let event = to_event(&parts, body, &received);
        // Without a box, each surrounding future would contain this large one.
        let (key, fair_use, console) = (&self.cursor_key, &Arc::default(), &functions::PLAIN_CONSOLE);
        let answering = Box::pin(functions::answer(&self.table, key, authorizer, fair_use, console, event));
        let reply = answering.await;
        let body = match reply.body {
            Some(Body::Text(text)) if !text.is_empty() => serde_json::from_str(&text).unwrap(),
            _ => Value::Null,
        };
        Answer { status: u16::try_from(reply.status_code).unwrap(), body }
    }

    /// Delivers a batch of the stream to a function. Returns the sequence number of the first failure, if any.
    pub async fn deliver(&self, function: &str, batch: &[Value]) -> Option<Option<String>> {
        self.run(self.taken(function, batch)).await
    }

    /// Executes a batch of the stream in the current invocation. Returns the sequence number of the first failure, if
    /// any.
    pub async fn taken(&self, function: &str, batch: &[Value]) -> Option<String> {
        let event = serde_json::from_value(json!({"Records": batch})).unwrap();
        let reply = match function {
            GENERATE => Box::pin(generate::handle(&self.table, event)).await,
            _ => Box::pin(notify::handle(&self.bus, event)).await,
        };
        reply.batch_item_failures.into_iter().next().and_then(|failure| failure.item_identifier)
    }

    /// Runs the sweep on all pending, abandoned and quarantined work. Returns `None` as [`sweep`](Self::sweep) does.
    pub async fn sweep_all(&self) -> Option<sweep::Swept> {
        let (older_than_seconds, abandoned_after_seconds) = (Some(0), Some(0));
        let request =
            sweep::Request { redrive: true, older_than_seconds, abandoned_after_seconds, count: false };
        self.sweep(request).await
    }

    /// Runs the sweep on a machine. Returns `None` if it dies, fails or takes too long.
    pub async fn sweep(&self, request: sweep::Request) -> Option<sweep::Swept> {
        self.run(Box::pin(sweep::handle(&self.table, request))).await?.ok()
    }
}

/// Returns the correct time in microseconds since 1970, in a run that began at a moment.
fn micros_since(began: Instant) -> u64 {
    BEGINNING + u64::try_from(began.elapsed().as_micros()).unwrap()
}
