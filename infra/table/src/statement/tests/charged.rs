//! Examples of charges: one of each type.

use super::{at, change, entry};
use domain::State;
use domain::base::id::ChargeId;
use domain::base::money::{Amount, Prices};
use domain::model::charge::{Charge, Processed};

/// Returns the prices of the change instance of these tests.
pub(super) fn prices() -> Prices {
    Prices { per_change: Amount::from_millionths(100_000_000), monthly: Amount::from_millionths(49_990_000) }
}

/// Returns a processed charge for a change instance, and a running one.
pub(super) fn charges() -> [Charge; 2] {
    let change = change();
    let of_change = Charge {
        id: ChargeId::of_change(change.id),
        item: change.item,
        item_name: change.item_name,
        application: change.application,
        service: change.service,
        service_owner: change.service_owner,
        consumer: change.consumer,
        change: change.id,
        price: prices().per_change,
        start: at(0),
        end: Some(at(0)),
        processed: Some(Processed { at: at(5), by: entry(None, State::Pending, 0).by }),
    };
    let runs = Charge {
        id: ChargeId::of_time(change.id),
        price: prices().monthly,
        end: None,
        processed: None,
        ..of_change.clone()
    };
    [of_change, runs]
}
