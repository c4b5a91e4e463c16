//! The goals and the tables that run the functions in the load simulation, for some minutes.

use crate::operations::create_with_gone_items;
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::sequence::{Direction, decimal};
use crate::stack::Route;
use crate::tables::Table;
use crate::text::{grouped, markdown, share, time};
use crate::traffic::Act;
use crate::webhooks::{self, Isolation};
use domain::TeamId;
use domain::base::id::{APPLICATIONS_MAX, ApplicationId};
use simulation::load::driver::percentile;
use simulation::load::figures::quiet;
use simulation::load::flood::{Flood, Flooded};
use simulation::load::scenarios::{Throughput, lives, rejections, small_submissions};
use std::time::Duration;
use support::source::Method;

/// All tables that take minutes.
pub const MEASURED: [Table; 1] = [("compared", Method::Simulated, compared)];

const SEED: u64 = 1;

/// Least number of applications over the life of a team.
const NAMES_MIN: u64 = 1_000_000;

/// Time of a scenario with a rate, in seconds.
const SECONDS: u64 = 10;

/// Gone items of an application.
pub const GONE: usize = 40_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Figure, method in one word, figure before the work on scale, and goal: the first cells of a row.
    goal: String,
    measured: String,
    passes: bool,
}

impl Goal {
    pub fn new(goal: impl Into<String>, measured: String, passes: bool) -> Self {
        Self { goal: goal.into(), measured, passes }
    }
}

pub fn table(goals: &[Goal]) -> String {
    let rows = goals.iter().map(|goal| {
        let result = if goal.passes { "pass" } else { "fail" };
        vec![goal.goal.clone(), goal.measured.clone(), result.to_owned()]
    });
    markdown("figure | method | before | goal | measured | result", rows)
}

/// Measures the goals that need no built program, for some minutes.
pub fn goals() -> Vec<Goal> {
    let flooded = Flood { items: 10_000, others: 100, ..quiet(SEED) }.run().unwrap();
    let read = create_with_gone_items(GONE).total(Direction::Read);
    let gone = "CREATE in an application with 40,000 gone items: read units | counted | 3,083 | ≤ 4";
    let mut goals = vec![Goal::new(gone, decimal(read), read <= 4_000)];
    goals.extend(of_flood(&flooded));
    goals.extend(of_rejections(&rejections(SEED, 60, SECONDS).unwrap()));
    goals.push(of_application_names());
    let late = percentile(&webhooks::run(Isolation::Slots, Duration::from_secs(10)), 99);
    let slow = "deliveries to others, one of 20 webhooks takes 10 s: p99 | simulated | 35 s | < 1 s";
    goals.push(Goal::new(slow, time(late), late < Duration::from_secs(1)));
    goals
}

fn of_flood(flooded: &Flooded) -> [Goal; 2] {
    let (median, most, late) = (time(flooded.lag(50)), time(flooded.lag(100)), flooded.late());
    let waits = format!("median {median}, maximum {most}, {late} of {} above 1 s", flooded.lags.len());
    let (commit, stagings) = flooded.commit.unwrap();
    let committed = format!("{}, {stagings} staging", time(commit));
    let passes = commit <= Duration::from_secs(6) && stagings == 1;
    let others = "generation for 100 other teams during a submission of 10,000 items | simulated | \
        50 s for 25 % of teams | < 1 s for all";
    let until = "10,000 items until the commit | simulated | 14 to 19 s, up to 3 stagings | ≤ 6 s, 1 staging";
    [Goal::new(others, waits, late == 0), Goal::new(until, committed, passes)]
}

fn of_rejections(ran: &Throughput) -> [Goal; 2] {
    let summary = &ran.summary;
    let calls = format!("{}.{:02}", summary.writes / 100, summary.writes % 100);
    let transactions = "60 rejections per second of one consumer: transactions for each request | \
        simulated | 30 | ≤ 3";
    let refused = "60 rejections per second of one consumer: 503 | simulated | 14 % | 0 %";
    [
        Goal::new(transactions, calls, summary.writes <= 300),
        Goal::new(refused, share(summary.count(503), summary.all()), summary.count(503) == 0),
    ]
}

/// Counts the applications over the life of a team: with each number, until its generations or items run out.
fn of_application_names() -> Goal {
    let first = ApplicationId::new(TeamId::new(1).unwrap(), 1).unwrap();
    let mut names = 0_u64;
    let mut application = Some(first);
    while let Some(one) = application.filter(|_| names < NAMES_MIN) {
        names += u64::try_from(APPLICATIONS_MAX).unwrap();
        application = one.next_generation();
    }
    let measured = format!("at least {}, 4,095 at a time", grouped(names.into()));
    let goal = "application names over the life of a team | counted | 4,095 | ≥ 1,000,000";
    Goal::new(goal, measured, names >= NAMES_MIN)
}

/// Compares the replay with the load simulation, which runs the functions.
fn compared() -> String {
    let reject = Act::Request(Route::Decisions, "reject");
    let one = |name: &str, rate: u32, ran: &Throughput, act: Act, arrivals: u32| {
        let replayed = Scenario::one("small", act, arrivals, 1, 1).run();
        comparison(&format!("{rate} {name} per second of one consumer"), ran, &replayed)
    };
    let mut rows = Vec::new();
    for rate in [20, 40, 60, 80] {
        rows.push(one("rejections", rate, &rejections(SEED, rate, SECONDS).unwrap(), reject, rate));
    }
    for rate in [60, 160, 320] {
        rows.push(one("lives", rate, &lives(SEED, rate, SECONDS).unwrap(), Act::TenLives, rate / 10));
    }
    let shared = Act::Request(Route::Submissions, "submit 1 CREATE with a dependent team");
    let replayed = Scenario::one("small", shared, 60, 50, 50).run();
    let (ran, _) = small_submissions(SEED, 60, SECONDS).unwrap();
    rows.push(comparison("60 submissions per second of 50 consumers", &ran, &replayed));
    markdown("load | functions: 503 | replay: 503 | functions: median, p99 | replay: median, p99", rows)
}

fn comparison(name: &str, ran: &Throughput, replayed: &Outcome) -> Vec<String> {
    let summary = &ran.summary;
    vec![
        name.to_owned(),
        share(summary.count(503), summary.all()),
        share(replayed.count(503), replayed.responses.len()),
        format!("{}, {}", time(summary.median), time(summary.late)),
        replayed.median_and_p99(),
    ]
}
