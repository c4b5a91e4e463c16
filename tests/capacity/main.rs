//! Prints the figures of docs/explanation/scale.md, or writes them into the page.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]

use capacity::measured::MEASURED;
use capacity::page;
use capacity::tables::TABLES;
use clap::Parser;

/// Prints the figures of docs/explanation/scale.md
#[derive(Parser)]
#[command(name = "capacity")]
struct Arguments {
    /// Also run the functions under load, for some minutes
    #[arg(long)]
    all: bool,
    /// Write the figures into the page
    #[arg(long)]
    write: bool,
}

fn main() {
    let Arguments { all, write } = Arguments::parse();
    let mut tables = TABLES.to_vec();
    if all {
        tables.extend(MEASURED);
    }
    if write {
        page::write(&tables);
        println!("docs/explanation/scale.md is written.");
        return;
    }
    for (name, table) in tables {
        println!("{name}\n{}", table());
    }
}
