//! The documented ceilings: rates that a part of a stack holds without 503, and the limit above each.

use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::stack::{Rates, Route};
use crate::table::Assumptions;
use crate::traffic::Act;

/// A documented ceiling.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    /// What arrives, for readers.
    pub unit: &'static str,
    /// Units in one arrival.
    pub units: u32,
    /// Arrivals per second at the ceiling.
    pub rate: u32,
    pub size: &'static str,
    act: Act,
    consumers: u64,
    owners: u64,
    rates: Rates,
    /// Route of the requests that count.
    pub route: Route,
    /// The first limit above the ceiling.
    pub limit: &'static str,
}

/// The limit of the ceilings that depend on the conflicts of transactions.
pub const HEAD: &str = "transactions of the record `TEAM#{team} HEAD`";
const CREATE: Act = Act::Request(Route::Submissions, "submit 10 new items");
const SHARED: Act = Act::Request(Route::Submissions, "submit 1 CREATE with a dependent team");

/// All ceilings.
pub const CEILINGS: [Ceiling; 9] = [
    Ceiling {
        unit: "one consumer, rejections",
        act: Act::Request(Route::Decisions, "reject"),
        rate: 25,
        ..ONE
    },
    Ceiling { unit: "one consumer, reported errors", act: ERRORS, rate: 25, ..ONE },
    Ceiling {
        unit: "one consumer, change instances in submissions of 10",
        act: CREATE,
        units: 10,
        rate: 7,
        limit: DECLARATION,
        ..BY_CONSUMER
    },
    Ceiling {
        unit: "one consumer, whole lives of small items",
        act: Act::TenLives,
        units: 10,
        rate: 8,
        size: "small",
        limit: CHANGE,
        ..BY_CONSUMER
    },
    Ceiling {
        unit: "one consumer, whole lives",
        act: Act::TenLives,
        units: 10,
        rate: 6,
        limit: CHANGE,
        ..BY_CONSUMER
    },
    Ceiling {
        unit: "one owner, change instances through its queue",
        act: CREATE,
        units: 10,
        rate: 80,
        limit: QUEUE,
        ..MANY
    },
    Ceiling { unit: "one service, whole lives", act: Act::Life, rate: 250, limit: LANE, ..MANY },
    Ceiling {
        unit: "one stack, submissions with a dependent team",
        act: SHARED,
        rate: 250,
        owners: 1_000,
        limit: LANE,
        ..MANY
    },
    Ceiling {
        unit: "one stack, submissions behind the default gateway",
        act: SHARED,
        rate: 45,
        owners: 1_000,
        rates: Rates::DEFAULT,
        limit: GATEWAY,
        ..MANY
    },
];

const CHANGE: &str = "write units of `CHANGE#{team}`";
const DECLARATION: &str = "write units of `DECLARATION#{team}`";
const QUEUE: &str = "write units of `OWNER#{owner}#ITEMS`";
const LANE: &str = "a lane of `generate`";
const GATEWAY: &str = "gateway, rate of submissions";
const ERRORS: Act = Act::Request(Route::Decisions, "report an error");

/// One consumer and one owner.
const ONE: Ceiling = Ceiling {
    unit: "",
    units: 1,
    rate: 1,
    size: "usual",
    act: SHARED,
    consumers: 1,
    owners: 1,
    rates: Rates::RAISED,
    route: Route::Decisions,
    limit: HEAD,
};

/// Submissions of one consumer.
const BY_CONSUMER: Ceiling = Ceiling { route: Route::Submissions, ..ONE };

/// Submissions of many consumers to one owner.
const MANY: Ceiling = Ceiling { consumers: 1_000, route: Route::Submissions, ..ONE };

impl Ceiling {
    /// Runs arrivals at a multiple of the ceiling.
    pub fn run(&self, seed: u64, times: u32) -> Outcome {
        self.run_with(seed, 100 * times, Assumptions::USUAL)
    }

    /// Runs arrivals at a part of the ceiling, in percent, with other assumptions about the table.
    pub fn run_with(&self, seed: u64, percent: u32, assumptions: Assumptions) -> Outcome {
        let mut one = Scenario::one(self.size, self.act, self.rate, self.consumers, self.owners);
        for arrivals in &mut one.arrivals {
            arrivals.rate = arrivals.rate / 100 * percent;
        }
        Scenario { seed, rates: self.rates, assumptions, ..one }.run()
    }

    /// Returns the units per second at the ceiling.
    pub const fn units_per_second(&self) -> u32 {
        self.rate * self.units
    }
}
