//! The documented ceilings: rates that a part of a stack holds without 503, and the limit above each.

use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::stack::{Rates, Route};
use crate::table::Assumptions;
use crate::traffic::Act;

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
const CHANGE: &str = "write units of `CHANGE#{team}`";
const DECLARATION: &str = "write units of `DECLARATION#{team}`";
const QUEUE: &str = "write units of `OWNER#{owner}#ITEMS`";
const LANE: &str = "a lane of `generate`";
const GATEWAY: &str = "gateway, rate of submissions";

const REJECT: Act = Act::Request(Route::Decisions, "reject");
const ERRORS: Act = Act::Request(Route::Decisions, "report an error");
const CREATE: Act = Act::Request(Route::Submissions, "submit 10 new items");
const SHARED: Act = Act::Request(Route::Submissions, "submit 1 CREATE with a dependent team");

/// All ceilings: unit, arrivals per second, and limit.
pub const CEILINGS: [Ceiling; 9] = [
    DECISIONS.at("one consumer, rejections", 25, HEAD),
    Ceiling { act: ERRORS, ..DECISIONS }.at("one consumer, reported errors", 25, HEAD),
    TENS.at("one consumer, change instances in submissions of 10", 7, DECLARATION),
    Ceiling { size: "small", ..LIVES }.at("one consumer, whole lives of small items", 8, CHANGE),
    LIVES.at("one consumer, whole lives", 6, CHANGE),
    Ceiling { consumers: 1_000, ..TENS }.at("one owner, change instances through its queue", 80, QUEUE),
    Ceiling { act: Act::Life, owners: 1, ..STACK }.at("one service, whole lives", 250, LANE),
    STACK.at("one stack, submissions with a dependent team", 250, LANE),
    DEFAULTS.at("one stack, submissions behind the default gateway", 45, GATEWAY),
];

/// Rejections of one consumer's items by one owner.
const DECISIONS: Ceiling = Ceiling {
    unit: "",
    units: 1,
    rate: 1,
    size: "usual",
    act: REJECT,
    consumers: 1,
    owners: 1,
    rates: Rates::RAISED,
    route: Route::Decisions,
    limit: HEAD,
};

/// Submissions of ten items by one consumer.
const TENS: Ceiling = Ceiling { act: CREATE, units: 10, route: Route::Submissions, ..DECISIONS };

/// The same, with the decisions on the items.
const LIVES: Ceiling = Ceiling { act: Act::TenLives, ..TENS };

/// Submissions of many consumers to many owners.
const STACK: Ceiling = Ceiling { act: SHARED, units: 1, consumers: 1_000, owners: 1_000, ..TENS };

/// The same, with the default rates of the gateway.
const DEFAULTS: Ceiling = Ceiling { rates: Rates::DEFAULT, ..STACK };

impl Ceiling {
    /// Returns the ceiling of a unit at a rate.
    const fn at(self, unit: &'static str, rate: u32, limit: &'static str) -> Self {
        Self { unit, rate, limit, ..self }
    }

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
