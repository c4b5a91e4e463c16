//! A sequence of calls: what an operation asks of the table, with its units. `sequences.txt` contains all of them.

use std::fmt;

/// The recorded sequences of all operations.
const FILE: &str = include_str!("sequences.txt");

/// The first lines of `sequences.txt`.
pub const HEAD: &str = "The calls of each operation, made by the functions on the embedded engine.
`UPDATE_EXPECT=1 cargo test --workspace --test capacity` writes this file.
Small items are a name and a number. Usual items have declarations of 1,000 bytes, and decisions have logs of 600 bytes.

Columns: round | operation | calls | calls at once | units of all calls | records that other requests share
Units are write units (w) and read units (r). A fenced record must not change between its read and the transaction.
";

/// Whether units are written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    Write,
    Read,
}

/// Units of one partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Units {
    /// The table or the index.
    pub of: String,
    /// Partition key, with names in braces for ids.
    pub key: String,
    pub direction: Direction,
    /// Thousandths of units, for all calls of the step together.
    pub thousandths: u64,
}

/// A record that several requests share, in a transaction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shared {
    /// Partition key with names in braces, and sort key.
    pub key: String,
    /// Whether the transaction fails if the record has changed since it was read.
    pub is_fenced: bool,
}

/// Calls of one kind. Steps of the same round run concurrently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of the round, from 1. A round begins after the end of the round before.
    pub round: usize,
    /// Operation of DynamoDB, of the event bus or of the queue.
    pub operation: String,
    /// Number of calls.
    pub times: usize,
    /// Number of calls at once.
    pub at_once: usize,
    pub units: Vec<Units>,
    pub shared: Vec<Shared>,
}

/// The calls of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub name: String,
    /// Number of events that the writes cause.
    pub events: usize,
    /// Number of these events that report a change instance, so that webhooks get them.
    pub changes: usize,
    pub steps: Vec<Step>,
}

impl Step {
    /// Returns the units of a direction, in thousandths.
    pub fn total(&self, direction: Direction) -> u64 {
        self.units.iter().filter(|units| units.direction == direction).map(|units| units.thousandths).sum()
    }
}

impl Sequence {
    /// Returns the units of a direction, in thousandths.
    pub fn total(&self, direction: Direction) -> u64 {
        self.steps.iter().map(|step| step.total(direction)).sum()
    }

    pub fn rounds(&self) -> usize {
        self.steps.last().map_or(0, |step| step.round)
    }
}

/// Returns all recorded sequences.
pub fn all() -> Vec<Sequence> {
    read(FILE)
}

/// Returns the sequences in a text.
pub fn read(text: &str) -> Vec<Sequence> {
    let blocks = text.split("\n## ").skip(1);
    blocks.map(parse).collect()
}

/// Returns the recorded sequence of an operation.
pub fn named(name: &str) -> Sequence {
    all().into_iter().find(|sequence| sequence.name == name).unwrap_or_else(|| panic!("no sequence {name}"))
}

fn parse(block: &str) -> Sequence {
    let mut lines = block.lines();
    let name = lines.next().unwrap().to_owned();
    // The second line is a summary for readers. Its last numbers count events.
    let summary: Vec<&str> = lines.next().unwrap().split(' ').rev().collect();
    let [events, changes] = [4, 2].map(|index: usize| summary[index].parse().unwrap());
    let steps = lines.filter(|line| line.contains('|')).map(step).collect();
    Sequence { name, events, changes, steps }
}

fn step(line: &str) -> Step {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let number = |index: usize| cells[index].parse().unwrap();
    let list = |index: usize| cells[index].split(", ").filter(|text| !text.is_empty());
    Step {
        round: number(0),
        operation: cells[1].to_owned(),
        times: number(2),
        at_once: number(3),
        units: list(4).map(units).collect(),
        shared: list(5).map(shared).collect(),
    }
}

fn units(text: &str) -> Units {
    let (partition, units) = text.rsplit_once(' ').unwrap();
    let (of, key) = partition.split_once(' ').unwrap();
    let (number, direction) = units.split_at(units.len() - 1);
    let direction = if direction == "w" { Direction::Write } else { Direction::Read };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let thousandths = whole.parse::<u64>().unwrap() * 1_000 + format!("{part:0<3}").parse::<u64>().unwrap();
    Units { of: of.to_owned(), key: key.to_owned(), direction, thousandths }
}

fn shared(text: &str) -> Shared {
    let fenced = text.strip_suffix(" fenced");
    Shared { key: fenced.unwrap_or(text).to_owned(), is_fenced: fenced.is_some() }
}

/// Writes thousandths without superfluous zeros.
pub fn decimal(thousandths: u64) -> String {
    let (whole, part) = (thousandths / 1_000, thousandths % 1_000);
    if part == 0 { whole.to_string() } else { format!("{whole}.{part:03}").trim_end_matches('0').to_owned() }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.direction == Direction::Write { 'w' } else { 'r' };
        write!(f, "{} {} {}{direction}", self.of, self.key, decimal(self.thousandths))
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.key, if self.is_fenced { " fenced" } else { "" })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { round, operation, times, at_once, units, shared } = self;
        let list = |texts: Vec<String>| texts.join(", ");
        let units = list(units.iter().map(Units::to_string).collect());
        let shared = list(shared.iter().map(Shared::to_string).collect());
        let line = format!("{round} | {operation} | {times} | {at_once} | {units} | {shared}");
        f.write_str(line.trim_end())
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [write, read] =
            [Direction::Write, Direction::Read].map(|direction| decimal(self.total(direction)));
        writeln!(
            f,
            "\n## {}\n{write} write units, {read} read units, {} rounds, {} events, {} of changes",
            self.name,
            self.rounds(),
            self.events,
            self.changes
        )?;
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}
