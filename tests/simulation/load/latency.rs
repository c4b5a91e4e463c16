//! Latencies of DynamoDB and times between requests, drawn from distributions.
#![expect(clippy::float_arithmetic, reason = "a distribution has a logarithm")]

use fastrand::Rng;
use std::f64::consts::TAU;
use std::time::Duration;

/// Travel time between a function and the table, in one direction. It is a part of the latency.
pub const HOP: Duration = Duration::from_millis(1);

/// The 99th percentile of the standard normal distribution.
const NORMAL_99: f64 = 2.326_348;

/// A lognormal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    median: Duration,
    /// 99th percentile.
    late: Duration,
}

/// A transaction. Median and 99th percentile are published measurements (docs/explanation/verification.md).
pub const TRANSACTION: Latency = Latency::new(25, 92);
/// A batch.
pub const BATCH: Latency = Latency::new(10, 28);
/// A read or a write of one record, and a query.
pub const SINGLE: Latency = Latency::new(4, 12);

impl Latency {
    /// Creates a distribution from its median and its 99th percentile, in milliseconds.
    pub const fn new(median: u64, late: u64) -> Self {
        Self { median: Duration::from_millis(median), late: Duration::from_millis(late) }
    }

    pub fn of(operation: &str) -> Self {
        match operation {
            "TransactWriteItems" | "TransactGetItems" => TRANSACTION,
            "BatchWriteItem" | "BatchGetItem" => BATCH,
            _ => SINGLE,
        }
    }

    pub const fn median(self) -> Duration {
        self.median
    }

    /// Draws a latency, at least four hops. Returns half of its time at the table.
    pub fn draw_half(self, dice: &mut Rng) -> Duration {
        self.draw(dice).max(4 * HOP) / 2 - HOP
    }

    fn draw(self, dice: &mut Rng) -> Duration {
        let sigma = (self.late.as_secs_f64() / self.median.as_secs_f64()).ln() / NORMAL_99;
        self.median.mul_f64((sigma * normal(dice)).exp())
    }
}

/// Draws from the standard normal distribution (Box and Muller).
fn normal(dice: &mut Rng) -> f64 {
    let radius = (-2.0 * above_zero(dice).ln()).sqrt();
    radius * (TAU * dice.f64()).cos()
}

/// Draws the time until the next of independent arrivals with a rate per second.
pub fn until_next(dice: &mut Rng, rate: u32) -> Duration {
    Duration::from_secs_f64(-above_zero(dice).ln() / f64::from(rate))
}

/// Draws a number above 0 and up to 1, so that its logarithm is finite.
fn above_zero(dice: &mut Rng) -> f64 {
    1.0 - dice.f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_given_percentiles() {
        let mut dice = Rng::with_seed(1);
        let mut drawn: Vec<Duration> = (0..100_000).map(|_| TRANSACTION.draw(&mut dice)).collect();
        drawn.sort_unstable();
        let near = |drawn: Duration, millis: u64| {
            let expected = Duration::from_millis(millis);
            assert!(drawn.abs_diff(expected) < expected / 25, "{drawn:?} instead of {expected:?}");
        };
        near(drawn[50_000], 25);
        near(drawn[99_000], 92);
    }

    #[test]
    fn arrivals_have_the_given_rate() {
        let mut dice = Rng::with_seed(1);
        let time: Duration = (0..10_000).map(|_| until_next(&mut dice, 100)).sum();
        assert!(time.abs_diff(Duration::from_secs(100)) < Duration::from_secs(3), "{time:?}");
    }
}
