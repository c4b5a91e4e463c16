//! Benchmarks of the whole system and their shared code. `just figures` measures all figures of the documents.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "benchmarks measure, print, and stop where something fails"
)]

pub mod built;
pub mod client;
pub mod counted;
pub mod figure;
pub mod given;
pub mod growth;
pub mod kills;
pub mod lag;
pub mod lambda;
pub mod offline;
pub mod parts;
pub mod plot;
pub mod process;
pub mod rates;
pub mod replay;
pub mod report;
pub mod scale;
pub mod session;
pub mod stored;
pub mod terraform;

use crate::parts::PARTS;
use crate::session::{Mode, Session};
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use support::source::uncommitted_changes;
use support::{ApiRequest, Running};

/// Size of the measurements.
#[derive(Clone, Debug)]
pub struct Scale {
    /// Number of alternating rounds.
    pub rounds: usize,
    /// Number of requests of a kind in one round.
    pub requests: usize,
    /// Numbers of declared items.
    pub sizes: Vec<usize>,
    /// Number of measurements of the stream's lag.
    pub lags: usize,
    /// Number of items of a submission with kills.
    pub killed: usize,
}

impl Scale {
    fn full() -> Self {
        let sizes = vec![100, 300, 1_000, 3_000, 10_000];
        Self { rounds: 5, requests: 200, sizes, lags: 50, killed: 10_000 }
    }

    fn quick() -> Self {
        Self { rounds: 2, requests: 50, sizes: vec![30, 100, 300], lags: 10, killed: 300 }
    }
}

/// Renews all parts, or the named ones.
///
/// `--check` prints the figures instead. `--quick` also reduces rounds and items. Figures without a commit would be
/// misleading, so everything else needs a checkout without uncommitted changes.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let (options, names): (Vec<String>, Vec<String>) =
        arguments.partition(|argument| argument.starts_with("--"));
    let is_quick = options.iter().any(|option| option == "--quick");
    let mode = if is_quick || options.iter().any(|option| option == "--check") {
        Mode::Check
    } else {
        let changes = uncommitted_changes();
        assert!(changes.is_empty(), "uncommitted changes, which only --check allows:\n{changes}");
        Mode::Write
    };
    // Cargo adds `--bench`.
    let unknown = options.iter().find(|option| !["--bench", "--check", "--quick"].contains(&option.as_str()));
    assert!(unknown.is_none(), "unknown option {unknown:?}");
    let known = PARTS.map(|part| part.name);
    let unknown = names.iter().find(|name| !known.contains(&name.as_str()));
    assert!(unknown.is_none(), "unknown part {unknown:?}, the parts are {known:?}");
    let session = Session::new(mode, if is_quick { Scale::quick() } else { Scale::full() });
    renew(&session, &names)
}

/// Renews the named parts, and prints the time of each.
fn renew(session: &Session, names: &[String]) -> ExitCode {
    let mut times = Vec::new();
    let began = Instant::now();
    for part in PARTS.iter().filter(|part| names.is_empty() || names.iter().any(|name| name == part.name)) {
        println!("== {}: {}", part.name, part.renews);
        let began = Instant::now();
        (part.renew)(session);
        times.push(format!("{:<14} {}", part.name, clock(began.elapsed())));
    }
    println!("\n{}\n{:<14} {}", times.join("\n"), "all", clock(began.elapsed()));
    let problems = session.problems();
    for problem in &problems {
        println!("FAILED  {problem}");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn clock(time: Duration) -> String {
    format!("{:>3}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// Number of polls in `wait_idle`. Each waits for up to half a minute.
const IDLE_POLLS_MAX: usize = 20;

/// Waits until the system is idle: it has generated and published everything.
pub fn wait_idle(system: &Running) {
    let request = ApiRequest { method: "GET", path: "/_local/settled", ..ApiRequest::default() };
    let is_idle = || system.send(&request).body == json!({"settled": true});
    assert!((0..IDLE_POLLS_MAX).any(|_| is_idle()), "it does not settle");
}
