//! The goals that the load simulation and the functions themselves measure. They take minutes.

use crate::operations::create_with_gone_items;
use crate::sequence::{Direction, decimal};
use crate::tables::Table;
use crate::text::{markdown, share, time};
use crate::webhooks::{self, Selection};
use simulation::load::driver::{UNLIMITED, percentile};
use simulation::load::flood::{Flood, Flooded};
use simulation::load::lanes::LANES_MAX;
use simulation::load::scenarios::{Throughput, lives, rejections, small_submissions};
use std::time::Duration;

/// All tables that take minutes.
pub const MEASURED: [Table; 2] = [("goals", goals), ("compared", compared)];

const SEED: u64 = 1;

/// Time of a scenario with a rate, in seconds.
const SECONDS: u64 = 10;

/// Gone items of an application.
const GONE: usize = 40_000;

fn row(cells: [&str; 4]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn result(passes: bool) -> &'static str {
    if passes { "pass" } else { "fail" }
}

/// Returns the goals with their measured values.
fn goals() -> String {
    let flood =
        Flood { seed: SEED, items: 10_000, small: 0, others: 100, lanes: LANES_MAX, requests: UNLIMITED };
    let flooded = flood.run().unwrap();
    let rejected = rejections(SEED, 60, SECONDS).unwrap();
    let mut rows = of_flood(&flooded).to_vec();
    rows.extend(of_rejections(&rejected));
    let slow = webhooks::run(Selection::Fair, Duration::from_secs(10));
    let late = percentile(&slow, 99);
    rows.push(row([
        "deliveries to others, one of 20 webhooks takes 10 s, p99",
        "< 1 s",
        &time(late),
        result(late < Duration::from_secs(1)),
    ]));
    let created = create_with_gone_items(GONE);
    let [write, read] = [Direction::Write, Direction::Read].map(|direction| created.total(direction));
    let units = format!("{} write units, {} read units", decimal(write), decimal(read));
    rows.push(row([
        "CREATE in an application with 40,000 gone items",
        "≤ 4 read units",
        &units,
        result(read <= 4_000),
    ]));
    markdown(&["figure", "goal", "measured", "result"], rows)
}

fn of_flood(flooded: &Flooded) -> [Vec<String>; 2] {
    let (most, late) = (flooded.lag(100), flooded.late());
    let waits = format!(
        "median {}, maximum {}, {late} of {} above 1 s",
        time(flooded.lag(50)),
        time(most),
        flooded.lags.len()
    );
    let (commit, stagings) = flooded.commit.unwrap();
    let committed = format!("{}, {stagings} staging", time(commit));
    let passes = commit <= Duration::from_secs(6) && stagings == 1;
    [
        row([
            "generation for 100 other teams during a submission of 10,000 items",
            "< 1 s for all",
            &waits,
            result(late == 0),
        ]),
        row(["10,000 items until the commit", "≤ 6 s, 1 staging", &committed, result(passes)]),
    ]
}

fn of_rejections(ran: &Throughput) -> [Vec<String>; 2] {
    let summary = &ran.summary;
    let all: usize = summary.statuses.values().sum();
    let calls = format!("{}.{:02}", summary.writes / 100, summary.writes % 100);
    let refused = share(summary.count(503), all);
    [
        row([
            "60 rejections per second of one consumer: transactions for each request",
            "≤ 3",
            &calls,
            result(summary.writes <= 300),
        ]),
        row([
            "60 rejections per second of one consumer: 503",
            "0 %",
            &refused,
            result(summary.count(503) == 0),
        ]),
    ]
}

/// Compares the replay with the load simulation, which runs the functions.
fn compared() -> String {
    use crate::scenario::Scenario;
    use crate::stack::Route;
    use crate::traffic::Act;
    let reject = Act::Request(Route::Decisions, "reject");
    let mut rows = Vec::new();
    for rate in [20, 40, 60, 80] {
        let replayed = Scenario::one("small", reject, rate, 1, 1).run();
        rows.push(comparison(
            &format!("{rate} rejections per second of one consumer"),
            &rejections(SEED, rate, SECONDS).unwrap(),
            &replayed,
        ));
    }
    for rate in [60, 160, 320] {
        let replayed = Scenario::one("small", Act::TenLives, rate / 10, 1, 1).run();
        rows.push(comparison(
            &format!("{rate} lives per second of one consumer"),
            &lives(SEED, rate, SECONDS).unwrap(),
            &replayed,
        ));
    }
    let shared = Act::Request(Route::Submissions, "submit 1 CREATE with a dependent team");
    let replayed = Scenario::one("small", shared, 60, 50, 50).run();
    let (ran, _) = small_submissions(SEED, 60, SECONDS).unwrap();
    rows.push(comparison("60 submissions per second of 50 consumers", &ran, &replayed));
    markdown(
        &["load", "functions: 503", "replay: 503", "functions: median, p99", "replay: median, p99"],
        rows,
    )
}

fn comparison(name: &str, ran: &Throughput, replayed: &crate::outcome::Outcome) -> Vec<String> {
    let summary = &ran.summary;
    let all: usize = summary.statuses.values().sum();
    vec![
        name.to_owned(),
        share(summary.count(503), all),
        share(replayed.count(503), replayed.responses.len()),
        format!("{}, {}", time(summary.median), time(summary.late)),
        format!("{}, {}", time(replayed.latency(50)), time(replayed.latency(99))),
    ]
}
