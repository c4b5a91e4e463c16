//! Many runs, on as many threads as there are processors.

use crate::ablation::Fence;
use crate::history::history;
use crate::locked;
use crate::run::{Ran, Run};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Maximum number of commands in a run.
pub const COMMANDS_MAX: usize = 60;

#[derive(Debug, Default)]
pub struct Many {
    pub runs: u64,
    /// Number of executed operations of the storage.
    pub operations: u64,
    /// Numbers of operations and faults, by name.
    pub counts: BTreeMap<String, u64>,
    /// Seed and error of the first failed run.
    pub wrong: Option<(u64, String)>,
}

impl Many {
    /// Adds the results of later runs.
    #[must_use]
    pub fn and(mut self, next: Self) -> Self {
        self.runs += next.runs;
        self.count(next.operations, next.counts);
        self.wrong = self.wrong.or(next.wrong);
        self
    }

    fn count(&mut self, operations: u64, counts: BTreeMap<String, u64>) {
        self.operations += operations;
        for (what, count) in counts {
            *self.counts.entry(what).or_default() += count;
        }
    }

    fn add(&mut self, seed: u64, ran: Result<Ran, String>) {
        self.runs += 1;
        match ran {
            Ok(ran) => self.count(ran.operations, ran.counts),
            Err(wrong) if self.wrong.as_ref().is_none_or(|(first, _)| seed < *first) => {
                self.wrong = Some((seed, wrong));
            }
            Err(_) => {}
        }
    }
}

/// Creates the histories of consecutive seeds. Returns the number of answered requests, or an error.
pub fn histories(first: u64, count: u64) -> Result<usize, String> {
    let (next, all) = (AtomicU64::new(first), Mutex::new(Ok(0)));
    let lock = || locked(&all);
    in_threads(|| {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed - first >= count || lock().is_err() {
            return false;
        }
        let made = history(seed).map_err(|wrong| format!("history {seed}: {wrong}"));
        let mut all = lock();
        match (all.as_mut(), made) {
            (Ok(answered), Ok(more)) => *answered += more,
            (Ok(_), Err(wrong)) => *all = Err(wrong),
            (Err(_), _) => {}
        }
        true
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a function repeatedly on every processor, until it returns `false`.
fn in_threads(continues: impl Fn() -> bool + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| while continues() {});
        }
    });
}

/// Executes consecutive seeds, up to this number of operations or an error.
pub fn run(first: u64, operations: u64, seeds_max: u64, fence_removed: Option<Fence>) -> Many {
    let (next, many) = (AtomicU64::new(first), Mutex::new(Many::default()));
    let lock = || locked(&many);
    in_threads(|| {
        let done = {
            let so_far = lock();
            so_far.operations >= operations || so_far.wrong.is_some()
        };
        // Every drawn seed runs, so the next seeds start after this number of runs.
        let take = || next.fetch_add(1, Ordering::Relaxed);
        let Some(seed) = (!done).then(take).filter(|seed| seed - first < seeds_max) else {
            return false;
        };
        let ran = Run::of(seed, COMMANDS_MAX).run(fence_removed);
        lock().add(seed, ran);
        true
    });
    many.into_inner().unwrap_or_else(PoisonError::into_inner)
}
