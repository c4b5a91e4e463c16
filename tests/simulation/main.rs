//! Executes simulated runs or histories, and prints the results.
#![expect(clippy::print_stdout, reason = "a program that tells what it finds")]

use clap::{Parser, Subcommand};
use simulation::ablation::{FENCES, Fence};
use simulation::load::figures::figures;
use simulation::many::{self, COMMANDS_MAX, Many};
use simulation::run::smallest;
use std::process::ExitCode;

/// Number of operations between two lines of progress.
const OPERATIONS_PER_LINE: u64 = 50_000;

/// Number of histories between two lines of progress.
const HISTORIES_PER_LINE: u64 = 500;

/// Executes simulated runs or histories.
#[derive(Parser)]
#[command(name = "simulation")]
struct Arguments {
    /// Seed of the first run
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Minimum number of operations of the storage in total
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    operations: u64,
    /// Maximum number of runs
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    runs: u64,
    /// Execute this number of histories instead of runs
    #[arg(long, value_name = "N")]
    histories: Option<u64>,
    /// Search for the smallest run that fails
    #[arg(long)]
    shrink: bool,
    /// Remove the fence with this name
    #[arg(long, value_name = "FENCE", value_parser = fence)]
    without: Option<Fence>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Another command than the simulation of faults.
#[derive(Subcommand)]
enum Command {
    /// Prints the figures under load
    Load {
        /// Seed of all scenarios
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },
}

fn fence(name: &str) -> Result<Fence, &'static str> {
    FENCES.into_iter().find(|fence| fence.name == name).ok_or("must be the name of a fence")
}

fn main() -> ExitCode {
    match execute(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            println!("wrong, {wrong}");
            ExitCode::FAILURE
        }
    }
}

/// Executes the command. Returns the seed and the error of a failed run.
fn execute(arguments: Arguments) -> Result<(), String> {
    let Arguments { seed, operations, runs, histories, shrink, without, command } = arguments;
    if let Some(Command::Load { seed }) = command {
        for line in figures(seed) {
            println!("{}", line.map_err(|wrong| format!("with seed {seed}: {wrong}"))?);
        }
        return Ok(());
    }
    if let Some(count) = histories {
        return make_histories(seed, count);
    }
    let Many { counts, wrong, .. } = run(seed, operations, runs, without);
    for (what, count) in counts {
        println!("{count:>9} {what}");
    }
    let Some((seed, wrong)) = wrong else { return Ok(()) };
    if shrink {
        println!("{wrong}\n{}", smallest(seed, COMMANDS_MAX, without).unwrap_or_default());
    }
    Err(format!("with seed {seed}:\n{wrong}"))
}

/// Executes the runs in pieces, and prints the progress after each.
fn run(seed: u64, operations: u64, runs: u64, fence: Option<Fence>) -> Many {
    let mut all = Many::default();
    while all.operations < operations && all.runs < runs && all.wrong.is_none() {
        let piece = (operations - all.operations).min(OPERATIONS_PER_LINE);
        let next = many::run(seed + all.runs, piece, runs - all.runs, fence);
        all = all.and(next);
        println!("{} runs from seed {seed}, {} operations of the storage", all.runs, all.operations);
    }
    all
}

fn make_histories(seed: u64, count: u64) -> Result<(), String> {
    let (mut made, mut answered) = (0, 0);
    while made < count {
        let piece = (count - made).min(HISTORIES_PER_LINE);
        answered += many::histories(seed + made, piece)?;
        made += piece;
        println!("{made} histories from seed {seed}, {answered} requests answered");
    }
    Ok(())
}
