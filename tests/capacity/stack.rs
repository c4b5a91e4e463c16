//! A stack in the replay: gateway, functions with their retries, and what they consume.

use crate::flow::Flow;
use crate::names::Names;
use crate::sequence::{Sequence, Step, named};
use crate::table::{Assumptions, Failure, Read, Table};
use crate::usage::Usage;
use dovetail_aws::retry::{self, Policy};
use futures_util::stream::{self, StreamExt as _};
use simulation::load::bucket::Bucket;
use simulation::load::gateway::{INSTANCES, PATIENCE};
use simulation::locked;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Time for which the gateway caches an answer of the authorizer.
const AUTHORIZED: Duration = Duration::from_secs(60);

/// A group of routes with a rate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Route {
    Submissions,
    Decisions,
    Lists,
}

/// Requests per second of each group of routes. The burst is twice that.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    pub submissions: u32,
    pub decisions: u32,
    pub lists: u32,
}

impl Rates {
    /// The defaults of the template.
    pub const DEFAULT: Self = Self { submissions: 50, decisions: 100, lists: 100 };
    /// Rates that no scenario reaches.
    pub const RAISED: Self = Self { submissions: 10_000, decisions: 10_000, lists: 10_000 };

    /// Returns each group of routes with its name and its rate.
    pub const fn each(self) -> [(Route, &'static str, u32); 3] {
        [
            (Route::Submissions, "submissions", self.submissions),
            (Route::Decisions, "decisions", self.decisions),
            (Route::Lists, "lists", self.lists),
        ]
    }
}

/// A response with its time.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    pub status: u16,
    /// Time from the request to the response, without compute time.
    pub time: Duration,
    /// Time of the response.
    pub at: Duration,
}

pub struct Stack {
    pub table: Table,
    pub usage: Usage,
    pub flow: Flow,
    /// Size of the items: a part of the names of sequences.
    size: &'static str,
    began: Instant,
    gateway: Mutex<BTreeMap<Route, Bucket>>,
    authorized: Mutex<BTreeMap<(Route, u64), Duration>>,
    sequences: HashMap<String, Arc<Sequence>>,
}

impl Stack {
    /// Creates a stack with full buckets.
    pub fn new(
        seed: u64,
        rates: Rates,
        size: &'static str,
        lanes: usize,
        assumptions: Assumptions,
    ) -> Arc<Self> {
        let gateway = rates.each().map(|(route, _, rate)| (route, Bucket::new(rate, 2 * rate)));
        let sequences = crate::sequence::all().into_iter().map(|one| (one.name.clone(), Arc::new(one)));
        Arc::new(Self {
            table: Table::new(seed, assumptions),
            usage: Usage::default(),
            flow: Flow::new(lanes),
            size,
            began: Instant::now(),
            gateway: Mutex::new(gateway.into()),
            authorized: Mutex::default(),
            sequences: sequences.collect(),
        })
    }

    /// Returns the time since the start.
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns the sequence of an operation with items of the stack's size.
    pub fn sequence(&self, operation: &str) -> Arc<Sequence> {
        let name = format!("{operation}, {} items", self.size);
        self.sequences.get(&name).cloned().unwrap_or_else(|| Arc::new(named(&name)))
    }

    /// Sends a request of a team to the API. A write causes events and generation.
    pub async fn request(
        self: &Arc<Self>,
        route: Route,
        team: u64,
        operation: &str,
        names: Names,
    ) -> Response {
        let (sequence, began) = (self.sequence(operation), self.now());
        let status = self.status(route, team, &sequence, names).await;
        let at = self.now();
        self.usage.respond(route, status);
        if status == 200 {
            self.flow.write(self, &sequence, names);
        }
        Response { status, time: at - began, at }
    }

    async fn status(&self, route: Route, team: u64, sequence: &Sequence, names: Names) -> u16 {
        let now = self.now();
        let is_admitted = locked(&self.gateway).get_mut(&route).is_some_and(|bucket| bucket.take(now));
        if !is_admitted {
            return 429;
        }
        if self.usage.busy() >= INSTANCES {
            return 503;
        }
        let is_known =
            locked(&self.authorized).insert((route, team), now).is_some_and(|at| now - at < AUTHORIZED);
        if !is_known {
            self.invoke(&self.sequence("authorize a key"), names, retry::WRITE).await;
        }
        let policy = if route == Route::Submissions { retry::PLAN } else { retry::WRITE };
        let done = tokio::time::timeout(PATIENCE, self.invoke(sequence, names, policy)).await;
        if done == Ok(true) { 200 } else { 503 }
    }

    /// Runs a function, and returns whether it succeeds.
    pub async fn invoke(&self, sequence: &Sequence, names: Names, policy: Policy) -> bool {
        let _busy = self.usage.begin();
        retry::with_budget(self.run(&sequence.steps, names, policy)).await
    }

    /// Executes the steps, and all of them again after a lost race.
    async fn run(&self, steps: &[Step], names: Names, policy: Policy) -> bool {
        let mut attempts = policy.attempts();
        while attempts.next().await.is_some() {
            let read = self.table.read(steps, &names, self.now());
            match self.attempt(steps, &names, &read).await {
                Ok(()) => return true,
                // A throttled read ends the request.
                Err(Failure::Throttled) => return false,
                Err(Failure::Conflict | Failure::Stale) => {}
            }
        }
        false
    }

    async fn attempt(&self, steps: &[Step], names: &Names, read: &Read) -> Result<(), Failure> {
        for round in steps.chunk_by(|one, other| one.round == other.round) {
            let steps = round.iter().map(|step| self.step(step, names, read));
            futures_util::future::try_join_all(steps).await?;
        }
        Ok(())
    }

    async fn step(&self, step: &Step, names: &Names, read: &Read) -> Result<(), Failure> {
        let calls = stream::iter(0..step.times).map(|_| self.call(step, names, read));
        let done: Vec<Result<(), Failure>> = calls.buffer_unordered(step.at_once).collect().await;
        done.into_iter().collect()
    }

    /// Sends a call until it is done, as the policies of `dovetail_aws::retry` allow it.
    async fn call(&self, step: &Step, names: &Names, read: &Read) -> Result<(), Failure> {
        let policy = match step.operation.as_str() {
            "TransactWriteItems" => retry::TRANSACTION,
            "BatchWriteItem" | "BatchGetItem" => retry::BATCH,
            // The SDK repeats single reads a few times.
            _ => retry::TORN_READ,
        };
        let (mut attempts, mut last) = (policy.attempts(), Failure::Throttled);
        while attempts.next().await.is_some() {
            match self.table.call(step, names, read, || self.now()).await {
                Ok(()) => return Ok(()),
                Err(Failure::Throttled) => attempts.uncount(),
                Err(Failure::Stale) => {
                    retry::charge();
                    return Err(Failure::Stale);
                }
                Err(failure) => {
                    retry::charge();
                    last = failure;
                }
            }
        }
        Err(last)
    }
}
