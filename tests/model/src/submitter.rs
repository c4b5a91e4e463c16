//! A submitter, step by step as `functions/submit` does it: every request to the table is a step of its own.

use crate::clearing::Clearing;
use crate::given::{APPLICATIONS_MAX, ITEMS_MAX, consumer};
use crate::planned::{Planned, Read};
use crate::state::State;
use crate::view::View;
use crate::world::{Fate, World};
use domain::id::{ApplicationId, ItemId, SubmissionId};
use domain::plan::{self, Stored};
use domain::staging::{Staging, StagingState};
use domain::write::Write;
use std::hash::Hash;
use std::sync::Arc;
use store::{Key, Record, Table};

/// How a request has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// It is recorded as this submission.
    Accepted(SubmissionId),
    /// It breaks a rule of the consumer's.
    Refused,
    /// Others were faster each time.
    GaveUp,
    /// The submitter is dead.
    Crashed,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Step {
    /// To read the team.
    Begin,
    /// To look for its own mark, and to read the items.
    Team(View),
    /// To plan and to write.
    Items(Arc<Read>),
    /// To lay out; the staging is begun.
    LayOut(Arc<Read>),
    /// To commit what is laid out.
    Claim(Arc<Read>),
    /// To make the commit impossible, where it is not known to be done.
    Abort(Clearing),
    /// Nothing.
    Done(Outcome),
}

/// A submitter.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) struct Submitter {
    pub(crate) step: Step,
    /// How often it has written in vain.
    pub(crate) attempt: u8,
    /// The number of the submission that it tried to write last.
    pub(crate) attempted: Option<SubmissionId>,
}

impl Submitter {
    pub(crate) const NEW: Self = Self { step: Step::Begin, attempt: 0, attempted: None };

    /// What it has read last, if that may be torn.
    pub(crate) fn view(&self) -> Option<&View> {
        match &self.step {
            Step::Team(view) => Some(view),
            Step::Items(read) => Some(&read.items),
            Step::Begin | Step::LayOut(_) | Step::Claim(_) | Step::Abort(_) | Step::Done(_) => None,
        }
    }

    /// Whether its next step is a transaction, whose answer may be lost.
    pub(crate) fn commits(&self) -> bool {
        matches!(self.step, Step::Items(_) | Step::LayOut(_) | Step::Claim(_))
    }

    /// The same, one record of what it has read at a later moment.
    pub(crate) fn later(&mut self, table: &Table, n: usize) {
        match &self.step {
            Step::Team(view) => self.step = Step::Team(view.later(table, n)),
            Step::Items(read) => self.step = Step::Items(Arc::new(read.with(read.items.later(table, n)))),
            Step::Begin | Step::LayOut(_) | Step::Claim(_) | Step::Abort(_) | Step::Done(_) => {}
        }
    }
}

/// Takes the next step of the submitter of command `n`; none when it has nothing to do.
pub(crate) fn step(world: &World, state: &mut State, n: usize, fate: Fate) -> Option<()> {
    let mut submitter = state.submitters.get(n)?.clone();
    submitter.step = match submitter.step.clone() {
        Step::Begin => Step::Team(team_view(world, &state.table, n)),
        Step::Team(view) => read_items(world, state, n, &submitter, &view),
        Step::Items(read) => write(world, state, &mut submitter, &read, fate),
        Step::LayOut(read) => lay_out(world, state, &mut submitter, &read, fate),
        Step::Claim(read) => claim(world, state, &mut submitter, &read, fate),
        Step::Abort(clearing) => {
            clearing.abort(world, Arc::make_mut(&mut state.table));
            Step::Begin
        }
        Step::Done(_) => return None,
    };
    *state.submitters.get_mut(n)? = submitter;
    Some(())
}

fn team_view(world: &World, table: &Table, n: usize) -> View {
    let team = consumer().id;
    let applications =
        (1..=APPLICATIONS_MAX).filter_map(|n| ApplicationId::new(team, n)).map(Key::Application);
    let key = world.command(n).key.map(|key| Key::Remembered(team, key.into()));
    View::of(table, [Key::Team(team), Key::Head(team)].into_iter().chain(applications).chain(key))
}

/// The team as it was read.
pub(crate) fn stored(view: &View) -> Option<Stored> {
    let (mut team, mut head, mut applications) = (None, None, Vec::new());
    for record in view.records() {
        match record {
            Record::Team(found) => team = Some(found.clone()),
            Record::Head(found) => head = Some(*found),
            Record::Application(found) => applications.push(found.clone()),
            _ => {}
        }
    }
    Some(Stored { team: team?, head: head?, applications })
}

/// Looks for what this request has written already; otherwise reads the items that a plan has to know.
fn read_items(world: &World, state: &mut State, n: usize, submitter: &Submitter, team: &View) -> Step {
    if let Some(earlier) = earlier(world, state, n, submitter, team) {
        return Step::Done(Outcome::Accepted(earlier));
    }
    if submitter.attempt >= world.config.attempts {
        return Step::Done(Outcome::GaveUp);
    }
    let Some(stored) = stored(team) else { return Step::Begin };
    if stored.head.in_flight.is_some() {
        return Step::Begin;
    }
    let to_read = plan::to_read(&stored, &world.prepared(n).declaration, world.command(n).scope);
    let of_application = |id: &ApplicationId| {
        (1..=ITEMS_MAX).filter_map(|n| ItemId::new(*id, n)).map(Key::Item).collect::<Vec<_>>()
    };
    let items = View::of(&state.table, to_read.iter().flat_map(of_application));
    Step::Items(Arc::new(Read::new(n, submitter.attempt, team.clone(), to_read, items)))
}

/// The submission that the request is recorded as already.
fn earlier(
    world: &World,
    state: &mut State,
    n: usize,
    submitter: &Submitter,
    team: &View,
) -> Option<SubmissionId> {
    let tried = submitter.attempted.and_then(|id| state.table.submission(id));
    if let Some(submission) = tried.filter(|tried| tried.request == world.prepared(n).request)
        && world.looks_for_own_mark
    {
        return Some(submission.id);
    }
    let remembered = team.records().find_map(|record| {
        if let Record::Remembered(_, remembered) = record { Some(remembered.submission) } else { None }
    })?;
    if state.table.submission(remembered).is_none() {
        state.broken = Some("I20: what an idempotency key led to is missing");
    }
    Some(remembered)
}

fn write(world: &World, state: &mut State, submitter: &mut Submitter, read: &Arc<Read>, fate: Fate) -> Step {
    let ready = match read.planned(world) {
        Planned::Again => return Step::Begin,
        Planned::Refused => return Step::Done(Outcome::Refused),
        Planned::Ready(ready) => ready,
    };
    submitter.attempted = Some(ready.id);
    let Some(staged) = &ready.staged else {
        let written = world.answered(state, &ready.at_once, fate);
        return if written {
            Step::Done(Outcome::Accepted(ready.id))
        } else {
            submitter.attempt += 1;
            Step::Begin
        };
    };
    Arc::make_mut(&mut state.table).put(Record::Staging(staged.staging));
    Step::LayOut(Arc::clone(read))
}

fn lay_out(
    world: &World,
    state: &mut State,
    submitter: &mut Submitter,
    read: &Arc<Read>,
    fate: Fate,
) -> Step {
    let Some((staged, declarations)) = read.laid_out() else { return Step::Begin };
    let Staging { id: staging, .. } = staged.staging;
    let (team, open) = (staged.staging.team(), StagingState::Open);
    let mut writes = vec![Write::StagingStays { team, staging, state: open }];
    writes.extend(staged.works.iter().cloned().map(Write::Work));
    if !world.answered(state, &writes, fate) {
        return given_up(submitter, staged.staging);
    }
    // They are the same whoever writes them: they have no conditions.
    let table = Arc::make_mut(&mut state.table);
    for declaration in declarations {
        table.put(declaration.clone());
    }
    Step::Claim(Arc::clone(read))
}

fn claim(world: &World, state: &mut State, submitter: &mut Submitter, read: &Arc<Read>, fate: Fate) -> Step {
    let Some((staged, _)) = read.laid_out() else { return Step::Begin };
    if world.answered(state, &staged.commit, fate) {
        return Step::Done(Outcome::Accepted(staged.submission.id));
    }
    given_up(submitter, staged.staging)
}

/// Nobody knows whether it is written, or it is not.
fn given_up(submitter: &mut Submitter, staging: Staging) -> Step {
    submitter.attempt += 1;
    Step::Abort(Clearing::of(staging))
}
