//! The calls of functions with their units, for a replay without the functions.

use super::partition::{Partition, parts};
use embedded::Key;
use serde_json::Value;
use std::time::Duration;

/// A call of the table or of the event bus.
#[derive(Clone, Debug)]
pub struct TracedCall {
    pub operation: String,
    pub began: Duration,
    pub ended: Duration,
    /// Records of a transaction, each with whether a condition compares one of its values.
    pub records: Vec<(Key, bool)>,
    /// Write units by partition, in thousandths.
    pub writes: Vec<(Partition, u64)>,
    /// Read units by partition, in thousandths.
    pub reads: Vec<(Partition, u64)>,
}

impl TracedCall {
    /// Creates a call that begins now, without units.
    pub fn new(operation: &str, request: &Value, began: Duration) -> Self {
        let parts = if operation == "TransactWriteItems" { parts(operation, request) } else { Vec::new() };
        Self {
            operation: operation.to_owned(),
            began,
            ended: began,
            records: parts.into_iter().map(|part| (part.key, part.is_fenced)).collect(),
            writes: Vec::new(),
            reads: Vec::new(),
        }
    }
}
