//! Claims: the leases and numbers of two workers on the item of an owner (L20).

use super::configs::{Life, Missing};
use super::state::{Owner, Slot, VALIDATED};

/// What a worker knows of the number of the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Number {
    None,
    Newest,
    /// An older number; only without the check of claims, which makes it useless.
    Old,
}

/// The claims of an owner by worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Claim {
    /// Whether the worker has a lease, and so may work.
    pub(crate) leases: [bool; 2],
    pub(crate) numbers: [Number; 2],
}

impl Claim {
    pub(crate) const NONE: Self = Self { leases: [false; 2], numbers: [Number::None; 2] };

    /// Releases a lease.
    pub(crate) fn release(&mut self, worker: usize) {
        (self.leases[worker], self.numbers[worker]) = (false, Number::None);
    }

    /// Returns the claims with the worker that has a lease first, without numbers whose lease has ended.
    ///
    /// A decision with such a number has the effect of one without a claim.
    pub(crate) fn representative(&self) -> Self {
        let has_lease = self.leases.contains(&true);
        let number = if has_lease { Number::Newest } else { Number::None };
        Self { leases: [has_lease, false], numbers: [number, Number::None] }
    }
}

impl Life {
    /// Returns whether a worker may claim the change instance of a stage.
    pub(crate) fn may_claim(&self, owner: &Owner, worker: usize, stage: usize) -> bool {
        let Some(slot) = owner.slots[stage] else { return false };
        let [own, other] = [owner.claim.leases[worker], owner.claim.leases[1 - worker]];
        match self.missing {
            Some(Missing::ItemLease) => !slot.is_claimed && !slot.displaces_claimed,
            Some(Missing::AnyLease) => !other && (!own || !slot.is_claimed),
            _ => !own && !other,
        }
    }

    pub(crate) fn claim(&self, owner: &mut Owner, worker: usize, stage: usize) {
        let old = if self.lacks(Missing::CheckClaim) { Number::Old } else { Number::None };
        for number in owner.claim.numbers.iter_mut().filter(|number| **number == Number::Newest) {
            *number = old;
        }
        (owner.claim.leases[worker], owner.claim.numbers[worker]) = (true, Number::Newest);
        for (of, slot) in owner.slots.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            slot.is_claimed = match self.missing {
                Some(Missing::ItemLease) => slot.is_claimed || of == stage,
                Some(Missing::AnyLease) => of == stage,
                _ => of == VALIDATED,
            };
        }
    }

    /// Follows a change instance that the owner approves.
    pub(crate) fn claim_approved(&self, owner: &Owner, change: &mut Slot) {
        match self.missing {
            Some(Missing::ItemLease) => {
                change.displaces_claimed = owner.slots[VALIDATED].is_some_and(|slot| slot.is_claimed);
            }
            Some(Missing::AnyLease) => {}
            _ => change.is_claimed = owner.claim.leases.contains(&true),
        }
    }
}
