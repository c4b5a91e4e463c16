//! The further records that a decision depends on, so that the function reads only these.

use super::*;

/// Returns whether an update needs numbers from the head: the change instance has used its own, or the update creates
/// the second half of a replacement.
///
/// `forms` are the forms of the definition that checks the update.
pub fn takes_numbers(change: &Change, item: &Item, update: &Update, forms: Option<&DecisionForms>) -> bool {
    let is_verified = forms.is_some_and(|forms| forms.paths.is_verified);
    let stores = update.deployed_item.is_some()
        || is_verified && update.state == Some(State::Completed) && change.state != State::Completed;
    stores && item.next_deployed.is_multiple_of(CHANGE_STRIDE)
        || second_half::takes_number(change, item, update)
}

/// Returns whether an update depends on the service's settings: a person's approval or completion does (R32), and so does
/// the completion of a change instance that waits (R74).
pub fn depends_on_service(change: &Change, update: &Update, ctx: &RequestContext) -> bool {
    let by_hand = matches!(ctx.by, Actor::Person { .. })
        && matches!(moves_to(change, update), Some(State::Approved | State::Completed));
    by_hand || depends_on_waits(change, update)
}

/// Returns whether an update depends on what its change instance waits for: it completes a CREATE or a MODIFY (R74).
pub fn depends_on_waits(change: &Change, update: &Update) -> bool {
    moves_to(change, update) == Some(State::Completed)
        && change.change_type != ChangeType::Delete
        && !change.waits.is_empty()
}

/// Returns whether an update depends on the claim on the work: it names one, or its change instance requires one (R64).
pub fn depends_on_claim(change: &Change, update: &Update, ctx: &RequestContext) -> bool {
    update.claim.is_some() || claim::is_required(change, moves_to(change, update), ctx)
}

/// Returns the state that an update changes to; none if it keeps the state.
pub(super) fn moves_to(change: &Change, update: &Update) -> Option<State> {
    update.state.filter(|state| *state != change.state)
}

/// Returns the version of the definition that checks an update; none if the update needs no check (R49).
pub fn checking_version(change: &Change, update: &Update, caller: &TeamRef) -> Option<u64> {
    let state = update.state.unwrap_or(change.state);
    let brings = sends(update, state) || update.planned_item.is_some();
    check::version(change, state, brings).filter(|_| change.owner.id == caller.id)
}

/// Returns whether the check depends on the declaration and on the [newest version](newest_to_read).
pub fn depends_on_texts(forms: &DecisionForms, change: &Change, update: &Update) -> bool {
    let state = update.state.unwrap_or(change.state);
    let brings = sends(update, state) || update.planned_item.is_some();
    check::needs_texts(forms, change, state, brings)
}

/// Returns the deployed version that the check of an update compares with, or that its response shows.
pub fn newest_to_read(item: &Item, update: &Update, forms: &DecisionForms) -> Option<DeployedId> {
    // Without `x-verified`, other data make a new version, whatever the newest one is.
    let is_read = |latest: &LatestDeployed| {
        let sent = update.deployed_item.as_ref().filter(|_| !forms.paths.is_verified);
        sent.is_none_or(|data| latest.hash == Hash::of(data.text()))
    };
    item.shown_deployed().filter(is_read).map(|latest| latest.id)
}

/// Returns the earlier version that an observation is compared with, if the newest one is not it (R54).
pub fn base_to_read(change: &Change, item: &Item, update: &Update) -> Option<DeployedId> {
    let is_observation = update.deployed_item.is_some() && change.state == State::Completed;
    item.base.earlier().filter(|_| is_observation)
}

/// Returns whether an update with a deployed item may belong to a newer completed change instance of the item (R54).
pub fn may_be_overtaken(change: &Change, item: &Item, update: &Update) -> bool {
    let latest = item.deployed.and_then(|latest| latest.schema_version);
    let has_words = change.schema_version.or(latest).is_some();
    update.deployed_item.is_some()
        && change.state == State::Completed
        && !change.is_dependant()
        && change.id != item.latest_change
        && has_words
}
