//! An owner's decision on a change instance: what it moves, or why it is refused.
//!
//! Refusals are checked in the order of [`Refused`]'s variants; the first that holds is told.

use crate::actor::{Actor, TeamRef};
use crate::attention::Attention;
use crate::change::{Change, ChangeType, ClosedBy, Entry, Kind, Reason};
use crate::deployed::{DEPLOYED_BYTES_MAX, Deployed};
use crate::id::{CHANGE_STRIDE, ChangeId, DeployedId};
use crate::item::{Creation, Item, LatestDeployed};
use crate::json::Hash;
use crate::land::{self, Birth, Stamp};
use crate::service::{Service, Settings};
use crate::state::{By, Stage, State, is_legal};
use crate::team::Head;
use crate::write::Write;

/// The longest log text, in bytes.
pub const LOG_BYTES_MAX: usize = 1024;
/// How many log entries a history takes.
pub const LOG_ENTRIES_MAX: usize = 20;
/// How often an owner may retry.
pub const ATTEMPTS_MAX: u64 = 31;

/// What an owner asks for; what is absent stays as it is.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Update {
    /// The state to move to.
    pub state: Option<State>,
    /// The message on it; an empty one counts as absent.
    pub log: Option<String>,
    /// What is deployed now, canonical JSON.
    pub deployed_item: Option<String>,
    /// The deployed item that it was made from; it has to be the newest still.
    pub onto: Option<DeployedId>,
}

impl std::fmt::Debug for Update {
    // Log texts and deployed items are the owner's: never in a log of ours.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Update").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Why a decision is refused, in the order of precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// What was read does not fit together, as beside another decision, or the head is missing: read again.
    Torn,
    /// The caller's team is a party to the change instance, but does not own it (R2).
    NotOwner,
    /// The state machine has no such move by an owner.
    IllegalTransition {
        /// The state it is in.
        from: State,
        /// The state that was asked for.
        to: State,
    },
    /// A person's approval where only an API key may approve (R32).
    ManualApproval,
    /// A person's completion where only an API key may complete (R32).
    ManualCompletion,
    /// A retry of what is neither REJECTED nor ERRORED.
    NotRetryable(State),
    /// A retry of what a newer change instance has overtaken.
    Overtaken,
    /// Only the service's owner brings deployed items (R23).
    DeployedItemNotMain,
    /// A deployed item comes with APPROVED, COMPLETED or ERRORED; a rejection may repeat the newest one (R23).
    DeployedItemTooEarly(State),
    /// The deployed item was made from one that is not the newest.
    DeployedItemNotLatest,
    /// The deployed item is larger than [`DEPLOYED_BYTES_MAX`].
    DeployedItemTooLarge,
    /// The log text is longer than [`LOG_BYTES_MAX`].
    LogTooLong,
    /// The history holds [`LOG_ENTRIES_MAX`] log entries already.
    LogFull,
    /// The owner has retried [`ATTEMPTS_MAX`] times.
    TooManyAttempts,
    /// The consumer team's numbers have run out.
    OutOfNumbers,
}

/// What a decision makes of the change instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The change instance after; for a retry the new one.
    pub change: Change,
    /// The item after.
    pub item: Item,
    /// What to write; nothing when everything is as asked for already.
    pub writes: Vec<Write>,
    /// The deployed item that it brought.
    pub deployed: Option<Deployed>,
}

/// Whether an update takes numbers from the head: those that came with the change instance are used up.
pub const fn takes_numbers(item: &Item, update: &Update) -> bool {
    update.deployed_item.is_some() && item.next_deployed.is_multiple_of(CHANGE_STRIDE)
}

/// Whether an update goes by the service's settings: a person's approval or completion does (R32).
pub fn asks_service(change: &Change, update: &Update, stamp: &Stamp) -> bool {
    let moves_to = update.state.filter(|state| *state != change.state);
    matches!(stamp.by, Actor::Person { .. }) && matches!(moves_to, Some(State::Approved | State::Completed))
}

/// Moves a change instance, changes its log or adds a deployed item; it needs the head only if it
/// [takes numbers](takes_numbers), the service only if it [goes by its settings](asks_service).
pub fn update(
    change: &Change,
    item: &Item,
    head: Option<&Head>,
    service: Option<&Service>,
    update: &Update,
    caller: &TeamRef,
    stamp: &Stamp,
) -> Result<Decided, Refused> {
    if is_torn(change, item) {
        return Err(Refused::Torn);
    }
    let log = update.log.as_ref().filter(|log| !log.is_empty() && **log != change.log);
    let state = update.state.unwrap_or(change.state);
    check(change, item, state, log, update, caller)?;
    let asked = if asks_service(change, update, stamp) { Some(service.ok_or(Refused::Torn)?) } else { None };
    if let Some(service) = asked {
        by_hand(&service.settings, state)?;
    }

    let mut after =
        Decided { change: change.clone(), item: item.clone(), writes: Vec::new(), deployed: None };
    let moves = state != change.state;
    let mut closed = None;
    if moves {
        closed = enter(&mut after, state, stamp);
    }
    if moves || log.is_some() {
        append(&mut after.change, change, log, stamp);
        refresh_slot(&mut after);
    }
    let mut numbers = head.copied();
    // A rejection only repeats what is deployed: it never makes a version.
    if let Some(data) = update.deployed_item.as_ref().filter(|_| state != State::Rejected) {
        deploy(&mut after, data, numbers.as_mut(), stamp)?;
    }
    if moves || log.is_some() {
        after.writes.push(Write::Moved {
            before: change.mark(),
            from: change.state,
            after: after.change.clone(),
        });
    }
    after.writes.extend(closed.map(Write::Closed));
    after.writes.extend(
        asked.map(|service| Write::ServiceStays { title: service.title.clone(), revision: service.revision }),
    );
    settle(&mut after, item, head.zip(numbers), stamp);
    Ok(after)
}

/// Whether the item shows the change instance otherwise than it is (docs/explanation/architecture.md, torn reads).
fn is_torn(change: &Change, item: &Item) -> bool {
    let slot = item.stacks.get(&change.owner.id).and_then(|stack| stack.slot(change.id));
    slot.copied() != (change.state.stage() != Stage::Resolved).then(|| land::slot_of(change))
}

/// The checks that need nothing computed, in their documented order.
fn check(
    change: &Change,
    item: &Item,
    state: State,
    log: Option<&String>,
    update: &Update,
    caller: &TeamRef,
) -> Result<(), Refused> {
    if change.owner.id != caller.id {
        return Err(Refused::NotOwner);
    }
    if state != change.state && !is_legal(Some(change.state), state, By::Owner) {
        return Err(Refused::IllegalTransition { from: change.state, to: state });
    }
    if let Some(data) = &update.deployed_item {
        if change.is_dependant() {
            return Err(Refused::DeployedItemNotMain);
        }
        if !accepts_deployed(state, item, data) {
            return Err(Refused::DeployedItemTooEarly(state));
        }
        if update.onto.is_some_and(|onto| item.deployed.is_none_or(|latest| latest.id != onto)) {
            return Err(Refused::DeployedItemNotLatest);
        }
        if data.len() > DEPLOYED_BYTES_MAX {
            return Err(Refused::DeployedItemTooLarge);
        }
    }
    if log.is_some_and(|log| log.len() > LOG_BYTES_MAX) {
        return Err(Refused::LogTooLong);
    }
    let notes = change.history.iter().filter(|entry| entry.reason == Reason::Log).count();
    if state == change.state && log.is_some() && notes >= LOG_ENTRIES_MAX {
        return Err(Refused::LogFull);
    }
    Ok(())
}

/// Returns whether a deployed item may come with a state (R23).
fn accepts_deployed(state: State, item: &Item, data: &str) -> bool {
    match state {
        State::Approved | State::Completed | State::Errored => true,
        State::Rejected => repeats_newest(item, data),
        State::Pending | State::Closed => false,
    }
}

/// Returns whether `data` is what the item shows as deployed: its newest version, or `{}` while it has none.
fn repeats_newest(item: &Item, data: &str) -> bool {
    item.deployed.map_or(data == "{}", |latest| latest.hash == Hash::of(data))
}

/// Whether a person may bring about a state (R32).
const fn by_hand(settings: &Settings, state: State) -> Result<(), Refused> {
    let (is_allowed, refused) = match state {
        State::Approved => (settings.allow_manual_approval, Refused::ManualApproval),
        State::Completed => (settings.allow_manual_completion, Refused::ManualCompletion),
        State::Pending | State::Rejected | State::Errored | State::Closed => return Ok(()),
    };
    if is_allowed { Ok(()) } else { Err(refused) }
}

/// What the new state means for the stacks and the item; returns what it displaces.
fn enter(after: &mut Decided, state: State, stamp: &Stamp) -> Option<crate::write::Closing> {
    let Decided { change, item, writes, .. } = after;
    change.state = state;
    match state {
        State::Approved => {
            let displaced = land::displace(item, &change.owner, Stage::Validated, change.id, stamp);
            change.supersedes.extend(displaced.iter().map(|closing| closing.change));
            let creation = item.stacks.get(&change.owner.id).map_or(Creation::Never, |stack| stack.creation);
            change.change_type = land::converted(change.change_type, state, creation);
            if let Some(stack) = item.stacks.get_mut(&change.owner.id) {
                stack.clear(change.id);
                stack.validated = Some(land::slot_of(change));
            }
            writes.extend(land::approved(item, change, stamp));
            displaced
        }
        State::Completed => {
            if let Some(stack) = item.stacks.get_mut(&change.owner.id) {
                stack.clear(change.id);
                match change.change_type {
                    ChangeType::Create => stack.creation = Creation::Done,
                    ChangeType::Delete => stack.creation = Creation::Never,
                    ChangeType::Modify => {}
                }
            }
            if !change.is_dependant() {
                item.settled = Some(change.target());
            }
            None
        }
        State::Closed => {
            if let Some(stack) = item.stacks.get_mut(&change.owner.id) {
                stack.clear(change.id);
            }
            None
        }
        // The slot stays where it is; `refresh_slot` shows the new state in it.
        State::Pending | State::Rejected | State::Errored => None,
    }
}

/// Appends the history entry of this decision.
fn append(after: &mut Change, before: &Change, log: Option<&String>, stamp: &Stamp) {
    let mark = before.mark();
    if let Some(log) = log {
        after.log.clone_from(log);
    }
    let entry = Entry {
        from: Some(before.state),
        to: after.state,
        at: stamp.now.not_before(mark.at),
        by: stamp.by.clone(),
        request: stamp.request.clone(),
        reason: if after.state == before.state { Reason::Log } else { Reason::State },
        closed_by: None,
        log: log.cloned(),
        change_type: after.change_type,
        chain: mark.chain,
    };
    after.history.push(entry.chained(mark.chain));
}

/// Shows the change instance's state, type and end of history in its slot, if it is open.
fn refresh_slot(after: &mut Decided) {
    let Decided { change, item, .. } = after;
    let Some(stack) = item.stacks.get_mut(&change.owner.id) else { return };
    for slot in [&mut stack.pre_validated, &mut stack.validated].into_iter().flatten() {
        if slot.change == change.id {
            *slot = land::slot_of(change);
        }
    }
}

/// Adds a deployed item version, unless the newest one is the same already.
fn deploy(after: &mut Decided, data: &str, numbers: Option<&mut Head>, stamp: &Stamp) -> Result<(), Refused> {
    let hash = Hash::of(data);
    let Decided { change, item, writes, deployed } = after;
    if item.deployed.is_some_and(|latest| latest.hash == hash) {
        return Ok(());
    }
    if item.next_deployed.is_multiple_of(CHANGE_STRIDE) {
        // The numbers that came with the change instance are used up: take another block.
        let numbers = numbers.ok_or(Refused::Torn)?;
        item.next_deployed = numbers.next_change + 1;
        numbers.next_change += CHANGE_STRIDE;
    }
    let id = DeployedId::new(item.id.team(), item.next_deployed).ok_or(Refused::OutOfNumbers)?;
    let version = item.deployed.map_or(1, |latest| latest.version + 1);
    item.next_deployed += 1;
    item.deployed = Some(LatestDeployed { id, version, hash });
    let version = Deployed {
        id,
        item: item.id,
        service: item.service.clone(),
        change: change.id,
        version,
        data: data.to_owned(),
        hash,
        service_owner: item.service_owner.clone(),
        consumer: item.consumer.clone(),
        request: stamp.request.clone(),
        created: stamp.now,
    };
    writes.push(Write::Deployed(version.clone()));
    *deployed = Some(version);
    Ok(())
}

/// Adds the writes of the item and, where it is concerned, of the head: before and after numbers were taken from it.
fn settle(after: &mut Decided, before: &Item, heads: Option<(&Head, Head)>, stamp: &Stamp) {
    let delta = after.item.attention() - before.attention();
    if after.item != *before {
        after.item.revision += 1;
        after.item.modified = stamp.now.not_before(before.modified);
        after.writes.push(Write::Item { before: Some(before.revision), after: after.item.clone() });
    }
    if let Some((head, numbers)) = heads.filter(|(head, numbers)| *head != numbers) {
        let moved = Head { attention: head.attention + delta, ..numbers };
        after.writes.push(Write::Head { before: *head, after: moved });
    } else if delta != Attention::NONE {
        after.writes.push(Write::Attention { team: before.consumer.id, delta });
    }
}

/// Tries a rejected or failed change instance again: closes it and opens a new attempt (R13).
pub fn retry(
    change: &Change,
    item: &Item,
    head: &Head,
    caller: &TeamRef,
    stamp: &Stamp,
) -> Result<Decided, Refused> {
    if is_torn(change, item) {
        return Err(Refused::Torn);
    }
    if change.owner.id != caller.id {
        return Err(Refused::NotOwner);
    }
    check_retry(change, item)?;
    let id = ChangeId::new(item.id.team(), head.next_change).ok_or(Refused::OutOfNumbers)?;
    let closed = close_retried(change, id, stamp);
    let mut cleared = item.clone();
    if let Some(stack) = cleared.stacks.get_mut(&change.owner.id) {
        stack.clear(change.id);
    }
    let landed = land::land(&cleared, &next_attempt(change, id), stamp);
    let delta = landed.item.attention() - item.attention();
    let moved =
        Head { next_change: head.next_change + CHANGE_STRIDE, attention: head.attention + delta, ..*head };
    let mut writes = vec![
        Write::Moved { before: change.mark(), from: change.state, after: closed },
        Write::Born(landed.born.clone()),
        Write::Item { before: Some(item.revision), after: landed.item.clone() },
        Write::Head { before: *head, after: moved },
    ];
    writes.extend(landed.charges);
    Ok(Decided { change: landed.born, item: landed.item, writes, deployed: None })
}

/// Checks that the owner may try a change instance again.
pub fn check_retry(change: &Change, item: &Item) -> Result<(), Refused> {
    if !change.state.is_blocked() {
        return Err(Refused::NotRetryable(change.state));
    }
    let stack = item.stacks.get(&change.owner.id).ok_or(Refused::Overtaken)?;
    if (change.submission.number(), change.attempt) != (stack.sequence, stack.attempt) {
        return Err(Refused::Overtaken);
    }
    if change.attempt >= ATTEMPTS_MAX { Err(Refused::TooManyAttempts) } else { Ok(()) }
}

fn close_retried(change: &Change, by: ChangeId, stamp: &Stamp) -> Change {
    let mut closed = change.clone();
    closed.state = State::Closed;
    append(&mut closed, change, None, stamp);
    if let Some(entry) = closed.history.pop() {
        let entry = Entry { closed_by: Some(ClosedBy::Retried(by)), ..entry };
        closed.history.push(entry.chained(change.mark().chain));
    }
    closed
}

fn next_attempt(change: &Change, id: ChangeId) -> Birth {
    Birth {
        id,
        kind: Kind::Retry,
        cause: Some(change.id),
        owner: change.owner.clone(),
        change_type: change.change_type,
        // What was approved once stays approved.
        state: if change.state == State::Errored { State::Approved } else { State::Pending },
        attempt: change.attempt + 1,
        submission: change.submission,
        commit_id: change.commit_id.clone(),
        new: change.new,
        old: change.old,
        prices: change.prices,
    }
}
