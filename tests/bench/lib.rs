//! Benchmarks of the whole system and their shared code. `cargo bench -p bench` measures all figures.
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
pub mod lag;
pub mod lambda;
pub mod offline;
pub mod plot;
pub mod process;
pub mod rates;
pub mod replay;
pub mod report;
pub mod scale;
pub mod stored;
pub mod terraform;

use serde_json::json;
use support::{ApiRequest, Running};

/// Values of `--only`.
const PARTS: [&str; 9] = ["cost", "rates", "lag", "plan", "start", "load", "instructions", "growth", "scale"];

/// Parts with figures of the goals of scale.
const OF_SCALE: [&str; 5] = ["cost", "rates", "start", "gone", "instructions"];

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
}

impl Scale {
    fn full() -> Self {
        Self { rounds: 5, requests: 200, sizes: vec![100, 300, 1_000, 3_000, 10_000], lags: 50 }
    }

    fn quick() -> Self {
        Self { rounds: 2, requests: 50, sizes: vec![30, 100, 300], lags: 10 }
    }
}

/// Measures all parts. `--quick` reduces rounds and items, `--only PART` selects one part.
pub fn run(arguments: impl Iterator<Item = String>) {
    let arguments: Vec<String> = arguments.collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let only =
        arguments.iter().position(|argument| argument == "--only").map(|at| arguments[at + 1].as_str());
    assert!(only.is_none_or(|only| PARTS.contains(&only)), "--only is one of {PARTS:?}");
    let wants =
        |part: &str| only.is_none_or(|only| only == part || only == "scale" && OF_SCALE.contains(&part));
    let scale = if is_quick { Scale::quick() } else { Scale::full() };

    let mut figures = Vec::new();
    if wants("cost") {
        figures.extend(counted::measure());
    }
    if wants("rates") {
        figures.extend(rates::measure(&scale));
    }
    if wants("lag") {
        figures.extend(lag::measure(&scale));
    }
    if wants("plan") {
        figures.extend(offline::measure(&scale));
    }
    if wants("start") {
        figures.extend(lambda::starts());
    }
    if wants("load") {
        figures.extend(lambda::loads());
    }
    if wants("gone") {
        figures.push(lambda::with_gone_items());
    }
    if wants("instructions") {
        figures.extend(lambda::count());
    }
    let points = if wants("growth") { growth::measure(&scale) } else { Vec::new() };
    figures.extend(growth::figures(&points));

    println!("\n{}", figure::table(&figures));
    if wants("scale") && !is_quick {
        scale::write(&figures);
    }
    if is_quick || only.is_some() {
        println!("A part of it, or little: the figures of the whole system and the plots stay as they are.");
    } else {
        report::write(&figures, &points);
    }
}

/// Number of polls in `wait_idle`. Each waits for up to half a minute.
const IDLE_POLLS_MAX: usize = 20;

/// Waits until the system is idle: it has generated and published everything.
pub fn wait_idle(system: &Running) {
    let request = ApiRequest { method: "GET", path: "/_local/settled", ..ApiRequest::default() };
    let is_idle = || system.send(&request).body == json!({"settled": true});
    assert!((0..IDLE_POLLS_MAX).any(|_| is_idle()), "it does not settle");
}
