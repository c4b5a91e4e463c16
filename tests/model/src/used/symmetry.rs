//! Symmetry: one state represents all states with other names, and with plans that have to fail.

use super::configs::{Missing, Used};
use super::state::{Plan, Ready, State};
use crate::state::digest;

impl Used {
    /// Returns the representative of the states that are equal up to names.
    pub(crate) fn representative(&self, mut state: State) -> State {
        if self.lacks(Missing::Revision) {
            with_ready(&mut state, |ready| ready.has_moved = [false; 2]);
        }
        if self.lacks(Missing::WholeRow) {
            with_ready(&mut state, |ready| ready.read = [0; 2]);
        }
        for plan in &mut state.plans {
            *plan = plan.filter(|plan| !must_fail(plan));
        }
        let has_equal_users = self.config.users[0] == self.config.users[1];
        let has_equal_submitters = self.config.submitters[0] == self.config.submitters[1];
        let mut all = vec![state, swapped_targets(state)];
        if has_equal_users {
            all.extend(all.clone().into_iter().map(swapped_users));
        }
        if has_equal_submitters {
            let swapped = |state: State| {
                let [first, second, third] = state.plans;
                State { plans: [second, first, third], ..state }
            };
            all.extend(all.clone().into_iter().map(swapped));
        }
        if self.config.submitters == [Some(0), Some(1), Some(2)] {
            all.extend(all.clone().into_iter().map(swapped_teams));
        }
        all.into_iter().min_by_key(digest).unwrap_or(state)
    }
}

/// Returns whether a condition of the plan can hold no more. Then it has the effect of none.
fn must_fail(plan: &Plan) -> bool {
    match plan {
        Plan::Read(since) => since.has_head_moved || since.has_grown,
        Plan::Ready(ready) => {
            let is_over = ready.since.has_grown && ready.changes_targets();
            let is_moved = (ready.has_moved, ready.has_gone) != ([false; 2], [false; 2]);
            ready.since.has_head_moved || is_over || is_moved
        }
    }
}

const fn swapped<T: Copy>([first, second]: [T; 2]) -> [T; 2] {
    [second, first]
}

fn with_ready(state: &mut State, change: impl Fn(&mut Ready)) {
    for plan in state.plans.iter_mut().flatten() {
        if let Plan::Ready(ready) = plan {
            change(ready);
        }
    }
}

fn swapped_targets(mut state: State) -> State {
    state.rows = swapped(state.rows);
    state.users = state.users.map(swapped);
    for landing in state.landings.iter_mut().flatten() {
        landing.targets = swapped(landing.targets);
        landing.writes = swapped(landing.writes);
        landing.added = swapped(landing.added);
    }
    with_ready(&mut state, |ready| {
        ready.choice.targets = swapped(ready.choice.targets);
        ready.choice.users = ready.choice.users.map(|wanted| wanted.map(swapped));
        ready.writes = swapped(ready.writes);
        (ready.added, ready.released) = (swapped(ready.added), swapped(ready.released));
        (ready.adds, ready.confirmed) = (ready.adds.map(swapped), ready.confirmed.map(swapped));
        ready.read = swapped(ready.read);
    });
    state
}

fn swapped_users(mut state: State) -> State {
    state.users = swapped(state.users);
    with_ready(&mut state, |ready| {
        ready.choice.users = swapped(ready.choice.users);
        (ready.adds, ready.confirmed) = (swapped(ready.adds), swapped(ready.confirmed));
    });
    state
}

/// Swaps the two teams with one user each.
fn swapped_teams(state: State) -> State {
    let mut state = swapped_users(state);
    state.plans.swap(1, 2);
    state.landings.swap(1, 2);
    state
}
