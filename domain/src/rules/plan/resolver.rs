//! The names in references to items of other applications and teams, and the items that they name (R69).
//!
//! The item of another application is declared already, or is new in the same submission.

use super::application::AffectedApplication;
use super::elsewhere::Elsewhere;
use super::stored_items::by_key;
use super::{Items, Offers, Stored};
use crate::base::id::ItemId;
use crate::catalog::schema::{Name, Named};
use crate::model::declaration::Key;
use crate::model::item::Item;
use std::collections::BTreeMap;

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
        let stored = |key: &Key<'_>| self.by_name.get(application).and_then(|items| items.get(key)).copied();
        let Some(affected) = self.affected.get(application) else {
            let item = stored(&key).filter(|item| item.declared);
            return item.map(|item| Resolved::Stored(item.id)).ok_or_else(dangling);
        };
        let declared = affected.keys.get(&key).ok_or_else(dangling)?;
        match stored(&declared.stored_key()) {
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
    pub(super) fn stays(&self, item: &Item) -> bool {
        let affected = self.affected.get(item.application.as_str());
        affected.is_none_or(|affected| affected.declaration_of(item).is_some())
    }

    /// Returns a stored item that is not gone.
    pub(super) fn find(&self, id: ItemId) -> Option<&Item> {
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
