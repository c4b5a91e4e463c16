//! The documentation of services and the versions of their configs.

use super::commit::Commit;
use super::outcome::Kept;
use super::statement;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, ConfigRecord, DocsRecord, ServiceRecord};
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::account::audit_log::{AuditEntry, Event};
use domain::base::context::RequestContext;
use domain::base::id::{ConfigId, ServiceId};
use domain::catalog::config::{Config, Next};
use domain::catalog::docs::Docs;
use domain::catalog::service::Service;

impl Table {
    /// Returns the documentation of a service.
    pub async fn docs(&self, title: &str) -> Result<Option<Docs>, Error> {
        self.get::<DocsRecord>(key::docs(title)).await
    }

    /// Stores the documentation of a service.
    ///
    /// The first one also marks the service as documented, if the service is as it was read.
    pub async fn keep_docs(
        &self,
        before: &Service,
        after: &Service,
        docs: &Docs,
        ctx: &RequestContext,
    ) -> Result<Kept, Error> {
        let row = || record::write::<DocsRecord>(docs);
        let actions = if before.has_docs {
            vec![statement::put_over(&self.name, row()?)?]
        } else {
            let service = statement::replace::<ServiceRecord>(&self.name, before.revision, after)?;
            vec![service, statement::put_new(&self.name, row()?)?]
        };
        let audit_entry = AuditEntry::of_service(Event::ServiceDocumented, after, ctx);
        if self.keep(actions, &audit_entry).await? {
            return Ok(Kept::Stored);
        }
        // The answer may be lost. The record holds the id of the request, so an equal one is from this request.
        let is_stored = self.docs(&docs.service.title).await?.as_ref() == Some(docs);
        Ok(if is_stored { Kept::Stored } else { Kept::Stale })
    }

    /// Returns the version of a service's config with this id.
    pub async fn config(&self, id: ConfigId) -> Result<Option<Config>, Error> {
        self.get::<ConfigRecord>(key::config(id)).await
    }

    /// Returns the newest version of a service's config, strongly consistent.
    pub async fn newest_config(&self, service: ServiceId) -> Result<Option<u64>, Error> {
        let newest = self.last_rows(&key::config_partition(service), 1).await?;
        Ok(newest.first().and_then(|row| record::text(row, "sk")?.parse().ok()))
    }

    /// Stores a config version if its number is free, and removes the version that no longer has room.
    pub async fn keep_config(
        &self,
        next: &Next,
        service: &Service,
        ctx: &RequestContext,
    ) -> Result<Kept, Error> {
        let mut actions = vec![statement::create::<ConfigRecord>(&self.name, &next.config)?];
        if let Some(leaves) = next.leaves {
            actions.push(statement::remove(&self.name, key::config(leaves))?);
        }
        let audit_entry = AuditEntry::of_service(Event::ServiceConfigured, service, ctx);
        if self.keep(actions, &audit_entry).await? {
            return Ok(Kept::Stored);
        }
        let is_stored = self.config(next.config.id).await?.as_ref() == Some(&next.config);
        Ok(if is_stored { Kept::Stored } else { Kept::Stale })
    }

    async fn keep(
        &self,
        mut actions: Vec<TransactWriteItem>,
        audit_entry: &AuditEntry,
    ) -> Result<bool, Error> {
        actions.push(self.audit_entry_action(audit_entry)?);
        Ok(self.transact(|| Ok(actions.clone())).await? == Commit::Done)
    }
}
