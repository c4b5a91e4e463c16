//! What an owner's decision is made on, and what its reply shows beside it.

use crate::record::{self, ChangeRecord, HeadRecord, ItemRecord, Record};
use crate::{Error, Table, key};
use domain::change::Change;
use domain::decide::Decided;
use domain::id::{ChangeId, ItemId};
use domain::item::Item;
use domain::related::Related;
use domain::team::Head;
use std::sync::PoisonError;

/// How many change instances are kept with their items; a function has little memory.
const KNOWN_MAX: usize = 10_000;

/// A change instance with what a decision on it looks at.
#[derive(Clone, Debug)]
pub struct Undecided {
    /// The change instance.
    pub change: Change,
    /// Its item.
    pub item: Item,
    /// The head of its consumer, if it was asked for.
    pub head: Option<Head>,
}

/// The records of one read.
#[derive(Default)]
struct Found {
    change: Option<Change>,
    item: Option<Item>,
    head: Option<Head>,
}

impl Table {
    /// A change instance with its item, in one round if this process has seen it before, otherwise in two: its id
    /// does not tell its item.
    pub async fn undecided(&self, id: ChangeId, with_head: bool) -> Result<Option<Undecided>, Error> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
        let head = with_head.then(|| key::head(id.team()));
        let keys = std::iter::once(key::change(id)).chain(known.map(key::item)).chain(head);
        let Found { change, item, head } = self.found(keys.collect()).await?;
        let Some(change) = change else { return Ok(None) };
        let item = match item.filter(|item| item.id == change.item) {
            Some(item) => item,
            None => self
                .item(change.item)
                .await?
                .ok_or_else(|| Error::corrupt(format!("change instance {id}"), "its item is missing"))?,
        };
        self.remember(id, item.id);
        Ok(Some(Undecided { change, item, head }))
    }

    fn remember(&self, id: ChangeId, item: ItemId) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(id, item);
    }

    async fn found(&self, keys: Vec<key::Key>) -> Result<Found, Error> {
        let mut found = Found::default();
        for row in self.batch(keys).await? {
            match record::type_of(&row) {
                Some(ChangeRecord::TYPE) => found.change = Some(record::read::<ChangeRecord>(row)?),
                Some(ItemRecord::TYPE) => found.item = Some(record::read::<ItemRecord>(row)?),
                Some(HeadRecord::TYPE) => found.head = Some(record::read::<HeadRecord>(row)?),
                other => return Err(Error::corrupt(record::place(&row), format!("{other:?} unexpected"))),
            }
        }
        Ok(found)
    }

    /// What stands beside a change instance that was decided on; the item and what it brought are as decided.
    pub async fn related_to_decided(&self, decided: &Decided) -> Result<Related, Error> {
        let Decided { change, item, deployed, .. } = decided;
        let newest = item.deployed.map(|latest| latest.id);
        let stored = newest.filter(|id| deployed.as_ref().is_none_or(|brought| brought.id != *id));
        let declarations = change.new.iter().chain(&change.old).chain(std::iter::once(&item.version));
        let mut keys = vec![
            key::team(change.consumer.id),
            key::team(change.service_owner.id),
            key::application(item.id.application()),
        ];
        keys.extend(declarations.map(|version| key::declaration(change.consumer.id, version.hash)));
        keys.extend(stored.map(key::deployed));
        let mut related = self.lastingly_related(keys).await?;
        related.items.insert(item.id, item.clone());
        related.deployed.extend(deployed.iter().map(|brought| (brought.id, brought.clone())));
        Ok(related)
    }
}
