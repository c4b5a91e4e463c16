//! The settings of the event source mappings.

use std::time::Duration;

use super::delivery::Policy;

/// The settings of an event source mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Name of the function and of the consumer.
    pub function: &'static str,
    /// Most records of one invocation.
    pub batch_size: usize,
    /// Batches at once over all shards, divided by key: the parallelization factor of Lambda.
    pub lanes: usize,
    /// Longest wait for a full batch.
    pub batch_window: Duration,
    /// Handling of records that the function does not accept.
    pub policy: Policy,
    /// Whether the function writes to the table, which can add records to the stream.
    pub writes: bool,
}

/// The event source mapping of `generate`, as in the template except for the pause.
pub const GENERATE: Settings = Settings {
    function: "generate",
    batch_size: 10,
    lanes: 10,
    batch_window: Duration::ZERO,
    policy: Policy {
        retries: 5,
        bisect: true,
        record_age: Duration::from_secs(3_600),
        pause: Duration::from_millis(100),
    },
    writes: true,
};

/// The event source mapping of `notify`, as in the template except for the pause.
pub const NOTIFY: Settings = Settings {
    function: "notify",
    batch_size: 100,
    lanes: 10,
    batch_window: Duration::ZERO,
    policy: Policy {
        retries: 20,
        bisect: true,
        record_age: Duration::from_secs(21_600),
        pause: Duration::from_millis(100),
    },
    writes: false,
};
