//! The charges of a change instance: its fee, and the price of the item's time in service (R38, R39).

mod mark_processed;

pub use self::mark_processed::{DIVISION_MICROS_MIN, MarkedProcessed, Refused, mark_processed};
use crate::base::id::ChargeId;
use crate::base::money::{Amount, Prices};
use crate::base::state::{ChangeType, ChargeType, Kind, RuntimeState};
use crate::base::timestamp::Timestamp;
use crate::model::change::Change;
use crate::model::charge::{Charge, Running};
use crate::model::item::Item;
use crate::model::write::Write;

/// Returns whether a change instance has a fee (R38).
///
/// A dependent team's share is part of its cause. A retry is the owner's decision. A change instance that was created
/// in CLOSED was never work for its owner.
pub fn is_charged_for(change: &Change) -> bool {
    let is_created_closed = change.history.first().is_some_and(|first| first.closed_by.is_some());
    let is_generated = matches!(change.kind, Kind::Direct | Kind::Referenced);
    change.prices.per_change != Amount::ZERO && is_generated && !is_created_closed
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
pub(crate) fn charge_fee(item: &mut Item, change: &Change) -> Option<Write> {
    if !is_charged_for(change) {
        return None;
    }
    let price = change.prices.per_change;
    item.charges.ended.add(ChargeType::CostPerChange, price);
    let charge = charge_of(ChargeId::of_change(change.id), change, price, change.created);
    Some(Write::CreateCharge(Charge { end: Some(change.created), ..charge }))
}

/// Adjusts the running charge after an approval (R39).
///
/// The new price is the price of the change instance, or zero once the item is out of service.
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
        writes.push(Write::EndCharge { charge: running.charge, end: at });
    }
    if price != Amount::ZERO {
        let charge = charge_of(ChargeId::of_time(change.id), change, price, at);
        item.charges.running = Some(Running { charge: charge.id, price, start: at });
        writes.push(Write::CreateCharge(charge));
    }
    writes
}

/// Returns a new, unprocessed charge of a change instance.
fn charge_of(id: ChargeId, change: &Change, price: Amount, start: Timestamp) -> Charge {
    Charge {
        id,
        item: change.item,
        item_name: change.item_name.clone(),
        application: change.application.clone(),
        generation: change.generation,
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
