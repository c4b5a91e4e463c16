//! Marking a charge as processed: its owner has billed it elsewhere. What runs ends there, and runs on as a new one.

use super::{Charge, Processed, Running};
use crate::actor::TeamRef;
use crate::id::ChargeId;
use crate::item::Item;
use crate::land::Stamp;
use crate::timestamp::Timestamp;
use crate::write::Write;

/// The shortest time between two divisions of a running charge, in microseconds: an hour.
pub const DIVISION_MICROS_MIN: u64 = 3_600_000_000;

/// Why a charge is not marked, in the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Only the service's owner marks charges.
    NotOwner,
    /// It is processed, and stays so.
    Processed,
    /// What was read does not fit together, as beside another decision: read again.
    Torn,
    /// The last division is less than an hour ago. The charge can divide from this time on.
    DividedJustNow(Timestamp),
}

/// What marking makes of a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The charge after.
    pub charge: Charge,
    /// What to write; nothing when it is as asked for already.
    pub writes: Vec<Write>,
}

/// Marks a charge as processed. Without `processed`, or with its present value, nothing changes.
///
/// A running charge ends, and another one starts with a number that depends on the `attempt` of the request. The revision of
/// the item is the fence. The head of the consumer team stays out of it, because every submission writes the head: an owner
/// that processes charges in a loop would delay them.
pub fn mark(
    charge: &Charge,
    item: &Item,
    processed: Option<bool>,
    caller: &TeamRef,
    stamp: &Stamp,
    attempt: u32,
) -> Result<Marked, Refused> {
    if charge.service_owner.id != caller.id {
        return Err(Refused::NotOwner);
    }
    let is_processed = charge.processed.is_some();
    if processed.is_none_or(|processed| processed == is_processed) {
        return Ok(Marked { charge: charge.clone(), writes: Vec::new() });
    }
    if is_processed {
        return Err(Refused::Processed);
    }
    let mut after = item.clone();
    let at = stamp.now.not_before(item.modified);
    let mut marked = Marked { charge: charge.clone(), writes: Vec::new() };
    if charge.end.is_none() {
        let (running, _) = after.charges.end(at).ok_or(Refused::Torn)?;
        if running.charge != charge.id {
            return Err(Refused::Torn);
        }
        let earliest = earliest_division(charge);
        if at < earliest {
            return Err(Refused::DividedJustNow(earliest));
        }
        marked.charge.end = Some(at);
        let id = ChargeId::continued(item.id, item.revision, attempt);
        let next = Charge { id, start: at, end: None, ..marked.charge.clone() };
        after.charges.running = Some(Running { charge: next.id, price: next.price, start: at });
        marked.writes.push(Write::Charged(next));
    }
    after.charges.processed.add(charge.id.charge_type(), marked.charge.total(at));
    after.revision += 1;
    after.modified = at;
    marked.charge.processed = Some(Processed { at, by: stamp.by.clone() });
    marked.writes.push(Write::ChargeProcessed { end: charge.end, after: marked.charge.clone() });
    marked.writes.push(Write::Item { before: Some(item.revision), after });
    Ok(marked)
}

/// Returns the earliest time at which a running charge can divide. The first charge of a price has no limit.
fn earliest_division(charge: &Charge) -> Timestamp {
    if charge.id == ChargeId::of_time(charge.change) {
        return charge.start;
    }
    Timestamp::from_micros(charge.start.micros().saturating_add(DIVISION_MICROS_MIN))
}
