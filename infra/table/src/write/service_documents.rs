//! The documentation of services and the versions of their configs.

use super::outcome::Stored;
use super::statement;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, ConfigRecord, DocsRecord, ServiceRecord};
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
    /// The first documentation also marks the service as documented, if the service is as it was read.
    pub async fn put_docs(
        &self,
        before: &Service,
        after: &Service,
        docs: &Docs,
        ctx: &RequestContext,
    ) -> Result<Stored, Error> {
        let actions = || {
            let row = record::write::<DocsRecord>(docs)?;
            if before.has_docs {
                return Ok(vec![statement::put_over(&self.name, row)?]);
            }
            let service = statement::replace::<ServiceRecord>(&self.name, before.revision, after)?;
            Ok(vec![service, statement::put_new(&self.name, row)?])
        };
        let audit_entry = AuditEntry::of_service(Event::ServiceDocumented, after, ctx);
        // The record holds the id of the request, so an equal one is from this request.
        let is_stored = async { Ok(self.docs(&docs.service.title).await?.as_ref() == Some(docs)) };
        Ok(self.store(&audit_entry, actions, is_stored).await?.or_stale())
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
    pub async fn put_config(
        &self,
        next: &Next,
        service: &Service,
        ctx: &RequestContext,
    ) -> Result<Stored, Error> {
        let actions = || {
            let mut actions = vec![statement::create::<ConfigRecord>(&self.name, &next.config)?];
            if let Some(leaves) = next.leaves {
                actions.push(statement::remove(&self.name, key::config(leaves))?);
            }
            Ok(actions)
        };
        let audit_entry = AuditEntry::of_service(Event::ServiceConfigured, service, ctx);
        let is_stored = async { Ok(self.config(next.config.id).await?.as_ref() == Some(&next.config)) };
        Ok(self.store(&audit_entry, actions, is_stored).await?.or_stale())
    }
}
