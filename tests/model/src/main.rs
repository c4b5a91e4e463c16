//! Searches all configurations up to a number of states, and prints the results.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints what it finds")]

use clap::Parser;
use model::config::{Config, States};
use model::configs::CONFIGS;
use model::search::{Order, SearchResult, search};
use std::process::ExitCode;

/// Searches small worlds for a state that breaks a rule.
#[derive(Parser)]
#[command(name = "model")]
struct Arguments {
    /// Maximum number of visited states in total
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    states: usize,
    /// Name of the only configuration to search
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

fn main() -> ExitCode {
    let Arguments { states, only } = Arguments::parse();
    let mut configs: Vec<&Config> = CONFIGS.iter().collect();
    configs.retain(|config| only.as_ref().is_none_or(|only| config.name == only));
    if configs.is_empty() {
        eprintln!("the configuration does not exist");
        return ExitCode::FAILURE;
    }
    if all(states, configs) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Searches each configuration. Returns whether every rule holds.
fn all(states: usize, mut configs: Vec<&Config>) -> bool {
    // Small configurations come first, so the others get their unused states.
    configs.sort_by_key(|config| (matches!(config.states, States::First(_)), config.states.count()));
    println!(
        "| configuration | states | steps | depth | complete | violations | seconds |\n|---|---|---|---|---|---|---|"
    );
    let (mut left, mut visited, mut sound) = (states, 0, true);
    for (n, config) in configs.iter().enumerate() {
        let result = search(config, left / (configs.len() - n), &[], Order::Depth);
        print_row(config.name, &result);
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
