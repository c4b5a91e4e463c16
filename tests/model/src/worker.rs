//! A run of `infra/worker`, step by step. An image of the submission wakes it, and this image may be old. It
//! processes the items of a work record, then removes the record and counts down.

use crate::ablation::Missing;
use crate::given::NOW;
use crate::state::State;
use crate::view::View;
use crate::world::{Fate, World};
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::state::Kind;
use domain::model::submission::Submission;
use domain::model::work::{PlannedChange, Work, WorkId};
use domain::model::write::Write;
use domain::rules::finish_work::finish_work;
use domain::rules::generate::{close_excess, generate};
use domain::{Change, ChangeId, Item, SubmissionId};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};
use store::{Key, Record, Stored, Table};

/// A worker: at most one run of `generate`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Worker {
    Idle,
    /// Woken with an image of a submission.
    Woken(Held),
    /// Processes a work record: the submission, the record, and the read of each unfinished item.
    Carrying(Held, Held, Vec<Option<Arc<Part>>>),
}

/// A record from any earlier moment.
#[derive(Clone, derive_more::Debug)]
#[debug("{:?}", self.0.record.key())]
pub(crate) struct Held(Arc<Stored>);

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl Hash for Held {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.fingerprint.hash(state);
    }
}

/// The pending changes of one item in a work record, and the read for them.
#[derive(derive_more::Debug)]
#[debug("Part {{ .. }}")]
pub(crate) struct Part {
    planned: Vec<PlannedChange>,
    view: View,
    tried: OnceLock<Tried>,
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        self.view == other.view && self.planned == other.planned
    }
}

impl Hash for Part {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.view.hash(state);
        self.planned.iter().for_each(|planned| planned.id.hash(state));
    }
}

/// The result of a plan for one item.
enum Tried {
    /// All pending changes exist.
    Exists,
    /// The records of the read do not match.
    Misfit,
    /// Writes that close answered change instances ahead. Then the worker plans again (docs/explanation/staging.md).
    Sheds(Vec<Write>),
    /// Writes that open all pending changes.
    Writes(Vec<Write>),
}

/// A possible step of a worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Move {
    /// Gets an image of a submission.
    Wake(SubmissionId),
    /// Reads a work record.
    Take(WorkId),
    /// Reads one row of an item's read again, at a later moment.
    Later(usize, usize),
    /// Writes the pending changes of an item.
    Carry(usize, Fate),
    /// Removes the record and counts down.
    Finish(Fate),
    Die,
}

impl Worker {
    /// Returns the possible steps.
    pub(crate) fn moves(&self, world: &World, state: &State) -> Vec<Move> {
        let fates = state.fates();
        let mut moves = Vec::new();
        match self {
            Self::Idle => {
                let pending = state.table.submissions().filter(|submission| submission.work_left > 0);
                moves.extend(pending.map(|submission| Move::Wake(submission.id)));
            }
            Self::Woken(submission) => {
                moves.extend(submission.works(&state.table).map(Move::Take));
                // If the work of an old image is done, this step alone ends the run.
                moves.push(Move::Die);
            }
            Self::Carrying(_, _, parts) if parts.iter().all(Option::is_none) => {
                moves.extend(fates.iter().map(|fate| Move::Finish(*fate)));
            }
            Self::Carrying(_, _, parts) => {
                for (n, part) in parts.iter().enumerate() {
                    let Some(part) = part else { continue };
                    moves.extend(fates.iter().map(|fate| Move::Carry(n, *fate)));
                    if world.config.torn {
                        moves.extend(
                            part.view.outdated(&state.table).into_iter().map(|row| Move::Later(n, row)),
                        );
                    }
                }
                if world.config.crashes > 0 {
                    moves.push(Move::Die);
                }
            }
        }
        moves
    }
}

/// Executes one step of worker `n`. Returns `None` if the step is not possible.
pub(crate) fn step(world: &World, state: &mut State, n: usize, next: Move) -> Option<()> {
    let worker = match (state.workers.get(n)?.clone(), next) {
        (Worker::Idle, Move::Wake(id)) => Worker::Woken(held(&state.table, &Key::Submission(id))?),
        (Worker::Woken(submission), Move::Take(id)) => {
            let work = held(&state.table, &Key::Work(id))?;
            let parts = parts(world, &state.table, work.work()?);
            store_declarations(state, work.work()?);
            Worker::Carrying(submission, work, parts)
        }
        (Worker::Carrying(submission, work, mut parts), Move::Later(part, row)) => {
            let slot = parts.get_mut(part)?;
            let before = slot.as_ref()?;
            *slot = Some(Part::new(before.planned.clone(), before.view.later(&state.table, row)));
            Worker::Carrying(submission, work, parts)
        }
        (Worker::Carrying(submission, work, mut parts), Move::Carry(part, fate)) => {
            let slot = parts.get_mut(part)?;
            *slot = carry(world, state, submission.submission()?, work.work()?, slot.as_ref()?, fate);
            Worker::Carrying(submission, work, parts)
        }
        (Worker::Carrying(submission, work, parts), Move::Finish(fate)) => {
            finish(world, state, submission, work, parts, fate)?
        }
        (_, Move::Die) => Worker::Idle,
        _ => return None,
    };
    *state.workers.get_mut(n)? = worker;
    Some(())
}

/// Stores the declarations of staged work. They have no conditions: every writer stores the same under a hash.
fn store_declarations(state: &mut State, work: &Work) {
    let team = work.id.submission.team();
    let existing = |id| state.table.change(id).is_some();
    let texts = work.declarations_without(existing);
    let table = Arc::make_mut(&mut state.table);
    for (hash, text) in texts {
        table.put(Record::Declaration(team, hash, text.into()));
    }
}

fn held(table: &Table, key: &Key) -> Option<Held> {
    table.get(key).cloned().map(Held)
}

impl Held {
    fn submission(&self) -> Option<&Submission> {
        if let Record::Submission(submission) = &self.0.record { Some(submission) } else { None }
    }

    fn work(&self) -> Option<&Work> {
        if let Record::Work(work) = &self.0.record { Some(work) } else { None }
    }

    /// Returns the existing work records of the submission.
    fn works<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = WorkId> + 'a {
        let of = self.submission().map(|submission| (submission.id, submission.staging));
        table.records().filter_map(move |record| match record {
            Record::Work(work) if Some((work.id.submission, work.id.staging)) == of => Some(work.id),
            _ => None,
        })
    }
}

fn parts(world: &World, table: &Table, work: &Work) -> Vec<Option<Arc<Part>>> {
    let of_item = |planned: &[PlannedChange]| {
        let named = planned.iter().flat_map(|planned| std::iter::once(planned.id).chain(planned.cause));
        let item =
            planned.iter().take(1).flat_map(|planned| [Key::Item(planned.item), Key::Gone(planned.item)]);
        // The cause of a change is often in the same record, so keys can occur twice.
        let mut changes: Vec<ChangeId> = named.collect();
        changes.sort_unstable();
        changes.dedup();
        let mut planned = planned.to_vec();
        if !world.has(Missing::Spare) {
            for planned in &mut planned {
                planned.spare = None;
            }
        }
        Some(Part::new(planned, View::of(table, changes.into_iter().map(Key::Change).chain(item))))
    };
    work.entries.chunk_by(|a, b| a.item == b.item).map(of_item).collect()
}

impl Part {
    fn new(planned: Vec<PlannedChange>, view: View) -> Arc<Self> {
        Arc::new(Self { planned, view, tried: OnceLock::new() })
    }

    fn tried(&self, world: &World, submission: &Submission, work: &Work) -> &Tried {
        self.tried.get_or_init(|| self.try_it(world, submission, work))
    }

    fn try_it(&self, world: &World, submission: &Submission, work: &Work) -> Tried {
        let changes: BTreeMap<ChangeId, Change> = self.view.records().filter_map(change).collect();
        let existing_changes: Vec<&Change> =
            self.planned.iter().filter_map(|planned| changes.get(&planned.id)).collect();
        let spare = self.planned.first().and_then(|first| first.spare.as_ref()).map(|spare| spare.item);
        let same = existing_changes.iter().zip(&self.planned).all(|(change, planned)| {
            let is_on_its_item = change.item == planned.item || Some(change.item) == spare;
            is_on_its_item
                && (change.id, change.owner.id, change.kind, change.submission)
                    == (planned.id, planned.owner.id, planned.kind, submission.id)
        });
        match existing_changes.len() {
            0 => {}
            n if n == self.planned.len() && same => return Tried::Exists,
            _ => return Tried::Misfit,
        }
        let items =
            self.view.records().filter_map(|r| if let Record::Item(item) = r { Some(item) } else { None });
        // A torn read can see both rows of an item that moves.
        let item = items.max_by_key(|item| item.revision);
        let item = item.map(|item| {
            if world.has(Missing::Sequence) { item.clone() } else { forgetful(item, &self.planned) }
        });
        let ctx = RequestContext { by: Actor::System, request: work.id.to_string(), now: NOW };
        match generate(&self.planned, submission, item.as_ref(), &changes, &ctx) {
            Ok(generated) => {
                match close_excess(&generated.writes, item.as_ref(), world.config.landing, NOW) {
                    Some(writes) => Tried::Sheds(writes),
                    None => Tried::Writes(generated.writes),
                }
            }
            Err(_) => Tried::Misfit,
        }
    }
}

fn change(record: &Record) -> Option<(ChangeId, Change)> {
    if let Record::Change(change) = record { Some((change.id, change.clone())) } else { None }
}

/// Resets the sequence of each owner with a generated change, as if no newer change existed.
fn forgetful(item: &Item, planned: &[PlannedChange]) -> Item {
    let mut item = item.clone();
    for planned in planned.iter().filter(|planned| planned.kind != Kind::Direct) {
        if let Some(stack) = item.stacks.get_mut(&planned.owner.id) {
            (stack.sequence, stack.attempt, stack.blocked_sequence) = (0, 0, 0);
        }
    }
    item
}

/// Executes one attempt for an item. Returns a new read if the item needs another attempt.
fn carry(
    world: &World,
    state: &mut State,
    submission: &Submission,
    work: &Work,
    part: &Arc<Part>,
    fate: Fate,
) -> Option<Arc<Part>> {
    let is_done = match part.tried(world, submission, work) {
        Tried::Exists => return None,
        Tried::Misfit => false,
        Tried::Sheds(writes) => {
            // The excess is closed. The next plan needs the current records.
            if world.answered(state, writes, fate) {
                return Some(Part::new(part.planned.clone(), part.view.refreshed(&state.table)));
            }
            false
        }
        Tried::Writes(writes) => world.answered(state, writes, fate),
    };
    if is_done {
        return None;
    }
    let refreshed = part.view.refreshed(&state.table);
    // The same records would give the same result for ever.
    if refreshed == part.view && fate == Fate::Answered {
        state.broken = Some("I23: work can never be carried out");
    }
    Some(Part::new(part.planned.clone(), refreshed))
}

fn finish(
    world: &World,
    state: &mut State,
    submission: Held,
    work: Held,
    parts: Vec<Option<Arc<Part>>>,
    fate: Fate,
) -> Option<Worker> {
    let (_, writes) = finish_work(submission.submission()?, work.work()?, NOW);
    if world.answered(state, &writes, fate) {
        return Some(Worker::Idle);
    }
    // The submission comes first. One transaction removes record and count, so a submission without work has no
    // record.
    let counted = held(&state.table, &Key::Submission(submission.submission()?.id))?;
    if state.table.get(&Key::Work(work.work()?.id)).is_none() {
        return Some(Worker::Idle);
    }
    if counted.submission()?.work_left == 0 {
        state.broken = Some("I11: a submission counts no work and has some");
    }
    Some(Worker::Carrying(counted, work, parts))
}
