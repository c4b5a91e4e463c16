//! Claims: the lease on the work of one owner on one item, and its number (R64).
//!
//! The lease belongs to item and owner and not to a change instance. A change instance that displaces another one is
//! thus handed out only after the first worker has released its lease, or the lease has ended.

use crate::base::actor::Actor;
use crate::base::context::RequestContext;
use crate::base::refs::TeamRef;
use crate::base::state::{Stage, State};
use crate::base::timestamp::Timestamp;
use crate::model::change::Change;
use crate::model::claim::{Claim, Lease};
use std::ops::RangeInclusive;

/// Maximum length of a worker's name, in bytes.
pub const WORKER_BYTES_MAX: usize = 64;
/// Length of a lease, in seconds.
pub const LEASE_SECONDS: RangeInclusive<u64> = 10..=43_200;
/// Length of a lease without a requested length, in seconds.
pub const LEASE_SECONDS_DEFAULT: u64 = 300;
/// Maximum number of claims in one request.
pub const BATCH_MAX: u64 = 50;
/// Number of claims in a request without a limit.
pub const BATCH_DEFAULT: u64 = 10;

/// The request of a worker for the work on one change instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    pub worker: String,
    /// The length of the lease, in seconds; 0 releases it.
    pub lease_seconds: u64,
    /// The number of the worker's claim, which is then extended or released; none for a new claim.
    pub number: Option<u64>,
}

/// The reasons for the refusal of a claim, in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The caller's team does not own the change instance.
    NotOwner,
    /// The change instance is in this state, so no work is left.
    Resolved(State),
    /// Another worker has the work, or the number is not the newest.
    NotClaimed,
}

/// Takes, extends or releases the claim on the work of a change instance. Returns the claim after the request.
pub fn claim(
    change: &Change,
    before: &Claim,
    request: &ClaimRequest,
    caller: &TeamRef,
    now: Timestamp,
) -> Result<Claim, Refused> {
    if change.owner.id != caller.id {
        return Err(Refused::NotOwner);
    }
    // A release also helps after the end of the work.
    if !has_work(change) && request.lease_seconds > 0 {
        return Err(Refused::Resolved(change.state));
    }
    match request.number {
        Some(number) if number != before.number || number == 0 => Err(Refused::NotClaimed),
        Some(_) => Ok(Claim { lease: lease(request, now), ..before.clone() }),
        None => taken(before, request, now).ok_or(Refused::NotClaimed),
    }
}

/// Returns whether the owner of a change instance has work left.
pub fn has_work(change: &Change) -> bool {
    change.state.stage() != Stage::Resolved
}

/// Returns the claim after a worker has taken it; none if another worker has the work.
///
/// A worker that takes its own work again gets a new number, so its former process is fenced.
fn taken(before: &Claim, request: &ClaimRequest, now: Timestamp) -> Option<Claim> {
    if before.live(now).is_some_and(|lease| lease.worker != request.worker) {
        return None;
    }
    Some(Claim { number: before.number + 1, lease: lease(request, now), ..before.clone() })
}

/// Returns the claim of a batch: only free work is handed out.
pub fn handed_out(before: &Claim, request: &ClaimRequest, now: Timestamp) -> Option<Claim> {
    if before.is_free(now) { taken(before, request, now) } else { None }
}

/// Returns the claim after the end of its lease by the worker's own request.
pub fn released(claim: &Claim) -> Claim {
    Claim { lease: None, ..claim.clone() }
}

fn lease(request: &ClaimRequest, now: Timestamp) -> Option<Lease> {
    let until = Timestamp::from_micros(now.micros() + request.lease_seconds * 1_000_000);
    (request.lease_seconds > 0).then(|| Lease { worker: request.worker.clone(), until })
}

/// Returns whether an update of a change instance needs a claim: if an API key ends work that requires one.
///
/// A person needs no claim.
pub(crate) fn is_required(change: &Change, moves_to: Option<State>, ctx: &RequestContext) -> bool {
    change.claim_required
        && matches!(ctx.by, Actor::Key { .. })
        && matches!(moves_to, Some(State::Completed | State::Errored))
}

/// Returns whether a state ends the work, so that the worker's claim is released with it.
pub(crate) const fn ends_work(state: State) -> bool {
    matches!(state, State::Completed | State::Errored | State::Rejected)
}
