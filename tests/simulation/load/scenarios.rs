//! Scenarios with a rate of requests.

use super::driver::{Size, Stand, Summary, UNLIMITED, arrivals, changes};
use super::gateway::{Gateway, REQUESTS, Response};
use super::lanes::LANES_MAX;
use super::partition::Partition;
use super::tenants::{PLAIN, SHARED, decision, submission};
use crate::run::in_virtual_time;
use embedded::Key;
use std::sync::Arc;
use std::time::Duration;

/// Items of a submission whose items live.
const ITEMS: usize = 10;

/// Consumers with small submissions.
const CONSUMERS: usize = 50;

/// Result of a scenario with a rate.
#[derive(Clone, Debug)]
pub struct Throughput {
    pub summary: Summary,
    /// Completed units of the load within the time of the arrivals.
    pub done: usize,
    /// Partitions that rejected requests, with their numbers of rejections.
    pub rejections: Vec<(Partition, u64)>,
    /// Records in conflicts, with their numbers of conflicts.
    pub collisions: Vec<(Key, u64)>,
}

impl Throughput {
    fn of(stand: Stand, responses: &[Response], done: usize) -> Self {
        let (rejections, collisions) = (stand.load.rejections(), stand.load.collisions());
        drop(stand.end());
        Self { summary: Summary::of(responses), done, rejections, collisions }
    }
}

/// One consumer's items are rejected at a rate per second: `done` counts the rejections.
pub fn rejections(seed: u64, rate: u32, seconds: u64) -> Result<Throughput, String> {
    in_virtual_time(seed, move || async move {
        let stand = Stand::start(Size { seed, consumers: 1, lanes: LANES_MAX, requests: UNLIMITED }).await;
        let needed = usize::try_from(u64::from(rate) * seconds * 3 / 2).unwrap() + 20;
        let mut ids = Vec::new();
        for application in 0..needed.div_ceil(ITEMS) {
            ids.extend(changes(&stand.prepare(0, application, PLAIN, ITEMS).await.body));
        }
        stand.begin();
        let (gateway, ids) = (Arc::clone(&stand.gateway), Arc::new(ids));
        let time = Duration::from_secs(seconds);
        let end = stand.load.now() + time;
        let reject = |number: usize| {
            let (gateway, ids) = (Arc::clone(&gateway), Arc::clone(&ids));
            async move { gateway.send(&decision(&ids[number], "REJECTED")).await }
        };
        let responses = arrivals(&stand.load, rate, time, reject).await;
        let done = responses.iter().filter(|one| one.status == 200 && one.at < end).count();
        Throughput::of(stand, &responses, done)
    })
}

/// Whole lives of one consumer's items at a rate per second: created, approved, completed, and counted as `done`.
pub fn lives(seed: u64, rate: u32, seconds: u64) -> Result<Throughput, String> {
    in_virtual_time(seed, move || async move {
        let stand = Stand::start(Size { seed, consumers: 1, lanes: LANES_MAX, requests: UNLIMITED }).await;
        stand.begin();
        let gateway = Arc::clone(&stand.gateway);
        let time = Duration::from_secs(seconds);
        let end = stand.load.now() + time;
        let rate = rate / u32::try_from(ITEMS).unwrap();
        let responses =
            arrivals(&stand.load, rate, time, |number| life(Arc::clone(&gateway), number)).await.concat();
        let is_completion = |one: &&Response| one.status == 200 && one.body["state"] == "COMPLETED";
        let done = responses.iter().filter(is_completion).filter(|one| one.at < end).count();
        Throughput::of(stand, &responses, done)
    })
}

/// The life of the items of one submission. The owner decides on all of them at once.
async fn life(gateway: Arc<Gateway>, application: usize) -> Vec<Response> {
    let mut responses = vec![gateway.send(&submission(0, application, PLAIN, ITEMS)).await];
    let deciding = changes(&responses[0].body).into_iter().map(|change| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move {
            let mut responses = Vec::new();
            for state in ["APPROVED", "COMPLETED"] {
                responses.push(gateway.send(&decision(&change, state)).await);
                if responses.last().is_some_and(|response| response.status != 200) {
                    break;
                }
            }
            responses
        })
    });
    for deciding in deciding.collect::<Vec<_>>() {
        responses.extend(deciding.await.unwrap());
    }
    responses
}

/// Small submissions of many consumers at a rate per second, each with a generated change instance, behind the
/// default gateway. The accepted submissions are counted as `done`.
pub fn small_submissions(seed: u64, rate: u32, seconds: u64) -> Result<(Throughput, Vec<Duration>), String> {
    in_virtual_time(seed, move || async move {
        let size = Size { seed, consumers: CONSUMERS, lanes: LANES_MAX, requests: REQUESTS };
        let stand = Stand::start(size).await;
        stand.begin();
        let (gateway, time) = (Arc::clone(&stand.gateway), Duration::from_secs(seconds));
        let end = stand.load.now() + time;
        let submit = |number: usize| {
            let gateway = Arc::clone(&gateway);
            let request = submission(number % CONSUMERS, number / CONSUMERS, SHARED, 1);
            async move { gateway.send(&request).await }
        };
        let responses = arrivals(&stand.load, rate, time, submit).await;
        let accepted = || responses.iter().filter(|one| one.status == 201);
        let lags = stand.lags(accepted().count()).await;
        let done = accepted().filter(|one| one.at < end).count();
        (Throughput::of(stand, &responses, done), lags)
    })
}
