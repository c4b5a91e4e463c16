//! A generation that carries work out, as `functions/generate` does it: woken by an image of the submission, which may
//! be old; item by item; then the record goes with its count.

use crate::given::NOW;
use crate::state::State;
use crate::view::View;
use crate::world::{Fate, World};
use domain::actor::Actor;
use domain::change::{Change, Kind};
use domain::generate::{generate, shed};
use domain::id::{ChangeId, SubmissionId};
use domain::item::Item;
use domain::land::Stamp;
use domain::submission::Submission;
use domain::work::{Owed, Work, WorkId};
use domain::write::Write;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};
use store::{Key, Record, Stored, Table};

/// A generation.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Worker {
    /// Not running.
    Idle,
    /// It was told of a submission as it was then.
    Woken(Held),
    /// It has a work record, and of each item's share in it what it has read; none of what is done.
    Carrying(Held, Held, Vec<Option<Arc<Part>>>),
}

/// A record that is held, at whatever moment it was read.
#[derive(Clone)]
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

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.record.key(), f)
    }
}

/// What is owed to one item, and what was read for it.
pub(crate) struct Part {
    owed: Vec<Owed>,
    view: View,
    tried: OnceLock<Tried>,
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        self.view == other.view && self.owed == other.owed
    }
}

impl Hash for Part {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.view.hash(state);
        self.owed.iter().for_each(|owed| owed.id.hash(state));
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").finish_non_exhaustive()
    }
}

/// What comes of a try.
enum Tried {
    /// All of it is there.
    Exists,
    /// What was read does not fit together.
    Misfit,
    /// This is to be written, and then it is to be tried again.
    Sheds(Vec<Write>),
    /// This is to be written.
    Writes(Vec<Write>),
}

/// What a generation can do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Move {
    /// It is told of a submission.
    Wake(SubmissionId),
    /// It takes a work record up.
    Take(WorkId),
    /// A row of what it has read for an item is of a later moment.
    Later(usize, usize),
    /// It generates what is owed to an item.
    Carry(usize, Fate),
    /// It removes the record and counts it.
    Finish(Fate),
    /// It dies.
    Die,
}

impl Worker {
    /// What it can do.
    pub(crate) fn moves(&self, world: &World, state: &State) -> Vec<Move> {
        let fates = state.fates();
        let mut moves = Vec::new();
        match self {
            Self::Idle => {
                let owing = state.table.submissions().filter(|submission| submission.work_left > 0);
                moves.extend(owing.map(|submission| Move::Wake(submission.id)));
            }
            Self::Woken(submission) => {
                moves.extend(submission.works(&state.table).map(Move::Take));
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

/// Lets worker `n` do one thing.
pub(crate) fn step(world: &World, state: &mut State, n: usize, next: Move) -> Option<()> {
    let worker = match (state.workers.get(n)?.clone(), next) {
        (Worker::Idle, Move::Wake(id)) => Worker::Woken(held(&state.table, &Key::Submission(id))?),
        (Worker::Woken(submission), Move::Take(id)) => {
            let work = held(&state.table, &Key::Work(id))?;
            let parts = parts(&state.table, work.work()?);
            Worker::Carrying(submission, work, parts)
        }
        (Worker::Carrying(submission, work, mut parts), Move::Later(part, row)) => {
            let slot = parts.get_mut(part)?;
            let before = slot.as_ref()?;
            *slot = Some(Part::new(before.owed.clone(), before.view.later(&state.table, row)));
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

    /// The work records of the submission that are there.
    fn works<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = WorkId> + 'a {
        let of = self.submission().map(|submission| (submission.id, submission.staging));
        table.records().filter_map(move |record| match record {
            Record::Work(work) if Some((work.id.submission, work.id.staging)) == of => Some(work.id),
            _ => None,
        })
    }
}

fn parts(table: &Table, work: &Work) -> Vec<Option<Arc<Part>>> {
    let of_item = |owed: &[Owed]| {
        let named = owed.iter().flat_map(|owed| std::iter::once(owed.id).chain(owed.cause));
        let item = owed.iter().take(1).map(|owed| Key::Item(owed.item));
        // A cause is most often owed in the same record.
        let mut changes: Vec<ChangeId> = named.collect();
        changes.sort_unstable();
        changes.dedup();
        Some(Part::new(owed.to_vec(), View::of(table, changes.into_iter().map(Key::Change).chain(item))))
    };
    work.entries.chunk_by(|a, b| a.item == b.item).map(of_item).collect()
}

impl Part {
    fn new(owed: Vec<Owed>, view: View) -> Arc<Self> {
        Arc::new(Self { owed, view, tried: OnceLock::new() })
    }

    fn tried(&self, world: &World, submission: &Submission, work: &Work) -> &Tried {
        self.tried.get_or_init(|| self.try_it(world, submission, work))
    }

    fn try_it(&self, world: &World, submission: &Submission, work: &Work) -> Tried {
        let changes: BTreeMap<ChangeId, Change> = self.view.records().filter_map(change).collect();
        let found: Vec<&Change> = self.owed.iter().filter_map(|owed| changes.get(&owed.id)).collect();
        let same = found.iter().zip(&self.owed).all(|(change, owed)| {
            (change.id, change.item, change.owner.id, change.kind, change.submission)
                == (owed.id, owed.item, owed.owner.id, owed.kind, submission.id)
        });
        match found.len() {
            0 => {}
            n if n == self.owed.len() && same => return Tried::Exists,
            _ => return Tried::Misfit,
        }
        let item =
            self.view.records().find_map(|r| if let Record::Item(item) = r { Some(item) } else { None });
        let item =
            item.map(|item| if world.knows_sequence { item.clone() } else { forgetful(item, &self.owed) });
        let stamp = Stamp { by: Actor::System, request: work.id.to_string(), now: NOW };
        match generate(&self.owed, submission, item.as_ref(), &changes, &stamp) {
            Ok(generated) => match shed(&generated.writes, item.as_ref(), world.config.landing, NOW) {
                Some(writes) => Tried::Sheds(writes),
                None => Tried::Writes(generated.writes),
            },
            Err(_) => Tried::Misfit,
        }
    }
}

fn change(record: &Record) -> Option<(ChangeId, Change)> {
    if let Record::Change(change) = record { Some((change.id, change.clone())) } else { None }
}

/// The item as if nothing newer had ever landed for the owners of what is generated.
fn forgetful(item: &Item, owed: &[Owed]) -> Item {
    let mut item = item.clone();
    for owed in owed.iter().filter(|owed| owed.kind != Kind::Direct) {
        if let Some(stack) = item.stacks.get_mut(&owed.owner.id) {
            (stack.sequence, stack.attempt) = (0, 0);
        }
    }
    item
}

/// One try; what is left of it when it has to be tried again on what is stored then.
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
            // What is in excess is closed: it goes on with what is stored then.
            if world.answered(state, writes, fate) {
                return Some(Part::new(part.owed.clone(), part.view.again(&state.table)));
            }
            false
        }
        Tried::Writes(writes) => world.answered(state, writes, fate),
    };
    if is_done {
        return None;
    }
    let again = part.view.again(&state.table);
    if again == part.view && fate == Fate::Answered {
        state.broken = Some("I23: work can never be carried out");
    }
    Some(Part::new(part.owed.clone(), again))
}

fn finish(
    world: &World,
    state: &mut State,
    submission: Held,
    work: Held,
    parts: Vec<Option<Arc<Part>>>,
    fate: Fate,
) -> Option<Worker> {
    let (_, writes) = submission.submission()?.without(work.work()?, NOW);
    if world.answered(state, &writes, fate) {
        return Some(Worker::Idle);
    }
    // In this order: the record goes with its count, so a count that is gone leaves no record to be found.
    let counted = held(&state.table, &Key::Submission(submission.submission()?.id))?;
    if state.table.get(&Key::Work(work.work()?.id)).is_none() {
        return Some(Worker::Idle);
    }
    if counted.submission()?.work_left == 0 {
        state.broken = Some("I11: a submission counts no work and has some");
    }
    Some(Worker::Carrying(counted, work, parts))
}
