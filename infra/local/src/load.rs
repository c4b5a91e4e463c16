//! `dovetail load`: a world is put into the tables. What exists is left as it is, so that a world can be loaded again.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

use domain::{
    access::{self, ApiKey},
    actor::{Actor, Role, TeamRef},
    json::canonical,
    land::Stamp,
    mandatory::{Mandatory, Version},
    recorded::{Event, Recorded},
    schema::{self, Schema},
    service::Settings as ServiceSettings,
    team::Team,
    timestamp::Timestamp,
};
use dovetail_http::{Secret, key_hash};
use dovetail_table::{Error, Kept, Keyed, Published, Table};
use serde_json::{Map, Value};

use crate::{
    account,
    world::{World, WorldKey, WorldMetadata, WorldService},
};

/// What `load --help` prints.
pub const HELP: &str = "\
Puts teams, keys and services into the tables of a deployed stack, with the credentials and the region of the
environment. What exists is left as it is. A key that the file only names is made, and printed this once. What the
file says of mandatory metadata is so from then on.

Usage: dovetail load --world FILE --table NAME [--endpoint URL]

Options:
  --world FILE    teams, keys, services and mandatory metadata, as JSON
  --table NAME    the table, the output Table of the stack; API keys are in NAME-keys
  --endpoint URL  an engine in AWS's place
  --help          print this
";

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

/// A key that a load has stored; its secret can't be read again.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// The team that it acts for.
    pub team: String,
    /// The name that it goes by.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The secret itself.
    pub key: String,
    /// Whether the load generated the secret; false if the file has it.
    pub is_generated: bool,
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("team", &self.team).field("name", &self.name).finish_non_exhaustive()
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
    #[error("no key can be made")]
    Chance,
    /// A key that was made could not be shown.
    #[error("a key was made that could not be shown: {0}")]
    Shown(#[from] io::Error),
}

/// Loads a world from a file, and prints what was made.
pub async fn run(settings: &Settings, now: Timestamp, out: &mut impl Write) -> Result<(), crate::Error> {
    let world = crate::read_world(&settings.world)?;
    let table = account::table(&settings.table, settings.endpoint.as_deref()).await;
    let mut made = 0;
    let mut show = |key: &NewKey| {
        // Secrets of the file are not repeated: the output may be kept.
        if !key.is_generated {
            return Ok(());
        }
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
pub fn show(out: &mut impl Write, made: &NewKey) -> io::Result<()> {
    writeln!(out, "{}  {}  {}", made.team, made.name, made.key)?;
    out.flush()
}

/// Loads a world; each new key is shown at once, because the next step may fail.
pub async fn world(
    table: &Table,
    world: &World,
    now: Timestamp,
    show: &mut impl FnMut(&NewKey) -> io::Result<()>,
) -> Result<(), Failure> {
    // Before anything is written.
    let schemas = schemas(world)?;
    let mandatory = world.mandatory_metadata.as_ref().map(mandatory).transpose()?;
    let stamp = Stamp { by: Actor::System, request: "load".to_owned(), now };
    let mut teams = BTreeMap::new();
    for team in &world.teams {
        let metadata = canonical(&Value::Object(team.metadata.clone()));
        let stored = table.ensure_team(&team.name, &metadata, &stamp).await?;
        for (key, number) in team.api_keys.iter().zip(1..) {
            if let Some(new) = api_key(table, &stored, key, number, &stamp).await? {
                show(&new)?;
            }
        }
        teams.insert(team.name.as_str(), stored.to_ref());
    }
    for (service, schema) in world.services.iter().zip(&schemas) {
        publish(table, service, schema, &teams, &stamp).await?;
    }
    match mandatory {
        Some(mandatory) => set_mandatory(table, &mandatory, now).await,
        None => Ok(()),
    }
}

/// The schemas of metadata, or everything that is wrong with them.
fn mandatory(of: &WorldMetadata) -> Result<Mandatory, Failure> {
    let mut told = Vec::new();
    let mut compiled = |whose: &str, schema: &Option<Map<String, Value>>| {
        let text = Value::Object(schema.clone()?).to_string();
        match schema::of_metadata(text.as_bytes()) {
            Ok(schema) => return Some(Arc::new(schema)),
            Err(problems) => told.extend(problems.iter().map(|problem| {
                format!("mandatory metadata of {whose}: {}: {}", problem.pointer, problem.message)
            })),
        }
        None
    };
    let (team, application) = (compiled("teams", &of.team), compiled("applications", &of.application));
    if told.is_empty() { Ok(Mandatory { team, application }) } else { Err(Failure::Schema(told.join("\n"))) }
}

/// Makes it the newest version, unless that is the same.
async fn set_mandatory(table: &Table, mandatory: &Mandatory, now: Timestamp) -> Result<(), Failure> {
    for attempt in 0..ATTEMPTS_MAX {
        let newest = table.newest_mandatory().await?;
        let Some(version) = Version::after(newest.as_ref(), mandatory, now) else { return Ok(()) };
        if table.keep_mandatory(&version).await? == Kept::Stored {
            return Ok(());
        }
        dovetail_aws::pause(attempt).await;
    }
    Err(Error::Unavailable("what metadata have to be could not be stored".to_owned()).into())
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
async fn api_key(
    table: &Table,
    team: &Team,
    key: &WorldKey,
    number: u64,
    stamp: &Stamp,
) -> Result<Option<NewKey>, Failure> {
    let name = key.name.clone().unwrap_or_else(|| format!("{}-{number}", team.name));
    // Keys that are stored in one go are in the order of the file.
    let stamp = &Stamp { now: Timestamp::from_micros(stamp.now.micros() + number), ..stamp.clone() };
    let stored = |hash| {
        let made = access::Made { hash, name: name.clone(), role: key.role, expires: None };
        let key = ApiKey::new(made, team.to_ref(), stamp);
        (Recorded::of_key(Event::KeyCreated, &key, stamp), key)
    };
    let new = |secret: &str, is_generated| NewKey {
        team: team.name.clone(),
        name: name.clone(),
        role: key.role,
        key: secret.to_owned(),
        is_generated,
    };
    if let Some(secret) = &key.key {
        let (recorded, key) = stored(key_hash(secret));
        if table.api_key(&key.hash).await?.is_some() {
            return Ok(None);
        }
        known(&name, table.put_api_key(&key, &recorded).await?)?;
        return Ok(Some(new(secret, false)));
    }
    if table.is_key_name_taken(team.id, &name).await? {
        return Ok(None);
    }
    let secret = Secret::made().ok_or(Failure::Chance)?;
    let (recorded, key) = stored(secret.hash());
    known(&name, table.create_api_key(&key, &recorded).await?)?;
    Ok(Some(new(secret.text(), true)))
}

fn known(name: &str, keyed: Keyed) -> Result<(), Failure> {
    match keyed {
        Keyed::Stored => Ok(()),
        Keyed::Stale => Err(Error::Unavailable(format!("key '{name}' could not be stored")).into()),
    }
}

/// Stores a service with its settings unless it is there.
async fn publish(
    table: &Table,
    service: &WorldService,
    schema: &Schema,
    teams: &BTreeMap<&str, TeamRef>,
    stamp: &Stamp,
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
        ..ServiceSettings::default()
    };
    for attempt in 0..ATTEMPTS_MAX {
        if let Some(stored) = table.service(&schema.title).await? {
            return if stored.owner == *owner { Ok(()) } else { Err(foreign()) };
        }
        match table.create_service(owner, schema, settings.clone(), stamp).await? {
            Published::Stored(_) => return Ok(()),
            // Somebody has taken the number, or the title.
            Published::Stale => dovetail_aws::pause(attempt).await,
        }
    }
    Err(Error::Unavailable(format!("service '{}' could not be created", schema.title)).into())
}
