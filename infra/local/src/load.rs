//! Loading a world into the table: what exists is left as it is, so that a world can be loaded again.

use crate::world::{World, WorldKey, WorldService};
use catalog::Outcome;
use domain::actor::TeamRef;
use domain::json::canonical;
use domain::schema;
use domain::service::{self, Settings};
use domain::team::Team;
use domain::timestamp::Timestamp;
use dovetail_table::{ApiKey, Error, Publication, Published, Table};
use serde_json::Value;
use std::collections::BTreeMap;

/// Why a world could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The table failed.
    #[error(transparent)]
    Table(#[from] Error),
    /// A service's schema breaks rules.
    #[error("service '{title}': {problems}")]
    Schema {
        /// The service.
        title: String,
        /// What is wrong with it.
        problems: String,
    },
    /// A service's title is taken by another team.
    #[error("service '{0}' belongs to another team already")]
    Foreign(String),
}

/// Loads a world.
pub async fn world(table: &Table, world: &World, now: Timestamp) -> Result<(), Failure> {
    let mut teams = BTreeMap::new();
    for team in &world.teams {
        let metadata = canonical(&Value::Object(team.metadata.clone()));
        let stored = table.ensure_team(&team.name, &metadata).await?;
        for (key, number) in team.api_keys.iter().zip(1..) {
            api_key(table, &stored, key, number).await?;
        }
        teams.insert(team.name.as_str(), stored.to_ref());
    }
    for service in &world.services {
        publish(table, service, &teams, now).await?;
    }
    Ok(())
}

async fn api_key(table: &Table, team: &Team, key: &WorldKey, number: u32) -> Result<(), Error> {
    let hash = dovetail_http::key_hash(&key.key);
    if table.api_key(&hash).await?.is_some() {
        return Ok(());
    }
    let name = key.name.clone().unwrap_or_else(|| format!("{}-{number}", team.name));
    table.put_api_key(&ApiKey { hash, name, team: team.to_ref(), role: key.role }).await
}

async fn publish(
    table: &Table,
    service: &WorldService,
    teams: &BTreeMap<&str, TeamRef>,
    now: Timestamp,
) -> Result<(), Failure> {
    let text = Value::Object(service.schema.clone()).to_string();
    let schema = schema::publish(text.as_bytes()).map_err(|problems| {
        let told = problems.iter().map(|problem| format!("{}: {}", problem.pointer, problem.message));
        let title = service.name().unwrap_or_default().to_owned();
        Failure::Schema { title, problems: told.collect::<Vec<_>>().join("; ") }
    })?;
    if let Some(stored) = table.service(&schema.title).await? {
        let own = teams.get(service.owner.as_str()).is_some_and(|owner| *owner == stored.owner);
        return if own { Ok(()) } else { Err(Failure::Foreign(schema.title)) };
    }
    let Some(owner) = teams.get(service.owner.as_str()) else {
        return Err(Failure::Foreign(schema.title));
    };
    let Outcome::New(stored) = catalog::publish(table, &schema, owner, now).await? else { return Ok(()) };
    let named = |names: &[String]| -> Vec<TeamRef> {
        names.iter().filter_map(|name| teams.get(name.as_str()).cloned()).collect()
    };
    let settings = Settings {
        approval_required: service.approval_required,
        dependent_teams: named(&service.dependent_teams),
        allowed_teams: named(service.allowed_teams.as_deref().unwrap_or_default())
            .into_iter()
            .map(|team| team.id)
            .collect(),
    };
    if let Some(after) = service::set(&stored, settings, now) {
        let publication = Publication { service: after, schema: None };
        match table.update_service(stored.revision, publication).await? {
            Published::Stored(_) => {}
            Published::Stale => {
                return Err(Error::Unavailable("a service changed meanwhile".to_owned()).into());
            }
        }
    }
    Ok(())
}
