//! References to items of other applications and teams, and the items in use (R69, R71).
//!
//! The names of a declaration become ids here: the item of another application is declared already, or is new in the
//! same submission. A commit counts each reference at the item that it names.

use super::application::{AffectedApplication, Diff};
use super::stored_items::{Key, by_key, key};
use super::{Items, Offers, Stored};
use crate::base::id::{ApplicationId, ItemId, TeamId};
use crate::base::json;
use crate::base::problem::{Problem, pointer};
use crate::catalog::schema::{Name, Named};
use crate::model::declaration::{DEPTH_MAX, Declaration, DeclaredItem, SERVICES};
use crate::model::declared::Declared;
use crate::model::item::Item;
use crate::model::submission::Scope;
use crate::model::team::Application;
use crate::model::write::Write;
use std::collections::{BTreeMap, BTreeSet};

/// The key in an application's metadata with the teams that may refer to its items.
pub const GRANTED_TEAMS: &str = "dovetail_granted_teams";

/// The rule of the removal of an item in use.
pub const IN_USE: &str = "in_use";

/// The value for all teams in a list of granted teams.
const ALL_TEAMS: &str = "*";

/// Maximum number of items that the problem of an item in use names.
const USERS_NAMED_MAX: usize = 20;

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
            let before = before.get(&(item.service.as_str(), item.name.as_str())).copied();
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

/// The item that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolved<'a> {
    Stored(ItemId),
    /// An item that the same submission creates: application, service and name.
    New(&'a str, Key<'a>),
}

/// A reference that names no item: the rule, and the reason.
type Unresolved = (&'static str, String);

/// The applications, items and grants of a submission, in which references resolve.
pub(super) struct Resolver<'a, 'r> {
    pub(super) stored: &'a Stored,
    items: &'a Items,
    pub(super) elsewhere: &'r Elsewhere,
    affected: BTreeMap<&'r str, &'r AffectedApplication<'a, 'r>>,
    /// The stored items by application and key; empty if no definition has such references.
    by_name: BTreeMap<&'a str, BTreeMap<Key<'a>, &'a Item>>,
}

impl<'a, 'r> Resolver<'a, 'r> {
    pub(super) fn new(
        stored: &'a Stored,
        items: &'a Items,
        affected: &'r [AffectedApplication<'a, 'r>],
        offers: &Offers,
        elsewhere: &'r Elsewhere,
    ) -> Self {
        let has_reach = offers.values().any(|offer| offer.schema.has_reach());
        let with_items = stored.applications.iter().filter(|_| has_reach);
        let by_name = with_items
            .filter_map(|application| Some((application.name.as_str(), by_key(items.get(&application.id)?))));
        let named = affected.iter().filter_map(|application| {
            let stored = application.stored.map(|stored| stored.name.as_str());
            Some((application.declared.map_or(stored, |declared| Some(declared.name.as_str()))?, application))
        });
        Self { stored, items, elsewhere, affected: named.collect(), by_name: by_name.collect() }
    }

    /// Resolves the name at a reference of an item in `application`; `None` for an item of the same application.
    pub(super) fn resolve<'n>(
        &self,
        application: &str,
        named: &Named<'n>,
    ) -> Option<Result<Resolved<'n>, Unresolved>> {
        if named.name.needs() > named.reach {
            let message = "must be within the reach of the reference (`x-reach`)";
            return Some(Err(("out_of_reach", message.to_owned())));
        }
        match named.name {
            Name::Here(_) => None,
            Name::Malformed => {
                let message =
                    "must be a name, an object with `application` and `name`, or one with `service_item`";
                Some(Err(("schema", message.to_owned())))
            }
            Name::InTeam { application: other, .. } if other == application => {
                Some(Err(in_same_application()))
            }
            Name::InTeam { application, name } => Some(self.in_team(application, (named.service, name))),
            Name::Item(id) => Some(self.by_id(application, id, named.service).map(Resolved::Stored)),
        }
    }

    fn in_team<'n>(&self, application: &'n str, key: Key<'n>) -> Result<Resolved<'n>, Unresolved> {
        let (service, name) = key;
        let dangling = || {
            (
                "dangling_reference",
                format!("{service} '{name}' must be declared in application '{application}'"),
            )
        };
        let stored = self.by_name.get(application).and_then(|items| items.get(&key)).copied();
        let Some(affected) = self.affected.get(application) else {
            let item = stored.filter(|item| item.declared);
            return item.map(|item| Resolved::Stored(item.id)).ok_or_else(dangling);
        };
        if !affected.keys.contains_key(&key) {
            return Err(dangling());
        }
        match stored {
            None => Ok(Resolved::New(application, key)),
            Some(item) if item.declared => Ok(Resolved::Stored(item.id)),
            Some(_) => Err(returning(name)),
        }
    }

    fn by_id(&self, application: &str, id: u64, service: &str) -> Result<ItemId, Unresolved> {
        let team = &self.stored.team;
        let unknown = || ("unknown_item", "must be a declared item that is granted to the team".to_owned());
        let target = ItemId::parse(id).and_then(|id| self.elsewhere.targets.get(&id)).ok_or_else(unknown)?;
        let item = &target.item;
        let is_own = item.consumer.id == team.id;
        if !item.declared || !(is_own || target.is_granted_to(&team.name)) {
            return Err(unknown());
        }
        if item.service.title != service {
            let message = format!("must be an item of service '{service}', not of '{}'", item.service.title);
            return Err(("wrong_service", message));
        }
        if is_own && item.application == application {
            return Err(in_same_application());
        }
        if is_own && !self.stays(item) {
            let message =
                format!("{service} '{}' must be declared in application '{}'", item.name, item.application);
            return Err(("dangling_reference", message));
        }
        Ok(item.id)
    }

    /// Returns whether a declared item of the own team is declared after the submission.
    fn stays(&self, item: &Item) -> bool {
        let affected = self.affected.get(item.application.as_str());
        affected.is_none_or(|affected| affected.keys.contains_key(&key(item)))
    }

    /// Returns a stored item that is not gone.
    fn find(&self, id: ItemId) -> Option<&Item> {
        let of_team = self.items.values().flatten().find(|item| item.id == id);
        of_team
            .or_else(|| self.elsewhere.targets.get(&id).map(|target| &target.item))
            .filter(|item| !item.gone)
    }

    /// Returns whether an item that a declaration names by id is declared after the submission. An unchanged item keeps
    /// its references, so only an item that returns needs this check.
    pub(super) fn is_declared(&self, id: ItemId) -> bool {
        let target = self.elsewhere.targets.get(&id).map(|target| &target.item).filter(|item| item.declared);
        target.is_some_and(|item| item.consumer.id != self.stored.team.id || self.stays(item))
    }
}

fn in_same_application() -> Unresolved {
    ("out_of_reach", "must be the name alone, because the item is in the same application".to_owned())
}

fn returning(name: &str) -> Unresolved {
    let message =
        format!("must be declared by an earlier submission: the removal of '{name}' is not complete");
    ("dangling_reference", message)
}

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
            let Some(item) = before.map(key).or(of_new).and_then(|key| affected.keys.get(&key)) else {
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
            let declared = application.keys.get(&key(user)).copied();
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

/// Returns the problem of a submission with too many changes of references to items elsewhere.
pub(super) fn too_many(stored: &Stored, changed: usize) -> Problem {
    let team = stored.team.name.clone();
    let message = format!(
        "must add and release references to at most {USES_CHANGED_MAX} items elsewhere at once, not {changed}"
    );
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
