//! Searches all configurations up to a number of states, and prints the results.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints what it finds")]

use clap::Parser;
use model::config::States;
use model::configs::CONFIGS;
use model::lifecycle;
use model::lifecycle::{Config, Life};
use model::search::{Order, SearchResult, search};
use model::used::{self, Used};
use model::waits::{self, Waits};
use std::process::ExitCode;

/// Searches small worlds for a state that breaks a rule.
#[derive(Parser)]
#[command(name = "model")]
struct Arguments {
    /// Maximum number of visited states in total
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    states: usize,
    /// Name of the only configuration or group to search
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// A configuration with its usual number of states, and its search up to a number of states.
struct Row {
    group: &'static str,
    name: &'static str,
    states: States,
    search: Box<dyn Fn(usize) -> SearchResult>,
}

fn rows() -> Vec<Row> {
    let of_domain = CONFIGS.iter().map(|config| Row {
        group: config.name,
        name: config.name,
        states: config.states,
        search: Box::new(|states| search(config, states, &[], Order::Depth)),
    });
    let of_life = lifecycle::CONFIGS.iter().map(|(group, words, states)| Row {
        group,
        name: words,
        states: *states,
        search: Box::new(|states| Life::new(Config::of(words), None).search(states, Order::Depth)),
    });
    let of_uses = used::CONFIGS.iter().map(|(group, words, states)| Row {
        group,
        name: words,
        states: *states,
        search: Box::new(|states| Used::new(used::Config::of(words), &[]).search(states, Order::Depth)),
    });
    let of_waits = waits::CONFIGS.iter().map(|(group, words, states)| Row {
        group,
        name: words,
        states: *states,
        search: Box::new(|states| Waits::new(waits::Config::of(words), &[]).search(states, Order::Depth)),
    });
    of_domain.chain(of_life).chain(of_uses).chain(of_waits).collect()
}

fn main() -> ExitCode {
    let Arguments { states, only } = Arguments::parse();
    let mut rows = rows();
    rows.retain(|row| only.as_ref().is_none_or(|only| row.name == only || row.group == only));
    if rows.is_empty() {
        eprintln!("the configuration does not exist");
        return ExitCode::FAILURE;
    }
    if all(states, rows) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Searches each configuration. Returns whether every rule holds.
fn all(states: usize, mut rows: Vec<Row>) -> bool {
    // Small configurations come first, so the others get their unused states.
    rows.sort_by_key(|row| (matches!(row.states, States::First(_)), row.states.count()));
    println!(
        "| configuration | states | steps | depth | complete | violations | seconds |\n|---|---|---|---|---|---|---|"
    );
    let (mut left, mut visited, mut sound) = (states, 0, true);
    for (n, row) in rows.iter().enumerate() {
        let result = (row.search)(left / (rows.len() - n));
        print_row(row.name, &result);
        left = left.saturating_sub(result.unique);
        visited += result.unique;
        sound &= result.broken.is_none();
    }
    println!("\n{visited} states");
    sound
}

fn print_row(name: &str, result: &SearchResult) {
    let SearchResult { unique, generated, depth, complete, took, broken } = result;
    let complete = if *complete { "yes" } else { "no" };
    let violations = broken.as_ref().map_or(0, |broken| broken.violations.len());
    let seconds = took.as_secs();
    println!("| {name} | {unique} | {generated} | {depth} | {complete} | {violations} | {seconds} |");
    if let Some(broken) = broken {
        println!("\n{:#?}\n{:#?}\n", broken.violations, broken.steps);
    }
}
