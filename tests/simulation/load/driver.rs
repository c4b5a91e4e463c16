//! Offered load: requests at the times of independent arrivals, and a summary of their responses.

use super::gateway::{Gateway, Response};
use super::lanes::flow;
use super::latency::until_next;
use super::limits::{Event, Load};
use super::tenants::{submission, world};
use crate::cloud::{Cloud, Indexes};
use crate::stream::Stream;
use crate::system::{Answer, Limits, System};
use fastrand::Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// A rate of the gateway that no scenario reaches.
pub const UNLIMITED: u32 = 10_000;

/// Longest time for the generation of change instances.
const GENERATED_MAX: Duration = Duration::from_secs(240);

/// A system with tenants, its gateway and its stream.
pub struct Stand {
    pub gateway: Arc<Gateway>,
    pub load: Arc<Load>,
    system: Arc<System>,
    mapping: JoinSet<()>,
}

/// The size of a stand.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub seed: u64,
    pub consumers: usize,
    /// Lanes of each shard.
    pub lanes: usize,
    /// Requests per second of the gateway. The burst is twice that.
    pub requests: u32,
}

impl Stand {
    /// Creates a stand without limits, so that a scenario can prepare it.
    pub async fn start(size: Size) -> Self {
        let cloud = Cloud::new(Rng::with_seed(size.seed), Indexes::Exact, None);
        let system = System::start(&world(size.consumers), Limits::of_actions(100), cloud).await;
        let stream = Arc::new(Stream::whole(&system));
        let mapping = flow(&system, &stream, size.lanes);
        let load = Arc::new(Load::new(size.seed));
        let gateway = Gateway::new(&system, &load, size.requests, 2 * size.requests);
        Self { gateway, load, system, mapping }
    }

    /// Submits without limits, and returns the answer.
    pub async fn prepare(&self, consumer: usize, application: usize, service: &str, items: usize) -> Answer {
        let request = submission(consumer, application, service, items);
        let answer = self.system.send(&request, &self.system.next_request()).await.unwrap();
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer
    }

    /// Sets the limits.
    pub fn begin(&self) {
        self.system.cloud.bear(Some(Arc::clone(&self.load)));
    }

    /// Waits until the change instances of small submissions are generated. Returns the time of each since its commit.
    ///
    /// A staged submission has many work records, and a small one has one.
    pub async fn lags(&self, submissions: usize) -> Vec<Duration> {
        let until = self.load.now() + GENERATED_MAX;
        loop {
            let lags = lags(&self.load);
            if lags.len() >= submissions || self.load.now() > until {
                return lags;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Ends the run. Returns the counts of operations and rejections, by name.
    pub fn end(mut self) -> BTreeMap<String, u64> {
        assert!(self.mapping.try_join_next().is_none(), "the mapping has ended");
        assert_eq!(self.system.cloud.complaint(), None);
        self.system.cloud.counts()
    }
}

/// Returns the time from the commit of each small submission until its work record was finished.
fn lags(load: &Load) -> Vec<Duration> {
    let by_submission = |event| {
        let mut times: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
        for (partition, at) in load.times(event) {
            times.entry(partition.replace("WORK#", "SUBMISSION#")).or_default().push(at);
        }
        times
    };
    let mut generated = by_submission(Event::Generated);
    let mut lags = Vec::new();
    for (submission, at) in by_submission(Event::Committed) {
        // One tenant's work is finished in the order of its commits, because it is in one lane.
        let finished = generated.remove(&submission).unwrap_or_default();
        if finished.len() <= at.len() {
            lags.extend(finished.iter().zip(&at).map(|(finished, at)| finished.saturating_sub(*at)));
        }
    }
    lags
}

/// Acts at the times of independent arrivals. Returns the results in the order of the arrivals.
pub async fn arrivals<T, F>(load: &Load, rate: u32, time: Duration, act: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let end = load.now() + time;
    let mut acting = Vec::new();
    loop {
        sleep(load.draw(|dice| until_next(dice, rate))).await;
        if load.now() >= end {
            break;
        }
        acting.push(tokio::spawn(act(acting.len())));
    }
    let mut results = Vec::new();
    for one in acting {
        results.push(one.await.unwrap());
    }
    results
}

/// Returns the ids of the change instances in the response of a submission.
pub fn changes(body: &Value) -> Vec<Value> {
    let changes = body["change_instances"].as_array().cloned().unwrap_or_default();
    changes.into_iter().map(|mut change| change["id"].take()).collect()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of responses by status.
    pub statuses: BTreeMap<u16, usize>,
    /// Calls of the table that write, in hundredths per request.
    pub writes: usize,
    pub median: Duration,
    /// 99th percentile.
    pub late: Duration,
}

impl Summary {
    pub fn of(responses: &[Response]) -> Self {
        let mut statuses = BTreeMap::new();
        for response in responses {
            *statuses.entry(response.status).or_default() += 1;
        }
        let writes = responses.iter().map(|response| 100 * response.writes).sum::<usize>();
        let times: Vec<Duration> = responses.iter().map(|response| response.time).collect();
        let writes = writes / responses.len().max(1);
        Self { statuses, writes, median: percentile(&times, 50), late: percentile(&times, 99) }
    }

    /// Returns the number of all responses.
    pub fn all(&self) -> usize {
        self.statuses.values().sum()
    }

    /// Returns the number of responses with a status.
    pub fn count(&self, status: u16) -> usize {
        self.statuses.get(&status).copied().unwrap_or_default()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statuses, writes, median, late } = self;
        let (whole, rest) = (writes / 100, writes % 100);
        write!(
            f,
            "{statuses:?}, {whole}.{rest:02} writing calls per request, median {median:.0?}, p99 {late:.0?}"
        )
    }
}

/// Returns a percentile of times, or zero without times.
pub fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default()
}
