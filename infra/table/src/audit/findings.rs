//! The progress and the result of an audit.

use domain::Timestamp;
use domain::audit::invariant::Violation;
use domain::audit::result::{AuditOutcome, AuditResult};

/// The progress of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub rows: u64,
    /// Violations so far, before the second look.
    pub violations: u64,
}

/// The result of an audit.
#[derive(Clone, Debug, Default)]
pub struct Audited {
    pub rows: u64,
    pub violations: Vec<Violation>,
    /// Suspected violations in records that moved at every look.
    pub unsettled: u64,
}

impl Audited {
    /// Returns the outcome.
    pub fn outcome(&self) -> AuditOutcome {
        AuditOutcome::of(count(&self.violations), self.unsettled)
    }

    /// Returns the numbers of the audit, to store them.
    pub fn result(&self, started: Timestamp, finished: Timestamp) -> AuditResult {
        let Self { rows, violations, unsettled } = self;
        AuditResult { started, finished, rows: *rows, violations: count(violations), unsettled: *unsettled }
    }

    /// Adds the violations that hold, and counts the unsettled ones.
    pub(super) fn add(&mut self, (mut violations, unsettled): (Vec<Violation>, u64)) {
        self.violations.append(&mut violations);
        self.violations.sort();
        self.violations.dedup();
        self.unsettled += unsettled;
    }
}

/// Returns the number of elements.
pub(super) fn count<T>(all: &[T]) -> u64 {
    all.len().try_into().unwrap_or(u64::MAX)
}
