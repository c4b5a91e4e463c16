//! The goals and the tables that run the functions in the load simulation. They take minutes.

use crate::operations::create_with_gone_items;
use crate::sequence::{Direction, decimal};
use crate::tables::Table;
use crate::text::{grouped, markdown, share, time};
use crate::webhooks::{self, Isolation};
use domain::TeamId;
use domain::base::id::{APPLICATIONS_MAX, ApplicationId};
use simulation::load::driver::{UNLIMITED, percentile};
use simulation::load::flood::{Flood, Flooded};
use simulation::load::lanes::LANES_MAX;
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

/// A goal with its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    pub figure: String,
    /// How the figure is made, in one word.
    pub method: &'static str,
    /// Figure before the work on scale.
    pub before: &'static str,
    pub goal: String,
    pub measured: String,
    pub passes: bool,
}

impl Goal {
    /// Creates a goal with its figures.
    pub fn new(
        figure: &str,
        method: &'static str,
        before: &'static str,
        goal: &str,
        measured: String,
        passes: bool,
    ) -> Self {
        Self { figure: figure.to_owned(), method, before, goal: goal.to_owned(), measured, passes }
    }
}

/// Returns a table of goals.
pub fn table(goals: &[Goal]) -> String {
    let rows = goals.iter().map(|goal| {
        let result = if goal.passes { "pass" } else { "fail" };
        let cells = [&goal.figure, goal.method, goal.before, &goal.goal, &goal.measured, result];
        cells.map(str::to_owned).to_vec()
    });
    markdown(&["figure", "method", "before", "goal", "measured", "result"], rows)
}

/// Measures the goals that need no built program. It takes minutes.
pub fn goals() -> Vec<Goal> {
    let flood =
        Flood { seed: SEED, items: 10_000, small: 0, others: 100, lanes: LANES_MAX, requests: UNLIMITED };
    let flooded = flood.run().unwrap();
    let read = create_with_gone_items(GONE).total(Direction::Read);
    let mut goals = vec![Goal::new(
        "CREATE in an application with 40,000 gone items: read units",
        "counted",
        "3,083",
        "≤ 4",
        decimal(read),
        read <= 4_000,
    )];
    goals.extend(of_flood(&flooded));
    goals.extend(of_rejections(&rejections(SEED, 60, SECONDS).unwrap()));
    goals.push(of_application_names());
    let late = percentile(&webhooks::run(Isolation::Slots, Duration::from_secs(10)), 99);
    goals.push(Goal::new(
        "deliveries to others, one of 20 webhooks takes 10 s: p99",
        "simulated",
        "35 s",
        "< 1 s",
        time(late),
        late < Duration::from_secs(1),
    ));
    goals
}

fn of_flood(flooded: &Flooded) -> [Goal; 2] {
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
        Goal::new(
            "generation for 100 other teams during a submission of 10,000 items",
            "simulated",
            "50 s for 25 % of teams",
            "< 1 s for all",
            waits,
            late == 0,
        ),
        Goal::new(
            "10,000 items until the commit",
            "simulated",
            "14 to 19 s, up to 3 stagings",
            "≤ 6 s, 1 staging",
            committed,
            passes,
        ),
    ]
}

fn of_rejections(ran: &Throughput) -> [Goal; 2] {
    let summary = &ran.summary;
    let all: usize = summary.statuses.values().sum();
    let calls = format!("{}.{:02}", summary.writes / 100, summary.writes % 100);
    [
        Goal::new(
            "60 rejections per second of one consumer: transactions for each request",
            "simulated",
            "30",
            "≤ 3",
            calls,
            summary.writes <= 300,
        ),
        Goal::new(
            "60 rejections per second of one consumer: 503",
            "simulated",
            "14 %",
            "0 %",
            share(summary.count(503), all),
            summary.count(503) == 0,
        ),
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
    Goal::new(
        "application names over the life of a team",
        "counted",
        "4,095",
        "≥ 1,000,000",
        measured,
        names >= NAMES_MIN,
    )
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
