//! Services with their newest schemas, as submissions need them; a process caches compiled schemas.

use super::batch::Consistency;
use crate::client::schema_cache::{SCHEMAS_BYTES_MAX, Schemas, Version, Weight};
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::{self, Attributes, Record, SchemaRecord, ServiceRecord, StoredSchema};
use domain::base::problem::Problem;
use domain::catalog::schema;
use domain::catalog::schema::{
    DecisionForms, DefinitionVersion, Definitions, Derivations, Exceeded, Part, Schema,
    UPGRADED_VERSIONS_MAX, Upgrade, Words,
};
use domain::catalog::service::Service;
use domain::rules::check::{UpgradeChain, Upgrades};
use domain::rules::plan::{Offer, Offers};
use dovetail_aws::off_worker;
use futures_util::future::try_join;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most services that are read at once.
const AT_ONCE: usize = 16;

impl Table {
    /// Returns the services that exist under these titles, with their schemas.
    ///
    /// The read takes one round, unless a service has a newer schema than the cached one.
    pub async fn offers(&self, titles: &BTreeSet<&str>) -> Result<Offers, Error> {
        let (cached, new): (Vec<&str>, Vec<&str>) =
            titles.iter().partition(|title| self.knows_schema_of(title));
        let cached = cached.into_iter().map(key::service);
        let cached = self.batch_get::<ServiceRecord>(cached, Consistency::Strong);
        let new: Vec<_> = new.into_iter().map(|title| self.service_at_first_sight(title)).collect();
        let new = stream::iter(new).buffered(AT_ONCE).try_collect::<Vec<_>>();
        let (cached, new) = try_join(cached, new).await?;
        let (mut offers, mut bytes) = (Offers::new(), 0_usize);
        for service in cached.into_iter().chain(new.into_iter().flatten()) {
            let mut schema = self.schema(&service).await?;
            bytes = bytes.saturating_add(schema.bytes);
            // A request holds all its schemas in memory at once. The schemas above the limit stay uncompiled, and
            // their items are rejected as `too_complex` (decision record 8).
            if bytes > SCHEMAS_BYTES_MAX {
                schema = Arc::new(schema.uncompiled());
            }
            offers.insert(service.title.clone(), Offer { service, schema });
        }
        Ok(offers)
    }

    /// Returns the compiled schema of a service in its current version.
    pub async fn schema(&self, service: &Service) -> Result<Arc<Schema>, Error> {
        let version = version(service);
        if let Some(cached) = self.cached_schemas().compiled(&version) {
            return Ok(cached);
        }
        let cached = self.cached_schemas().text(&version);
        let text = match cached {
            Some(text) => text,
            None => {
                let key = key::schema(&version.0, version.1);
                let key_text = key.to_string();
                let stored = self.get::<SchemaRecord>(key).await?;
                stored.ok_or_else(|| Error::corrupt(key_text, "is missing"))?.text.into()
            }
        };
        let words = if service.has_words() { Words::Apply } else { Words::Ignore };
        self.compiled(version, text, words)
    }

    /// Returns the schema texts of these services in their order. Uncached texts are read in batches, and the function
    /// compiles none.
    pub async fn schema_texts(&self, services: &[Service]) -> Result<Vec<Arc<str>>, Error> {
        let mut texts: BTreeMap<Version, Arc<str>> = {
            let mut cached = self.cached_schemas();
            services.iter().map(version).filter_map(|of| cached.text(&of).map(|text| (of, text))).collect()
        };
        let missing = services.iter().map(version).filter(|version| !texts.contains_key(version));
        let keys: Vec<Key> = missing.map(|(title, version)| key::schema(&title, version)).collect();
        for stored in self.batch_get::<SchemaRecord>(keys, Consistency::Complete).await? {
            let StoredSchema { title, version, text, .. } = stored;
            let text: Arc<str> = text.into();
            self.cached_schemas().keep((title.clone(), version), Arc::clone(&text), None);
            texts.insert((title, version), text);
        }
        let missing = |service: &Service| {
            let key = key::schema(&service.title, service.schema_version);
            Error::corrupt(key.to_string(), "is missing")
        };
        let of = |service| texts.get(&version(service)).cloned().ok_or_else(|| missing(service));
        services.iter().map(of).collect()
    }

    /// Returns the texts of published versions that exist, in one round.
    pub async fn definition_texts(
        &self,
        versions: impl IntoIterator<Item = DefinitionVersion>,
    ) -> Result<Definitions, Error> {
        let keys =
            versions.into_iter().map(|DefinitionVersion { title, version }| key::schema(&title, version));
        let stored = self.batch_get::<SchemaRecord>(keys, Consistency::Complete).await?;
        let text =
            |StoredSchema { title, version, text, .. }| (DefinitionVersion { title, version }, text.into());
        Ok(stored.into_iter().map(text).collect())
    }

    /// Returns the definition of a service in a version that checks decisions.
    pub async fn decision_forms(&self, title: &str, version: u64) -> Result<Arc<DecisionForms>, Error> {
        self.version_of(&self.caches.decision_forms, title, version, DecisionForms::load).await
    }

    /// Returns the paths of a service's definition in a version with words.
    pub async fn paths(&self, title: &str, version: u64) -> Result<Arc<Part>, Error> {
        self.version_of(&self.caches.paths, title, version, schema::stored_paths).await
    }

    /// Returns the derived values and references in the newest definition of a service (R70).
    pub async fn derivations(&self, service: &Service) -> Result<Arc<Derivations>, Error> {
        let words = if service.has_words() { Words::Apply } else { Words::Ignore };
        let load = |text: &str| Derivations::load(text, words);
        self.version_of(&self.caches.derivations, &service.title, service.schema_version, load).await
    }

    /// Returns the upgrades from a deployed version to a later version of a verified definition (R56); none if no
    /// earlier version checked it.
    ///
    /// `from` is the version that checked it; none if its words had no meaning.
    pub async fn upgrades(&self, title: &str, from: Option<u64>, to: u64) -> Result<Option<Upgrades>, Error> {
        if from.is_some_and(|from| from >= to) || !self.paths(title, to).await?.is_verified {
            return Ok(None);
        }
        let steps = self.upgrade_steps(title, from, to).await?;
        Ok(Some(Upgrades { steps, forms: self.decision_forms(title, to).await? }))
    }

    /// Returns the steps of the versions after `from`, up to `to`, or the limit that they exceed.
    pub async fn upgrade_steps(
        &self,
        title: &str,
        from: Option<u64>,
        to: u64,
    ) -> Result<Result<UpgradeChain, Exceeded>, Error> {
        let first = match from {
            Some(from) => from + 1,
            None => self.service(title).await?.and_then(|service| service.first_with_words).unwrap_or(to),
        };
        let versions = to.saturating_sub(first).saturating_add(1);
        if !usize::try_from(versions).is_ok_and(|versions| versions <= UPGRADED_VERSIONS_MAX) {
            return Ok(Err(Exceeded::Versions));
        }
        let read =
            (first..=to).map(|version| self.version_of(&self.caches.upgrades, title, version, Upgrade::load));
        let mut read = stream::iter(read).buffered(AT_ONCE);
        let mut chain = UpgradeChain::default();
        while let Some(upgrade) = read.try_next().await? {
            match chain.then(upgrade) {
                Ok(longer) => chain = longer,
                Err(exceeded) => return Ok(Err(exceeded)),
            }
        }
        Ok(Ok(chain))
    }

    /// Returns a version of a definition from its cache; an uncached one takes one read.
    async fn version_of<T: Weight>(
        &self,
        cache: &Mutex<Schemas<T>>,
        title: &str,
        version: u64,
        load: impl FnOnce(&str) -> Result<T, Vec<Problem>>,
    ) -> Result<Arc<T>, Error> {
        let of = (title.to_owned(), version);
        let cached = || cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = cached().compiled(&of) {
            return Ok(compiled);
        }
        let key = key::schema(title, version);
        let key_text = key.to_string();
        let stored = self.get::<SchemaRecord>(key).await?;
        let text = stored.ok_or_else(|| Error::corrupt(key_text.clone(), "is missing"))?.text;
        let compiled = off_worker(|| load(&text));
        let compiled = Arc::new(compiled.map_err(|_| Error::corrupt(key_text, "does not compile"))?);
        // The compiled form has every needed part of the text.
        cached().keep(of, "".into(), Some(Arc::clone(&compiled)));
        Ok(compiled)
    }

    fn knows_schema_of(&self, title: &str) -> bool {
        self.cached_schemas().has(title)
    }

    fn cached_schemas(&self) -> MutexGuard<'_, Schemas<Schema>> {
        self.caches.schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a service together with its newest schema, and caches the schema.
    async fn service_at_first_sight(&self, title: &str) -> Result<Option<Service>, Error> {
        // In the sort order, the service comes after all its schemas, and the newest schema just before it. One query
        // for two rows from the end thus reads both.
        let mut rows = self.last_rows(&key::service(title).pk, 2).await?.into_iter();
        let Some(service) = rows.next() else { return Ok(None) };
        let is_schema = |row: &Attributes| record::type_of(row) == Some(SchemaRecord::TYPE);
        if let Some(newest) = rows.next().filter(is_schema) {
            let StoredSchema { title, version, text, .. } = record::read::<SchemaRecord>(newest)?;
            self.cached_schemas().keep((title, version), text.into(), None);
        }
        record::read::<ServiceRecord>(service).map(Some)
    }

    fn compiled(&self, version: Version, text: Arc<str>, words: Words) -> Result<Arc<Schema>, Error> {
        let key_text = key::schema(&version.0, version.1).to_string();
        // Compilation takes milliseconds of CPU time and must not block the other tasks of this worker.
        let schema = off_worker(|| schema::load(&text, words))
            .map_err(|_| Error::corrupt(key_text, "does not compile"))?;
        let schema = Arc::new(schema);
        self.cached_schemas().keep(version, text, Some(Arc::clone(&schema)));
        Ok(schema)
    }
}

/// Returns the current schema version of a service.
fn version(service: &Service) -> Version {
    (service.title.clone(), service.schema_version)
}
