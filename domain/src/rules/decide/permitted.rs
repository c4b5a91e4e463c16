//! The checks of a decision that need no computation, in the documented order.

use super::*;

/// A permitted update.
pub(super) struct Permitted<'a> {
    /// The state after the update.
    pub(super) state: State,
    /// The new log text, if there is one.
    pub(super) log: Option<&'a String>,
    /// The service whose settings permit it; none for an update that does not depend on them.
    pub(super) service: Option<&'a Service>,
}

/// Checks an update against records that were read together.
pub(super) fn permitted<'a>(
    change: &Change,
    item: &Item,
    reads: &Reads<'a>,
    update: &'a Update,
    caller: &TeamRef,
    ctx: &RequestContext,
) -> Result<Permitted<'a>, Refused> {
    if is_torn(change, item) {
        return Err(Refused::Torn);
    }
    // A repeated log text adds no entry, so a client that lost the response can repeat its request.
    let log = update.log.as_ref().filter(|log| !log.is_empty() && **log != change.log);
    let state = update.state.unwrap_or(change.state);
    check_move(change, state, caller)?;
    check_claim(change, reads.claim, update, ctx)?;
    check_content(change, item, state, log, update, reads.check.as_ref())?;
    if !depends_on_service(change, update, ctx) {
        return Ok(Permitted { state, log, service: None });
    }
    // If the service is missing, the change instance has moved since the caller chose its reads, so the caller reads
    // again.
    let service = reads.service.ok_or(Refused::Torn)?;
    if matches!(ctx.by, Actor::Person { .. }) {
        by_hand(&service.settings, state)?;
    }
    check_waits(change, service, reads, update)?;
    Ok(Permitted { state, log, service: Some(service) })
}

/// Returns whether item and change instance were read at different moments (docs/explanation/concurrency.md, torn
/// reads).
pub(super) fn is_torn(change: &Change, item: &Item) -> bool {
    let slot = item.stacks.get(&change.owner.id).and_then(|stack| stack.slot(change.id));
    // The change instance does not know whether its work awaits a claim, and an older release drops the origin.
    let slot = slot.map(|slot| Slot { awaits_claim: false, origin: change.origin, ..*slot });
    slot != (change.state.stage() != Stage::Resolved).then(|| open_change::slot_of(change))
}

/// Checks the caller and the transition.
fn check_move(change: &Change, state: State, caller: &TeamRef) -> Result<(), Refused> {
    // The ownership comes first, so that a team without the right learns nothing about state, data and limits (R2).
    if change.owner.id != caller.id {
        return Err(Refused::NotOwner);
    }
    // The present state is always allowed, so a repeated request succeeds without a write.
    if state != change.state && !is_legal(Some(change.state), state, By::Owner) {
        return Err(Refused::IllegalTransition { from: change.state, to: state });
    }
    Ok(())
}

/// Checks that nothing is left of what a change instance waits for, if its service requires that (R74).
fn check_waits(
    change: &Change,
    service: &Service,
    reads: &Reads<'_>,
    update: &Update,
) -> Result<(), Refused> {
    if !service.settings.require_ready || !depends_on_waits(change, update) {
        return Ok(());
    }
    let awaited = reads.awaited.ok_or(Refused::Torn)?;
    let left = left(change, awaited);
    if left.is_empty() { Ok(()) } else { Err(Refused::NotReady(left)) }
}

/// Checks that a worker completes only its own work (R64).
fn check_claim(
    change: &Change,
    claim: Option<&Claim>,
    update: &Update,
    ctx: &RequestContext,
) -> Result<(), Refused> {
    if !depends_on_claim(change, update, ctx) {
        return Ok(());
    }
    // Without the claim, the caller chose its reads by another state of the change instance.
    let claim = claim.ok_or(Refused::Torn)?;
    // A lease that has ended keeps its number, so a slow worker may complete until another one takes the work.
    let is_newest = update.claim.is_some_and(|number| number == claim.number && number > 0);
    if is_newest { Ok(()) } else { Err(Refused::NotClaimed(claim.clone())) }
}

/// Checks the content of an update that needs no computation, in the documented order.
fn check_content(
    change: &Change,
    item: &Item,
    state: State,
    log: Option<&String>,
    update: &Update,
    check: Option<&Check<'_>>,
) -> Result<(), Refused> {
    if let Some(data) = &update.deployed_item {
        if change.is_dependant() {
            return Err(Refused::DeployedItemNotMain);
        }
        let is_whole = check.is_some_and(|check| check.forms.paths.is_verified);
        // An empty object counts as no item, so the completion of a removal may be repeated with it.
        let is_none = change.result().is_none() && is_empty(data);
        let is_too_early = is_whole && !is_none && !accepts_whole(change, state, item);
        if is_too_early || !accepts_deployed(state, item, data) {
            return Err(Refused::DeployedItemTooEarly(state));
        }
        let is_onto = |patch: &Patch| {
            let is_newest = item.deployed.is_some_and(|latest| latest.id == patch.onto);
            is_newest && patch.continues == item.shown_deployed().is_some()
        };
        if !update.patch.as_ref().is_none_or(is_onto) {
            return Err(Refused::DeployedItemNotLatest);
        }
        let sent = update.patch.as_ref().filter(|_| is_whole).map_or(data, |patch| &patch.members);
        if sent.text().len() > DEPLOYED_BYTES_MAX {
            return Err(Refused::DeployedItemTooLarge);
        }
    }
    if let Some(plan) = &update.planned_item {
        check_plan(change, item, state, plan, check)?;
    }
    if log.is_some_and(|log| log.len() > LOG_BYTES_MAX) {
        return Err(Refused::LogTooLong);
    }
    // A history is in one record of the table, which has a maximum size. State changes are few, so only pure log
    // entries count.
    if state == change.state && log.is_some() && notes(change) >= LOG_ENTRIES_MAX {
        return Err(Refused::LogFull);
    }
    Ok(())
}

/// Returns the number of entries without a transition.
pub(super) fn notes(change: &Change) -> usize {
    change.history.iter().filter(|entry| entry.reason == Reason::Log).count()
}

/// Checks whether a change instance accepts a plan (R52).
fn check_plan(
    change: &Change,
    item: &Item,
    state: State,
    plan: &StorableValue,
    check: Option<&Check<'_>>,
) -> Result<(), Refused> {
    if plan.text().len() > DEPLOYED_BYTES_MAX {
        return Err(Refused::DeployedItemTooLarge);
    }
    let accepts = check.is_some_and(|check| check.forms.paths.is_verified && !check.adopts(change, item));
    if !accepts || change.is_dependant() || change.result().is_none() {
        return Err(Refused::PlannedItemNotAccepted);
    }
    let is_open = |state| matches!(state, State::Pending | State::Approved);
    if is_open(change.state) && is_open(state) { Ok(()) } else { Err(Refused::PlannedItemTooLate(state)) }
}

/// Returns whether a deployed item may accompany a state (R23).
fn accepts_deployed(state: State, item: &Item, data: &StorableValue) -> bool {
    match state {
        State::Approved | State::Completed | State::Errored => true,
        State::Rejected => repeats_newest(item, data),
        State::Pending | State::Closed => false,
    }
}

/// Returns whether a deployed item of a verified service may accompany a state. The end of a change has one (R51), and
/// so has a completed change whose item exists and is not being changed (R53).
fn accepts_whole(change: &Change, state: State, item: &Item) -> bool {
    match state {
        State::Errored => true,
        State::Completed if change.state == State::Completed => {
            let main = item.main();
            let is_changing = main.validated.is_some_and(|slot| slot.state == State::Approved);
            main.creation == Creation::Done && !is_changing
        }
        State::Completed => true,
        State::Pending | State::Approved | State::Rejected | State::Closed => false,
    }
}

/// Returns whether `data` is the item's deployed state: its newest version, or `{}` if it has none.
fn repeats_newest(item: &Item, data: &StorableValue) -> bool {
    item.shown_deployed().map_or_else(|| is_empty(data), |latest| latest.hash == Hash::of(data.text()))
}

/// Returns whether a value is an object without members, which counts as no item.
fn is_empty(data: &Value) -> bool {
    data.as_object().is_some_and(Map::is_empty)
}

/// Checks whether a person may set a state (R32).
const fn by_hand(settings: &Settings, state: State) -> Result<(), Refused> {
    let (is_allowed, refused) = match state {
        State::Approved => (settings.allow_manual_approval, Refused::ManualApproval),
        State::Completed => (settings.allow_manual_completion, Refused::ManualCompletion),
        State::Pending | State::Rejected | State::Errored | State::Closed => return Ok(()),
    };
    if is_allowed { Ok(()) } else { Err(refused) }
}
