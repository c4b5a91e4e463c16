//! Items that a submission removes while items of other applications and teams refer to them (R71).

use super::Offers;
use super::application::AffectedApplication;
use super::resolver::{Resolved, Resolver};
use crate::base::id::ItemId;
use crate::base::problem::{Problem, pointer};
use crate::model::declaration::{DeclaredItem, SERVICES};
use crate::model::item::Item;
use std::collections::BTreeSet;

/// The rule of the removal of an item in use.
pub const IN_USE: &str = "in_use";

/// Maximum number of items that the problem of an item in use names.
const USERS_NAMED_MAX: usize = 20;

/// An item that a submission removes although items elsewhere still refer to it (R71).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemInUse {
    pub application: String,
    pub service: String,
    pub name: String,
    /// The number of declared items elsewhere that refer to it after the submission.
    pub uses: u64,
    /// The users of the same team by their names, at most 20; none for the items after the first 20.
    pub users: Option<Vec<String>>,
}

impl ItemInUse {
    fn new(item: &Item, uses: u64, users: Option<&[&Item]>) -> Self {
        let name = |user: &&Item| {
            format!("{}/{} {} '{}'", user.consumer.name, user.application, user.service.title, user.name)
        };
        Self {
            application: item.application.clone(),
            service: item.service.title.clone(),
            name: item.name.clone(),
            uses,
            users: users.map(|users| users.iter().take(USERS_NAMED_MAX).map(name).collect()),
        }
    }

    /// Returns the users of the item as part of a sentence. It counts the users of other teams and does not name them.
    pub fn detail(&self) -> String {
        let items = if self.uses == 1 {
            "1 item elsewhere refers".to_owned()
        } else {
            format!("{} items elsewhere refer", self.uses)
        };
        let Some(users) = &self.users else { return format!("{items} to it") };
        let more = self.uses.saturating_sub(length(users.len()));
        let more = match users.len() {
            _ if more == 0 => None,
            USERS_NAMED_MAX => Some(format!("{more} more")),
            _ => Some(format!("{more} of other teams")),
        };
        let users: Vec<String> = users.iter().cloned().chain(more).collect();
        format!("{items} to it: {}", users.join(", "))
    }

    /// Returns the problem of the removal without a confirmation.
    pub(super) fn problem(&self, team: &str) -> Problem {
        let Self { application, service, name, .. } = self;
        Problem {
            pointer: pointer([team, application, SERVICES, service, name]),
            path: [team, application, service, name].map(str::to_owned).to_vec(),
            rule: IN_USE,
            message: format!("must stay: {}; allow_removal=true removes it", self.detail()),
            change: None,
        }
    }
}

/// Returns the items that the submission removes although items elsewhere still refer to them (R71).
pub(super) fn in_use(
    affected: &[AffectedApplication<'_, '_>],
    resolver: &Resolver<'_, '_>,
    offers: &Offers,
) -> Vec<ItemInUse> {
    let is_removed = |item: &&Item| item.declared && item.used_by > 0 && !resolver.stays(item);
    let removed: Vec<&Item> =
        affected.iter().flat_map(|application| application.items.iter().filter(is_removed)).collect();
    if removed.is_empty() {
        return Vec::new();
    }
    let released = released(affected, resolver, offers);
    let in_use = removed.into_iter().filter_map(|item| {
        let count = released.iter().filter(|(target, _)| *target == item.id).count();
        let uses = item.used_by.saturating_sub(length(count));
        let users = resolver.elsewhere.users.get(&item.id).map(|users| {
            users.iter().filter(|user| !released.contains(&(item.id, user.id))).collect::<Vec<&Item>>()
        });
        (uses > 0).then(|| ItemInUse::new(item, uses, users.as_deref()))
    });
    in_use.collect()
}

/// Returns the pairs of an item and its user whose references end with the submission.
fn released(
    affected: &[AffectedApplication<'_, '_>],
    resolver: &Resolver<'_, '_>,
    offers: &Offers,
) -> BTreeSet<(ItemId, ItemId)> {
    let mut released = BTreeSet::new();
    for application in affected {
        for user in application.items.iter().filter(|user| !user.used().is_empty()) {
            let declared = application.declaration_of(user);
            let after =
                declared.map(|declared| uses_after(user, declared, &user.application, resolver, offers));
            let ended = user.used().iter().filter(|id| !after.iter().flatten().any(|after| after == *id));
            released.extend(ended.map(|id| (*id, user.id)));
        }
    }
    released
}

/// Returns the stored items of other applications and teams to which a declared item refers after the submission.
fn uses_after(
    before: &Item,
    declared: &DeclaredItem,
    application: &str,
    resolver: &Resolver<'_, '_>,
    offers: &Offers,
) -> Vec<ItemId> {
    let Some(offer) = offers.get(&declared.service).filter(|_| before.version.hash != declared.hash) else {
        return before.uses.clone();
    };
    let named = offer.schema.named(&declared.body);
    let ids = named.iter().filter_map(|named| match resolver.resolve(application, named)?.ok()? {
        Resolved::Stored(id) => Some(id),
        Resolved::New(..) => None,
    });
    ids.collect()
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
