//! The progress and the result of an audit.

use domain::audit::invariant::Violation;

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
