//! The tables of docs/reference/figures/capacity.md. All of them are the same on every machine.

use crate::bill;
use crate::ceilings::{CEILINGS, HEAD};
use crate::cost_tables::{memories, prices, quotas, whole_bill};
use crate::large;
use crate::outcome::Outcome;
use crate::scenario::{Scenario, Size};
use crate::sequence::{Direction, decimal, named};
use crate::stack::{Rates, Route};
use crate::table::Assumptions;
use crate::text::{dollars, grouped, markdown, percent, share, time};
use crate::traffic::{Act, Arrivals};
use crate::webhooks::{self, Isolation};
use simulation::load::driver::percentile;
use simulation::load::lanes::SHARDS;
use std::time::Duration;
use support::source::Method;

/// The name of a block, the method of its figures, and its table.
pub type Table = (&'static str, Method, fn() -> String);

/// All tables that take seconds.
pub const TABLES: [Table; 12] = [
    ("operations", Method::Calculated, operations),
    ("ceilings", Method::Simulated, ceilings),
    ("new table", Method::Simulated, new_table),
    ("conflicts", Method::Simulated, conflicts),
    ("traffic", Method::Simulated, traffic),
    ("isolation", Method::Simulated, isolation),
    ("large", Method::Simulated, large_submissions),
    ("latency", Method::Simulated, latency),
    ("quotas", Method::Simulated, quotas),
    ("memory", Method::Calculated, memories),
    ("bill", Method::Calculated, whole_bill),
    ("prices", Method::Calculated, prices),
];

/// Seed of the ceilings. The tests also use others.
const SEED: u64 = 1;

/// Time of the traffic of a size, in seconds.
pub const TRAFFIC_SECONDS: u64 = 30;

/// The sizes with traffic: items, teams, owners.
pub const SIZES: [(u64, u64, u64); 4] = [
    (1_000_000, 1_000, 100),
    (1_000_000, 100_000, 100),
    (100_000_000, 1_000, 1_000),
    (100_000_000, 100_000, 1_000),
];

/// Returns a size with items, teams and owners.
pub const fn size((items, teams, owners): (u64, u64, u64)) -> Size {
    Size { items, teams, owners, reapplied: 3_600, polled: 10 }
}

fn operations() -> String {
    let names = [
        "submit 1 CREATE with a dependent team",
        "submit 10 changed items",
        "re-apply 20 items without a change",
        "generate 1 share",
        "approve",
        "reject",
        "complete",
        "complete with a deployed item",
        "complete a DELETE",
        "read a light page of 50",
        "read a history",
        "look for webhooks of an event",
        "attempt a delivery",
    ];
    let rows = names.map(|name| {
        let [small, usual] = ["small", "usual"].map(|size| named(&format!("{name}, {size} items")));
        let units = |direction| [&small, &usual].map(|sequence| decimal(sequence.total(direction)));
        let [write, write_usual] = units(Direction::Write);
        let [_, read] = units(Direction::Read);
        vec![name.to_owned(), write, write_usual, read, usual.rounds().to_string(), usual.events.to_string()]
    });
    let head = "operation | write units, small items | write units, usual items | read units | rounds | \
        events";
    markdown(head, rows)
}

fn ceilings() -> String {
    let rows = CEILINGS.map(|ceiling| {
        let [at, above] = [1, 2].map(|times| ceiling.run(SEED, times));
        vec![
            ceiling.unit.to_owned(),
            ceiling.units_per_second().to_string(),
            at.refused_share(),
            at.median_and_p99(),
            format!("{} %", 100 * above.done(ceiling.route) / at.done(ceiling.route).max(1)),
            above.refused_share(),
            ceiling.limit.to_owned(),
        ]
    });
    let head = "unit | per second | 429 and 503 | response, median and p99 | \
        throughput at twice the rate | 429 and 503 there | first limit";
    markdown(head, rows)
}

/// Parts of the ceilings in a new table, in percent.
const PARTS: [u32; 10] = [100, 90, 80, 70, 60, 50, 40, 30, 20, 10];

/// The ceilings in a table of four partitions.
fn new_table() -> String {
    let new = Assumptions { partitions: Some(SHARDS), ..Assumptions::USUAL };
    let rows = CEILINGS.map(|ceiling| {
        let is_quick = |ran: &Outcome| ran.latency(99).max(ran.lag(99)) <= Duration::from_secs(1);
        let at = ceiling.run_with(SEED, 100, new);
        let mut parts = PARTS.iter().map(|part| (part, ceiling.run_with(SEED, *part, new)));
        let held = parts.find(|(_, ran)| ran.refused() == 0 && is_quick(ran));
        let (per_second, response) = match held {
            Some((part, ran)) => {
                ((ceiling.units_per_second() * part / 100).to_string(), ran.median_and_p99())
            }
            None => ("less".to_owned(), String::new()),
        };
        vec![
            ceiling.unit.to_owned(),
            ceiling.units_per_second().to_string(),
            at.refused_share(),
            per_second,
            response,
        ]
    });
    let head = "unit | ceiling per second | 429 and 503 there in a new table | ceiling in a new table | \
        response, median and p99";
    markdown(head, rows)
}

/// Parts of its latency for which a transaction may occupy its records, in percent.
const OCCUPIED: [u32; 3] = [25, 50, 100];

/// The ceilings of one record, for different times in which transactions conflict.
fn conflicts() -> String {
    let ceilings = CEILINGS.into_iter().filter(|ceiling| ceiling.limit == HEAD);
    let rows = ceilings.flat_map(|ceiling| {
        OCCUPIED.map(|occupied| {
            let assumptions = Assumptions { occupied, ..Assumptions::USUAL };
            let [at, above] = [100, 200].map(|percent| ceiling.run_with(SEED, percent, assumptions));
            vec![
                ceiling.unit.to_owned(),
                format!("{occupied} %"),
                share(at.count(503), at.responses.len()),
                at.median_and_p99(),
                share(above.count(503), above.responses.len()),
            ]
        })
    });
    let head = "unit | time in use | 503 at the ceiling | response, median and p99 | 503 at twice the rate";
    markdown(head, rows)
}

fn traffic() -> String {
    let rows = SIZES.map(|of| {
        let [default, raised] =
            [Rates::DEFAULT, Rates::RAISED].map(|rates| size(of).scenario(rates, TRAFFIC_SECONDS).run());
        let ((first, used), (limit, used_of_limit)) = (default.first(), raised.first());
        vec![
            grouped(of.0.into()),
            grouped(of.1.into()),
            decimal(size(of).changes()),
            share(default.count(429), default.responses.len()),
            format!("{first}: {}", percent(*used)),
            format!("{limit}: {}", percent(*used_of_limit)),
            raised.median_and_p99(),
            raised.count(503).to_string(),
        ]
    });
    let head = "items | teams | lives per second | 429 with default rates | \
        first limit with default rates | first limit with raised rates | response, median and p99 | 503";
    markdown(head, rows)
}

fn isolation() -> String {
    let flooded = large::run("usual", 10_000);
    let lags = flooded.lags();
    let late = lags.iter().filter(|lag| **lag > Duration::from_secs(1)).count();
    let row = |name: &str, times: &[Duration], refused: usize, goal: &str| {
        let [median, late, most] = [50, 99, 100].map(|percent| time(percentile(times, percent)));
        vec![name.to_owned(), median, late, most, refused.to_string(), goal.to_owned()]
    };
    let responses: Vec<Duration> = flooded.responses().map(|response| response.time).collect();
    let failure = mass_failure();
    let submissions = || failure.responses.iter().filter(|(route, _)| *route == Route::Submissions);
    let others: Vec<Duration> = submissions().map(|(_, one)| one.time).collect();
    let refused = submissions().filter(|(_, one)| one.status == 503).count();
    let webhook = |isolation, slow| webhooks::run(isolation, Duration::from_millis(slow));
    let during = "1,000 small submissions during a submission of 10,000 items: response";
    let waits =
        format!("the same: generated change instance; {late} of {} wait for more than 1 s", lags.len());
    let failing = "submissions of others while an owner fails 100 items per second of 1,000 teams";
    let slow = "deliveries to 19 webhooks, another takes 10 s for each response";
    let rows = [
        row(during, &responses, flooded.outcome.count(503), "< 1 s"),
        row(&waits, &lags, 0, "< 1 s"),
        row(failing, &others, refused, "< 1 s"),
        row("deliveries to 20 webhooks", &webhook(Isolation::Slots, 50), 0, ""),
        row(slow, &webhook(Isolation::Slots, 10_000), 0, "< 1 s"),
        row("the same without delivery slots", &webhook(Isolation::Groups, 10_000), 0, ""),
        row("the same without delivery slots and groups", &webhook(Isolation::Nothing, 10_000), 0, ""),
    ];
    markdown("what others see | median | p99 | maximum | 503 | goal", rows)
}

/// One owner fails everything, and other teams submit.
pub fn mass_failure() -> Outcome {
    let mut scenario = size(SIZES[0]).scenario(Rates::RAISED, 20);
    let arrivals = scenario.arrivals[0];
    let errors = Act::Request(Route::Decisions, "report an error");
    let submissions = Act::Request(Route::Submissions, "submit 1 CREATE");
    scenario.arrivals = vec![
        Arrivals { act: errors, rate: 100_000, owners: 1, ..arrivals },
        Arrivals { act: submissions, rate: 20_000, ..arrivals },
    ];
    scenario.run()
}

fn large_submissions() -> String {
    let rows =
        ["small", "usual"].into_iter().flat_map(|size| [1_000, 3_000, 10_000].map(|items| (size, items)));
    let rows = rows.map(|(size, items)| {
        let ran = large::run(size, items);
        vec![
            grouped(u128::try_from(items).unwrap()),
            size.to_owned(),
            time(ran.commit),
            time(ran.response),
            time(ran.generated),
            dollars(bill::of_large(size, items)),
        ]
    });
    let head = "items | size | until the commit | until the response | \
        all change instances after the commit | $";
    markdown(head, rows)
}

fn latency() -> String {
    let rows = [1, 30, 100, 250, 500].map(|rate| {
        let act = Act::Request(Route::Submissions, "submit 1 CREATE with a dependent team");
        let ran = Scenario::one("usual", act, rate, 1_000, 1_000).run();
        let published = |percent| time(percentile(&ran.published, percent));
        vec![
            rate.to_string(),
            ran.median_and_p99(),
            format!("{}, {}", time(ran.lag(50)), time(ran.lag(99))),
            format!("{}, {}", published(50), published(99)),
        ]
    });
    let head = "submissions per second | response, median and p99 | generated change instance | event";
    markdown(head, rows)
}
