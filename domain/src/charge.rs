//! Charges: the fees for an item's changes and its time in service (R38, R39).
//!
//! The transaction of the cause creates the charge, under the fence of the item. So no charge exists twice or is
//! missing. The item carries the sums, so its cost needs no other read (ADR 24).

mod mark;

pub use self::mark::{DIVISION_MICROS_MIN, Marked, Refused, mark};
use crate::actor::{Actor, TeamRef};
use crate::change::{Change, ChangeType, Kind};
use crate::id::{ChangeId, ChargeId, ItemId};
use crate::item::{Item, RuntimeState};
use crate::money::Amount;
use crate::service::ServiceRef;
use crate::timestamp::Timestamp;
use crate::write::Write;

/// The cause of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChargeType {
    /// A fee for one change instance.
    CostPerChange,
    /// A fee for time in service.
    MonthlyCost,
}

impl ChargeType {
    /// All charge types.
    pub const ALL: [Self; 2] = [Self::CostPerChange, Self::MonthlyCost];

    /// Returns the name of the type, which is also that of the price in a definition.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CostPerChange => "cost_per_change",
            Self::MonthlyCost => "monthly_cost",
        }
    }

    /// Parses the name of a charge type.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

/// The prices in a service definition; also used for two sums of charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// The fee for each change instance.
    pub per_change: Amount,
    /// The fee for each month in service.
    pub monthly: Amount,
}

impl Prices {
    /// No fees.
    pub const NONE: Self = Self { per_change: Amount::ZERO, monthly: Amount::ZERO };

    /// Returns the total of both.
    pub fn sum(self) -> Amount {
        self.per_change + self.monthly
    }

    const fn of(&mut self, charge_type: ChargeType) -> &mut Amount {
        match charge_type {
            ChargeType::CostPerChange => &mut self.per_change,
            ChargeType::MonthlyCost => &mut self.monthly,
        }
    }

    /// Adds the amount of a charge to the sum of its type.
    pub(crate) fn add(&mut self, charge_type: ChargeType, amount: Amount) {
        let sum = self.of(charge_type);
        *sum = *sum + amount;
    }
}

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
    fn new(id: ChargeId, change: &Change, price: Amount, start: Timestamp) -> Self {
        Self {
            id,
            item: change.item,
            item_name: change.item_name.clone(),
            application: change.application.clone(),
            service: change.service.clone(),
            service_owner: change.service_owner.clone(),
            consumer: change.consumer.clone(),
            change: change.id,
            price,
            start,
            end: None,
            processed: None,
        }
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
    fn end(&mut self, at: Timestamp) -> Option<(Running, Amount)> {
        let running = self.running.take()?;
        let amount = running.price.over(running.start, at);
        self.ended.add(ChargeType::MonthlyCost, amount);
        Some((running, amount))
    }
}

/// Returns whether a change instance has a fee (R38).
///
/// A dependent team's share is part of its cause. A retry is the owner's decision. A change instance created in
/// CLOSED was never work.
pub fn is_charged_for(change: &Change) -> bool {
    let is_stillborn = change.history.first().is_some_and(|birth| birth.closed_by.is_some());
    let is_generated = matches!(change.kind, Kind::Direct | Kind::Referenced);
    change.prices.per_change != Amount::ZERO && is_generated && !is_stillborn
}

/// Returns the fee of a change instance (R38), and the monthly price after its approval (R39).
pub fn prices_of(change: &Change) -> Prices {
    let is_removal = change.change_type == ChangeType::Delete;
    Prices {
        per_change: if is_charged_for(change) { change.prices.per_change } else { Amount::ZERO },
        // The approval of a DELETE ends the charges for time, so it starts no price (R39).
        monthly: if is_removal { Amount::ZERO } else { change.prices.monthly },
    }
}

/// Charges the fee of a new change instance to its item (R38).
pub(crate) fn born(item: &mut Item, change: &Change) -> Option<Write> {
    if !is_charged_for(change) {
        return None;
    }
    let price = change.prices.per_change;
    item.charges.ended.add(ChargeType::CostPerChange, price);
    let charge = Charge::new(ChargeId::of_change(change.id), change, price, change.created);
    Some(Write::Charged(Charge { end: Some(change.created), ..charge }))
}

/// Adjusts the running charge after an approval (R39).
///
/// The new price is that of the change instance, or zero once the item is out of service.
pub(crate) fn approved(item: &mut Item, change: &Change, now: Timestamp) -> Vec<Write> {
    let price = match item.runtime_state {
        RuntimeState::InService => change.prices.monthly,
        RuntimeState::Requested | RuntimeState::Decommissioned => Amount::ZERO,
    };
    if item.charges.running.map_or(Amount::ZERO, |running| running.price) == price {
        // The price is the same, so the running charge continues: no write, and no gap.
        return Vec::new();
    }
    // Never before the last change of the item, so two charged times never overlap, whatever the clocks say.
    let at = now.not_before(item.modified);
    let mut writes = Vec::new();
    if let Some((running, _)) = item.charges.end(at) {
        writes.push(Write::ChargeEnded { charge: running.charge, end: at });
    }
    if price != Amount::ZERO {
        let charge = Charge::new(ChargeId::of_time(change.id), change, price, at);
        item.charges.running = Some(Running { charge: charge.id, price, start: at });
        writes.push(Write::Charged(charge));
    }
    writes
}
