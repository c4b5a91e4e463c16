//! What a stack consumes, apart from the table: requests, invocations and events.

use crate::stack::Route;
use simulation::locked;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The counters of a stack.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Responses by route and status.
    pub responses: BTreeMap<(Route, u16), u64>,
    /// Most invocations at once.
    pub busy_max: usize,
    /// Invocations in progress.
    busy: usize,
    /// Number of published events.
    pub events: u64,
}

/// Counters that requests share.
#[derive(Debug, Default)]
pub struct Usage(Mutex<Counters>);

/// An invocation in progress. It ends when it is dropped.
#[derive(Debug)]
pub struct Busy<'a>(&'a Usage);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        locked(&self.0.0).busy -= 1;
    }
}

impl Usage {
    /// Returns the counters so far.
    pub fn counters(&self) -> Counters {
        locked(&self.0).clone()
    }

    /// Returns the number of invocations in progress.
    pub fn busy(&self) -> usize {
        locked(&self.0).busy
    }

    pub fn begin(&self) -> Busy<'_> {
        let mut counters = locked(&self.0);
        counters.busy += 1;
        counters.busy_max = counters.busy_max.max(counters.busy);
        Busy(self)
    }

    pub fn respond(&self, route: Route, status: u16) {
        *locked(&self.0).responses.entry((route, status)).or_default() += 1;
    }

    pub fn publish(&self, events: usize) {
        locked(&self.0).events += u64::try_from(events).unwrap();
    }
}
