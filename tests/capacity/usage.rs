//! What a stack consumes, apart from the table: requests, invocations, their time, and events.

use crate::prices::compute_millis;
use crate::sequence::Sequence;
use crate::stack::{Route, locked};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// The counters of a stack.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Responses by route and status.
    pub responses: BTreeMap<(Route, u16), u64>,
    /// Number of invocations.
    pub invocations: u64,
    /// Time of all invocations, with their compute time.
    pub time: Duration,
    /// Most invocations at once.
    pub busy_max: usize,
    /// Invocations in progress.
    busy: usize,
    /// Number of transactions, with every repetition.
    pub transactions: u64,
    /// Number of calls of the table, with every repetition.
    pub calls: u64,
    /// Number of published events.
    pub events: u64,
    /// Number of requests to the queue.
    pub messages: u64,
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

    /// Begins an invocation.
    pub fn begin(&self) -> Busy<'_> {
        let mut counters = locked(&self.0);
        counters.busy += 1;
        counters.busy_max = counters.busy_max.max(counters.busy);
        counters.invocations += 1;
        Busy(self)
    }

    /// Ends an invocation after a time without compute time.
    pub fn end(&self, busy: Busy<'_>, time: Duration, sequence: &Sequence) {
        drop(busy);
        locked(&self.0).time += time + Duration::from_millis(compute_millis(sequence));
    }

    /// Counts a response.
    pub fn respond(&self, route: Route, status: u16) {
        *locked(&self.0).responses.entry((route, status)).or_default() += 1;
    }

    /// Counts a call.
    pub fn call(&self, is_transaction: bool) {
        let mut counters = locked(&self.0);
        counters.calls += 1;
        counters.transactions += u64::from(is_transaction);
    }

    /// Counts published events.
    pub fn publish(&self, events: usize) {
        locked(&self.0).events += u64::try_from(events).unwrap();
    }

    /// Counts requests to the queue.
    pub fn message(&self, requests: u64) {
        locked(&self.0).messages += requests;
    }
}
