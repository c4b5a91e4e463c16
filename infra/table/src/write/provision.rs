//! Creates and updates teams and services. These writes are rare, so one counter record numbers new teams and services.

use super::commit::Commit;
use super::outcome::Stored;
use super::statement;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{HeadRecord, SchemaRecord, ServiceRecord, StoredSchema, TeamRecord};
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use domain::account::api_key::{ApiKey, Made};
use domain::account::audit_log::{AuditEntry, Event};
use domain::base::context::RequestContext;
use domain::base::id::ServiceId;
use domain::catalog::schema::Schema;
use domain::catalog::service::{Service, Settings};
use domain::model::likeness::look_alike;
use domain::model::metadata::{NO_METADATA, Since};
use domain::model::team::Team;
use domain::{TeamId, TeamRef};
use dovetail_aws::retry;
use std::ops::Range;

/// The counter of teams.
const TEAMS: &str = "teams";
/// Maximum number of teams in memory at once. Each team may have 68 KiB of metadata.
const TEAMS_AT_ONCE: u64 = 1_000;
/// The counter of services.
const SERVICES: &str = "services";

/// A service to store, with its schema text if that is a new version.
#[derive(Clone, Debug)]
pub struct Publication {
    /// The service as stored by the write.
    pub service: Service,
    /// The canonical JSON of a new schema version; `None` if the schema stays.
    pub schema: Option<String>,
}

/// The outcome of the creation of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum NewService {
    /// The service is stored.
    Done(Box<Service>),
    /// Another request has taken the title or the number; the caller reads again.
    Stale,
    /// The title looks like this one of another service.
    LooksLike(String),
}

/// The outcome of the creation of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum NewTeam {
    /// The team is stored, with its first API key.
    Done(Team, Box<ApiKey>),
    /// The name, or one that looks the same, belongs to this other team.
    LooksLike(Team),
}

fn team_not_created() -> Error {
    Error::Unavailable("a team could not be created".to_owned())
}

impl Table {
    /// Returns the team with this name, and creates it if it does not exist.
    pub async fn ensure_team(
        &self,
        name: &str,
        metadata: &str,
        confirm_removals: bool,
        ctx: &RequestContext,
    ) -> Result<Team, Error> {
        let ensured = retry::until_stored(retry::WRITE, |_| async {
            if let Some(team) = self.team_by_name(name).await? {
                return Ok(Some(team));
            }
            let (_, actions) = self.next_team(name, metadata, confirm_removals, ctx).await?;
            self.transact(|| Ok(actions.clone())).await?;
            // The answer may be lost, or another request may have won the name or the number. The next attempt reads
            // the name, which decides. The pause keeps concurrent creations from colliding at the counter.
            Ok::<_, Error>(None)
        });
        ensured.await?.ok_or_else(team_not_created)
    }

    /// Creates a team with its first API key in one transaction, unless another team has the name or one that looks the
    /// same.
    pub async fn create_team(
        &self,
        name: &str,
        confirm_removals: bool,
        first: &Made,
        ctx: &RequestContext,
    ) -> Result<NewTeam, Error> {
        let created = retry::until_stored(retry::WRITE, |_| async {
            if let Some(team) = self.team_by_name(name).await? {
                // The hash is unique, so this key shows that an earlier attempt, whose answer was lost, is stored.
                let stored = self.api_key(&first.hash).await?.filter(|key| key.team.id == team.id);
                return Ok(Some(match stored {
                    Some(key) => NewTeam::Done(team, Box::new(key)),
                    None => NewTeam::LooksLike(team),
                }));
            }
            let (team, mut actions) = self.next_team(name, NO_METADATA, confirm_removals, ctx).await?;
            // The write fails if another team has been created since the read of the counter.
            if let Some(other) = self.similar_team(team.id.get(), name).await? {
                return Ok(Some(NewTeam::LooksLike(other)));
            }
            let key = ApiKey::new(first.clone(), team.to_ref(), ctx);
            actions.extend(self.new_api_key(&key)?);
            actions.push(self.audit_entry_action(&AuditEntry::of_key(Event::KeyCreated, &key, ctx))?);
            // As in `ensure_team`, the next attempt reads the name, which decides.
            let is_stored = self.transact(|| Ok(actions.clone())).await? == Commit::Done;
            Ok::<_, Error>(is_stored.then(|| NewTeam::Done(team, Box::new(key))))
        });
        created.await?.ok_or_else(team_not_created)
    }

    /// Returns a team with a smaller id than this one whose name looks like `name`.
    async fn similar_team(&self, before: u64, name: &str) -> Result<Option<Team>, Error> {
        let mut first = 1;
        while first < before {
            let last = (before - 1).min(first + TEAMS_AT_ONCE - 1);
            let teams = self.teams(first, last).await?;
            if let Some(other) = teams.into_iter().find(|other| look_alike(&other.name, name)) {
                return Ok(Some(other));
            }
            first = last + 1;
        }
        Ok(None)
    }

    /// Returns a new team with the next number, and the actions that create it.
    async fn next_team(
        &self,
        name: &str,
        metadata: &str,
        confirm_removals: bool,
        ctx: &RequestContext,
    ) -> Result<(Team, Vec<TransactWriteItem>), Error> {
        let (before, next) = self.counter(TEAMS).await?;
        let id = TeamId::new(next).ok_or_else(|| Error::corrupt("COUNTERS", "no team ids are left"))?;
        let (name, metadata) = (name.to_owned(), metadata.to_owned());
        let team = Team { id, name, metadata, since: Since::EVER, confirm_removals };
        let actions = vec![
            statement::count(&self.name, TEAMS, before, next)?,
            statement::pointer(
                &self.name,
                key::team_name(&team.name),
                "TEAM_NAME",
                AttributeValue::N(id.to_string()),
            )?,
            statement::create::<TeamRecord>(&self.name, &team)?,
            statement::create::<HeadRecord>(&self.name, &team.first_head())?,
            self.audit_entry_action(&AuditEntry::of_team(Event::TeamCreated, &team, ctx))?,
        ];
        Ok((team, actions))
    }

    /// Returns the number of teams, which is the newest id: ids have no gaps, and no team is ever deleted.
    pub async fn team_count(&self) -> Result<u64, Error> {
        Ok(self.counter(TEAMS).await?.0.unwrap_or_default())
    }

    /// Changes the settings of a team, unless they have changed since the read.
    pub async fn change_team(
        &self,
        before: &Team,
        after: &Team,
        audit_entry: &AuditEntry,
    ) -> Result<Stored, Error> {
        let actions = || Ok(vec![statement::team_settings(&self.name, before, after)?]);
        // A concurrent request with the same result counts as done, although the audit log has only one entry.
        let is_stored = async {
            let stored = self.team(after.id).await?;
            Ok(stored.is_some_and(|stored| stored.confirm_removals == after.confirm_removals))
        };
        self.store(audit_entry, actions, is_stored).await?.certain()
    }

    /// Stores a new service with schema version 1, under the next number.
    pub async fn create_service(
        &self,
        owner: &TeamRef,
        schema: &Schema,
        settings: Settings,
        ctx: &RequestContext,
    ) -> Result<NewService, Error> {
        let (before, next) = self.counter(SERVICES).await?;
        let id = ServiceId::new(next).ok_or_else(|| Error::corrupt("COUNTERS", "no service ids are left"))?;
        // The write fails if another service has been created since the read of the counter.
        if let Some(title) = self.similar_among(1..next, &schema.title).await? {
            return Ok(NewService::LooksLike(title));
        }
        let service = Service {
            id,
            title: schema.title.clone(),
            owner: owner.clone(),
            settings,
            former_dependents: Vec::new(),
            has_docs: false,
            schema_version: 1,
            first_with_words: schema.has_words.then_some(1),
            revision: 1,
            created: ctx.now,
            modified: ctx.now,
        };
        let audit_entry = AuditEntry::of_service(Event::ServicePublished, &service, ctx);
        let mut actions = vec![
            statement::count(&self.name, SERVICES, before, next)?,
            statement::pointer(
                &self.name,
                key::service_id(id),
                "SERVICE_ID",
                AttributeValue::S(service.title.clone()),
            )?,
            statement::create::<ServiceRecord>(&self.name, &service)?,
        ];
        actions.extend(self.schema_version(&service, Some(schema.text.clone()))?);
        Ok(match self.published(service, &audit_entry, actions).await? {
            Stored::Done(service) => NewService::Done(Box::new(service)),
            Stored::Stale => NewService::Stale,
        })
    }

    /// Returns the title of another service that looks like this one.
    pub async fn similar_title(&self, title: &str) -> Result<Option<String>, Error> {
        let (_, next) = self.counter(SERVICES).await?;
        self.similar_among(1..next, title).await
    }

    /// Returns the title of a service with one of these ids that looks like this one and is not equal.
    async fn similar_among(&self, ids: Range<u64>, title: &str) -> Result<Option<String>, Error> {
        let titles = self.titles(ids).await?;
        Ok(titles.into_iter().find(|other| other != title && look_alike(other, title)))
    }

    /// Updates a service if its revision is still `before`.
    pub async fn update_service(
        &self,
        before: u64,
        publication: Publication,
        ctx: &RequestContext,
    ) -> Result<Stored<Service>, Error> {
        let Publication { service, schema } = publication;
        let event = if schema.is_some() { Event::ServicePublished } else { Event::ServiceChanged };
        let audit_entry = AuditEntry::of_service(event, &service, ctx);
        let mut actions = vec![statement::replace::<ServiceRecord>(&self.name, before, &service)?];
        actions.extend(self.schema_version(&service, schema)?);
        self.published(service, &audit_entry, actions).await
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

    async fn published(
        &self,
        service: Service,
        audit_entry: &AuditEntry,
        actions: Vec<TransactWriteItem>,
    ) -> Result<Stored<Service>, Error> {
        // The record holds revision and time, so an equal one is from this request.
        let is_stored = async { Ok(self.service(&service.title).await?.as_ref() == Some(&service)) };
        let commit = self.store(audit_entry, || Ok(actions.clone()), is_stored).await?;
        Ok(if commit == Commit::Done { Stored::Done(service) } else { Stored::Stale })
    }

    /// Returns the value of a counter and its next number.
    async fn counter(&self, name: &str) -> Result<(Option<u64>, u64), Error> {
        let counters = self.attributes(key::counters()).await?;
        let before = counters.and_then(|counters| counters.get(name)?.as_n().ok()?.parse().ok());
        Ok((before, before.map_or(1, |before| before + 1)))
    }
}
