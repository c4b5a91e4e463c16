//! A submitter in the steps of `functions/submit`. Each request to the table is a separate step.

use crate::ablation::Missing;
use crate::clearing::Clearing;
use crate::given::{APPLICATIONS_MAX, ITEMS_MAX, consumer};
use crate::planned::{Planned, Read, Shown};
use crate::state::State;
use crate::view::View;
use crate::world::{Fate, World};
use domain::base::id::ApplicationId;
use domain::model::staging::{Staging, StagingState};
use domain::model::write::Write;
use domain::rules::plan;
use domain::{ItemId, SubmissionId};
use std::hash::Hash;
use std::sync::Arc;
use store::{Key, Record, Table, team_of};

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// The table records it as this submission.
    Accepted(SubmissionId),
    /// The declaration violates a rule.
    Refused,
    /// The effects differ from those of the preview.
    PlanChanged,
    /// Other writers were faster in every attempt.
    GaveUp,
    /// The submitter died.
    Crashed,
}

/// The next step of a submitter.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Step {
    /// Reads the team.
    Begin,
    /// Searches for its own request id, then reads the items.
    Team(View),
    /// Plans, then remembers the preview or writes.
    Items(Arc<Read>),
    /// Writes the work records of a new staging.
    LayOut(Arc<Read>),
    /// Commits the staging.
    Claim(Arc<Read>),
    /// Prevents the commit of the staging, because the answer was an error or got lost.
    Abort(Clearing),
    Done(Outcome),
}

#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) struct Submitter {
    pub(crate) step: Step,
    /// Number of failed writes.
    pub(crate) attempt: u8,
    /// Id of the last attempted submission, for the search for the own request id.
    pub(crate) attempted: Option<SubmissionId>,
    /// The preview of a command with one.
    pub(crate) shown: Option<Shown>,
}

impl Submitter {
    pub(crate) const NEW: Self = Self { step: Step::Begin, attempt: 0, attempted: None, shown: None };

    /// Returns the last read, if it can be torn.
    pub(crate) fn view(&self) -> Option<&View> {
        match &self.step {
            Step::Team(view) => Some(view),
            Step::Items(read) => Some(&read.items),
            Step::Begin | Step::LayOut(_) | Step::Claim(_) | Step::Abort(_) | Step::Done(_) => None,
        }
    }

    /// Returns whether the next step is a transaction. Its answer can get lost.
    pub(crate) fn commits(&self) -> bool {
        matches!(self.step, Step::Items(_) | Step::LayOut(_) | Step::Claim(_))
    }

    /// Reads one record of the last read again, at a later moment.
    pub(crate) fn later(&mut self, table: &Table, n: usize) {
        match &self.step {
            Step::Team(view) => self.step = Step::Team(view.later(table, n)),
            Step::Items(read) => self.step = Step::Items(Arc::new(read.with(read.items.later(table, n)))),
            Step::Begin | Step::LayOut(_) | Step::Claim(_) | Step::Abort(_) | Step::Done(_) => {}
        }
    }
}

/// Executes the next step of the submitter of command `n`. Returns `None` after its end.
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
        (1..=APPLICATIONS_MAX).filter_map(|n| ApplicationId::new(team, n)).map(Key::application);
    let key = world.command(n).key.map(|key| Key::IdempotencyRecord(team, key.into()));
    View::of(table, [Key::Team(team), Key::Head(team)].into_iter().chain(applications).chain(key))
}

/// Searches for an earlier result of this request. Without one, reads the items for a plan.
fn read_items(world: &World, state: &mut State, n: usize, submitter: &Submitter, team: &View) -> Step {
    if let Some(earlier) = earlier(world, state, n, submitter, team) {
        return Step::Done(Outcome::Accepted(earlier));
    }
    if submitter.attempt >= world.config.attempts {
        return Step::Done(Outcome::GaveUp);
    }
    let Some(stored) = team_of(team.records()) else { return Step::Begin };
    // While a staged submission holds the head, no other submission of the team can be planned
    // (docs/explanation/staging.md).
    if stored.head.in_flight.is_some() {
        return Step::Begin;
    }
    let declaration = &world.prepared(n).declaration;
    let to_read = plan::to_read(&stored, declaration, world.command(n).scope);
    let to_ask = plan::to_ask(&stored, declaration, world.config.reuse_from);
    let of_application = |id: &ApplicationId| {
        (1..=ITEMS_MAX).filter_map(|n| ItemId::new(*id, n)).map(Key::Item).collect::<Vec<_>>()
    };
    let candidates = to_ask.iter().filter(|id| !to_read.contains(id));
    let items = View::of(&state.table, to_read.iter().chain(candidates).flat_map(of_application));
    Step::Items(Arc::new(Read::new(n, submitter.attempt, team.clone(), (to_read, to_ask), items)))
}

/// Returns the recorded submission of this request, by its request id or its idempotency key.
fn earlier(
    world: &World,
    state: &mut State,
    n: usize,
    submitter: &Submitter,
    team: &View,
) -> Option<SubmissionId> {
    let tried = submitter.attempted.and_then(|id| state.table.submission(id));
    if let Some(submission) = tried.filter(|tried| tried.request == world.prepared(n).request)
        && world.has(Missing::OwnRequestId)
    {
        return Some(submission.id);
    }
    let remembered = team.records().find_map(|record| {
        if let Record::IdempotencyRecord(_, remembered) = record { Some(remembered.submission) } else { None }
    })?;
    if state.table.submission(remembered).is_none() {
        state.broken = Some("I20: what an idempotency key led to is missing");
    }
    Some(remembered)
}

fn write(world: &World, state: &mut State, submitter: &mut Submitter, read: &Arc<Read>, fate: Fate) -> Step {
    let ready = match read.planned(world) {
        Planned::Retry => return Step::Begin,
        Planned::Refused => return Step::Done(Outcome::Refused),
        Planned::Ready(ready) => ready,
    };
    if world.command(read.command).previewed {
        let Some(shown) = submitter.shown else {
            state.broken = world.distinguishes(ready.shown);
            submitter.shown = Some(ready.shown);
            return Step::Begin;
        };
        if world.has(Missing::PlanToken) && shown.token != ready.shown.token {
            let is_same = shown.covered == ready.shown.covered;
            state.broken =
                is_same.then_some("R34: a plan was refused, and nothing that it covers has changed");
            return Step::Done(Outcome::PlanChanged);
        }
        let differs = shown.effect != ready.shown.effect;
        state.broken = differs.then_some("R34: the effects are not those of the preview");
    }
    submitter.attempted = Some(ready.id);
    let Some(staged) = &ready.staged else {
        if world.answered(state, &ready.at_once, fate) {
            return Step::Done(Outcome::Accepted(ready.id));
        }
        submitter.attempt += 1;
        return Step::Begin;
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
    let Some(staged) = read.laid_out() else { return Step::Begin };
    let Staging { id: staging, .. } = staged.staging;
    let (team, open) = (staged.staging.team(), StagingState::Open);
    let mut writes = vec![Write::CheckStaging { team, staging, state: open }];
    writes.extend(staged.works.iter().cloned().map(Write::CreateWork));
    if !world.answered(state, &writes, fate) {
        return given_up(submitter, staged.staging);
    }
    Step::Claim(Arc::clone(read))
}

fn claim(world: &World, state: &mut State, submitter: &mut Submitter, read: &Arc<Read>, fate: Fate) -> Step {
    let Some(staged) = read.laid_out() else { return Step::Begin };
    if world.answered(state, &staged.commit, fate) {
        return Step::Done(Outcome::Accepted(staged.submission.id));
    }
    given_up(submitter, staged.staging)
}

/// Continues after a write that failed or lost its answer: prevents the commit, then plans again.
fn given_up(submitter: &mut Submitter, staging: Staging) -> Step {
    submitter.attempt += 1;
    Step::Abort(Clearing::of(staging))
}
