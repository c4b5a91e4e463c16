//! Landing: the only place where a change instance is born, and where the stack rules apply to it.
//!
//! One item, one birth, one result; the same for what a submission changes itself and for what is generated
//! from its work records later (docs/reference/rules.md).

use crate::actor::{Actor, TeamRef};
use crate::change::{Change, ChangeType, ClosedBy, Entry, Kind, Mark, Reason, Target, Version};
use crate::charge::{self, Prices};
use crate::id::{ChangeId, SubmissionId, TeamId};
use crate::item::{Creation, Item, RuntimeState, Slot, Stack};
use crate::state::{Stage, State};
use crate::timestamp::Timestamp;
use crate::write::{Closing, Write};

/// Who writes, when, and in which request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Who.
    pub by: Actor,
    /// The request's id: the own mark.
    pub request: String,
    /// When.
    pub now: Timestamp,
}

/// A change instance about to be born.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Birth {
    /// Its id.
    pub id: ChangeId,
    /// Why it exists.
    pub kind: Kind,
    /// The change instance that it follows from.
    pub cause: Option<ChangeId>,
    /// The team that carries it out.
    pub owner: TeamRef,
    /// What is to be done.
    pub change_type: ChangeType,
    /// PENDING, or APPROVED where approval is not required.
    pub state: State,
    /// Counts the owner's retries from 1.
    pub attempt: u64,
    /// The submission it comes from.
    pub submission: SubmissionId,
    /// The commit that the consumer named.
    pub commit_id: Option<String>,
    /// What the item shall become.
    pub new: Option<Version>,
    /// What the item was declared as before.
    pub old: Option<Version>,
    /// What is asked for it.
    pub prices: Prices,
}

/// What a birth makes of the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// The item after, its revision advanced by one; as it was when the birth was overtaken or blocked.
    pub item: Item,
    /// The change instance.
    pub born: Change,
    /// The open ones that it closed.
    pub closed: Vec<Closing>,
    /// The writes of what is charged for it.
    pub charges: Vec<Write>,
}

/// Lets a change instance be born on `item`, which already shows the declaration that causes it.
pub fn land(item: &Item, birth: &Birth, stamp: &Stamp) -> Landed {
    if birth.kind != Kind::Direct
        && let Some(reason) = stillborn(item, birth)
    {
        return Landed {
            item: item.clone(),
            born: born(item, birth, stamp, birth.change_type, Some(reason)),
            closed: Vec::new(),
            charges: Vec::new(),
        };
    }
    let mut after = item.clone();
    let mut closed = Vec::new();
    if birth.kind == Kind::Direct {
        close_answered(&mut after, birth, stamp, &mut closed);
    }
    let mut displaced = Vec::new();
    if birth.state == State::Approved {
        displaced.extend(displace_pending(&mut after, birth, stamp));
    }
    displaced.extend(displace(&mut after, &birth.owner, birth.state.stage(), birth.id, stamp));
    let creation = after.stacks.get(&birth.owner.id).map_or(Creation::Never, |stack| stack.creation);
    let change_type = converted(birth.change_type, birth.state, creation);
    let mut born = born(item, birth, stamp, change_type, None);
    born.supersedes = displaced.iter().map(|closing| closing.change).collect();
    born.superseded_at_birth = born.supersedes.len();
    closed.extend(displaced);
    let mut charges = occupy(&mut after, &born, stamp);
    charges.extend(charge::born(&mut after, &born));
    born.runtime_state = after.runtime_state;
    after.revision += 1;
    after.modified = stamp.now.not_before(item.modified);
    Landed { item: after, born, closed, charges }
}

/// Why a generated change instance is recorded but never opens (R24, R25).
fn stillborn(item: &Item, birth: &Birth) -> Option<ClosedBy> {
    let stack = item.stacks.get(&birth.owner.id)?;
    if (birth.submission.number(), birth.attempt) <= (stack.sequence, stack.attempt) {
        return Some(ClosedBy::Overtaken);
    }
    let occupant = column(stack, birth.state.stage())?;
    let unanswered = occupant.state.is_blocked() && occupant.target == target(birth);
    unanswered.then_some(ClosedBy::Blocked)
}

fn target(birth: &Birth) -> Target {
    Target::of(birth.new.map(|version| version.hash))
}

const fn column(stack: &Stack, stage: Stage) -> Option<Slot> {
    match stage {
        Stage::PreValidated => stack.pre_validated,
        Stage::Validated => stack.validated,
        Stage::Resolved => None,
    }
}

/// Example 3: a modified declaration answers every rejection and error of the item, of every owner. A removal answers
/// the failed removals before it as well (R28).
fn close_answered(item: &mut Item, birth: &Birth, stamp: &Stamp, closed: &mut Vec<Closing>) {
    let target = target(birth);
    let answered: Vec<(TeamId, Slot)> = item
        .blocked()
        .filter(|(_, slot)| slot.target != target || target == Target::Removed)
        .map(|(owner, slot)| (owner, *slot))
        .collect();
    for (owner, slot) in answered {
        closed.push(close(item, owner, &slot, ClosedBy::Answered(birth.id), stamp));
    }
}

/// Examples 1 and 2: what is open in the stage that `by` enters is closed.
pub(crate) fn displace(
    item: &mut Item,
    owner: &TeamRef,
    stage: Stage,
    by: ChangeId,
    stamp: &Stamp,
) -> Option<Closing> {
    let occupant = column(item.stacks.get(&owner.id)?, stage)?;
    Some(close(item, owner.id, &occupant, ClosedBy::Displaced(by), stamp))
}

/// What is born APPROVED has passed the Pre-Validated stage at once and closes what is PENDING there: left
/// open, the older declaration could be approved over the newer (I6). A rejection stays to be answered (R24).
fn displace_pending(item: &mut Item, birth: &Birth, stamp: &Stamp) -> Option<Closing> {
    let waiting = item.stacks.get(&birth.owner.id)?.pre_validated?;
    if waiting.state.is_blocked() {
        return None;
    }
    displace(item, &birth.owner, Stage::PreValidated, birth.id, stamp)
}

/// Closes an open change instance by a rule, knowing only its slot.
pub(crate) fn close(
    item: &mut Item,
    owner: TeamId,
    slot: &Slot,
    closed_by: ClosedBy,
    stamp: &Stamp,
) -> Closing {
    if let Some(stack) = item.stacks.get_mut(&owner) {
        stack.clear(slot.change);
    }
    let entry = Entry {
        from: Some(slot.state),
        to: State::Closed,
        at: stamp.now.not_before(slot.mark.at),
        by: Actor::System,
        request: stamp.request.clone(),
        reason: Reason::State,
        closed_by: Some(closed_by),
        log: None,
        change_type: slot.change_type,
        chain: slot.mark.chain,
    }
    .chained(slot.mark.chain);
    Closing {
        change: slot.change,
        item: item.id,
        owner,
        created: slot.created,
        from: slot.state,
        mark: slot.mark,
        entry,
    }
}

/// The Exception: what enters the Validated stage as a MODIFY while the CREATE is not completed is a CREATE.
pub(crate) fn converted(change_type: ChangeType, enters: State, creation: Creation) -> ChangeType {
    let exception =
        enters == State::Approved && change_type == ChangeType::Modify && creation == Creation::Outstanding;
    if exception { ChangeType::Create } else { change_type }
}

/// Puts a newborn into its slot, with what its state means for the item; returns the writes of what is charged.
fn occupy(item: &mut Item, born: &Change, stamp: &Stamp) -> Vec<Write> {
    let is_main = !born.is_dependant();
    let stack = item.stacks.entry(born.owner.id).or_insert(Stack::EMPTY);
    stack.sequence = born.submission.number();
    stack.attempt = born.attempt;
    let slot = slot_of(born);
    let mut charges = Vec::new();
    if born.state == State::Approved {
        stack.validated = Some(slot);
        charges = approved(item, born, stamp);
    } else {
        stack.pre_validated = Some(slot);
        // Declared again; an item that is in service stays so, though its CREATE failed (R9).
        if is_main
            && born.change_type == ChangeType::Create
            && item.runtime_state == RuntimeState::Decommissioned
        {
            item.runtime_state = RuntimeState::Requested;
        }
    }
    if is_main {
        item.latest_change = born.id;
        item.next_deployed = born.id.number() + 1;
    }
    charges
}

/// The slot that an open change instance takes on its item.
pub(crate) fn slot_of(change: &Change) -> Slot {
    Slot {
        change: change.id,
        state: change.state,
        change_type: change.change_type,
        target: change.target(),
        mark: change.mark(),
        created: change.created,
    }
}

/// What an approval means for the owner's stack and, from the service's owner, for the item (R3); returns the writes of what
/// is charged (R39).
pub(crate) fn approved(item: &mut Item, change: &Change, stamp: &Stamp) -> Vec<Write> {
    let is_main = !change.is_dependant();
    let stack = item.stacks.entry(change.owner.id).or_insert(Stack::EMPTY);
    match change.change_type {
        ChangeType::Create => stack.creation = Creation::Outstanding,
        // What was created is there until the DELETE is completed.
        ChangeType::Modify | ChangeType::Delete => {}
    }
    if !is_main {
        return Vec::new();
    }
    match change.change_type {
        ChangeType::Create => item.runtime_state = RuntimeState::InService,
        ChangeType::Delete => item.runtime_state = RuntimeState::Decommissioned,
        ChangeType::Modify => {}
    }
    item.settled = None;
    charge::approved(item, change, stamp.now)
}

fn born(
    item: &Item,
    birth: &Birth,
    stamp: &Stamp,
    change_type: ChangeType,
    stillborn: Option<ClosedBy>,
) -> Change {
    let state = if stillborn.is_some() { State::Closed } else { birth.state };
    let entry = Entry {
        from: None,
        to: state,
        at: stamp.now,
        by: stamp.by.clone(),
        request: stamp.request.clone(),
        reason: Reason::State,
        closed_by: stillborn,
        log: None,
        change_type,
        chain: Mark::START.chain,
    }
    .chained(Mark::START.chain);
    Change {
        id: birth.id,
        item: item.id,
        item_name: item.name.clone(),
        application: item.application.clone(),
        service: item.service.clone(),
        owner: birth.owner.clone(),
        service_owner: item.service_owner.clone(),
        consumer: item.consumer.clone(),
        kind: birth.kind,
        cause: birth.cause,
        change_type,
        state,
        submission: birth.submission,
        commit_id: birth.commit_id.clone(),
        attempt: birth.attempt,
        new: birth.new,
        old: birth.old,
        supersedes: Vec::new(),
        superseded_at_birth: 0,
        never_in_service: change_type == ChangeType::Delete && item.main().creation == Creation::Never,
        runtime_state: item.runtime_state,
        deployed_before: item.deployed.map(|latest| latest.id),
        log: String::new(),
        prices: birth.prices,
        created: stamp.now,
        history: vec![entry],
    }
}
