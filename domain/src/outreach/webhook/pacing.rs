//! The wait of deliveries for a slow receiver (ADR 20).

use crate::base::timestamp::Timestamp;
use serde_json::{Value, json};

/// Duration of an attempt from which its receiver is slow, in milliseconds.
pub const SLOW_MILLIS: u64 = 1_000;

/// The wait of a delivery for a slow receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// The start of the wait.
    pub since: Timestamp,
    /// Length of the reserved slot in milliseconds; 0 without a slot.
    pub slot_millis: u64,
}

impl Paced {
    /// Serializes the wait as a part of a message.
    pub(super) fn to_part(self) -> Value {
        json!({"since": self.since.micros(), "slot_millis": self.slot_millis})
    }

    /// Parses a part of a message.
    pub(super) fn of_part(part: &Value) -> Option<Self> {
        let number = |name: &str| part.get(name).and_then(Value::as_u64);
        let since = Timestamp::from_micros(number("since")?);
        Some(Self { since, slot_millis: number("slot_millis")? })
    }
}
