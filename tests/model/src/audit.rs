//! Rules for every state: the invariants of the domain, and invariants about the order of requests.

use crate::ending;
use crate::state::State;
use crate::world::World;
use domain::audit::invariant;
use domain::audit::invariant::Snapshot;
use domain::base::id::CHANGE_STRIDE;
use domain::model::submission::Scope;
use domain::rules::visibility::Side;
use domain::{ChangeId, Hash, TeamId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use store::{Record, Table};

/// Number of parts of the memory. Parallel searches rarely need the same part.
const PARTS: u64 = 64;

/// Number of a team without any service, item or share.
const FOREIGN_TEAM: u64 = 1_000;
/// The largest number of a team with a name.
const TEAMS_MAX: u64 = 7;

/// Fingerprints of tables without violations. Most states differ outside of the table, so this saves most audits.
#[derive(Default)]
pub(crate) struct Audited {
    visited: AtomicUsize,
    limit: usize,
    sound: Vec<Mutex<HashSet<u64>>>,
    /// Digest of the final table, by order of commands (I22).
    pub(crate) endings: Mutex<HashMap<u64, u64>>,
    /// Digest of the effect, by plan token (R34).
    pub(crate) effects: Mutex<HashMap<Hash, u64>>,
}

impl Audited {
    /// Creates an empty memory. The search ends after `limit` states.
    pub(crate) fn new(limit: usize) -> Self {
        let sound = (0..PARTS).map(|_| Mutex::default()).collect();
        Self { limit, sound, ..Self::default() }
    }

    /// Returns whether the search has exceeded its limit.
    pub(crate) fn is_over(&self) -> bool {
        self.visited.load(Ordering::Relaxed) > self.limit
    }

    fn is_sound(&self, table: &Table, look: impl FnOnce() -> bool) -> bool {
        let fingerprint = table.fingerprint().0;
        let part = &self.sound[usize::try_from(fingerprint % PARTS).unwrap()];
        let known = || part.lock().unwrap_or_else(PoisonError::into_inner);
        if known().contains(&fingerprint) {
            return true;
        }
        let sound = look();
        if sound {
            known().insert(fingerprint);
        }
        sound
    }
}

/// Returns whether a state violates no rule.
pub(crate) fn holds(world: &World, state: &State) -> bool {
    // The search calls this function once for each state.
    world.audited.visited.fetch_add(1, Ordering::Relaxed);
    state.broken.is_none()
        && world.audited.is_sound(&state.table, || of_table(world, &state.table).is_empty())
        && (!state.is_quiescent() || ending::violations(world, state).is_empty())
}

/// Returns all violations of a state.
pub(crate) fn violations(world: &World, state: &State) -> Vec<String> {
    let mut all: Vec<String> = state.broken.iter().map(|broken| (*broken).to_owned()).collect();
    all.extend(of_table(world, &state.table));
    if state.is_quiescent() {
        all.extend(ending::violations(world, state));
    }
    all
}

fn of_table(world: &World, table: &Table) -> Vec<String> {
    let snapshot = Snapshot { definitions: Arc::clone(&world.definitions), ..table.snapshot() };
    let violations = invariant::violations(&snapshot).into_iter();
    let texts = violations.map(|one| format!("{}: {}: {}", one.rule, one.subject, one.detail));
    let of_order = [missing(table), repeated(world, table), undeclared(world, table), exposed(table)];
    texts.chain(of_order.into_iter().flatten()).collect()
}

/// Checks I10: every planned change instance of a submission without pending work exists.
fn missing(table: &Table) -> Option<String> {
    let done = table.submissions().filter(|submission| submission.work_left == 0);
    let planned = done.flat_map(|submission| {
        (0..submission.planned()).map(|n| (submission.id, submission.first_change + n * CHANGE_STRIDE))
    });
    let exists = |submission, number| {
        let change = ChangeId::new(crate::given::consumer().id, number).and_then(|id| table.change(id));
        change.is_some_and(|change| change.submission == submission)
    };
    let missing = planned.into_iter().find(|(submission, number)| !exists(*submission, *number));
    missing.map(|(submission, number)| format!("I10: submission {submission}: {number} was never generated"))
}

/// Checks I20: a request leads to one submission at most, and so does an idempotency key.
fn repeated(world: &World, table: &Table) -> Option<String> {
    let (mut requests, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for submission in table.submissions() {
        let n = world.command_of(&submission.request)?;
        let key = world.command(n).key;
        if !requests.insert(n) || key.is_some_and(|key| !keys.insert(key)) {
            return Some(format!("I20: request {n} is recorded again as {}", submission.id));
        }
    }
    None
}

type Declared<'a> = BTreeMap<&'a str, BTreeSet<(&'a str, &'a str, Hash)>>;

/// Checks I8 and I14: unless a submission is in flight, the stored declaration is the sum of the submissions in
/// order.
///
/// This includes submissions without changes.
fn undeclared(world: &World, table: &Table) -> Option<String> {
    if table.head(crate::given::consumer().id).is_none_or(|head| head.in_flight.is_some()) {
        return None;
    }
    let mut wanted = Declared::new();
    for submission in table.submissions() {
        let prepared = world.prepared(world.command_of(&submission.request)?);
        if submission.scope == Scope::Whole {
            wanted.clear();
        }
        for application in &prepared.declaration.applications {
            let items = application.items.iter();
            let items = items.map(|item| (item.service.as_str(), item.name.as_str(), item.hash)).collect();
            wanted.insert(&application.name, items);
        }
    }
    wanted.retain(|_, items| !items.is_empty());
    let mut stored = Declared::new();
    for item in table.items().filter(|item| item.declared) {
        let of_application = stored.entry(&item.application).or_default();
        of_application.insert((&item.service.title, &item.name, item.version.hash));
    }
    (stored != wanted).then(|| "I14: what is declared is not what was submitted last".to_owned())
}

/// Checks R43: a team that sees a change instance in a role sees its item in this role, and a foreign team sees
/// neither.
fn exposed(table: &Table) -> Option<String> {
    let consumer = crate::given::consumer().id;
    let teams = || (1..=TEAMS_MAX).chain([FOREIGN_TEAM]).filter_map(TeamId::new);
    let changes = table.records().filter_map(|record| {
        let Record::Change(change) = record else { return None };
        Some((change, table.item(change.item)?))
    });
    for (change, item) in changes {
        for (side, team) in Side::ALL.into_iter().flat_map(|side| teams().map(move |team| (side, team))) {
            let (shows_change, shows_item) = (side.shows_change(change, team), side.shows_item(item, team));
            let is_hidden = shows_change && !shows_item;
            let is_foreign = team.get() == FOREIGN_TEAM || (side == Side::Consumer && team != consumer);
            if is_hidden || (is_foreign && (shows_change || shows_item)) {
                return Some(format!("R43: change instance {} and its item, for team {team}", change.id));
            }
        }
    }
    None
}
