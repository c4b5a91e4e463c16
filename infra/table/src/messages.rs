//! Messages of owners: all of one's in one record, and which teams have any, which a process knows for a minute.

use crate::access::outcome;
use crate::commit::Commit;
use crate::record::{self, Attributes, MessagesRecord, ServiceRecord};
use crate::{Error, Keyed, Table, key, statement};
use aws_sdk_dynamodb::types::Select;
use domain::id::{ServiceId, TeamId};
use domain::message::Messages;
use domain::recorded::Recorded;
use domain::service::Service;
use domain::timestamp::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// For how long a process goes by what it knows of who has messages.
const KNOWN_SECONDS: u64 = 60;

/// Of how many services it is kept whose they are.
const OWNERS_MAX: usize = 10_000;

/// When it was looked which teams have messages, and which do.
type Looked = (Timestamp, Arc<BTreeSet<TeamId>>);

/// What a process knows of messages.
#[derive(Clone, Default)]
pub(crate) struct Known {
    /// Which teams have messages.
    owners: Arc<Mutex<Option<Looked>>>,
    /// Whose services are, by title; neither changes.
    services: Arc<Mutex<BTreeMap<String, (ServiceId, TeamId)>>>,
}

impl Table {
    /// All messages of a team.
    pub async fn messages(&self, owner: TeamId) -> Result<Option<Messages>, Error> {
        self.get::<MessagesRecord>(key::messages(owner)).await
    }

    /// The messages of these teams, as far as they have any, as they are or were a moment ago; one batch for a hundred teams.
    pub async fn messages_of(&self, owners: impl Iterator<Item = TeamId>) -> Result<Vec<Messages>, Error> {
        let rows = self.batches(owners.map(key::messages).collect(), false).await?;
        rows.into_iter().map(record::read::<MessagesRecord>).collect()
    }

    /// Stores a team's messages as they are from now on, unless they have changed since they were read at `before`.
    pub async fn keep_messages(
        &self,
        before: u64,
        after: &Messages,
        recorded: &Recorded,
    ) -> Result<Keyed, Error> {
        let actions = || {
            let kept = match before {
                0 => statement::create::<MessagesRecord>(&self.name, after)?,
                _ => statement::replace::<MessagesRecord>(&self.name, before, after)?,
            };
            Ok(vec![kept, self.told(recorded)?])
        };
        let commit = self.transact(actions).await?;
        let is_stored =
            commit == Commit::Done || self.messages(after.owner.id).await?.as_ref() == Some(after);
        // Who writes here sees it here.
        *self.known_messages.owners.lock().unwrap_or_else(PoisonError::into_inner) = None;
        outcome(commit, is_stored)
    }

    /// The teams that have messages, as the index knows them.
    pub async fn message_owners(&self) -> Result<BTreeSet<TeamId>, Error> {
        let owner = |row: &Attributes| key::messages_owner(record::text(row, "pk")?);
        let mut owners = BTreeSet::new();
        self.each_page_of(key::ALL_MESSAGES, Select::AllProjectedAttributes, |page| {
            owners.extend(page.items.unwrap_or_default().iter().filter_map(owner));
        })
        .await?;
        Ok(owners)
    }

    /// The same as this process knows them, which is at most a minute old.
    pub async fn known_message_owners(&self, now: Timestamp) -> Result<Arc<BTreeSet<TeamId>>, Error> {
        let known = self.known_messages.owners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, owners)) = known
            && now.micros().saturating_sub(at.micros()) < KNOWN_SECONDS * 1_000_000
        {
            return Ok(owners);
        }
        let owners = Arc::new(self.message_owners().await?);
        let found = Some((now, Arc::clone(&owners)));
        *self.known_messages.owners.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(owners)
    }

    /// The services with these titles, as far as they exist, and whose they are: those that this process does not know in
    /// one batch for a hundred.
    pub async fn owned_services(
        &self,
        titles: &BTreeSet<String>,
    ) -> Result<BTreeMap<ServiceId, TeamId>, Error> {
        let mut owned = BTreeMap::new();
        let mut unknown = BTreeSet::new();
        {
            let known = self.known_messages.services.lock().unwrap_or_else(PoisonError::into_inner);
            for title in titles {
                match known.get(title) {
                    Some((id, owner)) => drop(owned.insert(*id, *owner)),
                    None => drop(unknown.insert(key::service(title))),
                }
            }
        }
        for row in self.batches(unknown, false).await? {
            let Service { id, title, owner, .. } = record::read::<ServiceRecord>(row)?;
            owned.insert(id, owner.id);
            let mut known = self.known_messages.services.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= OWNERS_MAX {
                known.clear();
            }
            known.insert(title, (id, owner.id));
        }
        Ok(owned)
    }
}
