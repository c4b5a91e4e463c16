//! The references to items of other applications and teams that begin and end with a submission (R71).
//!
//! The names of a declaration become ids here. A commit counts each reference at the item that it names.

use super::application::{AffectedApplication, Diff};
use super::elsewhere::USES_CHANGED_MAX;
use super::resolver::{Resolved, Resolver};
use super::{Offers, Stored};
use crate::base::id::{ApplicationId, ItemId, TeamId};
use crate::base::problem::{Problem, pointer};
use crate::model::declared::Declared;
use crate::model::item::Item;
use crate::model::write::Write;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of writes of a commit for the team, its applications and references to items elsewhere. Even a staged
/// submission commits in one transaction of 100 actions, and head, submission, staging and idempotency key need some.
const COMMIT_WRITES_MAX: usize = 94;

/// The references to one item that begin and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UsesOfItem {
    begun: u64,
    ended: u64,
}

impl UsesOfItem {
    /// Returns the number of uses afterwards.
    pub(super) const fn after(self, before: u64) -> u64 {
        before.saturating_add(self.begun).saturating_sub(self.ended)
    }
}

/// The changes of references to items of other applications and teams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// The changes of each referenced item that is stored. A reference that ends does not outweigh one that begins,
    /// because only the latter needs a declared item.
    pub(super) items: BTreeMap<ItemId, UsesOfItem>,
    /// For each application: the number of references that begin.
    pub(super) begun: BTreeMap<ApplicationId, u64>,
    /// The other teams with an item to which a reference begins.
    teams: BTreeSet<TeamId>,
    /// The number of items to which references begin or end.
    pub(super) changed: usize,
}

impl Uses {
    /// Returns a lower bound on the writes: without those of items and applications that the submission writes anyway.
    pub(super) fn writes_at_least(&self) -> usize {
        self.teams.len()
    }

    /// Returns a problem if the commit has no room for these changes next to the writes of the applications.
    pub(super) fn too_many_writes(&self, stored: &Stored, of_applications: usize) -> Option<Problem> {
        let writes = self.items.len() + self.begun.len() + self.teams.len();
        if writes == 0 || of_applications + writes <= COMMIT_WRITES_MAX {
            return None;
        }
        let message = format!(
            "must change fewer applications or fewer references to items elsewhere at once: the commit would need \
             {of_applications} writes for applications and {writes} for references, at most {COMMIT_WRITES_MAX} together"
        );
        Some(problem(stored, message))
    }

    /// Returns the writes of a commit by this team, apart from those of applications.
    pub(super) fn writes(&self, user: TeamId) -> Vec<Write> {
        let add = |(item, uses): (&ItemId, &UsesOfItem)| Write::AddUses {
            item: *item,
            user,
            begun: uses.begun,
            ended: uses.ended,
        };
        let check = |team: &TeamId| Write::CheckNotInFlight { team: *team };
        self.items.iter().map(add).chain(self.teams.iter().map(check)).collect()
    }
}

/// Sets the ids of the referenced items in the planned changes, and returns the changes of references.
///
/// The ids of new items are known only after the comparison of all applications.
pub(super) fn settle(
    diffs: &mut [Diff<'_>],
    affected: &[AffectedApplication<'_, '_>],
    resolver: &Resolver<'_, '_>,
    offers: &Offers,
) -> Uses {
    if !offers.values().any(|offer| offer.schema.has_reach()) && !has_uses(diffs) {
        return Uses::default();
    }
    let new = new_items(diffs);
    for (diff, affected) in diffs.iter_mut().zip(affected) {
        for (before, planned) in &mut diff.direct {
            let Some(declared) = planned.declared.as_mut().filter(|declared| is_new(*before, declared))
            else {
                continue;
            };
            let of_new = declared.new.as_ref().map(|new| (new.service.title.as_str(), new.name.as_str()));
            let of_new = of_new.and_then(|key| affected.keys.get(&key).copied());
            let Some(item) = before.map_or(of_new, |before| affected.declaration_of(before)) else {
                continue;
            };
            let Some(offer) = offers.get(&item.service) else { continue };
            let application = diff.after.name.as_str();
            let all = offer.schema.named(&item.body);
            let ids = all.iter().filter_map(|named| match resolver.resolve(application, named)?.ok()? {
                Resolved::Stored(id) => Some(id),
                Resolved::New(application, (service, name)) => {
                    new.get(&(application.to_owned(), service.to_owned(), name.to_owned())).copied()
                }
            });
            declared.uses = ids.collect::<BTreeSet<ItemId>>().into_iter().collect();
        }
    }
    count(diffs, resolver)
}

/// Returns the problem of a submission with too many changes of references to items elsewhere.
pub(super) fn too_many(stored: &Stored, changed: usize) -> Problem {
    let message = format!(
        "must add and release references to at most {USES_CHANGED_MAX} items elsewhere at once, not {changed}"
    );
    problem(stored, message)
}

fn problem(stored: &Stored, message: String) -> Problem {
    let team = stored.team.name.clone();
    let path = vec![team.clone(), "references".to_owned()];
    Problem { pointer: pointer([team.as_str()]), path, rule: "too_many_references", message, change: None }
}

/// Returns whether a planned change has a declaration that the check has resolved.
fn is_new(before: Option<&Item>, declared: &Declared) -> bool {
    declared.stays && before.is_none_or(|before| !before.is_last_declared_as(declared.version.hash))
}

fn has_uses(diffs: &[Diff<'_>]) -> bool {
    let before = |before: &Option<&Item>| before.is_some_and(|before| !before.uses.is_empty());
    diffs.iter().flat_map(|diff| &diff.direct).any(|(item, _)| before(item))
}

/// Returns the ids of the new items by application, service and name.
fn new_items(diffs: &[Diff<'_>]) -> BTreeMap<(String, String, String), ItemId> {
    let all = diffs.iter().flat_map(|diff| &diff.direct);
    let new = all.filter_map(|(_, planned)| Some((planned.item, planned.declared.as_ref()?.new.as_ref()?)));
    new.map(|(id, new)| ((new.application.clone(), new.service.title.clone(), new.name.clone()), id))
        .collect()
}

/// Counts the references that begin and end. A new item gets its number with its creation.
fn count(diffs: &mut [Diff<'_>], resolver: &Resolver<'_, '_>) -> Uses {
    let mut uses = Uses::default();
    for (before, planned) in diffs.iter().flat_map(|diff| &diff.direct) {
        let before = before.map_or(&[][..], Item::used);
        let after = planned.declared.as_ref().map_or(&[][..], Declared::used);
        for id in after.iter().filter(|id| !before.contains(id)) {
            uses.items.entry(*id).or_default().begun += 1;
        }
        for id in before.iter().filter(|id| !after.contains(id)) {
            uses.items.entry(*id).or_default().ended += 1;
        }
    }
    uses.changed = uses.items.len();
    if uses.changed > USES_CHANGED_MAX {
        return uses;
    }
    for (_, planned) in diffs.iter_mut().flat_map(|diff| &mut diff.direct) {
        let Some(new) = planned.declared.as_mut().and_then(|declared| declared.new.as_mut()) else {
            continue;
        };
        let Some(of_new) = uses.items.remove(&planned.item) else { continue };
        new.used_by = of_new.begun;
        *uses.begun.entry(planned.item.application(new.generation)).or_default() += of_new.begun;
    }
    // A reference to a gone item ends without a write. The searches are few, because a submission changes few uses.
    uses.items.retain(|id, _| resolver.find(*id).is_some());
    for (id, of_item) in uses.items.iter().filter(|(_, of_item)| of_item.begun > 0) {
        let Some(item) = resolver.find(*id) else { continue };
        *uses.begun.entry(item.application_id()).or_default() += of_item.begun;
        uses.teams.extend((item.consumer.id != resolver.stored.team.id).then_some(item.consumer.id));
    }
    uses
}
