//! The records of other applications and teams that a plan needs for references to them (R69, R71).

use super::stored_items::by_key;
use super::{Items, Offers, Stored};
use crate::base::id::{ApplicationId, ItemId};
use crate::base::json;
use crate::catalog::schema::Name;
use crate::model::declaration::{DEPTH_MAX, Declaration};
use crate::model::item::Item;
use crate::model::submission::Scope;
use crate::model::team::Application;
use std::collections::{BTreeMap, BTreeSet};

/// The key in an application's metadata with the teams that may refer to its items.
pub const GRANTED_TEAMS: &str = "dovetail_granted_teams";

/// The value for all teams in a list of granted teams.
const ALL_TEAMS: &str = "*";

/// Maximum number of items of other applications and teams to which a submission adds or releases references.
pub const USES_CHANGED_MAX: usize = 20;

/// A referenced item of another application or team, as stored.
#[derive(Clone, Debug)]
pub struct Target {
    pub item: Item,
    /// The application of the item.
    pub application: Application,
}

impl Target {
    /// Returns whether a team may refer to the item: the metadata of its application grant that.
    pub fn is_granted_to(&self, team: &str) -> bool {
        is_granted(&self.application.metadata, team)
    }

    /// Returns whether the consumer of an item may read the target now.
    pub fn is_readable_by(&self, user: &Item) -> bool {
        self.item.consumer.id == user.consumer.id || self.is_granted_to(&user.consumer.name)
    }
}

/// Returns whether the metadata of an application grant its items to a team.
fn is_granted(metadata: &str, team: &str) -> bool {
    let metadata = json::parse(metadata.as_bytes(), DEPTH_MAX).unwrap_or_default();
    let teams = metadata.get(GRANTED_TEAMS).and_then(|teams| teams.as_array());
    teams.is_some_and(|teams| teams.iter().any(|one| one == team || one == ALL_TEAMS))
}

/// The records of other applications and teams that a plan needs.
#[derive(Clone, Debug, Default)]
pub struct Elsewhere {
    /// The referenced items by id. A missing one is gone, or does not exist.
    pub targets: BTreeMap<ItemId, Target>,
    /// For items in use that the submission may remove: the first own items that refer to it. A missing one is not read.
    pub users: BTreeMap<ItemId, Vec<Item>>,
    /// The number of ids to which references begin. Above [`USES_CHANGED_MAX`], none of them is read.
    pub begun: usize,
}

/// The records to read for [`Elsewhere`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElsewhereToRead {
    /// Applications of the team with referenced items, beyond those of [`to_read`](super::to_read).
    pub applications: BTreeSet<ApplicationId>,
    /// The referenced items.
    pub items: BTreeSet<ItemId>,
    /// The items in use that the submission removes, at most [`USES_CHANGED_MAX`]: it cannot release more.
    pub removed: BTreeSet<ItemId>,
    /// See [`Elsewhere::begun`].
    pub begun: usize,
}

/// Returns the records of other applications and teams that a plan needs; none without references to them.
pub fn elsewhere_to_read(
    stored: &Stored,
    items: &Items,
    offers: &Offers,
    declaration: &Declaration,
    scope: Scope,
) -> ElsewhereToRead {
    let mut to_read = ElsewhereToRead::default();
    let has_uses = |item: &Item| !item.uses.is_empty() || item.used_by > 0;
    if !offers.values().any(|offer| offer.schema.has_reach()) && !items.values().flatten().any(has_uses) {
        return to_read;
    }
    let by_name: BTreeMap<&str, &Application> =
        stored.applications.iter().map(|application| (application.name.as_str(), application)).collect();
    let mut begun = BTreeSet::new();
    let mut declared = BTreeSet::new();
    for application in &declaration.applications {
        let before = by_name.get(application.name.as_str()).and_then(|one| items.get(&one.id));
        let before = by_key(before.map_or(&[], Vec::as_slice));
        for item in &application.items {
            let before = before.get(&item.stored_key()).copied();
            declared.extend(before.map(|before| before.id));
            let is_unchanged = before.is_some_and(|before| before.is_last_declared_as(item.hash));
            if is_unchanged && before.is_some_and(|before| before.declared) {
                continue;
            }
            let used = before.map_or(&[][..], |before| &before.uses);
            to_read.items.extend(used);
            let offer = offers.get(&item.service).filter(|_| !is_unchanged);
            for named in offer.iter().flat_map(|offer| offer.schema.named(&item.body)) {
                match named.name {
                    Name::InTeam { application, .. } => {
                        let other = by_name.get(application).filter(|other| !items.contains_key(&other.id));
                        to_read.applications.extend(other.map(|other| other.id));
                    }
                    Name::Item(id) => begun.extend(ItemId::parse(id).filter(|id| !used.contains(id))),
                    Name::Here(_) | Name::Malformed => {}
                }
            }
        }
    }
    to_read.begun = begun.len();
    if begun.len() <= USES_CHANGED_MAX {
        to_read.items.extend(begun);
    }
    let of_declared: BTreeSet<&str> = declaration.applications.iter().map(|one| one.name.as_str()).collect();
    let is_omitted = |item: &&Item| {
        let is_affected = scope == Scope::Whole || of_declared.contains(item.application.as_str());
        item.declared && is_affected && !declared.contains(&item.id)
    };
    for item in items.values().flatten().filter(is_omitted) {
        to_read.items.extend(&item.uses);
        if item.used_by > 0 && to_read.removed.len() < USES_CHANGED_MAX {
            to_read.removed.insert(item.id);
        }
    }
    to_read
}
