//! The past of a service item: its state at a moment, computed from its change instances and deployed versions
//! (R35).
//!
//! [`Then`] holds the declarations of a team at a moment (R36). The times come from the clocks of the writers, and no
//! other rule depends on them (R30).

mod then;

pub use self::then::{Then, document, rename, root, to_declare};
use crate::base::id::TeamId;
use crate::base::state::{ChangeType, Kind, RuntimeState, Stage, State};
use crate::base::timestamp::Timestamp;
use crate::model::change::{Change, Version};
use crate::model::deployed::Deployed;
use crate::model::item::{Item, LatestDeployed, Stack};
use crate::model::metadata::Since;
use crate::model::submission::{Progress, Submission};
use crate::model::team::Application;
use crate::rules::open_change::slot_of;
use std::collections::BTreeMap;

/// A moment in the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The last instant that counts.
    pub at: Timestamp,
    /// The number of the last submission that counts, whatever the clocks say; none for all until then.
    pub submission: Option<u64>,
}

impl Moment {
    /// Returns a point in time.
    pub const fn at(at: Timestamp) -> Self {
        Self { at, submission: None }
    }

    /// Returns the moment at which all effects of a submission exist; now, if some are missing.
    pub fn of(submission: &Submission, now: Timestamp) -> Self {
        let is_complete = submission.progress() == Progress::Settled;
        let at = if is_complete { submission.modified } else { now };
        Self { at, submission: Some(submission.id.number()) }
    }

    /// Returns whether the metadata were declared by then.
    pub fn has(&self, since: Since) -> bool {
        match self.submission {
            Some(last) => since.submission <= last,
            None => since.at <= self.at,
        }
    }

    /// Returns whether the item's own record shows that its declaration has not changed since.
    pub fn still_stands(&self, item: &Item) -> bool {
        match self.submission {
            Some(last) => item.stacks.get(&item.service_owner.id).is_some_and(|stack| stack.sequence <= last),
            None => item.modified <= self.at,
        }
    }

    /// Returns whether the application's own record shows that its declarations have not changed since.
    pub fn still_declares(&self, application: &Application) -> bool {
        let noted = application.changed > 0;
        self.submission.is_some_and(|last| noted && application.changed <= last)
    }

    fn counts(&self, change: &Change) -> bool {
        change.created <= self.at && self.submission.is_none_or(|last| change.submission.number() <= last)
    }
}

/// Returns the item at a moment; none if it was not declared yet.
///
/// `now` is the present item, and `changes` and `deployed` are all records of the item. Service and teams never
/// change. The schema version is known only for the present declaration.
pub fn item(now: &Item, changes: &[Change], deployed: &[Deployed], moment: Moment) -> Option<Item> {
    let then: Vec<Change> = changes
        .iter()
        .filter(|change| moment.counts(change))
        .map(|change| as_of(change, moment.at))
        .collect();
    let (version, declared) = declared(&then)?;
    let name = newest_direct(&then)?.item_name.clone();
    let deployed = deployed.iter().filter(|version| version.created <= moment.at);
    let deployed = deployed.max_by_key(|version| version.version);
    let is_earlier = |version: &Deployed| declared && is_of_earlier_life(version, &then);
    let changed = then.iter().map(Change::modified).chain(deployed.map(|version| version.created));
    let stacks = stacks(&then);
    let is_idle = stacks.values().all(|stack| stack.open().next().is_none());
    Some(Item {
        name,
        version,
        declared,
        gone: now.gone && is_idle && has_completed_removal(&then),
        runtime_state: runtime_state(&then)?,
        completed_target: None,
        drift: None,
        // The record has the schema version of the present declaration only; 0 means unknown.
        schema_version: if version == now.version { now.schema_version } else { 0 },
        stacks,
        deployed: deployed.map(|one| LatestDeployed {
            id: one.id,
            version: one.version,
            hash: one.hash,
            schema_version: one.schema_version,
        }),
        earlier_life: deployed.filter(|one| is_earlier(one)).map_or(0, |one| one.version),
        modified: changed.max().unwrap_or(now.created),
        ..now.clone()
    })
}

/// Returns whether the newest change instance that the service owner approved is a completed DELETE.
fn has_completed_removal(then: &[Change]) -> bool {
    let is_approved = |change: &&Change| {
        change.history.iter().any(|entry| matches!(entry.to, State::Approved | State::Completed))
    };
    let own = then.iter().filter(|change| !change.is_dependant()).filter(is_approved);
    let newest = own.max_by_key(|change| (change.submission.number(), change.attempt));
    newest.is_some_and(|change| change.state == State::Completed && change.change_type == ChangeType::Delete)
}

/// Returns whether the object of a deployed version was removed (R49): its change instance, or a newer one, is a DELETE
/// that was completed, or that a later CREATE overtook.
fn is_of_earlier_life(version: &Deployed, then: &[Change]) -> bool {
    let order = |change: &Change| (change.submission.number(), change.attempt);
    let has_been = |change: &Change, state| change.history.iter().any(|entry| entry.to == state);
    let own = || then.iter().filter(|change| !change.is_dependant());
    let Some(last) = own().find(|change| change.id == version.change).map(order) else { return false };
    let newest_of = |change_type, state| {
        let entered = own().filter(|change| change.change_type == change_type && has_been(change, state));
        entered.map(order).max()
    };
    let created = newest_of(ChangeType::Create, State::Approved);
    let is_over = |removal: &Change| {
        let is_approved = has_been(removal, State::Approved);
        has_been(removal, State::Completed) || is_approved && created > Some(order(removal))
    };
    own().any(|change| change.change_type == ChangeType::Delete && order(change) >= last && is_over(change))
}

/// Returns a change instance with its history until then.
fn as_of(change: &Change, at: Timestamp) -> Change {
    let mut then = change.clone();
    // The creation always counts, even if the clock of the submission was behind that of the moment.
    let entries = change.history.iter().take_while(|entry| entry.at <= at).count();
    then.history.truncate(entries.max(1));
    if let Some(last) = then.history.last() {
        then.state = last.to;
        then.change_type = last.change_type;
    }
    then
}

/// The declaration of an item at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredThen {
    /// The name of the item at the moment (R75).
    pub name: String,
    pub version: Version,
}

impl DeclaredThen {
    /// Returns the present declaration of an item.
    pub fn now(item: &Item) -> Option<Self> {
        item.declared.then(|| Self { name: item.name.clone(), version: item.version })
    }
}

/// Returns the declaration of an item at a moment; none if it was not declared.
///
/// `changes` are all change instances of the item until then.
pub fn declaration(changes: &[Change], moment: Moment) -> Option<DeclaredThen> {
    // After a submission its declarations count, whatever the clocks say.
    let counts = |change: &&Change| match moment.submission {
        Some(last) => change.submission.number() <= last,
        None => moment.counts(change),
    };
    let newest = newest_direct(changes.iter().filter(counts))?;
    Some(DeclaredThen { name: newest.item_name.clone(), version: newest.new? })
}

/// Returns the newest declaration, and whether the item was declared: the result of the newest submission that
/// changed it.
pub(crate) fn declared<'a>(then: impl IntoIterator<Item = &'a Change>) -> Option<(Version, bool)> {
    let newest = newest_direct(then)?;
    Some((newest.new.or(newest.old)?, newest.new.is_some()))
}

/// Returns the change instance of the newest submission that changed the item.
fn newest_direct<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Option<&'a Change> {
    let direct = changes.into_iter().filter(|change| change.kind == Kind::Direct);
    direct.max_by_key(|change| change.submission.number())
}

/// Returns the runtime state: each change instance records the state at its creation, and each approval by the service
/// owner moves the state.
fn runtime_state(then: &[Change]) -> Option<RuntimeState> {
    let creations = then.iter().map(|change| (change.created, change.runtime_state));
    let moves = then.iter().filter(|change| !change.is_dependant()).flat_map(|change| {
        let approvals = change
            .history
            .iter()
            // The first entry is the creation, which `creations` covers.
            .skip(1)
            .filter(|entry| entry.to == State::Approved && entry.from != Some(State::Approved));
        approvals.filter_map(|entry| Some((entry.at, approved(entry.change_type)?)))
    });
    creations.chain(moves).max_by_key(|(at, _)| *at).map(|(_, state)| state)
}

const fn approved(change_type: ChangeType) -> Option<RuntimeState> {
    match change_type {
        ChangeType::Create => Some(RuntimeState::InService),
        ChangeType::Delete => Some(RuntimeState::Decommissioned),
        ChangeType::Modify => None,
    }
}

/// Returns the open change instances by owner.
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
