//! Faults and their chances. Each run draws them, so it has many faults of some kinds and none of others.

use fastrand::Rng;
use std::time::Duration;

/// Names of the counted faults.
pub const NAMES: &str = "request lost, reply lost, late, slow, throttled, transaction conflict, partial batch, \
    shown as before, torn read, lagging read, function dies, clock is off, stream duplicated, stream dropped, \
    stream delayed, stream poisoned, bus throttled, bus reply lost, event not taken";

/// Faults with their chances, each in 1,000 opportunities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A request never arrives.
    pub request_lost: u32,
    /// The storage executes a request, but the reply never arrives.
    pub reply_lost: u32,
    /// A request arrives long after its sender has given up.
    pub late: u32,
    /// A request takes seconds.
    pub slow: u32,
    /// The storage rejects a request for the moment: throttling or an internal error.
    pub throttled: u32,
    /// A transaction conflicts with another one.
    pub conflict: u32,
    /// A part of a batch stays unprocessed.
    pub partial: u32,
    /// During a transaction, a read of several records shows some of them from before it.
    pub torn: u32,
    /// Maximum delay of indexes and eventually consistent reads, zero without a delay.
    pub lag: Duration,
    /// A function dies before or after one of its calls.
    pub crash: u32,
    /// The stream delivers a batch twice, possibly concurrently.
    pub duplicated: u32,
    /// A batch of the stream never reaches generation.
    pub dropped: u32,
    /// A batch of the stream waits for minutes or hours.
    pub delayed: u32,
    /// A batch of the stream contains an unreadable record.
    pub poisoned: u32,
    /// The event bus rejects an entry, or its reply gets lost.
    pub bus: u32,
    /// Maximum error of a machine's clock, in both directions.
    pub skew: Duration,
}

impl Faults {
    pub fn none() -> Self {
        Self::default()
    }

    /// Draws the faults of a run: about half of the kinds, each with a separate chance.
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

/// Decides whether a fault with this chance in 1,000 occurs.
pub fn befalls(dice: &mut Rng, chance: u32) -> bool {
    chance > 0 && dice.u32(0..1_000) < chance
}
