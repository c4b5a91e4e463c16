//! What an owner keeps with a service: its documentation, versions of its config.

use crate::commit::Commit;
use crate::record::{self, ConfigRecord, DocsRecord, ServiceRecord};
use crate::{Error, Table, key, statement};
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::config::{Config, Next};
use domain::docs::Docs;
use domain::id::{ConfigId, ServiceId};
use domain::land::Stamp;
use domain::recorded::{Event, Recorded};
use domain::service::Service;

/// What became of what an owner wants kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is stored.
    Stored,
    /// Somebody else was faster: look again.
    Stale,
}

impl Table {
    /// The documentation of a service.
    pub async fn docs(&self, title: &str) -> Result<Option<Docs>, Error> {
        self.get::<DocsRecord>(key::docs(title)).await
    }

    /// Stores a service's documentation: the first, with a word of it on the service as it was read; or another one.
    pub async fn keep_docs(
        &self,
        before: &Service,
        after: &Service,
        docs: &Docs,
        stamp: &Stamp,
    ) -> Result<Kept, Error> {
        let row = || record::write::<DocsRecord>(docs);
        let actions = if before.has_docs {
            vec![statement::put_over(&self.name, row()?)?]
        } else {
            let service = statement::replace::<ServiceRecord>(&self.name, before.revision, after)?;
            vec![service, statement::put_new(&self.name, row()?)?]
        };
        let recorded = Recorded::of_service(Event::ServiceDocumented, after, stamp);
        if self.keep(actions, &recorded).await? {
            return Ok(Kept::Stored);
        }
        // The own mark: nobody else writes this very record.
        let is_stored = self.docs(&docs.service.title).await?.as_ref() == Some(docs);
        Ok(if is_stored { Kept::Stored } else { Kept::Stale })
    }

    /// A version of a service's config.
    pub async fn config(&self, id: ConfigId) -> Result<Option<Config>, Error> {
        self.get::<ConfigRecord>(key::config(id)).await
    }

    /// The newest version of a service's config, strongly consistent.
    pub async fn newest_config(&self, service: ServiceId) -> Result<Option<u64>, Error> {
        let newest = self.last_key(&key::config_partition(service)).await?;
        Ok(newest.and_then(|key| key.sk.parse().ok()))
    }

    /// Stores a version whose number nobody has taken, and removes the one that leaves for it.
    pub async fn keep_config(&self, next: &Next, service: &Service, stamp: &Stamp) -> Result<Kept, Error> {
        let mut actions = vec![statement::create::<ConfigRecord>(&self.name, &next.config)?];
        if let Some(leaves) = next.leaves {
            actions.push(statement::remove(&self.name, key::config(leaves))?);
        }
        let recorded = Recorded::of_service(Event::ServiceConfigured, service, stamp);
        if self.keep(actions, &recorded).await? {
            return Ok(Kept::Stored);
        }
        let is_stored = self.config(next.config.id).await?.as_ref() == Some(&next.config);
        Ok(if is_stored { Kept::Stored } else { Kept::Stale })
    }

    async fn keep(&self, mut actions: Vec<TransactWriteItem>, recorded: &Recorded) -> Result<bool, Error> {
        actions.push(self.told(recorded)?);
        Ok(self.transact(|| Ok(actions.clone())).await? == Commit::Done)
    }
}
