//! Prints the tables of docs/reference/figures/capacity.md, which `just figures capacity` writes.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]

use capacity::measured::MEASURED;
use capacity::tables::TABLES;
use clap::Parser;

/// Prints the tables of docs/reference/figures/capacity.md
#[derive(Parser)]
#[command(name = "capacity")]
struct Arguments {
    /// Also run the functions under load, for some minutes
    #[arg(long)]
    all: bool,
}

fn main() {
    let Arguments { all } = Arguments::parse();
    let mut tables = TABLES.to_vec();
    if all {
        tables.extend(MEASURED);
    }
    for (name, _, table) in tables {
        println!("{name}\n{}", table());
    }
}
