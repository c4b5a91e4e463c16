//! Messages of owners: one record for each team, and a cache of the teams that have any (decision record 26).

use crate::client::{Error, Table};
use crate::key;
use crate::read::Consistency;
use crate::record::{self, Attributes, MessagesRecord, ServiceRecord};
use crate::write::{Stored, statement};
use aws_sdk_dynamodb::types::Select;
use domain::account::audit_log::AuditEntry;
use domain::base::id::ServiceId;
use domain::catalog::service::Service;
use domain::outreach::message::Messages;
use domain::{TeamId, Timestamp};
use dovetail_aws::now;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Table {
    /// Returns all messages of a team.
    pub async fn messages(&self, owner: TeamId) -> Result<Option<Messages>, Error> {
        self.get::<MessagesRecord>(key::messages(owner)).await
    }

    /// Returns the messages of these teams, eventually consistent, with one request for 100 teams. Teams without
    /// messages are left out.
    pub async fn messages_of(&self, owners: impl Iterator<Item = TeamId>) -> Result<Vec<Messages>, Error> {
        self.batch_get::<MessagesRecord>(owners.map(key::messages), Consistency::Eventual).await
    }

    /// Stores the messages of a team if their revision is still `before`; 0 stands for a missing record.
    pub async fn put_messages(
        &self,
        before: u64,
        after: &Messages,
        audit_entry: &AuditEntry,
    ) -> Result<Stored, Error> {
        let before = (before > 0).then_some(before);
        let actions = || Ok(vec![statement::create_or_replace::<MessagesRecord>(&self.name, before, after)?]);
        let is_stored = async { Ok(self.messages(after.owner.id).await?.as_ref() == Some(after)) };
        let commit = self.store(audit_entry, actions, is_stored).await?;
        // The writer expects to see its change at once. Other processes may be a minute behind.
        self.caches.message_owners.remove(&());
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
    pub async fn cached_message_owners(&self, now: Timestamp) -> Result<Arc<BTreeSet<TeamId>>, Error> {
        if let Some(owners) = self.caches.message_owners.get(&(), now) {
            return Ok(owners);
        }
        let owners = Arc::new(self.message_owners().await?);
        self.caches.message_owners.insert((), Arc::clone(&owners), now);
        Ok(owners)
    }

    /// Returns the ids and owners of the services that exist under these titles. Only uncached services are read, with
    /// one request for 100 of them.
    pub async fn owned_services(
        &self,
        titles: &BTreeSet<String>,
    ) -> Result<BTreeMap<ServiceId, TeamId>, Error> {
        let (cache, now) = (&self.caches.services, now());
        let (mut owned, mut unknown) = (BTreeMap::new(), Vec::new());
        for title in titles {
            match cache.get(title, now) {
                Some((id, owner)) => drop(owned.insert(id, owner)),
                None => unknown.push(key::service(title)),
            }
        }
        for service in self.batch_get::<ServiceRecord>(unknown, Consistency::Eventual).await? {
            let Service { id, title, owner, .. } = service;
            owned.insert(id, owner.id);
            cache.insert(title, (id, owner.id), now);
        }
        Ok(owned)
    }
}
