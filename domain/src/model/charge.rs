//! Charges: the fees for an item's changes and its time in service (R38, R39).
//!
//! The transaction of the cause creates the charge under the fence of the item, so no charge exists twice or is
//! missing. The item carries the sums, so its cost needs no other read (ADR 24).

use crate::base::actor::Actor;
use crate::base::id::{ApplicationId, ChangeId, ChargeId, ItemId};
use crate::base::money::{Amount, Prices};
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::state::ChargeType;
use crate::base::timestamp::Timestamp;

/// The actor and time of the processing of a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processed {
    pub at: Timestamp,
    pub by: Actor,
}

/// A charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The id, which includes the type.
    pub id: ChargeId,
    pub item: ItemId,
    pub item_name: String,
    pub application: String,
    /// The generation of the application with this number (R45).
    pub generation: u64,
    pub service: ServiceRef,
    /// The team of the service, which receives the charge.
    pub service_owner: TeamRef,
    /// The team of the declaration, which pays the charge.
    pub consumer: TeamRef,
    /// The charged change instance; for time in service the one whose approval set the price.
    pub change: ChangeId,
    /// The fee per change, or per month.
    pub price: Amount,
    /// Start of the charged time; for a change instance its creation.
    pub start: Timestamp,
    /// End of the charged time; none for a running charge.
    pub end: Option<Timestamp>,
    /// The processing; none while the charge is unprocessed.
    pub processed: Option<Processed>,
}

impl Charge {
    /// Returns the application of the item.
    pub const fn application_id(&self) -> ApplicationId {
        self.item.application(self.generation)
    }

    /// Returns the amount of the charge; for a running charge the amount at `now`.
    pub fn total(&self, now: Timestamp) -> Amount {
        match self.id.charge_type() {
            ChargeType::CostPerChange => self.price,
            ChargeType::MonthlyCost => self.price.over(self.start, self.end.unwrap_or(now)),
        }
    }
}

/// The running charge for an item's time in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    pub charge: ChargeId,
    /// The price per month.
    pub price: Amount,
    pub start: Timestamp,
}

/// The sums of an item's charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charges {
    pub running: Option<Running>,
    /// The sums of all ended charges by type.
    pub ended: Prices,
    /// The processed part of these sums.
    pub processed: Prices,
}

impl Charges {
    /// An item without charges.
    pub const NONE: Self = Self { running: None, ended: Prices::NONE, processed: Prices::NONE };

    /// Returns the total of all charges by type at `now`.
    pub fn total(&self, now: Timestamp) -> Prices {
        let running = self.running.map_or(Amount::ZERO, |running| running.price.over(running.start, now));
        Prices { monthly: self.ended.monthly + running, ..self.ended }
    }

    /// Ends the running charge and returns it with its amount.
    pub(crate) fn end(&mut self, at: Timestamp) -> Option<(Running, Amount)> {
        let running = self.running.take()?;
        let amount = running.price.over(running.start, at);
        self.ended.add(ChargeType::MonthlyCost, amount);
        Some((running, amount))
    }
}
