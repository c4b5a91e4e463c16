//! The result of the last audit.

use super::codec::Record;
use super::conversion::mirrors;
use crate::key::{self, Key};
use domain::audit::result::AuditResult;
use serde::{Deserialize, Serialize};

/// The result of the last recorded audit. A later one replaces it.
#[derive(Serialize, Deserialize)]
pub(crate) struct AuditResultRecord {
    /// Start of the audit.
    #[serde(rename = "st")]
    started: u64,
    /// End of the audit, as a fence against the result of an earlier one.
    #[serde(rename = "at")]
    finished: u64,
    /// Number of rows.
    #[serde(rename = "ro")]
    rows: u64,
    /// Number of violations.
    #[serde(rename = "vi")]
    violations: u64,
    /// Number of suspected violations in records that moved at every look.
    #[serde(rename = "un")]
    unsettled: u64,
}

mirrors! { AuditResultRecord = AuditResult { started, finished, rows, violations, unsettled } }

impl Record for AuditResultRecord {
    const TYPE: &'static str = "AUDIT";
    type Value = AuditResult;

    fn key(_: &AuditResult) -> Key {
        key::audit_result()
    }
}
