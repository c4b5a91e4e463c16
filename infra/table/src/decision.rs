//! What an owner's decision is made on, and what its reply shows beside it.

use crate::connect::Known;
use crate::record::{self, ChangeRecord, HeadRecord, ItemRecord, Record};
use crate::{Error, Table, key};
use domain::change::Change;
use domain::decide::Decided;
use domain::id::{ChangeId, TeamId};
use domain::item::Item;
use domain::related::Related;
use domain::team::Head;
use dovetail_aws::pause;
use std::sync::PoisonError;

/// How many change instances are kept with their items; a function has little memory.
const KNOWN_MAX: usize = 10_000;

/// How often an item is looked for that is not there.
const READS_MAX: u32 = 4;

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
    /// A change instance with its item, none unless it concerns `team`; in one round if this process has seen it
    /// before, otherwise in two: its id tells neither its item nor whom it concerns.
    ///
    /// For a team that it does not concern no more is read than shows that: the change instance alone, or nothing.
    pub async fn undecided(
        &self,
        id: ChangeId,
        team: TeamId,
        with_head: bool,
    ) -> Result<Option<Undecided>, Error> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
        if known.is_some_and(|known| !known.parties.contains(&team)) {
            return Ok(None);
        }
        let rest = |item| std::iter::once(key::item(item)).chain(with_head.then(|| key::head(id.team())));
        let at_once = known.into_iter().flat_map(|known| rest(known.item));
        let mut found = self.found(std::iter::once(key::change(id)).chain(at_once).collect()).await?;
        let change = found.change.take().filter(|change| change.parties().contains(&team));
        let Some(change) = change else { return Ok(None) };
        let is_its = |item: &Item| item.id == change.item;
        for attempt in 0..READS_MAX {
            if found.item.as_ref().is_some_and(is_its) {
                break;
            }
            // Beside the transaction in which both are born, one may be seen before the other.
            if attempt > 0 {
                pause(attempt).await;
            }
            found = self.found(rest(change.item).collect()).await?;
        }
        let missing = || Error::Unavailable(format!("the item of change instance {id} is not there yet"));
        let item = found.item.filter(is_its).ok_or_else(missing)?;
        self.remember(id, Known { item: item.id, parties: change.parties() });
        Ok(Some(Undecided { change, item, head: found.head }))
    }

    fn remember(&self, id: ChangeId, seen: Known) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(id, seen);
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
            key::service(&change.service.title),
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
