//! Creation of change instances: the only function that creates one, and the stack rules at that moment.
//!
//! The function takes one item and one planned change and returns one result. Submissions and the generation from work
//! records use the same function (docs/reference/rules.md).

use crate::base::actor::Actor;
use crate::base::context::RequestContext;
use crate::base::id::{ChangeId, ItemId, TeamId};
use crate::base::refs::TeamRef;
use crate::base::state::{ChangeType, Kind, RuntimeState, Stage, State};
use crate::model::change::{ChainHead, Change, ClosedBy, Entry, Reason, Target};
use crate::model::item::{Item, Slot, Stack};
use crate::model::place::Place;
use crate::model::wait::Wait;
use crate::model::write::{Closing, Write};
use crate::rules::change_draft::ChangeDraft;
use crate::rules::{charging, progress, replacement, unneeded};
use std::collections::BTreeSet;

/// The result of the creation of a change instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedChange {
    /// The item after, with the next revision; unchanged if a later change instance overtook this one.
    pub item: Item,
    /// The new change instance.
    pub change: Change,
    /// The open change instances that it closed.
    pub closed: Vec<Closing>,
    /// The writes of its charges, and the fence of a claim.
    pub others: Vec<Write>,
}

/// Creates a change instance on `item`, whose record already shows the declaration of the change.
pub fn open_change(item: &Item, draft: &ChangeDraft, ctx: &RequestContext) -> OpenedChange {
    let (is_unneeded, stage) = (unneeded::is_unneeded(item, draft), draft.state.stage());
    let unclaimed = unneeded::unclaimed(item, draft).filter(|_| is_unneeded);
    let draft = &if is_unneeded { unneeded::applied(draft) } else { replacement::applied(item, draft) };
    // A direct change is never overtaken, because `HEAD.in_flight` keeps later submissions out until it is applied. A
    // direct change is also the consumer's own answer to a rejection, so it does not wait for one (R24). A retry is the
    // newest of its owner, and the item is alive by the change instance that it replaces (R13).
    if matches!(draft.kind, Kind::Dependent | Kind::Referenced)
        && let Some(reason) = created_closed(item, draft, stage)
    {
        return OpenedChange {
            item: if reason == ClosedBy::Blocked { blocked(item, draft, ctx) } else { item.clone() },
            change: create_change(item, draft, ctx, draft.change_type, Some(reason)),
            closed: Vec::new(),
            others: Vec::new(),
        };
    }
    let mut after = item.clone();
    let mut closed = Vec::new();
    // The answers come before the displacement, so that a REJECTED change in the same stage counts as answered. Only
    // the consumer answers, so a generated change answers none (R24).
    if draft.kind == Kind::Direct {
        close_answered(&mut after, draft, ctx, &mut closed);
    }
    let mut displaced = Vec::new();
    if stage == Stage::Validated {
        displaced.extend(displace_pending(&mut after, draft, ctx));
    }
    displaced.extend(displace(&mut after, &draft.owner, stage, draft.id, ctx));
    if draft.state == State::Completed {
        // Only a CREATE that has left nothing, or that no worker has begun, can be here.
        displaced.extend(displace(&mut after, &draft.owner, Stage::Validated, draft.id, ctx));
    }
    // The Exception comes only now, because it looks at the CREATE as the closings above have left it.
    let stack = after.stacks.get(&draft.owner.id).unwrap_or(&Stack::EMPTY);
    let change_type = replacement::converted((draft.change_type, target(draft)), draft.state, stack);
    let mut change = create_change(item, draft, ctx, change_type, None);
    change.supersedes = displaced.iter().map(|closing| closing.change).collect();
    // An approval may add more later, but responses to the submission show only these.
    change.superseded_at_creation = change.supersedes.len();
    change.unneeded = is_unneeded;
    closed.extend(displaced);
    let mut others = occupy(&mut after, &change, ctx);
    others.extend(charging::charge_fee(&mut after, &change));
    others.extend(unclaimed);
    // The runtime state is read after `occupy`, because an approval at creation moves it.
    change.runtime_state = after.runtime_state;
    after.revision += 1;
    after.modified = ctx.now.not_before(item.modified);
    OpenedChange { item: after, change, closed, others }
}

/// Returns the reason why a generated change instance starts in CLOSED (R24, R25); none if it opens.
///
/// `stage` is the stage that it enters if it is needed.
fn created_closed(item: &Item, draft: &ChangeDraft, stage: Stage) -> Option<ClosedBy> {
    // A dead item never opens again, also for a team without a stack on it (R44).
    if item.is_dead() {
        return Some(ClosedBy::Overtaken);
    }
    let stack = item.stacks.get(&draft.owner.id)?;
    // A retry has the submission of its predecessor, so the attempt decides between them. Equality means a second
    // delivery of the same work.
    let submission = draft.submission.number();
    if (submission, draft.attempt) <= (stack.sequence, stack.attempt) || submission <= stack.blocked_sequence
    {
        return Some(ClosedBy::Overtaken);
    }
    let occupant = column(stack, stage)?;
    let unanswered = occupant.state.is_blocked() && occupant.target == target(draft);
    unanswered.then_some(ClosedBy::Blocked)
}

/// Returns the item after a blocked change instance, which still overtakes older ones (R25).
///
/// The stack notes its submission apart from `sequence`, because the owner may retry the blocking change instance (R13).
fn blocked(item: &Item, draft: &ChangeDraft, ctx: &RequestContext) -> Item {
    let mut after = item.clone();
    if let Some(stack) = after.stacks.get_mut(&draft.owner.id) {
        stack.blocked_sequence = draft.submission.number();
    }
    after.revision += 1;
    after.modified = ctx.now.not_before(item.modified);
    after
}

fn target(draft: &ChangeDraft) -> Target {
    Target::of(draft.new.map(|version| version.hash))
}

const fn column(stack: &Stack, stage: Stage) -> Option<Slot> {
    match stage {
        Stage::PreValidated => stack.pre_validated,
        Stage::Validated => stack.validated,
        Stage::Resolved => None,
    }
}

/// Closes every blocked change instance of the item that this declaration answers, of every owner (Example 3).
///
/// A removal answers the failed removals before it as well (R28).
fn close_answered(item: &mut Item, draft: &ChangeDraft, ctx: &RequestContext, closed: &mut Vec<Closing>) {
    let target = target(draft);
    let answered: Vec<(TeamId, Slot)> = item
        .blocked()
        // The same declaration would fail for the same reason, so it answers nothing (R10).
        .filter(|(_, slot)| slot.target != target || target == Target::Removed)
        .map(|(owner, slot)| (owner, *slot))
        .collect();
    for (owner, slot) in answered {
        closed.push(close(item, owner, &slot, ClosedBy::Answered(draft.id), ctx));
    }
}

/// Closes the open change instance in the stage that `by` enters (Examples 1 and 2).
pub(crate) fn displace(
    item: &mut Item,
    owner: &TeamRef,
    stage: Stage,
    by: ChangeId,
    ctx: &RequestContext,
) -> Option<Closing> {
    let occupant = column(item.stacks.get(&owner.id)?, stage)?;
    Some(close(item, owner.id, &occupant, ClosedBy::Displaced(by), ctx))
}

/// Closes the PENDING change instance of the owner when a change passes the pre-validated stage at once.
///
/// Left open, the older declaration could be approved after the newer one (I6). A rejection stays open until the
/// consumer answers it (R24).
fn displace_pending(item: &mut Item, draft: &ChangeDraft, ctx: &RequestContext) -> Option<Closing> {
    let waiting = item.stacks.get(&draft.owner.id)?.pre_validated?;
    if waiting.state.is_blocked() {
        return None;
    }
    displace(item, &draft.owner, Stage::PreValidated, draft.id, ctx)
}

/// Closes an open change instance by a rule, from its slot alone.
pub(crate) fn close(
    item: &mut Item,
    owner: TeamId,
    slot: &Slot,
    closed_by: ClosedBy,
    ctx: &RequestContext,
) -> Closing {
    if let Some(stack) = item.stacks.get_mut(&owner) {
        stack.clear(slot.change);
    }
    let entry = Entry {
        from: Some(slot.state),
        to: State::Closed,
        // The clocks of two functions differ, but a history is in order of time (I3).
        at: ctx.now.not_before(slot.chain_head.at),
        by: Actor::System,
        request: ctx.request.clone(),
        reason: Reason::State,
        closed_by: Some(closed_by),
        log: None,
        planned: None,
        change_type: slot.change_type,
        chain: slot.chain_head.chain,
    }
    .chained(slot.chain_head.chain);
    Closing {
        change: slot.change,
        item: item.id,
        owner,
        created: slot.created,
        from: slot.state,
        chain_head: slot.chain_head,
        entry,
    }
}

/// Puts a new change instance into its slot and updates the item. Returns the writes of its charges.
fn occupy(item: &mut Item, change: &Change, ctx: &RequestContext) -> Vec<Write> {
    let is_main = !change.is_dependant();
    if is_main {
        note_waits(item, &change.waits);
    }
    let stack = item.stacks.entry(change.owner.id).or_insert(Stack::EMPTY);
    // The fence against older work of this owner (R25) is set even if an approval follows at once.
    stack.sequence = change.submission.number();
    stack.attempt = change.attempt;
    if stack.blocked_sequence <= stack.sequence {
        stack.blocked_sequence = 0;
    }
    let mut charges = Vec::new();
    if change.state == State::Approved {
        stack.validated = Some(approved_slot(change, stack));
        charges = approved(item, change, ctx);
    } else if change.state == State::Completed {
        charges = completed(item, change, ctx);
    } else {
        stack.pre_validated = Some(slot_of(change));
        // The item is declared after a removal (R7). An item in service stays in service, even if its CREATE failed
        // (R9).
        if is_main
            && change.change_type == ChangeType::Create
            && item.runtime_state == RuntimeState::Decommissioned
        {
            item.runtime_state = RuntimeState::Requested;
        }
    }
    if is_main {
        item.latest_change = change.id;
        // The 15 numbers behind a change instance are for its deployed items, so most need no write of the head
        // (ADR 1).
        item.next_deployed = change.id.number() + 1;
    }
    charges
}

/// Notes the items for which the new change instance of the service owner waits, next to those of its open ones.
fn note_waits(item: &mut Item, waits: &[Wait]) {
    if item.main().open().next().is_none() {
        item.waits_for.clear();
    }
    let noted: BTreeSet<ItemId> =
        item.waits_for.iter().copied().chain(waits.iter().flat_map(Wait::items)).collect();
    item.waits_for = noted.into_iter().collect();
}

/// Returns the slot of an open change instance.
pub(crate) fn slot_of(change: &Change) -> Slot {
    Slot {
        change: change.id,
        origin: change.origin,
        state: change.state,
        change_type: change.change_type,
        target: change.target(),
        chain_head: change.chain_head(),
        created: change.created,
        awaits_claim: false,
    }
}

/// Returns the slot of a change instance that enters APPROVED on this stack.
pub(crate) fn approved_slot(change: &Change, stack: &Stack) -> Slot {
    let is_create_on_nothing = change.change_type == ChangeType::Create && stack.place == Place::Nothing;
    Slot { awaits_claim: change.claim_required && is_create_on_nothing, ..slot_of(change) }
}

/// Applies a change that was created in COMPLETED (R63). Returns the writes of the charges.
fn completed(item: &mut Item, change: &Change, ctx: &RequestContext) -> Vec<Write> {
    progress::enter(item.stacks.entry(change.owner.id).or_insert(Stack::EMPTY), change);
    if change.is_dependant() {
        return Vec::new();
    }
    item.completed_target = Some(change.leaves());
    if change.new.is_some() {
        return Vec::new();
    }
    item.runtime_state = RuntimeState::Decommissioned;
    item.drift = None;
    charging::approved(item, change, ctx.now)
}

/// Applies an approval to the owner's stack and, for the service owner, to the item (R3). Returns the writes of the
/// charges (R39).
pub(crate) fn approved(item: &mut Item, change: &Change, ctx: &RequestContext) -> Vec<Write> {
    progress::enter(item.stacks.entry(change.owner.id).or_insert(Stack::EMPTY), change);
    // Only the service owner moves the runtime state and causes charges (R3, R38).
    if change.is_dependant() {
        return Vec::new();
    }
    match change.change_type {
        ChangeType::Create => {
            // A new life begins, and versions of the earlier life do not belong to it.
            if item.runtime_state != RuntimeState::InService {
                item.end_life();
            }
            item.runtime_state = RuntimeState::InService;
        }
        ChangeType::Delete => item.runtime_state = RuntimeState::Decommissioned,
        ChangeType::Modify => {}
    }
    // From the approval to the completion, the deployed state is unknown. An owner that stops in between leaves an
    // orphan, and the next submission requests the change again (R12).
    item.completed_target = None;
    // The owner works on the item now, so its difference from the earlier declaration no longer counts (R54).
    item.drift = None;
    charging::approved(item, change, ctx.now)
}

fn create_change(
    item: &Item,
    draft: &ChangeDraft,
    ctx: &RequestContext,
    change_type: ChangeType,
    created_closed: Option<ClosedBy>,
) -> Change {
    let entry = first_entry(draft, ctx, change_type, created_closed);
    Change {
        id: draft.id,
        item: item.id,
        item_name: item.name.clone(),
        application: item.application.clone(),
        generation: item.generation,
        service: item.service.clone(),
        owner: draft.owner.clone(),
        service_owner: item.service_owner.clone(),
        consumer: item.consumer.clone(),
        kind: draft.kind,
        cause: draft.cause,
        causes: draft.causes.clone(),
        origin: draft.origin.unwrap_or(draft.id),
        waits: draft.waits.clone(),
        unblocks: draft.unblocks,
        change_type,
        state: entry.to,
        submission: draft.submission,
        commit_id: draft.commit_id.clone(),
        message: draft.message.clone(),
        attempt: draft.attempt,
        new: draft.new,
        old: draft.old,
        schema_version: draft.schema_version,
        supersedes: Vec::new(),
        superseded_at_creation: 0,
        never_in_service: change_type == ChangeType::Delete && item.stacks.values().all(Stack::has_nothing),
        runtime_state: item.runtime_state,
        unneeded: false,
        claim_required: draft.claim_required,
        deployed_before: item.shown_deployed().map(|latest| latest.id),
        log: String::new(),
        prices: draft.prices,
        created: ctx.now,
        history: vec![entry],
    }
}

/// Returns the first entry of a history.
fn first_entry(
    draft: &ChangeDraft,
    ctx: &RequestContext,
    change_type: ChangeType,
    created_closed: Option<ClosedBy>,
) -> Entry {
    let state = if created_closed.is_some() { State::Closed } else { draft.state };
    Entry {
        from: None,
        to: state,
        at: ctx.now,
        by: ctx.by.clone(),
        request: ctx.request.clone(),
        reason: Reason::State,
        closed_by: created_closed,
        log: None,
        planned: None,
        change_type,
        chain: ChainHead::START.chain,
    }
    .chained(ChainHead::START.chain)
}
