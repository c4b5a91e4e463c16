//! Services as submissions need them: each with its newest schema, which a process compiles once.

use crate::call::Call as _;
use crate::record::{self, Attributes, Record, SchemaRecord, ServiceRecord, StoredSchema};
use crate::{Error, Table, key};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::plan::{Offer, Offers};
use domain::schema::{self, Schema};
use domain::service::Service;
use futures_util::future::try_join;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

/// How many compiled schemas are kept; a function has little memory.
const SCHEMAS_MAX: usize = 256;

/// How many services are read at the same time.
const AT_ONCE: usize = 16;

impl Table {
    /// The services with these titles, as far as they exist, with their schemas: in one round, unless a schema is newer
    /// than the one that this process knows.
    pub async fn offers(&self, titles: &BTreeSet<&str>) -> Result<Offers, Error> {
        let (known, new): (Vec<&str>, Vec<&str>) =
            titles.iter().partition(|title| self.knows_schema_of(title));
        let known = self.batch(known.into_iter().map(key::service).collect());
        let new: Vec<_> = new.into_iter().map(|title| self.service_at_first_sight(title)).collect();
        let new = stream::iter(new).buffered(AT_ONCE).try_collect::<Vec<_>>();
        let (known, new) = try_join(known, new).await?;
        let known = known.into_iter().map(record::read::<ServiceRecord>).collect::<Result<Vec<_>, _>>()?;
        let mut offers = Offers::new();
        for service in known.into_iter().chain(new.into_iter().flatten()) {
            let schema = self.schema(&service).await?;
            offers.insert(service.title.clone(), Offer { service, schema });
        }
        Ok(offers)
    }

    /// The schema of a service as of its current version.
    pub async fn schema(&self, service: &Service) -> Result<Arc<Schema>, Error> {
        let version = (service.title.clone(), service.schema_version);
        let known = self.schemas.lock().unwrap_or_else(PoisonError::into_inner).get(&version).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let key = key::schema(&service.title, service.schema_version);
        let place = key.to_string();
        let stored = self.get::<SchemaRecord>(key).await?;
        self.compiled(stored.ok_or_else(|| Error::corrupt(place, "is missing"))?)
    }

    /// The schemas of these services, each as of its current version, in their order: those that this process does not
    /// know in one batch.
    pub async fn schemas(&self, services: &[Service]) -> Result<Vec<Arc<Schema>>, Error> {
        let version = |service: &Service| (service.title.clone(), service.schema_version);
        let mut schemas: BTreeMap<_, _> = {
            let known = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
            let of =
                |service| known.get(&version(service)).map(|schema| (version(service), Arc::clone(schema)));
            services.iter().filter_map(of).collect()
        };
        let missing = services.iter().map(version).filter(|version| !schemas.contains_key(version));
        let keys = missing.map(|(title, version)| key::schema(&title, version)).collect();
        for row in self.lasting(keys).await? {
            let stored = record::read::<SchemaRecord>(row)?;
            let version = (stored.title.clone(), stored.version);
            schemas.insert(version, self.compiled(stored)?);
        }
        let missing = |service: &Service| {
            let key = key::schema(&service.title, service.schema_version);
            Error::corrupt(key.to_string(), "is missing")
        };
        let of = |service| schemas.get(&version(service)).cloned().ok_or_else(|| missing(service));
        services.iter().map(of).collect()
    }

    fn knows_schema_of(&self, title: &str) -> bool {
        let known = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        known.range((title.to_owned(), 0)..).next().is_some_and(|((known, _), _)| known == title)
    }

    /// A service whose newest schema is read along with it and kept.
    async fn service_at_first_sight(&self, title: &str) -> Result<Option<Service>, Error> {
        // The service stands behind all its schemas, and the newest schema before it.
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .consistent_read(true)
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", AttributeValue::S(key::service(title).pk))
            .scan_index_forward(false)
            .limit(2);
        let mut rows = query.call().await?.items.unwrap_or_default().into_iter();
        let Some(service) = rows.next() else { return Ok(None) };
        let is_schema = |row: &Attributes| record::type_of(row) == Some(SchemaRecord::TYPE);
        if let Some(newest) = rows.next().filter(is_schema) {
            self.compiled(record::read::<SchemaRecord>(newest)?)?;
        }
        record::read::<ServiceRecord>(service).map(Some)
    }

    fn compiled(&self, stored: StoredSchema) -> Result<Arc<Schema>, Error> {
        let place = key::schema(&stored.title, stored.version).to_string();
        let schema = schema::load(&stored.text).map_err(|_| Error::corrupt(place, "does not compile"))?;
        let schema = Arc::new(schema);
        let mut known = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= SCHEMAS_MAX {
            known.clear();
        }
        known.insert((stored.title, stored.version), Arc::clone(&schema));
        Ok(schema)
    }
}
