//! The table in the replay: buckets of its partitions, conflicts of transactions, and versions of shared records.
//!
//! The rules are those of `simulation::load::limits`, for calls with known units.

use crate::names::Names;
use crate::sequence::{Direction, Step};
use fastrand::Rng;
use simulation::load::bucket::Buckets;
use simulation::load::conflicts::Conflicts;
use simulation::load::lanes::hashed;
use simulation::load::latency::{HOP, Latency};
use simulation::load::limits::{READ_UNITS, WRITE_UNITS};
use simulation::load::partition::Partition;
use simulation::locked;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::sleep;

/// The reason of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A partition has no units left.
    Throttled,
    /// Another transaction uses a record.
    Conflict,
    /// A fenced record has changed since its read.
    Stale,
}

/// Versions of records.
type Versions = BTreeMap<String, u64>;

/// The versions of the fenced records at the start of an attempt.
#[derive(Clone, Debug)]
pub struct Read {
    versions: Versions,
    at: Duration,
}

/// What a replay assumes about the table, because it depends on its age, or because AWS does not publish it.
#[derive(Clone, Copy, Debug)]
pub struct Assumptions {
    /// Number of partitions of the table, and of each index. Without it, each partition key has its own partition.
    pub partitions: Option<usize>,
    /// Part of its latency for which a transaction occupies its records, in percent.
    pub occupied: u32,
}

impl Assumptions {
    /// A table that has split its busy partitions.
    pub const USUAL: Self = Self { partitions: None, occupied: 50 };

    /// Returns the place of a partition key.
    fn place(self, of: &str, key: &str) -> Partition {
        match self.partitions {
            Some(partitions) => Partition::new(of, &format!("PARTITION#{}", hashed(key) % partitions)),
            None => Partition::new(of, key),
        }
    }
}

/// The table with its indexes.
pub struct Table {
    assumptions: Assumptions,
    state: Mutex<State>,
}

struct State {
    dice: Rng,
    writes: Buckets<Partition>,
    reads: Buckets<Partition>,
    conflicts: Conflicts<String>,
    versions: Versions,
    seen: Seen,
}

/// What the table has seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Units by partition, in thousandths.
    pub used: BTreeMap<(Direction, Partition), u64>,
    /// Time in use by shared record: in transactions, and for a fenced record since its read.
    pub occupied: BTreeMap<String, Duration>,
}

/// A call with ids instead of names.
struct Bound {
    writes: Vec<(Partition, u64)>,
    reads: Vec<(Partition, u64)>,
    shared: Vec<String>,
    fenced: Vec<String>,
}

impl Bound {
    /// Binds one of the calls of a step.
    fn of(step: &Step, names: &Names, assumptions: Assumptions) -> Self {
        let times = u64::try_from(step.times).unwrap();
        let units = |direction| {
            let units = step.units.iter().filter(move |units| units.direction == direction);
            units.map(|units| {
                (assumptions.place(&units.of, &names.bind(&units.key)), units.thousandths / times)
            })
        };
        let (writes, reads) = (units(Direction::Write).collect(), units(Direction::Read).collect());
        let shared = step.shared.iter().map(|shared| names.bind(&shared.key)).collect();
        let fenced = step.shared.iter().filter(|shared| shared.is_fenced);
        Self { writes, reads, shared, fenced: fenced.map(|shared| names.bind(&shared.key)).collect() }
    }
}

impl Table {
    /// Creates a table with full buckets.
    pub fn new(seed: u64, assumptions: Assumptions) -> Self {
        let state = State {
            dice: Rng::with_seed(seed),
            writes: Buckets::new(WRITE_UNITS),
            reads: Buckets::new(READ_UNITS),
            conflicts: Conflicts::default(),
            versions: Versions::new(),
            seen: Seen::default(),
        };
        Self { assumptions, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Draws from the random numbers of the replay.
    pub fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.state().dice)
    }

    /// Returns what the table has seen.
    pub fn seen(&self) -> Seen {
        self.state().seen.clone()
    }

    /// Reads the fenced records of steps.
    pub fn read(&self, steps: &[Step], names: &Names, at: Duration) -> Read {
        let fenced = steps.iter().flat_map(|step| &step.shared).filter(|shared| shared.is_fenced);
        let state = self.state();
        let version = |key: String| (state.versions.get(&key).copied().unwrap_or_default(), key);
        let versions = fenced.map(|shared| version(names.bind(&shared.key)));
        Read { versions: versions.map(|(version, key)| (key, version)).collect(), at }
    }

    /// Executes one call of a step.
    pub async fn call(
        &self,
        step: &Step,
        names: &Names,
        read: &Read,
        now: impl Fn() -> Duration,
    ) -> Result<(), Failure> {
        let half = self.draw(|dice| Latency::of(&step.operation).draw_half(dice));
        let bound = Bound::of(step, names, self.assumptions);
        sleep(HOP).await;
        let done = if step.operation == "TransactWriteItems" {
            self.transact(&bound, read, half, now).await
        } else {
            sleep(half).await;
            let done = self.state().charge(&bound, now());
            sleep(half).await;
            done
        };
        sleep(HOP).await;
        done
    }

    /// Executes a transaction of two halves. It occupies its shared records for the middle part of its latency.
    async fn transact(
        &self,
        bound: &Bound,
        read: &Read,
        half: Duration,
        now: impl Fn() -> Duration,
    ) -> Result<(), Failure> {
        let occupied = half * self.assumptions.occupied / 100;
        let free = half - occupied;
        sleep(free).await;
        self.state().begin(bound)?;
        sleep(occupied).await;
        let done = self.state().commit(bound, read, now());
        sleep(occupied).await;
        self.state().end(bound, 2 * occupied);
        sleep(free).await;
        done
    }
}

impl State {
    fn begin(&mut self, bound: &Bound) -> Result<(), Failure> {
        self.conflicts.begin_transaction(&bound.shared).map_err(|_| Failure::Conflict)
    }

    fn end(&mut self, bound: &Bound, time: Duration) {
        self.conflicts.end_transaction(&bound.shared);
        for record in bound.shared.iter().filter(|record| !bound.fenced.contains(record)) {
            *self.seen.occupied.entry(record.clone()).or_default() += time;
        }
    }

    /// A throttled transaction costs nothing. A stale one costs as much as a stored one.
    fn commit(&mut self, bound: &Bound, read: &Read, now: Duration) -> Result<(), Failure> {
        self.charge(bound, now)?;
        let is_stale = |record: &String| {
            read.versions.get(record).copied() != Some(self.versions.get(record).copied().unwrap_or_default())
        };
        if bound.fenced.iter().any(is_stale) {
            return Err(Failure::Stale);
        }
        for record in &bound.shared {
            *self.versions.entry(record.clone()).or_default() += 1;
        }
        // From its read on, no other writer may change a fenced record.
        for record in &bound.fenced {
            *self.seen.occupied.entry(record.clone()).or_default() += now.saturating_sub(read.at);
        }
        Ok(())
    }

    /// Charges the units of a call, unless a partition has none left.
    fn charge(&mut self, bound: &Bound, now: Duration) -> Result<(), Failure> {
        let writes = bound.writes.iter().map(|(partition, _)| self.writes.admits(partition, now));
        let is_open = writes.collect::<Vec<_>>().into_iter().all(|is_open| is_open);
        let reads = bound.reads.iter().map(|(partition, _)| self.reads.admits(partition, now));
        let is_open = reads.collect::<Vec<_>>().into_iter().all(|is_open| is_open) && is_open;
        if !is_open {
            return Err(Failure::Throttled);
        }
        for (partition, units) in &bound.writes {
            self.writes.charge(partition, now, *units);
            *self.seen.used.entry((Direction::Write, partition.clone())).or_default() += units;
        }
        for (partition, units) in &bound.reads {
            self.reads.charge(partition, now, *units);
            *self.seen.used.entry((Direction::Read, partition.clone())).or_default() += units;
        }
        Ok(())
    }
}
