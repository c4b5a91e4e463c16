//! A system with a trace of the calls of each function.

use crate::record::{Roles, Traced, sequence};
use crate::sequence::Sequence;
use crate::world::{
    Application, CONSUMERS, DEPENDENT, OWNER, PLAIN, SHARED, Size, declaration, key, team, world,
};
use dovetail_daemon::authorizer::Authorizer;
use fastrand::Rng;
use serde_json::{Value, json};
use simulation::cloud::{Cloud, Indexes};
use simulation::invocation::{Death, Invocation};
use simulation::load::driver::changes;
use simulation::load::limits::Load;
use simulation::stream::{GENERATE, Stream, filter_of};
use simulation::system::{Answer, ApiRequest, Limits, OWNED, SUBMIT, System};
use std::sync::Arc;

/// Seed of the latencies. They only decide the order of concurrent calls.
pub const SEED: u64 = 1;

/// A rate of units that no operation reaches.
const UNLIMITED: u32 = 1_000_000;

/// Name of the function for events.
pub const NOTIFY: &str = "notify";

/// A system, and the sequences so far.
pub struct Recorder {
    pub system: Arc<System>,
    pub stream: Stream,
    pub authorizer: Authorizer,
    pub roles: Roles,
    pub size: Size,
    pub sequences: Vec<Sequence>,
}

impl Recorder {
    /// Creates a system whose functions have full caches.
    pub async fn start(size: Size) -> Self {
        let cloud = Cloud::new(Rng::with_seed(SEED), Indexes::Exact, None);
        let system = System::start(&world(), Limits::of_actions(100), cloud).await;
        let mut roles = Roles::new();
        let owners = [(OWNER.to_owned(), "owner"), (DEPENDENT.to_owned(), "dependent")];
        let consumers = (0..CONSUMERS).map(|number| (team(number), "consumer"));
        for (name, role) in owners.into_iter().chain(consumers) {
            let team = system.table.team_by_name(&name).await.unwrap().unwrap();
            roles.insert(team.id.to_string(), role);
        }
        let stream = Stream::whole(&system);
        let authorizer = Authorizer::default();
        let recorder = Self { system, stream, authorizer, roles, size, sequences: Vec::new() };
        for service in [PLAIN, SHARED] {
            let warm = recorder.changes((0, "Warm", service), 1, 0).await;
            recorder.decide(&warm[0], "APPROVED").await;
        }
        drop(recorder.flow(GENERATE).await);
        recorder
    }

    /// Sends a request. Returns the answer and the calls.
    pub async fn send(&self, method: &str, path: &str, key: String, body: Value) -> (Answer, Traced) {
        let request = ApiRequest::new(method, path, &key, body);
        let id = self.system.next_request();
        let (answer, calls) = self.traced(self.system.answer_by(&self.authorizer, &request, &id)).await;
        assert!(matches!(answer.status, 200 | 201), "{} {}: {}", request.path, answer.status, answer.body);
        (answer, calls)
    }

    /// Runs a function on a machine without faults. Returns its output and its calls.
    pub async fn traced<F: Future>(&self, function: F) -> (F::Output, Traced) {
        self.stream.read(&self.system);
        let position = self.stream.records().len();
        let load = Arc::new(Load::with_rates(SEED, UNLIMITED, UNLIMITED));
        load.start_trace();
        self.system.cloud.bear(Some(Arc::clone(&load)));
        let invocation = Invocation::new(Death::Never);
        let output = self.system.run_until(&invocation, function).await.unwrap();
        self.system.cloud.bear(None);
        assert_eq!(self.system.cloud.complaint(), None);
        self.stream.read(&self.system);
        let (events, _) = self.stream.after(position, &filter_of(NOTIFY));
        let changes = events.iter().filter(|record| is_change(record)).count();
        (output, Traced { calls: load.end_trace(), events: events.len(), changes })
    }

    /// Adds the sequence of an operation.
    pub fn add(&mut self, operation: &str, traced: Traced) {
        assert!(!traced.calls.is_empty(), "{operation}");
        let name = format!("{operation}, {} items", self.size.name());
        self.sequences.push(sequence(&name, traced, &self.roles));
    }

    /// Submits items of one application. Returns the answer and the calls.
    pub async fn submit(&self, of: Application<'_>, items: usize, cpu: u64) -> (Answer, Traced) {
        let body = declaration(of, items, cpu, self.size);
        self.send("PATCH", SUBMIT, key(&team(of.0)), body).await
    }

    /// Submits, and returns the ids of the change instances.
    pub async fn changes(&self, of: Application<'_>, items: usize, cpu: u64) -> Vec<Value> {
        let (answer, _) = self.submit(of, items, cpu).await;
        changes(&answer.body)
    }

    /// Decides with the log text of the size.
    pub async fn decide(&self, change: &Value, state: &str) -> Traced {
        let body = json!({"state": state, "log": self.size.log()});
        self.send("PATCH", &format!("{OWNED}{change}/"), key(OWNER), body).await.1
    }

    /// Delivers the new records of the stream to a function, and returns the calls.
    pub async fn flow(&self, function: &str) -> Traced {
        self.stream.read(&self.system);
        let (records, _) = self.stream.after(0, &filter_of(function));
        let is_wanted = |record: &Value| function == GENERATE || is_change(record);
        let last: Vec<Value> = records.into_iter().rev().filter(is_wanted).take(1).collect();
        let (failure, calls) = self.traced(self.system.taken(function, &last)).await;
        assert_eq!(failure, None);
        calls
    }
}

/// Returns whether a record of the stream is a change instance.
fn is_change(record: &Value) -> bool {
    record["dynamodb"]["NewImage"]["ty"]["S"] == "CHANGE"
}
