//! Marking a charge as processed: its owner has billed it elsewhere. What runs ends there, and runs on as a new one.

use super::{Charge, Processed, Running};
use crate::actor::TeamRef;
use crate::id::ChargeId;
use crate::item::Item;
use crate::land::Stamp;
use crate::timestamp::Timestamp;
use crate::write::Write;

/// How long a charge that began with a division runs before it can be divided, in microseconds: an hour.
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
    /// It began with a division less than an hour ago: it can be divided from this time on.
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

/// Marks a charge as `processed`, or as it is already; what is not said stays. Each `attempt` of a request computes another
/// number for the charge that runs on.
///
/// The revision of the item is the only fence: no mark writes a record of the consumer team, so that an owner who marks all
/// the time delays no submission.
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

/// Returns when a charge can be divided at the earliest: the first one of a price at once, each further one after an hour.
fn earliest_division(charge: &Charge) -> Timestamp {
    if charge.id == ChargeId::of_time(charge.change) {
        return charge.start;
    }
    Timestamp::from_micros(charge.start.micros().saturating_add(DIVISION_MICROS_MIN))
}
