//! `dovetail load`: a world is put into the tables. What exists is left as it is, so that a world can be loaded again.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Write},
    path::PathBuf,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    actor::TeamRef,
    json::canonical,
    schema::{self, Schema},
    service::Settings as ServiceSettings,
    team::Team,
    timestamp::Timestamp,
};
use dovetail_table::{ApiKey, Error, Published, Table};
use serde_json::Value;

use crate::{
    account,
    world::{World, WorldKey, WorldService},
};

/// What `load --help` prints.
pub const HELP: &str = "\
Puts teams, keys and services into the tables of a deployed stack, with the credentials and the region of the
environment. What exists is left as it is. A key that the file only names is made, and printed this once.

Usage: dovetail load --world FILE --table NAME [--endpoint URL]

Options:
  --world FILE    teams, keys and services, as JSON
  --table NAME    the table, the output Table of the stack; API keys are in NAME-keys
  --endpoint URL  an engine in AWS's place
  --help          print this
";

/// How many bytes of chance a key has.
const SECRET_BYTES: usize = 32;

/// How often a service is offered while others take its number.
const ATTEMPTS_MAX: u32 = 8;

/// What to load, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The file.
    pub world: PathBuf,
    /// The table.
    pub table: String,
    /// An engine to use instead of AWS.
    pub endpoint: Option<String>,
}

/// A key that was made, for whoever is to have it: nobody can read it again.
#[derive(Clone, PartialEq, Eq)]
pub struct Made {
    /// The team that it acts for.
    pub team: String,
    /// The name that it goes by.
    pub name: String,
    /// The secret itself.
    pub key: String,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made").field("team", &self.team).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a world could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The table failed.
    #[error(transparent)]
    Table(#[from] Error),
    /// Services' schemas break rules, a line each.
    #[error("{0}")]
    Schema(String),
    /// A service's title is taken by another team.
    #[error("service '{0}' belongs to another team already")]
    Foreign(String),
    /// There is no chance to make a key from.
    #[error("no key can be made: {0}")]
    Chance(getrandom::Error),
    /// A key that was made could not be shown.
    #[error("a key was made that could not be shown: {0}")]
    Shown(#[from] io::Error),
}

/// Loads a world from a file, and prints what was made.
pub async fn run(settings: &Settings, now: Timestamp, out: &mut impl Write) -> Result<(), crate::Error> {
    let world = crate::read_world(Some(&settings.world))?;
    let table = account::table(&settings.table, settings.endpoint.as_deref()).await;
    let mut made = 0;
    let mut show = |key: &Made| {
        made += 1;
        show(out, key)
    };
    self::world(&table, &world, now, &mut show).await?;
    let (teams, services) = (world.teams.len(), world.services.len());
    let mut told = format!("Teams: {teams}. Services: {services}. Keys made: {made}.\n");
    if world.teams.iter().any(|team| team.notify.is_some()) {
        told.push_str(
            "Whom the file has notified of events is for the local system: subscribe to the bus.\n",
        );
    }
    out.write_all(told.as_bytes()).map_err(Failure::from)?;
    Ok(())
}

/// Prints a key.
pub fn show(out: &mut impl Write, made: &Made) -> io::Result<()> {
    writeln!(out, "{}  {}  {}", made.team, made.name, made.key)?;
    out.flush()
}

/// Loads a world; each key that it makes is shown at once, for the next step may fail.
pub async fn world(
    table: &Table,
    world: &World,
    now: Timestamp,
    show: &mut impl FnMut(&Made) -> io::Result<()>,
) -> Result<(), Failure> {
    // Before anything is written.
    let schemas = schemas(world)?;
    let mut teams = BTreeMap::new();
    for team in &world.teams {
        let metadata = canonical(&Value::Object(team.metadata.clone()));
        let stored = table.ensure_team(&team.name, &metadata).await?;
        for (key, number) in team.api_keys.iter().zip(1..) {
            if let Some(made) = api_key(table, &stored, key, number).await? {
                show(&made)?;
            }
        }
        teams.insert(team.name.as_str(), stored.to_ref());
    }
    for (service, schema) in world.services.iter().zip(&schemas) {
        publish(table, service, schema, &teams, now).await?;
    }
    Ok(())
}

/// The schemas of all services, or everything that is wrong with them.
fn schemas(world: &World) -> Result<Vec<Schema>, Failure> {
    let (mut schemas, mut told) = (Vec::new(), Vec::new());
    for service in &world.services {
        let text = Value::Object(service.schema.clone()).to_string();
        match schema::publish(text.as_bytes()) {
            Ok(schema) => schemas.push(schema),
            Err(problems) => told.extend(problems.iter().map(|problem| {
                let title = service.name().unwrap_or_default();
                format!("service '{title}': {}: {}", problem.pointer, problem.message)
            })),
        }
    }
    if told.is_empty() { Ok(schemas) } else { Err(Failure::Schema(told.join("\n"))) }
}

/// Stores a key unless it is there; one that the file only names is made, once for the team and the name.
async fn api_key(table: &Table, team: &Team, key: &WorldKey, number: u32) -> Result<Option<Made>, Failure> {
    let name = key.name.clone().unwrap_or_else(|| format!("{}-{number}", team.name));
    let stored = |key: &str, name, role| {
        let hash = dovetail_http::key_hash(key);
        ApiKey { hash, name, team: team.to_ref(), role }
    };
    if let Some(secret) = &key.key {
        let key = stored(secret, name, key.role);
        if table.api_key(&key.hash).await?.is_none() {
            table.put_api_key(&key).await?;
        }
        return Ok(None);
    }
    let secret = secret()?;
    let is_new = table.put_named_api_key(&stored(&secret, name.clone(), key.role)).await?;
    Ok(is_new.then(|| Made { team: team.name.clone(), name, key: secret }))
}

/// A key that nobody can guess, with a beginning by which it is known for one.
fn secret() -> Result<String, Failure> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(Failure::Chance)?;
    Ok(format!("dvt_{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// Stores a service with its settings unless it is there.
async fn publish(
    table: &Table,
    service: &WorldService,
    schema: &Schema,
    teams: &BTreeMap<&str, TeamRef>,
    now: Timestamp,
) -> Result<(), Failure> {
    let foreign = || Failure::Foreign(schema.title.clone());
    let owner = teams.get(service.owner.as_str()).ok_or_else(foreign)?;
    let named = |names: &[String]| -> Vec<TeamRef> {
        names.iter().filter_map(|name| teams.get(name.as_str()).cloned()).collect()
    };
    let allowed = named(service.allowed_teams.as_deref().unwrap_or_default());
    let settings = ServiceSettings {
        approval_required: service.approval_required,
        dependent_teams: named(&service.dependent_teams),
        allowed_teams: allowed.into_iter().map(|team| team.id).collect(),
    };
    for attempt in 0..ATTEMPTS_MAX {
        if let Some(stored) = table.service(&schema.title).await? {
            return if stored.owner == *owner { Ok(()) } else { Err(foreign()) };
        }
        match table.create_service(owner, schema, settings.clone(), now).await? {
            Published::Stored(_) => return Ok(()),
            // Somebody has taken the number, or the title.
            Published::Stale => dovetail_aws::pause(attempt).await,
        }
    }
    Err(Error::Unavailable(format!("service '{}' could not be created", schema.title)).into())
}
