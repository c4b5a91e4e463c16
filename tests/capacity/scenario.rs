//! Scenarios: stacks of a size with their usual traffic, and loads on one part of a stack.

use crate::outcome::{Outcome, limits};
use crate::stack::{Rates, Route, Stack};
use crate::table::Assumptions;
use crate::traffic::{Act, Arrivals, arrive};
use simulation::load::lanes::LANES_MAX;
use simulation::run::in_virtual_time;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::time::sleep;

/// Time after the arrivals for generation and events.
const SETTLING: Duration = Duration::from_secs(5);

/// Seconds of a month of 30 days.
pub const MONTH: u64 = 30 * 24 * 3_600;

/// Arrivals at a stack, for a time.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub seed: u64,
    /// Size of the items: a part of the names of sequences.
    pub size: &'static str,
    pub rates: Rates,
    pub seconds: u64,
    pub arrivals: Vec<Arrivals>,
    pub assumptions: Assumptions,
}

impl Scenario {
    /// Creates a scenario of one kind of arrivals behind a gateway with raised rates. The rate is per second.
    pub fn one(size: &'static str, act: Act, rate: u32, consumers: u64, owners: u64) -> Self {
        let arrivals = vec![Arrivals { act, rate: rate * 1_000, consumers, owners }];
        let assumptions = Assumptions::USUAL;
        Self { seed: 1, size, rates: Rates::RAISED, seconds: 10, arrivals, assumptions }
    }

    /// Runs the scenario in virtual time.
    pub fn run(&self) -> Outcome {
        let scenario = self.clone();
        in_virtual_time(self.seed, move || async move { scenario.play().await }).unwrap()
    }

    async fn play(self) -> Outcome {
        let stack = Stack::new(self.seed, self.rates, self.size, LANES_MAX, self.assumptions);
        let (ids, time) = (Arc::new(AtomicU64::new(1)), Duration::from_secs(self.seconds));
        let all = self.arrivals.iter().map(|one| arrive(Arc::clone(&stack), *one, Arc::clone(&ids), time));
        let limits = async {
            sleep(time).await;
            limits(&stack, self.rates)
        };
        let (responses, limits) = tokio::join!(futures_util::future::join_all(all), limits);
        sleep(SETTLING).await;
        Outcome::of(&stack, time, limits, responses.concat())
    }
}

/// A stack with its usual traffic.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub items: u64,
    pub teams: u64,
    pub owners: u64,
    /// Seconds between two applications of the same declaration by one team.
    pub reapplied: u64,
    /// Seconds between two reads of its queue by one owner.
    pub polled: u64,
}

/// Changes of an item in a month, in tenths.
const CHANGES_TENTHS: u64 = 12;

impl Size {
    /// Returns the changes in 1,000 seconds.
    pub const fn changes(self) -> u64 {
        (self.items * CHANGES_TENTHS * 100).div_ceil(MONTH)
    }

    /// Returns the scenario with these rates of the gateway.
    pub fn scenario(self, rates: Rates, seconds: u64) -> Scenario {
        let (consumers, owners) = (self.teams, self.owners);
        let rate = |per_kilosecond: u64| u32::try_from(per_kilosecond).unwrap();
        let arrivals = |act, per_kilosecond| Arrivals { act, rate: rate(per_kilosecond), consumers, owners };
        let apply = Act::Request(Route::Submissions, "re-apply 20 items without a change");
        let poll = Act::Request(Route::Lists, "read a light page of 50");
        let arrivals = vec![
            arrivals(Act::Life, self.changes()),
            arrivals(apply, 1_000 * self.teams / self.reapplied),
            arrivals(poll, 1_000 * self.owners / self.polled),
        ];
        Scenario { seed: 1, size: "usual", rates, seconds, arrivals, assumptions: Assumptions::USUAL }
    }
}
