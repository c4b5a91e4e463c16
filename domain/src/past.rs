//! The past: how a service item was at a moment, told from its change instances and what was deployed, of which nothing
//! is ever forgotten (R35); what a team declared then is in [`Then`] (R36).
//!
//! Times are those of the clocks that wrote them, and decide nothing but what is told here (R30).

mod then;

pub use self::then::{Then, document, root};
use crate::change::{Change, ChangeType, Kind, Version};
use crate::deployed::Deployed;
use crate::id::TeamId;
use crate::item::{Item, LatestDeployed, RuntimeState, Stack};
use crate::land::slot_of;
use crate::metadata::Since;
use crate::state::{Stage, State};
use crate::submission::{Progress, Submission};
use crate::team::Application;
use crate::timestamp::Timestamp;
use std::collections::BTreeMap;

/// A moment in the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When: the last instant that counts.
    pub at: Timestamp,
    /// The number of the last submission that counts, whatever the clocks say; none for all until then.
    pub submission: Option<u64>,
}

impl Moment {
    /// A point in time.
    pub const fn at(at: Timestamp) -> Self {
        Self { at, submission: None }
    }

    /// The moment from which everything that a submission caused existed; now, while something is still missing.
    pub fn of(submission: &Submission, now: Timestamp) -> Self {
        let is_settled = submission.progress() == Progress::Settled;
        let at = if is_settled { submission.modified } else { now };
        Self { at, submission: Some(submission.id.number()) }
    }

    /// Whether metadata were declared by then.
    pub fn has(&self, since: Since) -> bool {
        match self.submission {
            Some(last) => since.submission <= last,
            None => since.at <= self.at,
        }
    }

    /// Whether nothing that it declares of an item was changed since, as far as the item itself tells.
    pub fn still_stands(&self, item: &Item) -> bool {
        match self.submission {
            Some(last) => item.stacks.get(&item.service_owner.id).is_some_and(|stack| stack.sequence <= last),
            None => item.modified <= self.at,
        }
    }

    /// Whether nothing that an application declares was changed since, as far as the application itself tells.
    pub fn still_declares(&self, application: &Application) -> bool {
        let noted = application.changed > 0;
        self.submission.is_some_and(|last| noted && application.changed <= last)
    }

    fn counts(&self, change: &Change) -> bool {
        change.created <= self.at && self.submission.is_none_or(|last| change.submission.number() <= last)
    }
}

/// The item as it was; none when it was not declared yet. `now` is as it is, `changes` and `deployed` are all of its.
///
/// Of its name, its service and its teams nothing changes. Which versions of the schema it was checked against is known
/// of the declaration that it has now.
pub fn item(now: &Item, changes: &[Change], deployed: &[Deployed], moment: Moment) -> Option<Item> {
    let then: Vec<Change> = changes
        .iter()
        .filter(|change| moment.counts(change))
        .map(|change| as_of(change, moment.at))
        .collect();
    let (version, declared) = declared(&then)?;
    let deployed = deployed.iter().filter(|version| version.created <= moment.at);
    let deployed = deployed.max_by_key(|version| version.version);
    let changed = then.iter().map(Change::modified).chain(deployed.map(|version| version.created));
    Some(Item {
        version,
        declared,
        runtime_state: runtime_state(&then)?,
        settled: None,
        schema_version: if version == now.version { now.schema_version } else { 0 },
        stacks: stacks(&then),
        deployed: deployed.map(|one| LatestDeployed { id: one.id, version: one.version, hash: one.hash }),
        modified: changed.max().unwrap_or(now.created),
        ..now.clone()
    })
}

/// A change instance with the history that it had.
fn as_of(change: &Change, at: Timestamp) -> Change {
    let mut then = change.clone();
    // Its birth counts, also where a clock that was behind wrote the submission that caused it.
    let entries = change.history.iter().take_while(|entry| entry.at <= at).count();
    then.history.truncate(entries.max(1));
    if let Some(last) = then.history.last() {
        then.state = last.to;
        then.change_type = last.change_type;
    }
    then
}

/// The declaration that an item had at a moment; none when it was not declared. `changes` are all of its by then.
pub fn declaration(changes: &[Change], moment: Moment) -> Option<Version> {
    // After a submission its declarations count, whatever the clocks say.
    let counts = |change: &&Change| match moment.submission {
        Some(last) => change.submission.number() <= last,
        None => moment.counts(change),
    };
    declared(changes.iter().filter(counts)).filter(|(_, stood)| *stood).map(|(version, _)| version)
}

/// The declaration, and whether it stood: what the newest submission that changed the item made of it.
pub(crate) fn declared<'a>(then: impl IntoIterator<Item = &'a Change>) -> Option<(Version, bool)> {
    let direct = then.into_iter().filter(|change| change.kind == Kind::Direct);
    let newest = direct.max_by_key(|change| change.submission.number())?;
    Some((newest.new.or(newest.old)?, newest.new.is_some()))
}

/// Whether it existed out there: each birth tells how it was by then, and each approval by the service's owner moves it.
fn runtime_state(then: &[Change]) -> Option<RuntimeState> {
    let births = then.iter().map(|change| (change.created, change.runtime_state));
    let moves = then.iter().filter(|change| !change.is_dependant()).flat_map(|change| {
        let approvals = change
            .history
            .iter()
            .skip(1)
            .filter(|entry| entry.to == State::Approved && entry.from != Some(State::Approved));
        approvals.filter_map(|entry| Some((entry.at, approved(entry.change_type)?)))
    });
    births.chain(moves).max_by_key(|(at, _)| *at).map(|(_, state)| state)
}

const fn approved(change_type: ChangeType) -> Option<RuntimeState> {
    match change_type {
        ChangeType::Create => Some(RuntimeState::InService),
        ChangeType::Delete => Some(RuntimeState::Decommissioned),
        ChangeType::Modify => None,
    }
}

/// What was open, for each owner.
fn stacks(then: &[Change]) -> BTreeMap<TeamId, Stack> {
    let mut stacks: BTreeMap<TeamId, Stack> = BTreeMap::new();
    for change in then {
        let stack = stacks.entry(change.owner.id).or_insert(Stack::EMPTY);
        match change.state.stage() {
            Stage::PreValidated => stack.pre_validated = Some(slot_of(change)),
            Stage::Validated => stack.validated = Some(slot_of(change)),
            Stage::Resolved => {}
        }
    }
    stacks
}
