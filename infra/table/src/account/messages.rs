//! Messages of owners: one record for each team, and a cache of the teams that have any (decision record 26).

use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, Attributes, MessagesRecord, ServiceRecord};
use crate::write::{Stored, statement};
use aws_sdk_dynamodb::types::Select;
use domain::account::audit_log::Recorded;
use domain::base::id::ServiceId;
use domain::catalog::service::Service;
use domain::outreach::message::Messages;
use domain::{TeamId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

/// How long a process uses its cached set of teams, in seconds.
const KNOWN_SECONDS: u64 = 60;

/// The most services in the cache of owners.
const OWNERS_MAX: usize = 10_000;

impl Table {
    /// Returns all messages of a team.
    pub async fn messages(&self, owner: TeamId) -> Result<Option<Messages>, Error> {
        self.get::<MessagesRecord>(key::messages(owner)).await
    }

    /// Returns the messages of these teams, eventually consistent, with one request for 100 teams. Teams without
    /// messages are left out.
    pub async fn messages_of(&self, owners: impl Iterator<Item = TeamId>) -> Result<Vec<Messages>, Error> {
        let rows = self.batches(owners.map(key::messages).collect(), false).await?;
        rows.into_iter().map(record::read::<MessagesRecord>).collect()
    }

    /// Stores the messages of a team if their revision is still `before`; 0 stands for a missing record.
    pub async fn keep_messages(
        &self,
        before: u64,
        after: &Messages,
        recorded: &Recorded,
    ) -> Result<Stored, Error> {
        let before = (before > 0).then_some(before);
        let actions = || Ok(vec![statement::create_or_replace::<MessagesRecord>(&self.name, before, after)?]);
        let is_stored = async { Ok(self.messages(after.owner.id).await?.as_ref() == Some(after)) };
        let commit = self.store(recorded, actions, is_stored).await?;
        // The writer expects to see its change at once. Other processes may be a minute behind.
        *self.known_messages.owners.lock().unwrap_or_else(PoisonError::into_inner) = None;
        commit.certain()
    }

    /// Returns the teams with messages, from the index.
    pub async fn message_owners(&self) -> Result<BTreeSet<TeamId>, Error> {
        let owner = |row: &Attributes| key::messages_owner(record::text(row, "pk")?);
        let mut owners = BTreeSet::new();
        self.each_page_of(key::ALL_MESSAGES, Select::AllProjectedAttributes, |page| {
            owners.extend(page.items.unwrap_or_default().iter().filter_map(owner));
        })
        .await?;
        Ok(owners)
    }

    /// Returns the teams with messages, at most a minute old in this process.
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

    /// Returns the ids and owners of the services that exist under these titles. Only uncached ones are read, with
    /// one request for 100.
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
