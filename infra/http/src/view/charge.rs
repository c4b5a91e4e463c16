//! Charges on the wire, and their sums.

use super::{Viewpoint, team_ref};
use domain::base::money::Amount;
use domain::base::state::ChargeType;
use domain::model::charge::Charge;
use domain::views::charge_sums::{ChargeSum, Group};
use domain::{Item, Timestamp};
use serde_json::{Number, Value, json};

/// Returns a charge; a running one has its total at `now`.
pub fn charge(charge: &Charge, now: Timestamp, viewpoint: &Viewpoint) -> Value {
    let charge_type = charge.id.charge_type();
    let scope = match charge_type {
        ChargeType::CostPerChange => viewpoint.url("change_instances", charge.change.get()),
        ChargeType::MonthlyCost => viewpoint.url("service_items", charge.item.get()),
    };
    let processed = charge.processed.as_ref();
    let application = charge.application_id();
    json!({
        "id": charge.id.get(),
        "url": viewpoint.marketplace("charges", charge.id.get()),
        "scope": scope,
        "charge_type": charge_type.name(),
        "price": amount(charge.price),
        "total_charge": amount(charge.total(now)),
        "start": charge.start.to_wire(),
        "end": charge.end.map(Timestamp::to_wire),
        "processed": processed.is_some(),
        "processed_at": processed.map(|processed| processed.at.to_wire()),
        "processed_by": processed.map(|processed| processed.by.changed_by()),
        "change_instance": charge.change.get(),
        "service_item": {"id": charge.item.get(), "name": charge.item_name},
        "service": {"id": charge.service.id.get(), "name": charge.service.title},
        "application": {"id": application.get(), "name": charge.application},
        "consumer_team": team_ref(&charge.consumer),
        "service_owner_team": team_ref(&charge.service_owner),
    })
}

/// Returns the costs of a service item until `now`.
pub fn accumulated(item: &Item, now: Timestamp, viewpoint: &Viewpoint) -> Value {
    let (total, processed) = (item.charges.total(now), item.charges.processed.sum());
    json!({
        "id": item.id.get(),
        "scope": viewpoint.url("service_items", item.id.get()),
        "total_charge": amount(total.sum()),
        "cost_per_change": amount(total.per_change),
        "monthly_cost": amount(total.monthly),
        "accrued_monthly": amount(total.monthly),
        "processed_charge": amount(processed),
        "open_charge": amount(total.sum().without(processed)),
        "service_item": {"id": item.id.get(), "name": item.name},
        "service": {"id": item.service.id.get(), "name": item.service.title},
        "application": {"id": item.application_id().get(), "name": item.application},
        "consumer_team": team_ref(&item.consumer),
        "service_owner_team": team_ref(&item.service_owner),
    })
}

/// Returns the costs of a group of items.
pub fn charge_sum(sum: &ChargeSum) -> Value {
    let (application, consumer, owner) = match &sum.group {
        Group::Application { id, name, consumer } => {
            (Some(json!({"id": id.get(), "name": name})), Some(consumer), None)
        }
        Group::ConsumerTeam(consumer) => (None, Some(consumer), None),
        Group::ServiceOwnerTeam(owner) => (None, None, Some(owner)),
    };
    json!({
        "application": application,
        "consumer_team": consumer.map(team_ref),
        "service_owner_team": owner.map(team_ref),
        "service_items": sum.items,
        "total_charge": amount(sum.total.sum()),
        "cost_per_change": amount(sum.total.per_change),
        "accrued_monthly": amount(sum.total.monthly),
        "processed_charge": amount(sum.processed),
        "open_charge": amount(sum.total.sum().without(sum.processed)),
    })
}

/// Returns an amount as a JSON number, as in definitions; exact up to fifteen digits.
pub(super) fn amount(amount: Amount) -> Value {
    amount.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}
