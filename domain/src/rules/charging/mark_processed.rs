//! The processing of a charge, which its owner has billed elsewhere. A running charge ends with the processing, and a
//! new charge continues.

use crate::base::context::RequestContext;
use crate::base::id::ChargeId;
use crate::base::refs::TeamRef;
use crate::base::timestamp::Timestamp;
use crate::model::charge::{Charge, Processed, Running};
use crate::model::item::Item;
use crate::model::write::Write;
use crate::rules::put_item::put_item;

/// Minimum time between two divisions of a running charge, in microseconds: one hour.
pub const DIVISION_MICROS_MIN: u64 = 3_600_000_000;

/// The reasons why a charge is not processed, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The caller is not the service owner, who alone processes charges.
    NotOwner,
    /// The charge is processed already, and processing is final.
    Processed,
    /// Item and charge do not match, as during another decision: the caller reads them again.
    Torn,
    /// The last division was less than an hour ago. The charge can divide from this time on.
    DividedJustNow(Timestamp),
}

/// The result of processing a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedProcessed {
    /// The charge after the processing.
    pub charge: Charge,
    /// The writes of one transaction; empty if the request changes nothing.
    pub writes: Vec<Write>,
}

/// Marks a charge as processed. Without `processed`, or with its present value, nothing changes.
///
/// A running charge ends, and another one starts with a number that depends on the `attempt` of the request. The
/// revision of the item is the fence. The transaction leaves out the consumer team's head, because every submission
/// writes it: an owner that processes charges in a loop would delay the submissions.
pub fn mark_processed(
    charge: &Charge,
    item: &Item,
    processed: Option<bool>,
    caller: &TeamRef,
    ctx: &RequestContext,
    attempt: u32,
) -> Result<MarkedProcessed, Refused> {
    if charge.service_owner.id != caller.id {
        return Err(Refused::NotOwner);
    }
    let is_processed = charge.processed.is_some();
    if processed.is_none_or(|processed| processed == is_processed) {
        return Ok(MarkedProcessed { charge: charge.clone(), writes: Vec::new() });
    }
    if is_processed {
        return Err(Refused::Processed);
    }
    let mut after = item.clone();
    // The item has seen this time already, so an earlier end would overlap with the previous charge.
    let at = ctx.now.not_before(item.modified);
    let mut marked = MarkedProcessed { charge: charge.clone(), writes: Vec::new() };
    if charge.end.is_none() {
        let (running, _) = after.charges.end(at).ok_or(Refused::Torn)?;
        if running.charge != charge.id {
            return Err(Refused::Torn);
        }
        let earliest = earliest_division(charge);
        if at < earliest {
            // Each division writes a record that stays, so an owner's loop must not write thousands (ADR 24).
            return Err(Refused::DividedJustNow(earliest));
        }
        marked.charge.end = Some(at);
        let id = ChargeId::continued(item.id, item.revision, attempt);
        let next = Charge { id, start: at, end: None, ..marked.charge.clone() };
        after.charges.running = Some(Running { charge: next.id, price: next.price, start: at });
        marked.writes.push(Write::CreateCharge(next));
    }
    after.charges.processed.add(charge.id.charge_type(), marked.charge.total(at));
    after.revision += 1;
    after.modified = at;
    marked.charge.processed = Some(Processed { at, by: ctx.by.clone() });
    marked.writes.push(Write::ProcessCharge { end: charge.end, after: marked.charge.clone() });
    marked.writes.extend(put_item(item, &mut after));
    Ok(marked)
}

/// Returns the earliest time at which a running charge can divide. The first charge of a price has no limit.
fn earliest_division(charge: &Charge) -> Timestamp {
    if charge.id == ChargeId::of_time(charge.change) {
        return charge.start;
    }
    Timestamp::from_micros(charge.start.micros().saturating_add(DIVISION_MICROS_MIN))
}
