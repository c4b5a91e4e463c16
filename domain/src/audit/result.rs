//! The stored result of the last audit, for operators.

use crate::base::timestamp::Timestamp;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The outcome of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum AuditOutcome {
    Sound,
    /// An invariant is violated.
    Violated,
    /// No violation was proved, but some records moved at every look.
    Unsettled,
}

crate::named!(AuditOutcome);

impl AuditOutcome {
    /// Returns the outcome for these numbers of violations and of unsettled suspicions.
    pub const fn of(violations: u64, unsettled: u64) -> Self {
        match (violations, unsettled) {
            (0, 0) => Self::Sound,
            (0, _) => Self::Unsettled,
            (_, _) => Self::Violated,
        }
    }
}

/// The result of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditResult {
    pub started: Timestamp,
    pub finished: Timestamp,
    pub rows: u64,
    pub violations: u64,
    /// Suspected violations in records that moved at every look.
    pub unsettled: u64,
}

impl AuditResult {
    /// Returns the outcome of the audit.
    pub const fn outcome(&self) -> AuditOutcome {
        AuditOutcome::of(self.violations, self.unsettled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_outweighs_unsettled_records() {
        for (violations, unsettled, outcome) in [
            (0, 0, AuditOutcome::Sound),
            (0, 2, AuditOutcome::Unsettled),
            (1, 0, AuditOutcome::Violated),
            (1, 2, AuditOutcome::Violated),
        ] {
            assert_eq!(AuditOutcome::of(violations, unsettled), outcome);
        }
    }
}
