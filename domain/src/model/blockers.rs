//! Blockers: the changes and items that wait for a consumer's answer, as a count and a sum on the team's head (R11,
//! R12).
//!
//! The count shows whether there are blockers at all. The sum of one hash for each distinguishes two sets of the same
//! size. Together, count and sum make a refusal, or its absence, exact under races (ADR 2).

use sha2::{Digest, Sha256};
use std::ops::{Add, Sub};

/// A set of blockers as its size and the sum of its hashes; also the difference of two sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blockers {
    /// The number of blockers; negative in a difference.
    pub count: i64,
    /// The sum of their 40-bit hashes; 64 bits have room for eight million of them.
    pub sum: i64,
}

impl Blockers {
    /// The empty set.
    pub const NONE: Self = Self { count: 0, sum: 0 };

    /// Returns one blocker; its label must be unique in the team.
    pub fn one(label: &str) -> Self {
        let hash = Sha256::digest(label);
        // 40 bits: two different sets of the same size pass as equal once in 10^12 races (ADR 2).
        let sum = hash.first_chunk().map_or(0, |first| u64::from_be_bytes(*first) >> 24);
        Self { count: 1, sum: sum.cast_signed() }
    }
}

impl Add for Blockers {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { count: self.count + other.count, sum: self.sum + other.sum }
    }
}

impl Sub for Blockers {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { count: self.count - other.count, sum: self.sum - other.sum }
    }
}

impl std::iter::Sum for Blockers {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::NONE, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_weighs_forty_bits_of_its_hash() {
        assert_eq!(Blockers::one("label"), Blockers { count: 1, sum: 115_066_595_509 });
    }

    #[test]
    fn sets_of_the_same_size_differ_and_leaving_undoes_joining() {
        let (a, b) = (Blockers::one("change/16"), Blockers::one("change/32"));
        assert_eq!((a.count, b.count), (1, 1));
        assert_ne!(a, b);
        assert_eq!(a + b - a, b);
        assert_eq!([a, b].into_iter().sum::<Blockers>(), b + a);
        assert!(a.sum >= 0 && a.sum < 1 << 40);
    }
}
