//! Isolation: one tenant floods the system, and others submit meanwhile.

use super::driver::{Size, Stand, Summary, arrivals, percentile};
use super::gateway::{Gateway, Response};
use super::limits::Event;
use super::tenants::{PLAIN, SHARED, submission};
use crate::run::in_virtual_time;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A flood of one tenant, and other tenants during it.
#[derive(Clone, Copy, Debug)]
pub struct Flood {
    pub seed: u64,
    /// Items of the large submission, or zero without one.
    pub items: usize,
    /// Rate of small submissions of the tenant, per second, or zero.
    pub small: u32,
    /// Number of other tenants. Each submits one item with a dependent team.
    pub others: usize,
    /// Lanes of each shard.
    pub lanes: usize,
    /// Requests per second of the gateway.
    pub requests: u32,
}

#[derive(Clone, Debug)]
pub struct Flooded {
    /// Time until the commit of the large submission, and the number of stagings until then.
    pub commit: Option<(Duration, usize)>,
    /// Response of the large submission, if there is one.
    pub large: Option<Response>,
    /// Responses to the small submissions.
    pub small: Summary,
    /// Responses to the other tenants.
    pub others: Summary,
    /// Time from the commit of each of the other tenants until its generated change instance exists.
    pub lags: Vec<Duration>,
}

impl Flooded {
    pub fn lag(&self, percent: usize) -> Duration {
        percentile(&self.lags, percent)
    }

    /// Returns the number of lags above one second.
    pub fn late(&self) -> usize {
        self.lags.iter().filter(|lag| **lag > Duration::from_secs(1)).count()
    }
}

/// Time between the requests of the other tenants.
const BETWEEN: Duration = Duration::from_millis(100);

impl Flood {
    /// Runs the scenario. The other tenants start after the commit of the large submission.
    pub fn run(self) -> Result<Flooded, String> {
        in_virtual_time(self.seed, move || Box::pin(self.play()))
    }

    async fn play(self) -> Flooded {
        let Self { seed, items, others, lanes, requests, .. } = self;
        let stand = Stand::start(Size { seed, consumers: others + 1, lanes, requests }).await;
        stand.begin();
        let began = stand.load.now();
        let large = self.large(&stand.gateway);
        if items > 0 {
            while stand.load.times(Event::Committed).is_empty() && !large.is_finished() {
                sleep(Duration::from_millis(10)).await;
            }
        }
        let committed = stand.load.times(Event::Committed);
        let commit = committed.first().map(|(_, at)| (*at - began, stand.load.times(Event::Staged).len()));
        let small = self.small(&stand);
        let responses = of_others(&stand, others).await;
        let accepted = responses.iter().filter(|response| response.status == 201).count();
        let lags = stand.lags(accepted).await;
        let small = Summary::of(&small.await.unwrap());
        let large = if items > 0 { Some(large.await.unwrap()) } else { None };
        drop(stand.end());
        Flooded { commit, large, small, others: Summary::of(&responses), lags }
    }

    fn small(self, stand: &Stand) -> JoinHandle<Vec<Response>> {
        let (gateway, load) = (Arc::clone(&stand.gateway), Arc::clone(&stand.load));
        let time = BETWEEN * u32::try_from(self.others).unwrap();
        tokio::spawn(async move {
            let submit = |number| {
                let gateway = Arc::clone(&gateway);
                async move { gateway.send(&submission(0, number, PLAIN, 1)).await }
            };
            if self.small == 0 { Vec::new() } else { arrivals(&load, self.small, time, submit).await }
        })
    }

    fn large(self, gateway: &Arc<Gateway>) -> JoinHandle<Response> {
        let gateway = Arc::clone(gateway);
        let request = submission(0, 0, PLAIN, self.items.max(1));
        tokio::spawn(async move {
            if self.items == 0 {
                std::future::pending::<()>().await;
            }
            gateway.send(&request).await
        })
    }
}

/// Sends one submission of each other tenant.
async fn of_others(stand: &Stand, others: usize) -> Vec<Response> {
    let mut sending = Vec::new();
    for consumer in 1..=others {
        let gateway = Arc::clone(&stand.gateway);
        sending.push(tokio::spawn(async move { gateway.send(&submission(consumer, 0, SHARED, 1)).await }));
        sleep(BETWEEN).await;
    }
    let mut responses = Vec::new();
    for one in sending {
        responses.push(one.await.unwrap());
    }
    responses
}
