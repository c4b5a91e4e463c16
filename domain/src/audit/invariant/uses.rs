//! I17, I37 and I38: references to items of other applications and teams (R69, R71).
//!
//! An item counts its users from the commit of their submission on. A staged submission applies the users later, so
//! until then the count includes the users in its work records.

use super::{Snapshot, Subject, Violation};
use crate::base::id::{ItemId, TeamId};
use crate::model::item::Item;
use crate::model::staging::{Staging, StagingId, StagingState};
use crate::model::team::Application;
use crate::model::work::{PlannedChange, Work};
use crate::model::write::Use;
use std::collections::{BTreeMap, BTreeSet};

/// The parts of the records of all teams that the checks of uses need.
#[derive(Clone, Debug, Default)]
pub(super) struct UseRecords {
    /// The items with users, and the items with references to items elsewhere.
    items: BTreeMap<ItemId, UsedItem>,
    /// The records of uses.
    rows: BTreeSet<Use>,
    /// The direct changes of staged work.
    planned: BTreeMap<(TeamId, StagingId), Vec<PlannedUses>>,
    /// The stagings of accepted submissions.
    committed: BTreeSet<(TeamId, StagingId)>,
}

/// The users and the references of a stored item.
#[derive(Clone, Debug)]
struct UsedItem {
    used_by: u64,
    gone: bool,
    /// The items elsewhere to which it refers while it is declared.
    used: Vec<ItemId>,
}

/// The references of an item after a staged change.
#[derive(Clone, Debug)]
struct PlannedUses {
    item: ItemId,
    /// The new item in reserve.
    spare: Option<ItemId>,
    used: Vec<ItemId>,
}

impl UseRecords {
    /// Adds the records of a snapshot.
    pub(super) fn add(&mut self, snapshot: &Snapshot) {
        let with_uses = snapshot.items.values().filter(|item| item.used_by > 0 || !item.used().is_empty());
        self.items.extend(with_uses.map(|item| (item.id, UsedItem::of(item))));
        self.rows.extend(&snapshot.uses);
        for work in &snapshot.works {
            self.add_work(work);
        }
        let is_committed = |staging: &&Staging| staging.state == StagingState::Committed;
        let committed = snapshot.stagings.iter().filter(is_committed);
        self.committed.extend(committed.map(|staging| (staging.team(), staging.id)));
    }

    fn add_work(&mut self, work: &Work) {
        let Some(staging) = work.id.staging.filter(|_| work.is_direct()) else { return };
        let planned = work.entries.iter().filter_map(PlannedUses::of);
        self.planned.entry((work.id.submission.team(), staging)).or_default().extend(planned);
    }

    /// Returns the references of stored items.
    fn applied(&self) -> BTreeSet<Use> {
        self.items.iter().flat_map(|(user, item)| uses_of(*user, &item.used)).collect()
    }

    /// Returns the changes of accepted submissions in flight that do not apply to a new item in reserve yet.
    fn in_flight(&self) -> impl Iterator<Item = &PlannedUses> {
        let accepted = self.planned.iter().filter(|(staging, _)| self.committed.contains(staging));
        let is_applied = |spare: ItemId| self.items.contains_key(&spare);
        accepted.flat_map(|(_, all)| all).filter(move |planned| !planned.spare.is_some_and(is_applied))
    }

    /// Returns the references as of the last accepted submissions: those of stored items, or of their planned changes.
    fn accepted(&self, applied: &BTreeSet<Use>) -> BTreeSet<Use> {
        let changing: BTreeSet<ItemId> = self.in_flight().map(|planned| planned.item).collect();
        let stays = applied.iter().filter(|applied| !changing.contains(&applied.user)).copied();
        stays.chain(self.in_flight().flat_map(|planned| uses_of(planned.item, &planned.used))).collect()
    }
}

impl UsedItem {
    fn of(item: &Item) -> Self {
        Self { used_by: item.used_by, gone: item.gone, used: item.used().to_vec() }
    }
}

impl PlannedUses {
    fn of(planned: &PlannedChange) -> Option<Self> {
        let declared = planned.declared.as_ref()?;
        let spare = planned.spare.as_ref().map(|spare| spare.item);
        Some(Self { item: planned.item, spare, used: declared.used().to_vec() })
    }
}

fn uses_of(user: ItemId, used: &[ItemId]) -> impl Iterator<Item = Use> {
    used.iter().map(move |target| Use { target: *target, user })
}

/// Returns all violations of I17, I37 and I38 in references between applications and teams.
///
/// The subject of each is the referenced item. All records must be of one moment.
pub fn uses(snapshot: &Snapshot) -> Vec<Violation> {
    let mut records = snapshot.catalogue.uses.clone();
    records.add(snapshot);
    let applied = records.applied();
    let accepted = records.accepted(&applied);
    let mut violations = Vec::new();
    let mut add = |rule, target: ItemId, detail: String| {
        violations.push(Violation { rule, subject: Subject::Item(target), detail });
    };
    for Use { target, user } in applied.difference(&records.rows) {
        add("I38", *target, format!("item {user} refers to it, but this use has no record"));
    }
    for Use { target, user } in records.rows.difference(&applied) {
        add("I38", *target, format!("a use by item {user} is recorded, but the item does not refer to it"));
    }
    let with_users = records.items.iter().filter(|(_, item)| item.used_by > 0).map(|(id, _)| (*id, 0));
    let mut users: BTreeMap<ItemId, u64> = with_users.collect();
    for one in &accepted {
        *users.entry(one.target).or_default() += 1;
    }
    let planned: BTreeSet<ItemId> = records.in_flight().map(|planned| planned.item).collect();
    for (target, users) in users {
        let stored = snapshot.items.get(&target).map(UsedItem::of);
        match stored.as_ref().or_else(|| records.items.get(&target)) {
            // A gone item keeps its last count, and its users release their references without a write.
            Some(UsedItem { used_by, gone, .. }) if *used_by != users && !(*gone && *used_by > users) => {
                add(
                    "I37",
                    target,
                    format!("it counts {used_by} items elsewhere that refer to it, must be {users}"),
                );
            }
            None if !planned.contains(&target) => {
                add("I17", target, format!("{users} items elsewhere refer to it, but it does not exist"));
            }
            Some(_) | None => {}
        }
    }
    violations
}

/// Returns the items that refer to an item, or may do so: by their record, by the record of the use, or by staged work.
pub fn users(snapshot: &Snapshot, target: ItemId) -> BTreeSet<ItemId> {
    let mut records = snapshot.catalogue.uses.clone();
    records.add(snapshot);
    let stored = records.applied().into_iter().chain(records.rows.iter().copied());
    let stored = stored.filter(|one| one.target == target).map(|one| one.user);
    let planned = records.planned.values().flatten().filter(|planned| planned.used.contains(&target));
    stored.chain(planned.flat_map(|planned| [Some(planned.item), planned.spare]).flatten()).collect()
}

impl super::Audit<'_> {
    /// I37: an application has counted at least the uses of its items.
    pub(super) fn uses_ever(&mut self, application: &Application) {
        let items = self.items_of_application.get(&application.id).into_iter().flatten();
        let uses = items.filter(|item| !item.gone).fold(0, |sum: u64, item| sum.saturating_add(item.used_by));
        let ever = application.uses_ever;
        let detail = format!("it counted {ever} references to its items, must be at least {uses}");
        self.require(uses <= ever, "I37", Subject::Application(application.id), detail);
    }
}
