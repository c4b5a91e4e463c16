//! Bringing teams, services and API keys into being: rare writes that take numbers from one counter.

use crate::call::Call as _;
use crate::commit::Commit;
use crate::read::ApiKey;
use crate::record::{Attributes, HeadRecord, SchemaRecord, ServiceRecord, StoredSchema, TeamRecord};
use crate::{Error, Table, key, statement};
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use domain::actor::TeamRef;
use domain::id::{ServiceId, TeamId};
use domain::schema::Schema;
use domain::service::{Service, Settings};
use domain::team::Team;
use domain::timestamp::Timestamp;
use std::collections::HashMap;

/// A service to store, with the schema text when it is a new version.
#[derive(Clone, Debug)]
pub struct Publication {
    /// The service as it shall be.
    pub service: Service,
    /// The schema of the version that the service names, canonical JSON.
    pub schema: Option<String>,
}

/// What became of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// It is stored.
    Stored(Service),
    /// The service has changed meanwhile, or its title is taken: look again.
    Stale,
}

impl Table {
    /// The team with this name, created if there is none.
    pub async fn ensure_team(&self, name: &str, metadata: &str) -> Result<Team, Error> {
        for attempt in 0..8 {
            if let Some(team) = self.team_by_name(name).await? {
                return Ok(team);
            }
            let (before, next) = self.counter("teams").await?;
            let id = TeamId::new(next).ok_or_else(|| Error::corrupt("COUNTERS", "no team numbers left"))?;
            let team = Team { id, name: name.to_owned(), metadata: metadata.to_owned() };
            let actions = vec![
                statement::count(&self.name, "teams", before, next)?,
                statement::pointer(
                    &self.name,
                    key::team_name(name),
                    "TEAM_NAME",
                    AttributeValue::N(id.to_string()),
                )?,
                statement::create::<TeamRecord>(&self.name, &team)?,
                statement::create::<HeadRecord>(&self.name, &team.first_head())?,
            ];
            self.transact(|| Ok(actions.clone())).await?;
            // Whatever the answer was, the name tells who has won it.
            dovetail_aws::pause(attempt).await;
        }
        Err(Error::Unavailable("a team could not be created".to_owned()))
    }

    /// Stores the first version of a service under the next number.
    pub async fn create_service(
        &self,
        owner: &TeamRef,
        schema: &Schema,
        settings: Settings,
        now: Timestamp,
    ) -> Result<Published, Error> {
        let (before, next) = self.counter("services").await?;
        let id = ServiceId::new(next).ok_or_else(|| Error::corrupt("COUNTERS", "no service numbers left"))?;
        let service = Service {
            id,
            title: schema.title.clone(),
            owner: owner.clone(),
            settings,
            schema_version: 1,
            revision: 1,
            created: now,
            modified: now,
        };
        let mut actions = vec![
            statement::count(&self.name, "services", before, next)?,
            statement::pointer(
                &self.name,
                key::service_id(id),
                "SERVICE_ID",
                AttributeValue::S(service.title.clone()),
            )?,
            statement::create::<ServiceRecord>(&self.name, &service)?,
        ];
        actions.extend(self.schema_version(&service, Some(schema.text.clone()))?);
        self.published(service, actions).await
    }

    /// Replaces a service whose revision is still `before`.
    pub async fn update_service(&self, before: u64, publication: Publication) -> Result<Published, Error> {
        let service = publication.service;
        let mut actions = vec![statement::replace::<ServiceRecord>(&self.name, before, &service)?];
        actions.extend(self.schema_version(&service, publication.schema)?);
        self.published(service, actions).await
    }

    fn schema_version(
        &self,
        service: &Service,
        schema: Option<String>,
    ) -> Result<Option<TransactWriteItem>, Error> {
        let Some(text) = schema else { return Ok(None) };
        let stored = StoredSchema {
            title: service.title.clone(),
            version: service.schema_version,
            text,
            created: service.modified,
        };
        statement::create::<SchemaRecord>(&self.name, &stored).map(Some)
    }

    async fn published(&self, service: Service, actions: Vec<TransactWriteItem>) -> Result<Published, Error> {
        let commit = self.transact(|| Ok(actions.clone())).await?;
        let stored = match commit {
            Commit::Done => true,
            // The own mark: nobody else writes this very record.
            Commit::Stale | Commit::Busy | Commit::Unknown | Commit::TooLarge => {
                self.service(&service.title).await?.as_ref() == Some(&service)
            }
        };
        Ok(if stored { Published::Stored(service) } else { Published::Stale })
    }

    /// Stores an API key by its hash, replacing what is stored of the same key.
    pub async fn put_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        self.client.put_item().table_name(&self.keys).set_item(Some(api_key(key))).call().await?;
        Ok(())
    }

    /// Stores an API key unless its team has had one of that name; tells whether it did.
    pub async fn put_named_api_key(&self, key: &ApiKey) -> Result<bool, Error> {
        let name = format!("NAME#{}#{}", key.team.id, key.name);
        let name = HashMap::from([("pk".to_owned(), AttributeValue::S(name))]);
        let rows = [name, api_key(key)];
        let actions = || rows.iter().map(|row| statement::put_new(&self.keys, row.clone())).collect();
        let commit = self.transact(actions).await?;
        // Nobody else stores this very hash.
        let is_stored = commit == Commit::Done || self.api_key(&key.hash).await?.is_some();
        match commit {
            Commit::Busy | Commit::Unknown | Commit::TooLarge if !is_stored => {
                Err(Error::Unavailable("an API key could not be stored".to_owned()))
            }
            Commit::Done | Commit::Stale | Commit::Busy | Commit::Unknown | Commit::TooLarge => Ok(is_stored),
        }
    }

    /// What a counter stands at, and its next number.
    async fn counter(&self, name: &str) -> Result<(Option<u64>, u64), Error> {
        let counters = self.attributes(key::counters()).await?;
        let before = counters.and_then(|counters| counters.get(name)?.as_n().ok()?.parse().ok());
        Ok((before, before.map_or(1, |before| before + 1)))
    }
}

fn api_key(key: &ApiKey) -> Attributes {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let attributes = [
        ("pk", text(&key.hash)),
        ("nm", text(&key.name)),
        ("tm", AttributeValue::N(key.team.id.to_string())),
        ("tn", text(&key.team.name)),
        ("role", text(key.role.name())),
    ];
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
