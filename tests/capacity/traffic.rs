//! Traffic of clients: requests at the times of independent arrivals.

use crate::names::Names;
use crate::stack::{Response, Route, Stack};
use simulation::load::latency::until_next;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Seconds of the unit of rates.
const RATE_SECONDS: u32 = 1_000;

/// Time between the steps of a life, in milliseconds at most.
const THINKING: u64 = 4_000;

/// First ids of owners, dependent teams and services. The first consumer has the id 1.
const OWNERS: u64 = 10_000_000;
const DEPENDENTS: u64 = 20_000_000;
const SERVICES: u64 = 30_000_000;

/// Sum of the first weight of Zipf's distribution.
const WEIGHT: u64 = 1_000_000;

/// What arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// One request with a recorded sequence.
    Request(Route, &'static str),
    /// An item with a dependent team: created, approved and completed by both owners.
    Life,
    /// Ten items of one submission: created, then each approved and completed.
    TenLives,
}

/// Arrivals of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    pub act: Act,
    /// Arrivals in 1,000 seconds.
    pub rate: u32,
    /// Number of consumers. Each arrival has any of them.
    pub consumers: u64,
    /// Number of owners. The first one has the most arrivals, by Zipf's distribution.
    pub owners: u64,
}

/// A response with its route.
pub type Routed = (Route, Response);

/// Sends arrivals for a time, and returns the responses.
pub async fn arrive(
    stack: Arc<Stack>,
    arrivals: Arrivals,
    ids: Arc<AtomicU64>,
    time: Duration,
) -> Vec<Routed> {
    let mut acting = JoinSet::new();
    let (end, mut next) = (stack.now() + time, stack.now());
    loop {
        // The clock of tokio has a resolution of one millisecond, so the times of arrivals are sums of exact ones.
        next += stack.table.draw(|dice| until_next(dice, arrivals.rate)) * RATE_SECONDS;
        if arrivals.rate == 0 || next >= end {
            break;
        }
        sleep(next.saturating_sub(stack.now())).await;
        let names = drawn(&stack, arrivals, &ids);
        let stack = Arc::clone(&stack);
        acting.spawn(async move {
            match arrivals.act {
                Act::Request(route, operation) => {
                    let team = if route == Route::Submissions { names.consumer } else { names.owner };
                    vec![(route, stack.request(route, team, operation, names).await)]
                }
                Act::Life => life(&stack, names).await,
                Act::TenLives => ten_lives(&stack, names).await,
            }
        });
    }
    acting.join_all().await.concat()
}

fn drawn(stack: &Stack, arrivals: Arrivals, ids: &AtomicU64) -> Names {
    let Arrivals { consumers, owners, .. } = arrivals;
    let (consumer, owner) = stack.table.draw(|dice| {
        // The weight of an owner is inverse to its rank.
        let total: u64 = (1..=owners).map(|rank| WEIGHT / rank).sum();
        let mut left = dice.u64(0..total);
        let owner = (1..=owners).find(|rank| {
            let weight = WEIGHT / rank;
            let is_it = left < weight;
            left = left.saturating_sub(weight);
            is_it
        });
        (dice.u64(1..=consumers), owner.unwrap_or(owners))
    });
    Names {
        consumer,
        owner: OWNERS + owner,
        dependent: DEPENDENTS + owner,
        service: SERVICES + owner,
        id: ids.fetch_add(1, Ordering::Relaxed),
    }
}

async fn think(stack: &Stack) {
    sleep(Duration::from_millis(stack.table.draw(|dice| dice.u64(0..THINKING)))).await;
}

/// The life of an item: its owner and the dependent team each approve and complete.
async fn life(stack: &Arc<Stack>, names: Names) -> Vec<Routed> {
    let submit = "submit 1 CREATE with a dependent team";
    let created = stack.request(Route::Submissions, names.consumer, submit, names).await;
    let mut responses = vec![(Route::Submissions, created)];
    let by_dependent = Names { owner: names.dependent, ..names };
    for (operation, names) in [
        ("approve", names),
        ("approve", by_dependent),
        ("complete with a deployed item", names),
        ("complete with a deployed item", by_dependent),
    ] {
        think(stack).await;
        responses
            .push((Route::Decisions, stack.request(Route::Decisions, names.owner, operation, names).await));
    }
    responses
}

/// The lives of the items of one submission. The owner decides on all of them at once.
async fn ten_lives(stack: &Arc<Stack>, names: Names) -> Vec<Routed> {
    let created = stack.request(Route::Submissions, names.consumer, "submit 10 new items", names).await;
    let mut deciding = JoinSet::new();
    for _ in 0..if created.status == 200 { 10 } else { 0 } {
        let stack = Arc::clone(stack);
        deciding.spawn(async move {
            let mut responses = Vec::new();
            for operation in ["approve", "complete"] {
                let response = stack.request(Route::Decisions, names.owner, operation, names).await;
                responses.push((Route::Decisions, response));
                if response.status != 200 {
                    break;
                }
            }
            responses
        });
    }
    let decided = deciding.join_all().await.concat();
    std::iter::once((Route::Submissions, created)).chain(decided).collect()
}
