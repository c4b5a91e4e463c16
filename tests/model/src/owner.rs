//! An owner with a decision on an open change instance, in the steps of `functions/update-state`: read, decide,
//! write.

use crate::ablation::Missing;
use crate::given::NOW;
use crate::state::State;
use crate::view::View;
use crate::world::{Fate, World};
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::id::DeployedId;
use domain::model::deployed::Deployed;
use domain::model::item::Base;
use domain::model::storable::StorableValue;
use domain::model::team::Head;
use domain::model::write::Write;
use domain::rules::check::Check;
use domain::rules::decide;
use domain::rules::decide::{Reads, Update};
use domain::{Change, ChangeId, Item, State as ChangeState};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};
use store::{Key, Record, Table};

/// A kind of decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// From PENDING to APPROVED.
    Approve,
    /// From PENDING to REJECTED.
    Reject,
    /// From APPROVED to COMPLETED.
    Complete,
    /// From APPROVED to ERRORED.
    Fail,
    /// From REJECTED or ERRORED to CLOSED.
    Close,
    /// A new attempt after REJECTED or ERRORED.
    Retry,
    /// A deployed item of an APPROVED change instance.
    Deploy,
    /// A new log text of a COMPLETED change instance.
    Note,
    /// An observation of the item of a COMPLETED change instance with this value.
    Observe(u8),
    /// A plan of a PENDING or APPROVED change instance with this value.
    Plan(u8),
}

impl Decision {
    const fn fits(self, state: ChangeState) -> bool {
        match self {
            Self::Approve | Self::Reject => matches!(state, ChangeState::Pending),
            Self::Complete | Self::Fail | Self::Deploy => matches!(state, ChangeState::Approved),
            Self::Close | Self::Retry => state.is_blocked(),
            Self::Note | Self::Observe(_) => matches!(state, ChangeState::Completed),
            Self::Plan(_) => matches!(state, ChangeState::Pending | ChangeState::Approved),
        }
    }

    const fn to(self) -> Option<ChangeState> {
        match self {
            Self::Approve => Some(ChangeState::Approved),
            Self::Reject => Some(ChangeState::Rejected),
            Self::Complete => Some(ChangeState::Completed),
            Self::Fail => Some(ChangeState::Errored),
            Self::Close => Some(ChangeState::Closed),
            Self::Retry | Self::Deploy | Self::Note | Self::Plan(_) | Self::Observe(_) => None,
        }
    }
}

/// An owner. All owners are interchangeable: each can decide for any team.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Owner {
    Idle,
    /// The owner has read and not yet written.
    Deciding(Arc<Deciding>),
}

/// A decision and its read.
#[derive(derive_more::Debug)]
#[debug("Deciding {{ change: {change:?}, decision: {decision:?} }}")]
pub(crate) struct Deciding {
    change: ChangeId,
    decision: Decision,
    view: View,
    /// The writes, computed once. `None` if the domain rejects the decision.
    writes: OnceLock<Option<Vec<Write>>>,
}

impl PartialEq for Deciding {
    fn eq(&self, other: &Self) -> bool {
        (self.change, self.decision, &self.view) == (other.change, other.decision, &other.view)
    }
}

impl Hash for Deciding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.change, self.decision, &self.view).hash(state);
    }
}

/// A possible step of an owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Move {
    /// Reads for a decision.
    Read(ChangeId, Decision),
    /// Reads one row of the read again, at a later moment.
    Later(usize),
    /// Writes the decision.
    Write,
}

impl Owner {
    /// Returns the possible steps.
    pub(crate) fn moves(&self, world: &World, state: &State) -> Vec<Move> {
        match self {
            Self::Idle => possible(world, state).map(|(id, decision)| Move::Read(id, decision)).collect(),
            Self::Deciding(deciding) => {
                let mut moves = vec![Move::Write];
                if world.config.torn {
                    moves.extend(deciding.view.outdated(&state.table).into_iter().map(Move::Later));
                }
                moves
            }
        }
    }
}

/// Returns the possible decisions of all owners.
pub(crate) fn possible<'a>(
    world: &'a World,
    state: &'a State,
) -> impl Iterator<Item = (ChangeId, Decision)> + 'a {
    let changes = state.table.changes().filter(|_| state.decisions > 0);
    changes.flat_map(|change| {
        let decisions = world.config.owners.decisions.iter().filter(|decision| decision.fits(change.state));
        // A dependent team has no deployed items.
        let deploys = |decision| matches!(decision, Decision::Deploy | Decision::Observe(_));
        let of_main = decisions.filter(move |decision| !deploys(**decision) || !change.is_dependant());
        of_main.map(|decision| (change.id, *decision))
    })
}

/// Executes one step of owner `n`. Returns `None` if the step is not possible.
pub(crate) fn step(world: &World, state: &mut State, n: usize, next: Move) -> Option<()> {
    let owner = match (state.owners.get(n)?.clone(), next) {
        (Owner::Idle, Move::Read(change, decision)) => {
            state.decisions = state.decisions.checked_sub(1)?;
            Owner::Deciding(Arc::new(read(world, &state.table, change, decision)?))
        }
        (Owner::Deciding(deciding), Move::Later(row)) => {
            let view = deciding.view.later(&state.table, row);
            Owner::Deciding(Arc::new(Deciding::new(deciding.change, deciding.decision, view)))
        }
        (Owner::Deciding(deciding), Move::Write) => {
            write(world, state, &deciding);
            Owner::Idle
        }
        _ => return None,
    };
    *state.owners.get_mut(n)? = owner;
    Some(())
}

/// Reads, decides and writes in a single step, without interleaving.
pub(crate) fn decide_at_once(
    world: &World,
    state: &mut State,
    change: ChangeId,
    decision: Decision,
) -> Option<()> {
    state.decisions = state.decisions.checked_sub(1)?;
    let deciding = read(world, &state.table, change, decision)?;
    write(world, state, &deciding);
    Some(())
}

fn read(world: &World, table: &Table, id: ChangeId, decision: Decision) -> Option<Deciding> {
    let change = table.change(id)?;
    // The completion of a first half takes the number of the second half.
    let completes = world.config.replaces && decision == Decision::Complete;
    let takes_numbers = completes || matches!(decision, Decision::Retry | Decision::Deploy);
    let head = takes_numbers.then_some(Key::Head(change.consumer.id));
    let item = [Key::Item(change.item), Key::Gone(change.item)];
    let deployed = table.item(change.item).into_iter().flat_map(compared).map(Key::Deployed);
    let keys = [Key::Change(id)].into_iter().chain(item).chain(head).chain(deployed);
    Some(Deciding::new(id, decision, View::of(table, keys)))
}

/// Returns the deployed versions that a decision compares with.
fn compared(item: &Item) -> impl Iterator<Item = DeployedId> {
    let base = if let Base::Earlier(id) = item.base { Some(id) } else { None };
    item.deployed.map(|newest| newest.id).into_iter().chain(base)
}

fn write(world: &World, state: &mut State, deciding: &Deciding) {
    let Some(writes) = deciding.writes.get_or_init(|| deciding.decide(world)) else { return };
    let is_written = writes.is_empty() || world.answered(state, writes, Fate::Answered);
    // Without a newer record the conditions must hold, or the owner could never decide.
    if !is_written && deciding.view.outdated(&state.table).is_empty() {
        state.broken = Some("I23: a decision is refused although nothing has moved");
    }
}

impl Deciding {
    const fn new(change: ChangeId, decision: Decision, view: View) -> Self {
        Self { change, decision, view, writes: OnceLock::new() }
    }

    /// Returns the writes of the domain. `None` if the domain rejects the decision.
    fn decide(&self, world: &World) -> Option<Vec<Write>> {
        let (mut change, mut item, mut head): (Option<&Change>, Option<&Item>, Option<&Head>) =
            (None, None, None);
        let mut deployed: BTreeMap<DeployedId, &Deployed> = BTreeMap::new();
        for record in self.view.records() {
            match record {
                Record::Change(record) => change = Some(record),
                // A torn read can see both rows of an item that moves.
                Record::Item(record) => {
                    item = item.filter(|item| item.revision > record.revision).or(Some(record));
                }
                Record::Head(record) => head = Some(record),
                Record::Deployed(record) => drop(deployed.insert(record.id, record)),
                _ => {}
            }
        }
        let (change, item) = (change?, item?);
        let impatient = Item { shares_due: 0, ..item.clone() };
        let item = if world.has(Missing::SharesDue) { item } else { &impatient };
        let caller = &change.owner;
        let by = Actor::Key { name: "o".to_owned(), team: caller.clone() };
        let ctx = RequestContext { by, request: "o".to_owned(), now: NOW };
        let decided = if self.decision == Decision::Retry {
            decide::retry(change, item, head?, caller, &ctx)
        } else {
            let texts = [change.new.map(|new| new.hash), change.planned()];
            let texts = texts.map(|hash| hash.and_then(|hash| world.text(hash)));
            let [declared, planned] = texts.each_ref().map(Option::as_deref);
            let update = self.update(change, item);
            let read = |id: Option<DeployedId>| id.and_then(|id| deployed.get(&id).copied());
            let newest = read(item.deployed.map(|newest| newest.id));
            let base = read(decide::base_to_read(change, item, &update));
            let check = world.forms.as_ref().map(|forms| Check {
                secrets: None,
                forms,
                declared,
                newest,
                base,
                planned,
                upgrades: None,
            });
            let reads = Reads { head, check, ..Reads::default() };
            decide::update(change, item, &reads, &update, caller, &ctx)
        };
        let writes = decided.ok()?.writes;
        world.learn(&writes);
        Some(writes)
    }

    fn update(&self, change: &Change, item: &Item) -> Update {
        let version = item.deployed.map_or(0, |latest| latest.version);
        let deployed_item = match self.decision {
            Decision::Deploy => storable(json!({"v": version})),
            Decision::Observe(value) => storable(json!({"n": value})),
            _ => None,
        };
        let log = (self.decision == Decision::Note).then(|| format!("{}", change.history.len()));
        let plan = if let Decision::Plan(value) = self.decision { Some(value) } else { None };
        let planned_item = plan.and_then(|value| storable(json!({"ip": value})));
        Update { state: self.decision.to(), log, deployed_item, planned_item, ..Update::default() }
    }
}

/// Returns a small value as one of a request.
fn storable(value: Value) -> Option<StorableValue> {
    StorableValue::new(value).ok()
}
