//! A system with a queue in the hands of the test: the test delivers due messages, by its own clock.

use crate::costs::figures::Figures;
use crate::local_server::local_server;
use crate::running::Running;
use deliver::Handles;
use domain::Timestamp;
use dovetail_aws::{by_clock, observed};
use dovetail_emulator::gateway::plain;
use dovetail_emulator::queue;
use dovetail_http::Event;
use dovetail_outbound::{Outbound, Targets};
use dovetail_queue::{Queue, Settings, SqsEvent};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Path of the owner role.
pub const OWNER: &str = "/v1/orcabase/serviceowner";
/// Path of the webhooks.
pub const HOOKS: &str = "/v1/external/serviceowner/webhooks/";
/// Path of the webhooks of consumers.
pub const CONSUMER_HOOKS: &str = "/v1/external/consumer/webhooks/";
const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
/// Maximum time to wait for an expected result.
const WAITS: Duration = Duration::from_secs(30);

/// Messages in the queue, each with its due time in microseconds.
type Waiting = Arc<Mutex<Vec<(u64, String)>>>;

/// A system whose queue delivers only when the test says so.
pub struct ManualQueue {
    pub system: Running,
    pub handles: Handles,
    waiting: Waiting,
    all: Vec<String>,
    /// Time of the test in microseconds since 1970.
    now: Arc<Mutex<u64>>,
    /// Number of the last event from the bus.
    taken: u64,
}

impl ManualQueue {
    /// Starts the system with the demo world and an empty queue.
    pub fn start() -> Self {
        let system = Running::demo();
        // Only the test may deliver messages.
        system.enable("deliver", false);
        let (waiting, now) = (Waiting::default(), Arc::new(Mutex::new(dovetail_aws::now().micros())));
        let (shared, clock) = (Arc::clone(&waiting), Arc::clone(&now));
        let answer = move |event: Event| {
            assert_eq!(event.headers["x-amz-target"], "AmazonSQS.SendMessage");
            let sent: Value = serde_json::from_str(event.body.as_deref().unwrap()).unwrap();
            let delay = sent["DelaySeconds"].as_u64().unwrap();
            assert!(delay <= dovetail_queue::DELAY_SECONDS_MAX, "{delay}");
            let due = *clock.lock().unwrap() + delay * 1_000_000;
            shared.lock().unwrap().push((due, sent["MessageBody"].as_str().unwrap().to_owned()));
            async { plain(200, &json!({"MessageId": "1"})) }
        };
        let (endpoint, serving) = system.block_on(local_server(answer));
        drop(system.spawn(serving));
        let settings = Settings { url: queue::url(&endpoint), endpoint: Some(endpoint) };
        let handles = Handles {
            table: system.table.clone(),
            queue: Queue::connect(settings),
            outbound: Outbound::new(Targets::Any),
        };
        Self { system, handles, waiting, all: Vec::new(), now, taken: 0 }
    }

    /// Creates a webhook of a service, owned by the team or with it as a dependent team.
    #[track_caller]
    pub fn hook(&self, key: &str, service: &str, mut body: Value) -> Value {
        // The catalogue also has services of others.
        let service = self.system.get(&format!("/v1/orcabase/consumer/services/?name={service}"), key);
        body["service"] = service.at("/results/0/id").clone();
        self.made(HOOKS, key, &body)
    }

    /// Creates a webhook of a consumer.
    #[track_caller]
    pub fn hook_of_consumer(&self, key: &str, body: &Value) -> Value {
        self.made(CONSUMER_HOOKS, key, body)
    }

    #[track_caller]
    fn made(&self, hooks: &str, key: &str, body: &Value) -> Value {
        self.system.call("POST", hooks, key, body).expect_status(201).body
    }

    /// Returns the current state of a webhook.
    pub fn get(&self, made: &Value) -> Value {
        self.system.get(made["url"].as_str().unwrap(), "vm-owner-key").expect_status(200).body
    }

    /// Returns the failed deliveries, read page by page.
    pub fn failures(&self, made: &Value) -> Vec<Value> {
        let (mut all, mut next) = (Vec::new(), format!("{}failures/?limit=1", made["url"].as_str().unwrap()));
        loop {
            let page = self.system.get(&next, "vm-owner-key").expect_status(200);
            all.extend(page.at("/results").as_array().unwrap().clone());
            match page.at("/next").as_str() {
                Some(url) => next = url.to_owned(),
                None => return all,
            }
        }
    }

    /// Submits the services as the consumer's whole declaration.
    #[track_caller]
    pub fn declare(&self, services: &Value) {
        let body = json!({"AwesomeConsumer": {"App": {"services": services}}});
        self.system.call("POST", SUBMIT, "awesome-key", &body).expect_status(201);
    }

    /// Approves the first pending change instance of an owner, and returns its id.
    pub fn approve(&self, key: &str) -> u64 {
        let list = self.system.get(&format!("{OWNER}/change_instances/?state=PENDING"), key);
        let url = list.at("/results/0/url").as_str().unwrap();
        self.system.call("PATCH", url, key, &json!({"state": "APPROVED"})).expect_status(200);
        list.at("/results/0/id").as_u64().unwrap()
    }

    /// Returns the time of the test, in seconds since 1970.
    pub fn seconds(&self) -> u64 {
        self.now() / 1_000_000
    }

    /// Returns all delivered messages.
    pub fn sent(&self) -> &[String] {
        &self.all
    }

    /// Starts due healthchecks and sends due reminders, as the sweep does each minute, and returns their number.
    pub fn begin(&self) -> u64 {
        self.begin_observed().0
    }

    /// Does the same, and returns the cost as well.
    pub(crate) fn begin_observed(&self) -> (u64, Figures) {
        let begun = observed(sweep::begin(&self.handles.table, &self.handles.queue));
        let (begun, observed) = self.system.block_on(by_clock(self.clock(), begun));
        (begun.unwrap(), Figures::from(observed.cost))
    }

    fn clock(&self) -> dovetail_aws::Clock {
        let now = Arc::clone(&self.now);
        Arc::new(move || Timestamp::from_micros(*now.lock().unwrap()))
    }

    fn now(&self) -> u64 {
        *self.now.lock().unwrap()
    }

    /// Moves the clock to a time, unless it is later already.
    fn advance_to(&self, time: u64) {
        let mut now = self.now.lock().unwrap();
        *now = time.max(*now);
    }

    /// Moves the clock past the real time, because requests use the real clock.
    pub fn catch_up(&self) {
        self.advance_to(dovetail_aws::now().micros() + 1);
    }

    /// Drops all messages in the queue.
    pub fn lose(&self) {
        self.waiting.lock().unwrap().clear();
    }

    /// Advances the clock and delivers each message at its due time.
    pub fn pass(&mut self, seconds: u64) {
        let end = self.now() + seconds * 1_000_000;
        loop {
            let next = self.waiting.lock().unwrap().iter().map(|(due, _)| *due).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.advance_to(next);
            self.deliver();
        }
        // A slow receiver may have moved the clock further.
        self.advance_to(end);
    }

    /// Returns a function that advances the clock by seconds and returns its time, for receivers that take time.
    pub fn advance(&self) -> impl Fn(u64) -> u64 + Send + 'static {
        let now = Arc::clone(&self.now);
        move |seconds| {
            let mut now = now.lock().unwrap();
            *now += seconds * 1_000_000;
            *now / 1_000_000
        }
    }

    /// Returns the due times of all waiting messages, in seconds from now.
    pub fn due(&self) -> Vec<u64> {
        let now = self.now();
        let mut due: Vec<_> =
            self.waiting.lock().unwrap().iter().map(|(due, _)| due.saturating_sub(now) / 1_000_000).collect();
        due.sort_unstable();
        due
    }

    /// Advances the clock to the next message and starts its delivery, without waiting for the end.
    pub fn begin_next(&mut self) -> JoinHandle<()> {
        let (due, body) = {
            let mut waiting = self.waiting.lock().unwrap();
            let next = (0..waiting.len()).min_by_key(|index| waiting[*index].0).unwrap();
            waiting.remove(next)
        };
        self.advance_to(due);
        let (handles, event, clock) = (self.handles.clone(), batch(&[&body]), self.clock());
        self.all.push(body);
        self.system.spawn(async move {
            let (reply, _) = by_clock(clock, deliver::handle(&handles, event)).await;
            assert!(reply.batch_item_failures.is_empty());
        })
    }

    /// Delivers due messages and their immediate successors.
    pub fn deliver(&mut self) {
        self.system.wait_idle();
        let rule = queue::rule().unwrap();
        for published in self.system.events(self.taken) {
            self.taken = published.number;
            if rule.matches(&published.envelope) {
                self.waiting.lock().unwrap().push((self.now(), published.envelope.to_string()));
            }
        }
        loop {
            let now = self.now();
            let mut waiting = self.waiting.lock().unwrap();
            let (mut due, later): (Vec<_>, Vec<_>) = waiting.drain(..).partition(|(due, _)| *due <= now);
            // Each invocation gets one message, as by the mapping of the template.
            *waiting = due.split_off(due.len().min(1));
            waiting.extend(later);
            drop(waiting);
            if due.is_empty() {
                return;
            }
            let bodies: Vec<&str> = due.iter().map(|(_, body)| body.as_str()).collect();
            assert_eq!(self.handle(&bodies), Vec::<String>::new());
            self.all.extend(due.into_iter().map(|(_, body)| body));
        }
    }

    /// Invokes the function with messages. Returns the indexes of the failed ones.
    pub fn handle(&self, bodies: &[&str]) -> Vec<String> {
        let handled = deliver::handle(&self.handles, batch(bodies));
        let (reply, _) = self.system.block_on(by_clock(self.clock(), handled));
        reply.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect()
    }

    /// Waits until a condition holds, for at most 30 seconds.
    pub fn eventually(&self, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < WAITS, "the condition holds within {WAITS:?}");
            std::thread::yield_now();
        }
    }
}

/// Returns messages as the function gets them.
fn batch(bodies: &[&str]) -> SqsEvent {
    let record = |(at, body): (usize, &&str)| json!({"messageId": at.to_string(), "body": body});
    let records: Vec<Value> = bodies.iter().enumerate().map(record).collect();
    serde_json::from_value(json!({"Records": records})).unwrap()
}
