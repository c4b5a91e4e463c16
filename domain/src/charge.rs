//! Charges: what an item's changes and its time in service cost its consumer (R38, R39).
//!
//! A charge arises in the transaction of its cause, under the fence of its item, which carries the sums: so nothing is
//! charged twice or forgotten, and what an item has cost is read with the item alone.

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

/// What is charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChargeType {
    /// A change instance.
    CostPerChange,
    /// Time in service.
    MonthlyCost,
}

impl ChargeType {
    /// Every type.
    pub const ALL: [Self; 2] = [Self::CostPerChange, Self::MonthlyCost];

    /// The one name of the type: that of the price in a definition.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CostPerChange => "cost_per_change",
            Self::MonthlyCost => "monthly_cost",
        }
    }

    /// Reads a type's name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

/// The prices of a service, as its definition says; also two sums of what they come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// For each change instance.
    pub per_change: Amount,
    /// For each month that an item is in service.
    pub monthly: Amount,
}

impl Prices {
    /// Free of charge.
    pub const NONE: Self = Self { per_change: Amount::ZERO, monthly: Amount::ZERO };

    /// Both together.
    pub fn sum(self) -> Amount {
        self.per_change + self.monthly
    }

    const fn of(&mut self, charge_type: ChargeType) -> &mut Amount {
        match charge_type {
            ChargeType::CostPerChange => &mut self.per_change,
            ChargeType::MonthlyCost => &mut self.monthly,
        }
    }

    /// Adds what a charge comes to.
    pub(crate) fn add(&mut self, charge_type: ChargeType, amount: Amount) {
        let sum = self.of(charge_type);
        *sum = *sum + amount;
    }
}

/// Who marked a charge as processed, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processed {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Actor,
}

/// A charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Its id, which tells its type.
    pub id: ChargeId,
    /// The service item.
    pub item: ItemId,
    /// The item's name.
    pub item_name: String,
    /// The application's name.
    pub application: String,
    /// The item's service.
    pub service: ServiceRef,
    /// The team that owns the service: who charges.
    pub service_owner: TeamRef,
    /// The team that declared the item: who is charged.
    pub consumer: TeamRef,
    /// The change instance that is charged for, or with whose approval the price came into force.
    pub change: ChangeId,
    /// The price.
    pub price: Amount,
    /// The beginning of the time that is charged for; the birth of a change instance.
    pub start: Timestamp,
    /// Its end; none while it runs.
    pub end: Option<Timestamp>,
    /// That it was marked as processed.
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

    /// What it comes to; by `now`, if it still runs.
    pub fn total(&self, now: Timestamp) -> Amount {
        match self.id.charge_type() {
            ChargeType::CostPerChange => self.price,
            ChargeType::MonthlyCost => self.price.over(self.start, self.end.unwrap_or(now)),
        }
    }
}

/// The charge for an item's time in service that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The charge.
    pub charge: ChargeId,
    /// The price per month.
    pub price: Amount,
    /// Since when.
    pub start: Timestamp,
}

/// What an item's charges come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charges {
    /// The one that runs.
    pub running: Option<Running>,
    /// What all others come to, by their types.
    pub ended: Prices,
    /// What of that is processed.
    pub processed: Prices,
}

impl Charges {
    /// An item that has cost nothing.
    pub const NONE: Self = Self { running: None, ended: Prices::NONE, processed: Prices::NONE };

    /// What all of them come to, by their types.
    pub fn total(&self, now: Timestamp) -> Prices {
        let running = self.running.map_or(Amount::ZERO, |running| running.price.over(running.start, now));
        Prices { monthly: self.ended.monthly + running, ..self.ended }
    }

    /// Ends what runs, and tells what it came to.
    fn end(&mut self, at: Timestamp) -> Option<(Running, Amount)> {
        let running = self.running.take()?;
        let amount = running.price.over(running.start, at);
        self.ended.add(ChargeType::MonthlyCost, amount);
        Some((running, amount))
    }
}

/// Whether a change instance is charged for by itself (R38): a dependent team's share is part of its cause, a retry is the
/// owner's own, and what was born closed was never anybody's work.
pub fn is_charged_for(change: &Change) -> bool {
    let is_stillborn = change.history.first().is_some_and(|birth| birth.closed_by.is_some());
    let is_generated = matches!(change.kind, Kind::Direct | Kind::Referenced);
    change.prices.per_change != Amount::ZERO && is_generated && !is_stillborn
}

/// Returns the fee that a change instance costs (R38), and the monthly price that its approval brings into force (R39).
pub fn prices_of(change: &Change) -> Prices {
    let is_removal = change.change_type == ChangeType::Delete;
    Prices {
        per_change: if is_charged_for(change) { change.prices.per_change } else { Amount::ZERO },
        monthly: if is_removal { Amount::ZERO } else { change.prices.monthly },
    }
}

/// Charges for a change instance that is born on an item (R38).
pub(crate) fn born(item: &mut Item, change: &Change) -> Option<Write> {
    if !is_charged_for(change) {
        return None;
    }
    let price = change.prices.per_change;
    item.charges.ended.add(ChargeType::CostPerChange, price);
    let charge = Charge::new(ChargeId::of_change(change.id), change, price, change.created);
    Some(Write::Charged(Charge { end: Some(change.created), ..charge }))
}

/// Charges for an item's time in service as an approval leaves it: at the price that came with the change instance, and
/// not at all once the item is out of service (R39).
pub(crate) fn approved(item: &mut Item, change: &Change, now: Timestamp) -> Vec<Write> {
    let price = match item.runtime_state {
        RuntimeState::InService => change.prices.monthly,
        RuntimeState::Requested | RuntimeState::Decommissioned => Amount::ZERO,
    };
    if item.charges.running.map_or(Amount::ZERO, |running| running.price) == price {
        return Vec::new();
    }
    // Never before what the item has seen, so that no two of its times overlap whatever the clocks say.
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
