//! Searches all configurations up to a number of states, and prints the results.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints what it finds")]

use model::arguments::{self, Command};
use model::config::{Config, States};
use model::configs::CONFIGS;
use model::search::{Order, SearchResult, search};
use std::process::ExitCode;

fn main() -> ExitCode {
    match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Command::Help) => print!("{}", arguments::HELP),
        Ok(Command::Search { states, only }) => {
            let mut configs: Vec<&Config> = CONFIGS.iter().collect();
            configs.retain(|config| only.as_ref().is_none_or(|only| config.name == only));
            if configs.is_empty() {
                eprintln!("the configuration does not exist");
                return ExitCode::FAILURE;
            }
            if !all(states, configs) {
                return ExitCode::FAILURE;
            }
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
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
