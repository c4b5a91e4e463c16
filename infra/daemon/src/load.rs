//! The command `dovetaild load`: adds a world to the tables and leaves existing objects unchanged.
//!
//! The command first compares the complete world with the tables (`plan`), and writes only if there are no problems.

pub mod failure;
mod plan;

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use domain::account::api_key;
use domain::account::api_key::ApiKey;
use domain::account::audit_log::{AuditEntry, Event};
use domain::base::actor::{Actor, Role};
use domain::base::context::RequestContext;
use domain::catalog::metadata_policy::{MetadataPolicy, Version};
use domain::catalog::service::Settings as ServiceSettings;
use domain::{TeamId, TeamRef, Timestamp};
use dovetail_aws::retry;
use dovetail_http::{Secret, key_hash};
use dovetail_table::{Error, NewService, Stored, Table};

use failure::Failure;
pub use plan::Plan;
use plan::{PlannedKey, PlannedTeam};

use crate::{
    account,
    error::Error as Failed,
    option::{DEPLOYED_TABLE_BYTES, EXIT_CODES, table_name, url},
    world::{self, World, WorldService},
};

/// Adds teams, keys and services to the tables of a deployed stack.
///
/// It uses the credentials and the region of the environment. Existing objects stay unchanged; differences from the
/// file are printed. A key with a name but no secret in the file is generated, and printed only once. The mandatory
/// metadata of the file replace the stored ones. If the file has errors, all of them are printed, and nothing is
/// written.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = EXIT_CODES)]
pub struct Settings {
    /// Teams, keys, services and mandatory metadata, as JSON
    #[arg(long, value_name = "FILE")]
    pub world: PathBuf,
    /// Table of the stack (its output Table); API keys are in NAME-keys
    #[arg(long, value_name = "NAME", value_parser = table_name(DEPLOYED_TABLE_BYTES))]
    pub table: String,
    /// DynamoDB engine to use instead of AWS
    #[arg(long, value_name = "URL", value_parser = url)]
    pub endpoint: Option<String>,
    /// Print the steps of a load, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// A key that a load has created. Its secret cannot be read from the table.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("NewKey {{ team: {team:?}, name: {name:?}, .. }}")]
pub struct NewKey {
    /// Name of its team.
    pub team: String,
    /// Name of the key.
    pub name: String,
    pub role: Role,
    /// Secret of the key.
    pub key: String,
    /// Whether the load generated the secret; false if it is from the file.
    pub is_generated: bool,
}

/// Loads a world from a file, and prints generated keys and differences.
pub async fn run(settings: &Settings, now: Timestamp, out: &mut impl Write) -> Result<(), Failed> {
    let world = world::read_file(&settings.world)?;
    let reached = account::reach(&settings.table, settings.endpoint.as_deref()).await?;
    let failed = |failure| match failure {
        Failure::Refused(problems) => {
            Failed::World { file: settings.world.display().to_string(), problems: problems.join("\n") }
        }
        Failure::Table(source) => reached.failure(source).into(),
        Failure::Chance | Failure::Output(_) => failure.into(),
    };
    let table = &reached.table;
    if settings.dry_run {
        let plan = Plan::of(table, &world, now).await.map_err(failed)?;
        return Ok(print_plan(out, &plan).map_err(Failure::from)?);
    }
    let mut made = 0;
    let mut show = |key: &NewKey| {
        // Secrets of the file are not printed, because the output may be stored in a log.
        if !key.is_generated {
            return Ok(());
        }
        made += 1;
        show(out, key)
    };
    let differences = self::world(table, &world, now, &mut show).await.map_err(failed)?;
    let (teams, services) = (world.teams.len(), world.services.len());
    let mut lines = differences;
    lines.push(format!("Teams: {teams}. Services: {services}. Generated keys: {made}."));
    if world.teams.iter().any(|team| team.notify.is_some()) {
        lines.push(
            "`notify` works only in the local system: subscribe to the event bus for events of this stack."
                .to_owned(),
        );
    }
    Ok(writeln!(out, "{}", lines.join("\n")).map_err(Failure::from)?)
}

fn print_plan(out: &mut impl Write, plan: &Plan<'_>) -> io::Result<()> {
    let steps: Vec<String> = plan.steps().collect();
    for step in &steps {
        writeln!(out, "would {step}")?;
    }
    for difference in &plan.differences {
        writeln!(out, "{difference}")?;
    }
    writeln!(out, "Dry run: {} steps, {} differences left unchanged.", steps.len(), plan.differences.len())
}

/// Prints a new key.
pub fn show(out: &mut impl Write, made: &NewKey) -> io::Result<()> {
    writeln!(out, "{}  {}  {}", made.team, made.name, made.key)?;
    out.flush()
}

/// Loads a world and returns the differences to existing objects, a sentence each.
///
/// Each new key is shown at once, because a later step may fail and the secret would be lost.
pub async fn world(
    table: &Table,
    world: &World,
    now: Timestamp,
    show: &mut impl FnMut(&NewKey) -> io::Result<()>,
) -> Result<Vec<String>, Failure> {
    let plan = Plan::of(table, world, now).await?;
    let ctx = RequestContext { by: Actor::System, request: "load".to_owned(), now };
    // Services refer to their teams, so the teams come first.
    let mut teams: BTreeMap<&str, TeamRef> = BTreeMap::new();
    for team in &plan.teams {
        let stored =
            table.ensure_team(team.name, &team.metadata, team.confirm_removals, &ctx).await?.to_ref();
        for key in &team.keys {
            show(&create_key(table, team, key, &stored, &ctx).await?)?;
        }
        teams.insert(team.name, stored);
    }
    for service in &plan.services {
        publish(table, service, &teams, &ctx).await?;
    }
    if plan.sets_metadata_policy
        && let Some(metadata_policy) = &world.metadata_policy
    {
        set_metadata_policy(table, metadata_policy, now).await?;
    }
    Ok(plan.differences)
}

/// Stores the mandatory metadata as a new version, unless the newest one is the same.
async fn set_metadata_policy(
    table: &Table,
    metadata_policy: &MetadataPolicy,
    now: Timestamp,
) -> Result<(), Failure> {
    let stored = retry::until_stored(retry::WRITE, |_| async {
        let newest = table.newest_metadata_policy().await?;
        let Some(version) = Version::after(newest.as_ref(), metadata_policy, now) else {
            return Ok(Some(()));
        };
        Ok::<_, Error>(table.put_metadata_policy(&version).await?.is_done().then_some(()))
    });
    let unavailable = || Error::Unavailable("the mandatory metadata could not be stored".to_owned());
    Ok(stored.await?.ok_or_else(unavailable)?)
}

/// Stores a planned key, and generates its secret if the file has none.
async fn create_key(
    table: &Table,
    team: &PlannedTeam<'_>,
    planned: &PlannedKey<'_>,
    stored: &TeamRef,
    ctx: &RequestContext,
) -> Result<NewKey, Failure> {
    // Keys are listed by time. The number makes the order of the file visible.
    let now = Timestamp::from_micros(ctx.now.micros() + planned.number);
    let ctx = RequestContext { now, ..ctx.clone() };
    let (hash, secret, is_generated) = match planned.secret {
        Some(secret) => (key_hash(secret), secret.to_owned(), false),
        None => {
            let secret = Secret::made().ok_or(Failure::Chance)?;
            (secret.hash(), secret.text().to_owned(), true)
        }
    };
    let made = api_key::Made { hash, name: planned.name.clone(), role: planned.role, expires: None };
    let key = ApiKey::new(made, stored.clone(), &ctx);
    match table.create_api_key(&key, &AuditEntry::of_key(Event::KeyCreated, &key, &ctx)).await? {
        Stored::Done(()) => {
            let (team, name) = (team.name.to_owned(), planned.name.clone());
            Ok(NewKey { team, name, role: planned.role, key: secret, is_generated })
        }
        Stored::Stale => {
            Err(Error::Unavailable(format!("key '{}' could not be stored", planned.name)).into())
        }
    }
}

/// Stores a planned service, unless another load has created it meanwhile.
async fn publish(
    table: &Table,
    service: &WorldService,
    teams: &BTreeMap<&str, TeamRef>,
    ctx: &RequestContext,
) -> Result<(), Failure> {
    let title = &service.schema.title;
    let unavailable = || Error::Unavailable(format!("service '{title}' could not be created"));
    let owner = teams.get(service.owner.as_str()).ok_or_else(unavailable)?;
    let settings = settings(service, teams);
    let stored = retry::until_stored(retry::WRITE, |_| async {
        if table.service(title).await?.is_some() {
            return Ok(Some(()));
        }
        match table.create_service(owner, &service.schema, settings.clone(), ctx).await? {
            NewService::Done(_) => Ok(Some(())),
            // The next attempt reads the service first.
            NewService::Stale => Ok(None),
            NewService::LooksLike(other) => {
                let problem =
                    format!("service '{title}' must not look like '{other}', the title of another service");
                Err(Failure::Refused(vec![problem]))
            }
        }
    });
    Ok(stored.await?.ok_or_else(unavailable)?)
}

/// Returns the settings of a new service, with defaults for absent fields.
fn settings(service: &WorldService, teams: &BTreeMap<&str, TeamRef>) -> ServiceSettings {
    let named = |names: Option<&Vec<String>>| -> Vec<TeamRef> {
        names.into_iter().flatten().filter_map(|name| teams.get(name.as_str()).cloned()).collect()
    };
    let allowed: Vec<TeamId> =
        named(service.allowed_teams.as_ref()).into_iter().map(|team| team.id).collect();
    let defaults = ServiceSettings::default();
    ServiceSettings {
        approval_required: service.approval_required.unwrap_or(defaults.approval_required),
        update_strategy: service.update_strategy.unwrap_or(defaults.update_strategy),
        complete_unneeded: service.complete_unneeded.unwrap_or(defaults.complete_unneeded),
        claim_required: service.claim_required.unwrap_or(defaults.claim_required),
        references_see: service.references_see.unwrap_or(defaults.references_see),
        require_ready: service.require_ready.unwrap_or(defaults.require_ready),
        dependent_teams: named(service.dependent_teams.as_ref()),
        allowed_teams: allowed,
        ..defaults
    }
}
