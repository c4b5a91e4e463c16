//! Executes simulated runs or histories, and prints the results.
#![expect(clippy::print_stdout, reason = "a program that tells what it finds")]

use lexopt::{Arg, Parser, ValueExt};
use simulation::ablation::{FENCES, Fence};
use simulation::many::{self, COMMANDS_MAX, Many};
use simulation::run::smallest;
use std::process::ExitCode;

/// Number of operations between two lines of progress.
const OPERATIONS_PER_LINE: u64 = 50_000;

/// Number of histories between two lines of progress.
const HISTORIES_PER_LINE: u64 = 500;

fn main() -> Result<ExitCode, lexopt::Error> {
    let (mut seed, mut operations, mut fence, mut runs) = (1, 2_000_000, None, u64::MAX);
    let (mut histories, mut shrinks) = (None, false);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("seed") => seed = arguments.value()?.parse()?,
            Arg::Long("operations") => operations = arguments.value()?.parse()?,
            Arg::Long("runs") => runs = arguments.value()?.parse()?,
            Arg::Long("histories") => histories = Some(arguments.value()?.parse()?),
            Arg::Long("shrink") => shrinks = true,
            Arg::Long("without") => {
                let name = arguments.value()?.string()?;
                fence = Some(FENCES.into_iter().find(|fence| fence.name == name).ok_or("no such fence")?);
            }
            other @ (Arg::Long(_) | Arg::Short(_) | Arg::Value(_)) => return Err(other.unexpected()),
        }
    }
    if let Some(count) = histories {
        return Ok(made(seed, count));
    }
    let Many { counts, wrong, .. } = run(seed, operations, runs, fence);
    for (what, count) in counts {
        println!("{count:>9} {what}");
    }
    if let Some((seed, wrong)) = wrong {
        println!("wrong, with seed {seed}:\n{wrong}");
        if shrinks && let Some(smallest) = smallest(seed, COMMANDS_MAX, fence) {
            println!("{smallest}");
        }
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
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

fn made(seed: u64, count: u64) -> ExitCode {
    let (mut made, mut answered) = (0, 0);
    while made < count {
        let piece = (count - made).min(HISTORIES_PER_LINE);
        match many::histories(seed + made, piece) {
            Ok(more) => answered += more,
            Err(wrong) => {
                println!("wrong: {wrong}");
                return ExitCode::FAILURE;
            }
        }
        made += piece;
        println!("{made} histories from seed {seed}, {answered} requests answered");
    }
    ExitCode::SUCCESS
}
