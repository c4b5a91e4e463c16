//! An owner's decision on a change instance: its effects, or the reason for the refusal.
//!
//! The checks run in the order of the variants of [`Refused`]. The first failure is the result.

mod deploy;
mod permitted;
mod reads;
mod refused;
mod second_half;

use self::deploy::deploy;
use self::permitted::{Permitted, is_torn, notes, permitted};
pub use self::reads::{
    base_to_read, checking_version, depends_on_claim, depends_on_service, depends_on_texts, depends_on_waits,
    may_be_overtaken, newest_to_read, takes_numbers,
};
pub use self::refused::Refused;
use crate::base::actor::Actor;
use crate::base::context::RequestContext;
use crate::base::hash::Hash;
use crate::base::id::{CHANGE_STRIDE, ChangeId, DeployedId, ItemId, TeamId};
use crate::base::refs::TeamRef;
use crate::base::state::{By, ChangeType, Kind, Stage, State, is_legal};
use crate::base::timestamp::Timestamp;
use crate::catalog::schema::DecisionForms;
use crate::catalog::service::{Service, Settings};
use crate::model::blockers::Blockers;
use crate::model::change::{Change, ClosedBy, Entry, Reason, Target};
use crate::model::claim::Claim;
use crate::model::deployed::{DEPLOYED_BYTES_MAX, Deployed};
use crate::model::item::{Base, Creation, Drift, Item, LatestDeployed, Slot, Stack};
use crate::model::storable::StorableValue;
use crate::model::strategy::Strategy;
use crate::model::team::Head;
use crate::model::write::Write;
use crate::rules::change_draft::ChangeDraft;
use crate::rules::check;
use crate::rules::check::{Case, Check, Checked, Fit, Report, Reported};
use crate::rules::claim;
use crate::rules::open_change;
use crate::rules::order::left;
use crate::rules::put_item::{drifted, put_item};
use crate::rules::{progress, replacement};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum length of a log text, in bytes.
pub const LOG_BYTES_MAX: usize = 1024;
/// Maximum number of log entries in a history.
pub const LOG_ENTRIES_MAX: usize = 20;
/// Maximum number of attempts per owner and submission.
pub const ATTEMPTS_MAX: u64 = 31;

/// The requested changes of an owner; absent fields stay unchanged.
///
/// Log texts and deployed items belong to the owner and may hold secrets, so no log of Dovetail prints them.
#[derive(Clone, derive_more::Debug, PartialEq, Eq, Default)]
#[debug("Update {{ state: {state:?}, .. }}")]
pub struct Update {
    pub state: Option<State>,
    /// The message on the change instance; an empty message counts as absent.
    pub log: Option<String>,
    /// The deployed data.
    pub deployed_item: Option<StorableValue>,
    /// The changed members of the deployed data, if they were merged into a version.
    pub patch: Option<Patch>,
    /// The owner's plan of the item (R52).
    pub planned_item: Option<StorableValue>,
    /// The number of the worker's claim (R64).
    pub claim: Option<u64>,
}

/// A change of some members of a deployed version.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Patch {{ onto: {onto:?}, .. }}")]
pub struct Patch {
    /// The version in the request, which must still be the newest.
    pub onto: DeployedId,
    /// Whether the members were merged into this version, and not into `{}` because its object is removed (R23).
    pub continues: bool,
    /// The changed members alone.
    pub members: StorableValue,
}

/// The result of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The change instance after the decision; for a retry the new one.
    pub change: Change,
    /// The item after the decision.
    pub item: Item,
    /// The writes of one transaction; empty if the request changes nothing.
    pub writes: Vec<Write>,
    /// The new deployed item, if any.
    pub deployed: Option<Deployed>,
}

/// Returns whether an update adds a deployed item. A rejection only repeats the newest one.
fn sends(update: &Update, state: State) -> bool {
    update.deployed_item.is_some() && state != State::Rejected
}

/// Further records that a decision depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reads<'a> {
    /// The head; only for an update that [takes numbers](takes_numbers).
    pub head: Option<&'a Head>,
    /// The service; only for an update that [depends on its settings](depends_on_service).
    pub service: Option<&'a Service>,
    /// The check; only for an update that a version of the definition [checks](checking_version).
    pub check: Option<Check<'a>>,
    /// The claim on the work; only for an update that [depends on it](depends_on_claim).
    pub claim: Option<&'a Claim>,
    /// The items for which the change instance waits, also gone ones; only for an update that
    /// [depends on them](depends_on_waits), in a service with `require_ready`.
    pub awaited: Option<&'a BTreeMap<ItemId, Item>>,
}

/// Changes the state or log of a change instance, or adds a deployed item.
pub fn update(
    change: &Change,
    item: &Item,
    reads: &Reads<'_>,
    update: &Update,
    caller: &TeamRef,
    ctx: &RequestContext,
) -> Result<Decided, Refused> {
    let Permitted { state, log, service } = permitted(change, item, reads, update, caller, ctx)?;
    let mut after =
        Decided { change: change.clone(), item: item.clone(), writes: Vec::new(), deployed: None };
    let moves = state != change.state;
    // The move comes before the history entry, because an approval can change the type, and the entry records the type
    // (I3).
    let closed = if moves { enter(&mut after, state, ctx) } else { None };
    // The check compares the item before the move with the item after it.
    let check = match checking_version(change, update, caller) {
        Some(_) => Some(reads.check.as_ref().ok_or(Refused::Torn)?),
        None => None,
    };
    let Checked { report, plan } = checked(check, update, change, state, [item, &after.item])?;
    // A repeated plan adds no entry, so only the check shows whether the plan adds one.
    if !moves && plan.is_some() && notes(change) >= LOG_ENTRIES_MAX {
        return Err(Refused::LogFull);
    }
    let has_entry = moves || log.is_some() || plan.is_some();
    if has_entry {
        append(&mut after.change, change, log, plan.as_ref().map(|plan| Hash::of(plan.text())), ctx);
        // The slot holds the end of the history. A stale end would fail every later closing.
        refresh_slot(&mut after);
    }
    after.writes.extend(plan.map(|plan| stored_plan(change.consumer.id, plan)));
    // The deployed version comes after the move, because it may count as the result of this decision.
    let mut numbers = reads.head.copied();
    if let Some(report) = report {
        deploy(&mut after, report, numbers.as_mut(), ctx)?;
    }
    if moves && removes_declared(&after) {
        after.item.end_life();
    }
    second_half::follow(&mut after, (change, item), check, numbers.as_mut(), ctx)?;
    if has_entry {
        after.writes.push(Write::UpdateChange {
            before: change.chain_head(),
            from: change.state,
            after: after.change.clone(),
        });
    }
    after.writes.extend(closed.map(Write::CloseChange));
    after.writes.extend(service.map(unchanged_settings));
    add_item_and_head_writes(&mut after, item, reads.head.zip(numbers), ctx);
    add_claim_write(&mut after, update, reads.claim);
    Ok(after)
}

/// Returns whether a decision completes the removal of an object whose item is declared: a replacement, or an item that
/// was declared again (R7).
fn removes_declared(Decided { change, item, .. }: &Decided) -> bool {
    let is_removed = change.state == State::Completed && change.change_type == ChangeType::Delete;
    is_removed && !change.is_dependant() && item.declared
}

/// Returns the deployed item and the plan to store: as the definition checks them (R49), or as sent if no definition
/// does.
fn checked(
    check: Option<&Check<'_>>,
    update: &Update,
    change: &Change,
    state: State,
    [before, after]: [&Item; 2],
) -> Result<Checked, Refused> {
    let sent = update.deployed_item.as_ref().filter(|_| sends(update, state));
    let Some(check) = check else {
        return Ok(Checked { report: sent.map(Report::plain), plan: None });
    };
    let members = update.patch.as_ref().map(|patch| &patch.members);
    let sent_plan = update.planned_item.as_ref();
    Ok(check.checked(&Case { change, state, before, after, sent, members, sent_plan })?)
}

/// Returns the write of the owner's plan, which is stored in the same way as a declaration.
fn stored_plan(team: TeamId, plan: StorableValue) -> Write {
    let text = plan.into_text();
    Write::StoreDeclaration { team, hash: Hash::of(&text), text }
}

/// Returns the condition that the settings of a service are as they were read.
///
/// A person's decision holds only under the settings that allowed it. Without this fence, an owner that forbids manual
/// approval could still see one pass.
fn unchanged_settings(service: &Service) -> Write {
    Write::CheckService { title: service.title.clone(), revision: service.revision }
}

/// Adds the fence of the claim in an update (R64). The end of the work releases the claim.
fn add_claim_write(after: &mut Decided, update: &Update, claim: Option<&Claim>) {
    let Some(Claim { item, owner, number, lease }) = claim.filter(|_| update.claim.is_some()) else { return };
    let (item, owner, number) = (*item, *owner, *number);
    if claim::ends_work(after.change.state) && lease.is_some() {
        after.writes.push(Write::ReleaseClaim { item, owner, number });
    } else if !after.writes.is_empty() {
        after.writes.push(Write::CheckClaim { item, owner, number });
    }
}

/// Applies the new state to the stacks and the item. Returns the closing of the displaced change instance, if there is
/// one.
fn enter(after: &mut Decided, state: State, ctx: &RequestContext) -> Option<crate::model::write::Closing> {
    let Decided { change, item, writes, .. } = after;
    change.state = state;
    match state {
        State::Approved => {
            // The closing comes first (Example 2), because the slot below must be free, or the older change would
            // vanish unclosed (I2).
            let displaced = open_change::displace(item, &change.owner, Stage::Validated, change.id, ctx);
            change.supersedes.extend(displaced.iter().map(|closing| closing.change));
            if let Some(stack) = item.stacks.get_mut(&change.owner.id) {
                change.change_type =
                    replacement::converted((change.change_type, change.target()), state, stack);
                stack.clear(change.id);
                // The end of the history in this slot is stale until `refresh_slot`.
                stack.validated = Some(open_change::approved_slot(change, stack));
            }
            writes.extend(open_change::approved(item, change, ctx));
            displaced
        }
        State::Completed => {
            if let Some(stack) = item.stacks.get_mut(&change.owner.id) {
                stack.clear(change.id);
                progress::enter(stack, change);
            }
            if !change.is_dependant() {
                // Only the service owner's completion makes the item idle; dependent teams carry out shares (R3).
                item.completed_target = Some(change.leaves());
            }
            None
        }
        // If the item now differs from its declaration, it is an orphan, and the next submission requests the change
        // again (R12).
        State::Closed => {
            if let Some(stack) = item.stacks.get_mut(&change.owner.id) {
                stack.clear(change.id);
            }
            None
        }
        // The change instance stays in its slot; `refresh_slot` updates the state there.
        State::Errored => {
            if let Some(stack) = item.stacks.get_mut(&change.owner.id) {
                progress::enter(stack, change);
            }
            None
        }
        State::Pending | State::Rejected => None,
    }
}

/// Appends the history entry of this decision.
fn append(
    after: &mut Change,
    before: &Change,
    log: Option<&String>,
    planned: Option<Hash>,
    ctx: &RequestContext,
) {
    let chain_head = before.chain_head();
    if let Some(log) = log {
        after.log.clone_from(log);
    }
    let entry = Entry {
        from: Some(before.state),
        to: after.state,
        // The clocks of two functions differ, but a history is in order of time (I3).
        at: ctx.now.not_before(chain_head.at),
        by: ctx.by.clone(),
        request: ctx.request.clone(),
        reason: if after.state == before.state { Reason::Log } else { Reason::State },
        closed_by: None,
        log: log.cloned(),
        planned,
        change_type: after.change_type,
        chain: chain_head.chain,
    };
    after.history.push(entry.chained(chain_head.chain));
}

/// Copies state, type and end of the history into the change instance's slot, if it is open.
fn refresh_slot(after: &mut Decided) {
    let Decided { change, item, .. } = after;
    let Some(stack) = item.stacks.get_mut(&change.owner.id) else { return };
    for slot in [&mut stack.pre_validated, &mut stack.validated].into_iter().flatten() {
        if slot.change == change.id {
            let awaits_claim = slot.awaits_claim && change.state == State::Approved;
            *slot = Slot { awaits_claim, ..open_change::slot_of(change) };
        }
    }
}

/// Adds the writes of the item and, if numbers or blockers change, of the head.
///
/// `heads` holds the head as it was read, and after numbers were taken from it.
fn add_item_and_head_writes(
    after: &mut Decided,
    before: &Item,
    heads: Option<(&Head, Head)>,
    ctx: &RequestContext,
) {
    let delta = after.item.blockers() - before.blockers();
    // A log text on a COMPLETED change leaves the item as it is, and an unchanged item costs no write.
    if after.item != *before {
        after.item.revision += 1;
        after.item.modified = ctx.now.not_before(before.modified);
        after.writes.extend(put_item(before, &mut after.item));
        after.writes.extend(drifted(Some(before), &after.item));
    }
    if let Some((head, numbers)) = heads.filter(|(head, numbers)| *head != numbers) {
        // A transaction allows one action per record, so one write carries numbers and blockers.
        let moved = Head { blockers: head.blockers + delta, ..numbers };
        after.writes.push(Write::AdvanceHead { before: *head, after: moved });
    } else if delta != Blockers::NONE {
        // An addition needs no condition on the head, so owners who decide on different items of a team do not
        // conflict.
        after.writes.push(Write::AddBlockers { team: before.consumer.id, delta });
    }
}

/// Retries a rejected or failed change instance: closes it and creates the next attempt (R13).
pub fn retry(
    change: &Change,
    item: &Item,
    head: &Head,
    caller: &TeamRef,
    ctx: &RequestContext,
) -> Result<Decided, Refused> {
    if is_torn(change, item) {
        return Err(Refused::Torn);
    }
    if change.owner.id != caller.id {
        return Err(Refused::NotOwner);
    }
    check_retry(change, item)?;
    let id = ChangeId::new(item.id.team(), head.next_change).ok_or(Refused::OutOfNumbers)?;
    let closed = close_retried(change, id, ctx);
    // The slot must be free first, because otherwise the new attempt would displace the old one and close it a second
    // time.
    let mut cleared = item.clone();
    if let Some(stack) = cleared.stacks.get_mut(&change.owner.id) {
        stack.clear(change.id);
    }
    let mut opened = open_change::open_change(&cleared, &next_attempt(change, id), ctx);
    // The service owner may have completed its DELETE since.
    opened.change.never_in_service = change.never_in_service;
    let delta = opened.item.blockers() - item.blockers();
    // The head numbers the new attempt, and the condition on it makes parallel retries lose.
    let moved =
        Head { next_change: head.next_change + CHANGE_STRIDE, blockers: head.blockers + delta, ..*head };
    let mut writes = vec![
        Write::UpdateChange { before: change.chain_head(), from: change.state, after: closed },
        Write::CreateChange(opened.change.clone()),
        Write::PutItem { before: Some(item.revision), after: opened.item.clone() },
        Write::AdvanceHead { before: *head, after: moved },
    ];
    writes.extend(opened.others);
    Ok(Decided { change: opened.change, item: opened.item, writes, deployed: None })
}

/// Checks that the owner may retry a change instance.
pub fn check_retry(change: &Change, item: &Item) -> Result<(), Refused> {
    if !change.state.is_blocked() {
        return Err(Refused::NotRetryable(change.state));
    }
    let stack = item.stacks.get(&change.owner.id).ok_or(Refused::Overtaken)?;
    // A retry of an older change would apply an outdated declaration after a newer one (I6).
    if (change.submission.number(), change.attempt) != (stack.sequence, stack.attempt) {
        return Err(Refused::Overtaken);
    }
    if change.attempt >= ATTEMPTS_MAX { Err(Refused::TooManyAttempts) } else { Ok(()) }
}

fn close_retried(change: &Change, by: ChangeId, ctx: &RequestContext) -> Change {
    let mut closed = change.clone();
    closed.state = State::Closed;
    append(&mut closed, change, None, None, ctx);
    if let Some(entry) = closed.history.pop() {
        // The hash chain covers `closed_by`, so the entry is chained once more.
        let entry = Entry { closed_by: Some(ClosedBy::Retried(by)), ..entry };
        closed.history.push(entry.chained(change.chain_head().chain));
    }
    closed
}

fn next_attempt(change: &Change, id: ChangeId) -> ChangeDraft {
    ChangeDraft {
        id,
        kind: Kind::Retry,
        cause: Some(change.id),
        causes: change.causes.clone(),
        origin: Some(change.origin),
        waits: change.waits.clone(),
        unblocks: change.unblocks,
        owner: change.owner.clone(),
        change_type: change.change_type,
        // An approved change stays approved (R13), so a retry after an error needs no second approval.
        state: if change.state == State::Errored { State::Approved } else { State::Pending },
        attempt: change.attempt + 1,
        submission: change.submission,
        commit_id: change.commit_id.clone(),
        message: change.message.clone(),
        new: change.new,
        old: change.old,
        schema_version: change.schema_version,
        strategy: Strategy::default(),
        complete_unneeded: false,
        claim_required: change.claim_required,
        prices: change.prices,
    }
}
