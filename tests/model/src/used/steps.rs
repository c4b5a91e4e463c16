//! The steps of the submitters, the landings and the ends of targets, as a model of Stateright.

use super::configs::{Missing, OWNER, TEAMS, Used};
use super::display::Named;
use super::state::{BEYOND_MAX, Choice, Plan, Row, Since, State, Use};
use stateright::{Model, Property};

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A submitter of the targets' team reads the application.
    Read(usize),
    /// A submitter reads the items, and plans.
    Plan(usize, Choice),
    Commit(usize),
    /// A condition of the commit fails.
    Fail(usize),
    /// The staged submission of a team lands.
    Land(usize),
    /// The removal of a target is complete.
    End(usize),
}

impl Model for Used {
    type State = State;
    type Action = Named;

    fn init_states(&self) -> Vec<State> {
        vec![State::FIRST]
    }

    fn actions(&self, state: &State, named: &mut Vec<Named>) {
        if state.broken.is_some() {
            return;
        }
        let mut steps = Vec::new();
        for submitter in 0..state.plans.len() {
            self.submitter_steps(state, submitter, &mut steps);
        }
        steps.extend((0..TEAMS).filter(|team| state.landings[*team].is_some()).map(Step::Land));
        let has_end = |target: &usize| state.rows[*target].is_some_and(|row| !row.is_declared);
        steps.extend((0..2).filter(has_end).map(Step::End));
        named.extend(steps.into_iter().map(|step| self.named(state, step)));
    }

    fn next_state(&self, before: &State, named: Named) -> Option<State> {
        let mut state = *before;
        match named.step {
            Step::Read(submitter) => match &mut state.plans[submitter] {
                Some(Plan::Ready(ready)) => ready.is_application_read = true,
                plan => *plan = Some(Plan::Read(Since::default())),
            },
            Step::Plan(submitter, choice) => {
                let mut ready = self.plan(&state, submitter, choice)?;
                let is_new = state.plans[submitter].is_none_or(|plan| plan == Plan::Read(Since::default()));
                if let Some(Plan::Read(since)) = state.plans[submitter] {
                    ready.since = since;
                }
                state.plans[submitter] = Some(Plan::Ready(ready));
                if is_new && ready.is_application_read && !self.holds(&state, submitter, &ready) {
                    state.set_broken("R71: a commit fails without another writer");
                }
            }
            Step::Commit(submitter) => self.commit(&mut state, submitter),
            Step::Fail(submitter) => state.plans[submitter] = None,
            Step::Land(team) => land(&mut state, team),
            Step::End(target) => end(&mut state, target),
        }
        state.broken = state.broken.or_else(|| state.violation());
        state.beyond = state.beyond.min(BEYOND_MAX);
        Some(if self.is_symmetric { self.representative(state) } else { state })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every rule holds", |_, state: &State| state.broken.is_none())]
    }
}

impl Used {
    fn named(&self, state: &State, step: Step) -> Named {
        let team_of = |submitter: usize| self.config.submitters[submitter].unwrap_or(OWNER);
        let (team, submitter, targets) = match step {
            Step::Read(submitter) | Step::Commit(submitter) | Step::Fail(submitter) => {
                (team_of(submitter), Some(submitter), None)
            }
            Step::Plan(submitter, choice) => (team_of(submitter), Some(submitter), Some(choice.targets)),
            Step::Land(team) => (team, None, None),
            Step::End(_) => (OWNER, None, None),
        };
        let has_two = self.config.submitters[0] == self.config.submitters[1];
        let number = submitter.filter(|_| has_two).map(|submitter| submitter + 1);
        let is_changed = |targets: [bool; 2], target: usize| targets[target] != state.is_declared(target);
        let changes = [0, 1].map(|target| {
            targets.filter(|targets| is_changed(*targets, target)).map(|targets| targets[target])
        });
        Named { step, team, number, changes }
    }

    fn submitter_steps(&self, state: &State, submitter: usize, steps: &mut Vec<Step>) {
        let Some(team) = self.config.submitters[submitter] else { return };
        let reads_first = team == OWNER && !self.lacks(Missing::ReadOrder);
        match state.plans[submitter] {
            Some(Plan::Ready(ready)) if !ready.is_application_read => steps.push(Step::Read(submitter)),
            Some(Plan::Ready(ready)) => {
                let commits = self.holds(state, submitter, &ready);
                steps.push(if commits { Step::Commit(submitter) } else { Step::Fail(submitter) });
            }
            None if state.landings[team].is_some() => {}
            None if reads_first => steps.push(Step::Read(submitter)),
            None | Some(Plan::Read(_)) => {
                let choices = self.choices(state, team).into_iter();
                let choices = choices.filter(|choice| self.plan(state, submitter, *choice).is_some());
                steps.extend(choices.map(|choice| Step::Plan(submitter, choice)));
            }
        }
    }

    /// Returns everything that a team may ask for.
    fn choices(&self, state: &State, team: usize) -> Vec<Choice> {
        const ALL: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];
        let current = [0, 1].map(|target| state.is_declared(target));
        let targets = ALL.into_iter().filter(|targets| team == OWNER || *targets == current);
        let of_user = |user: usize| {
            let own = ALL.into_iter().filter(move |_| self.config.users[user] == team);
            [None].into_iter().chain(own.map(Some)).collect::<Vec<_>>()
        };
        let (first, second) = (of_user(0), of_user(1));
        let mut all = Vec::new();
        for targets in targets {
            for users in first.iter().flat_map(|first| second.iter().map(|second| [*first, *second])) {
                for (is_confirmed, is_staged) in [(false, false), (false, true), (true, false), (true, true)]
                {
                    all.push(Choice { targets, users, is_confirmed, is_staged });
                }
            }
        }
        all
    }
}

fn land(state: &mut State, team: usize) {
    let Some(landing) = state.landings[team].take() else { return };
    for target in (0..2).filter(|target| landing.writes[*target]) {
        let is_declared = landing.targets[target];
        if is_declared || state.rows[target].is_some() {
            let uses = state.rows[target].map_or(0, |row| row.uses) + landing.added[target];
            state.put(target, is_declared, uses);
        }
    }
}

fn end(state: &mut State, target: usize) {
    let Some(row) = state.rows[target].take() else { return };
    state.beyond += i8::try_from(row.uses).unwrap_or(i8::MAX);
    for user in &mut state.users {
        if user[target].is_counted() {
            user[target] = Use::Stale;
        }
    }
    for plan in state.plans.iter_mut().flatten() {
        if let Plan::Ready(ready) = plan {
            // A landing counts added uses in the row of that moment.
            let needs_row = ready.released[target] > 0 || (ready.added[target] > 0 && !ready.writes[target]);
            ready.has_gone[target] |= needs_row && !ready.writes_row(target);
        }
    }
    state.move_row(target);
}

impl State {
    /// Writes the row of a target at the commit or the landing of a submission.
    pub(super) fn put(&mut self, target: usize, is_declared: bool, uses: u8) {
        self.rows[target] = Some(Row { is_declared, uses });
        for user in self.users.iter_mut().filter(|_| is_declared) {
            if matches!(user[target], Use::Confirmed | Use::Ahead) {
                user[target] = Use::Counted;
            }
        }
        self.move_row(target);
    }

    /// Gives a target another revision.
    pub(super) fn move_row(&mut self, target: usize) {
        for plan in self.plans.iter_mut().flatten() {
            if let Plan::Ready(ready) = plan {
                ready.has_moved[target] |= ready.writes_row(target);
            }
        }
    }
}
