//! The rules under test: the plan of a submission, the conditions of its commit, and its effects.

use super::configs::{Missing, OWNER, Used};
use super::state::{Choice, Landing, Plan, Ready, Since, State, Use};

/// The uses that a submission adds and releases.
struct Uses {
    /// By user and target.
    adds: [[bool; 2]; 2],
    added: [u8; 2],
    released: [u8; 2],
}

/// Returns the uses of a submission. It is `None` if a user is unchanged, or if its reference is dangling.
fn uses(state: &State, team: usize, choice: &Choice) -> Option<Uses> {
    let mut uses = Uses { adds: [[false; 2]; 2], added: [0; 2], released: [0; 2] };
    for (user, wanted) in choice.users.iter().enumerate() {
        let Some(wanted) = wanted else { continue };
        let current = state.users[user];
        let is_equal =
            |target: usize| wanted[target] == (current[target] != Use::None) && current[target] != Use::Stale;
        if (0..2).all(is_equal) {
            return None;
        }
        for target in 0..2 {
            let is_added = wanted[target] && !current[target].is_counted();
            let waits = is_added && team != OWNER && state.landings[OWNER].is_some();
            if waits || (wanted[target] && !choice.targets[target]) {
                return None;
            }
            uses.adds[user][target] = is_added;
            uses.added[target] += u8::from(is_added);
            uses.released[target] += u8::from(!wanted[target] && current[target].is_counted());
        }
    }
    Some(uses)
}

impl Used {
    /// Returns the plan of a submission. It is `None` if nothing changes, or if the submission violates a rule.
    pub(crate) fn plan(&self, state: &State, submitter: usize, choice: Choice) -> Option<Ready> {
        let team = self.config.submitters[submitter]?;
        let Uses { adds, added, released } = uses(state, team, &choice)?;
        let is_changed = choice.users.iter().any(Option::is_some);
        let writes = [0, 1].map(|target| choice.targets[target] != state.is_declared(target));
        let in_use = [0, 1].map(|target| {
            let removes = writes[target] && !choice.targets[target];
            removes && state.rows[target].is_some_and(|row| row.uses > released[target])
        });
        let confirmed = state.users.map(|user| {
            [0, 1].map(|target| choice.is_confirmed && in_use[target] && user[target] == Use::Counted)
        });
        let is_accepted =
            (is_changed || writes.contains(&true)) && in_use.contains(&true) == choice.is_confirmed;
        is_accepted.then(|| {
            let read = |target: usize| {
                let is_written = writes[target] && !choice.is_staged;
                state.rows[target].filter(|_| is_written).map_or(0, |row| row.uses)
            };
            let targets = if team == OWNER { choice.targets } else { [false; 2] };
            Ready {
                choice: Choice { targets, ..choice },
                writes,
                added,
                released,
                adds,
                confirmed,
                read: [0, 1].map(read),
                is_application_read: team != OWNER || !self.lacks(Missing::ReadOrder),
                since: Since::default(),
                has_moved: [false; 2],
                has_gone: [false; 2],
            }
        })
    }

    /// Returns whether the submission's own write of a target counts the added uses.
    fn counts_itself(&self, ready: &Ready, target: usize) -> bool {
        ready.writes[target] && ready.choice.targets[target] && !self.lacks(Missing::OwnWrite)
    }

    /// Returns whether all conditions of a commit hold.
    pub(crate) fn holds(&self, state: &State, submitter: usize, ready: &Ready) -> bool {
        let Some(team) = self.config.submitters[submitter] else { return false };
        let compares = ready.changes_targets() && !self.lacks(Missing::Comparison);
        let is_same = if self.lacks(Missing::Growth) { ready.since.sum == 0 } else { !ready.since.has_grown };
        let adds = (0..2).any(|target| self.fences_addition(ready, target));
        let is_in_flight = team != OWNER && adds && state.landings[OWNER].is_some();
        state.landings[team].is_none()
            && (!ready.since.has_head_moved || self.lacks(Missing::Submissions))
            && (is_same || !compares)
            && (!is_in_flight || self.lacks(Missing::InFlight))
            && (0..2).all(|target| self.holds_for(state, ready, target))
    }

    /// Returns whether the added uses of a target have conditions.
    fn fences_addition(&self, ready: &Ready, target: usize) -> bool {
        let balance = if self.lacks(Missing::Additions) { ready.released[target] } else { 0 };
        ready.added[target] > balance
    }

    /// Returns whether the conditions on the row of a target hold.
    fn holds_for(&self, state: &State, ready: &Ready, target: usize) -> bool {
        let row = state.rows[target].filter(|_| !ready.has_gone[target]);
        let is_declared = row.is_some_and(|row| row.is_declared);
        if ready.writes_row(target) {
            // A transaction has one write for each row.
            let is_single = !self.lacks(Missing::OwnWrite) || !ready.changes_uses(target);
            return is_single && (!ready.has_moved[target] || self.lacks(Missing::Revision));
        }
        let adds = self.fences_addition(ready, target) && !self.counts_itself(ready, target);
        let is_balanced = self.lacks(Missing::Additions) && ready.added[target] == ready.released[target];
        let is_released = ready.released[target] > 0 && !is_balanced;
        let is_alive = row.is_some() || self.lacks(Missing::LiveRow);
        (!adds || is_declared || self.lacks(Missing::Declared)) && (!is_released || adds || is_alive)
    }

    /// Commits a submission whose conditions hold.
    pub(crate) fn commit(&self, state: &mut State, submitter: usize) {
        let (Some(team), Some(Plan::Ready(ready))) =
            (self.config.submitters[submitter], state.plans[submitter].take())
        else {
            return;
        };
        let sum = state.sum();
        for (user, targets) in ready.confirmed.iter().enumerate() {
            for (of, is_confirmed) in state.users[user].iter_mut().zip(targets) {
                *of = if *is_confirmed && *of == Use::Counted { Use::Confirmed } else { *of };
            }
        }
        self.change_users(state, &ready);
        for target in 0..2 {
            self.write_target(state, &ready, target);
        }
        self.count(state, &ready, sum);
        for (other, plan) in state.plans.iter_mut().enumerate() {
            let is_own = self.config.submitters[other] == Some(team);
            match plan {
                Some(Plan::Read(since) | Plan::Ready(Ready { since, .. })) => since.has_head_moved |= is_own,
                None => {}
            }
        }
        if ready.choice.is_staged {
            let added = self.added_ahead(&ready);
            state.landings[team] =
                Some(Landing { targets: ready.choice.targets, writes: ready.writes, added });
        }
    }

    /// Returns the uses that the landing of a submission adds to each target.
    fn added_ahead(&self, ready: &Ready) -> [u8; 2] {
        [0, 1].map(|target| {
            let is_ahead = ready.choice.is_staged && self.counts_itself(ready, target);
            if is_ahead { ready.added[target] } else { 0 }
        })
    }

    fn change_users(&self, state: &mut State, ready: &Ready) {
        for (user, wanted) in ready.choice.users.iter().enumerate() {
            let Some(wanted) = wanted else { continue };
            for (target, of) in state.users[user].iter_mut().enumerate() {
                let is_ahead = ready.choice.is_staged && self.counts_itself(ready, target);
                // A reference that stays has no conditions, so its target may be gone.
                *of = match wanted[target] {
                    false => Use::None,
                    true if !ready.adds[user][target] => *of,
                    true if is_ahead => Use::Ahead,
                    true => Use::Counted,
                };
            }
        }
    }

    /// Writes a target at the commit.
    fn write_target(&self, state: &mut State, ready: &Ready, target: usize) {
        let (added, released) = (ready.added[target], ready.released[target]);
        if ready.writes_row(target) {
            if ready.choice.targets[target] || state.rows[target].is_some() {
                let current = state.rows[target].map_or(0, |row| row.uses);
                let read = if self.lacks(Missing::WholeRow) { current } else { ready.read[target] };
                let uses = (read + added).saturating_sub(released);
                state.put(target, ready.choice.targets[target], uses);
            }
            return;
        }
        let added = if self.counts_itself(ready, target) { 0 } else { added };
        if added == 0 && released == 0 {
            return;
        }
        match &mut state.rows[target] {
            Some(row) if !ready.has_gone[target] => row.uses = (row.uses + added).saturating_sub(released),
            _ if added == released => {}
            _ => state.set_broken("R71: a use is counted in a row that is gone"),
        }
        state.move_row(target);
    }

    /// Adds the uses of a commit to the counter of the application.
    fn count(&self, state: &mut State, ready: &Ready, sum_before: i8) {
        let fenced = (0..2).filter(|target| self.fences_addition(ready, *target));
        let added: u8 = fenced.map(|target| ready.added[target]).sum();
        let counted = if self.lacks(Missing::Number) { added.min(1) } else { added };
        let grown = state.sum() - sum_before;
        let ahead: u8 = self.added_ahead(ready).into_iter().sum();
        let [counted, ahead] = [counted, ahead].map(|count| i8::try_from(count).unwrap_or(i8::MAX));
        state.beyond += counted - grown - ahead;
        for plan in state.plans.iter_mut().flatten() {
            let since = match plan {
                Plan::Read(since) => since,
                Plan::Ready(ready) if ready.changes_targets() && ready.is_application_read => {
                    &mut ready.since
                }
                Plan::Ready(_) => continue,
            };
            since.has_grown |= added > 0;
            since.sum += if self.lacks(Missing::Growth) { grown } else { 0 };
        }
    }
}
