//! Runs as many runs as are asked for, and tells what came of them.
#![expect(clippy::print_stdout, reason = "a program that tells what it finds")]

use lexopt::{Arg, Parser, ValueExt};
use simulation::ablation::FENCES;
use simulation::many::{self, COMMANDS_MAX, Many};
use simulation::run::smallest;
use std::process::ExitCode;

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
    let Many { runs, operations, counts, wrong } = many::run(seed, operations, runs, fence);
    println!("{runs} runs from seed {seed}, {operations} operations of the storage");
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

fn made(seed: u64, count: u64) -> ExitCode {
    match many::histories(seed, count) {
        Ok(answered) => {
            println!("{count} histories from seed {seed}, {answered} requests answered");
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            println!("wrong: {wrong}");
            ExitCode::FAILURE
        }
    }
}
