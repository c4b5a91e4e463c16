//! Marking a charge as processed: its owner has billed it elsewhere. What runs ends there, and runs on as a new one.

use super::{Charge, Processed, Running};
use crate::actor::TeamRef;
use crate::id::{CHANGE_STRIDE, ChangeId, ChargeId};
use crate::item::Item;
use crate::land::Stamp;
use crate::team::Head;
use crate::write::Write;

/// Why a charge is not marked, in the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Only the service's owner marks charges.
    NotOwner,
    /// It is processed, and stays so.
    Processed,
    /// What was read does not fit together, as beside another decision: read again.
    Torn,
    /// The consumer team's numbers have run out.
    OutOfNumbers,
}

/// What marking makes of a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The charge after.
    pub charge: Charge,
    /// What to write; nothing when it is as asked for already.
    pub writes: Vec<Write>,
}

/// Marks a charge as `processed`, or as it is already; what is not said stays. The number of what runs on comes from the
/// head.
pub fn mark(
    charge: &Charge,
    item: &Item,
    head: &Head,
    processed: Option<bool>,
    caller: &TeamRef,
    stamp: &Stamp,
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
        marked.charge.end = Some(at);
        run_on(&mut marked, &mut after, head)?;
    }
    after.charges.processed.add(charge.id.charge_type(), marked.charge.total(at));
    after.revision += 1;
    after.modified = at;
    marked.charge.processed = Some(Processed { at, by: stamp.by.clone() });
    marked.writes.push(Write::ChargeProcessed { end: charge.end, after: marked.charge.clone() });
    marked.writes.push(Write::Item { before: Some(item.revision), after });
    Ok(marked)
}

/// Begins the charge for the time after one that was ended.
fn run_on(marked: &mut Marked, item: &mut Item, head: &Head) -> Result<(), Refused> {
    let ended = &marked.charge;
    let block = ChangeId::new(item.id.team(), head.next_change).ok_or(Refused::OutOfNumbers)?;
    let start = ended.end.ok_or(Refused::Torn)?;
    let next = Charge { id: ChargeId::of_time(block), start, end: None, ..ended.clone() };
    item.charges.running = Some(Running { charge: next.id, price: next.price, start });
    let moved = Head { next_change: head.next_change + CHANGE_STRIDE, ..*head };
    marked.writes.push(Write::Head { before: *head, after: moved });
    marked.writes.push(Write::Charged(next));
    Ok(())
}
