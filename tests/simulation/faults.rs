//! What may go wrong, and how often: drawn anew for each run, so that a run is thick with some faults and free of others.

use fastrand::Rng;
use std::time::Duration;

/// What faults are called where they are counted.
pub const NAMES: [&str; 19] = [
    "request lost",
    "reply lost",
    "late",
    "slow",
    "throttled",
    "transaction conflict",
    "partial batch",
    "shown as before",
    "torn read",
    "lagging read",
    "function dies",
    "clock is off",
    "stream duplicated",
    "stream dropped",
    "stream delayed",
    "stream poisoned",
    "bus throttled",
    "bus reply lost",
    "event not taken",
];

/// Faults with their chances, each in a thousand of what it may befall.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A request never arrives.
    pub request_lost: u32,
    /// A request is carried out, and its reply never arrives.
    pub reply_lost: u32,
    /// A request arrives when its sender has long given it up.
    pub late: u32,
    /// A request takes seconds.
    pub slow: u32,
    /// A request is refused for now: throttling, an internal error.
    pub throttled: u32,
    /// A transaction is cancelled because it meets another one.
    pub conflict: u32,
    /// A part of a batch is left unprocessed.
    pub partial: u32,
    /// While a transaction is under way, a read of several records shows some as they were before it.
    pub torn: u32,
    /// How long an index, or an eventually consistent read, may lag behind; zero for not at all.
    pub lag: Duration,
    /// A function dies at one of its calls, before or after it.
    pub crash: u32,
    /// A batch of the stream is delivered again, perhaps beside itself.
    pub duplicated: u32,
    /// A batch of the stream never reaches generation.
    pub dropped: u32,
    /// A batch of the stream waits for minutes, or hours.
    pub delayed: u32,
    /// A batch of the stream has a record in it that nobody can read.
    pub poisoned: u32,
    /// An entry is not taken by the event bus, or its reply is lost.
    pub bus: u32,
    /// How far a machine's clock may be off, to either side.
    pub skew: Duration,
}

impl Faults {
    /// Everything works.
    pub fn none() -> Self {
        Self::default()
    }

    /// Faults of a run: about half of the kinds, each with a chance of its own.
    pub fn drawn(dice: &mut Rng) -> Self {
        let mut chance = |most: u32| if dice.bool() { dice.u32(1..=most) } else { 0 };
        Self {
            request_lost: chance(60),
            reply_lost: chance(80),
            late: chance(20),
            slow: chance(60),
            throttled: chance(150),
            conflict: chance(300),
            partial: chance(300),
            torn: chance(1_000),
            lag: Duration::from_millis(u64::from(chance(5_000))),
            crash: chance(150),
            duplicated: chance(300),
            dropped: chance(300),
            delayed: chance(100),
            poisoned: chance(50),
            bus: chance(300),
            skew: Duration::from_secs(u64::from(chance(3_600))),
        }
    }
}

/// Whether something with this chance in a thousand befalls.
pub fn befalls(dice: &mut Rng, chance: u32) -> bool {
    chance > 0 && dice.u32(0..1_000) < chance
}
