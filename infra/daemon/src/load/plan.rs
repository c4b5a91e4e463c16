//! The plan of a load: compares a world with the tables and writes nothing.

use std::{collections::BTreeSet, fmt::Display};

use domain::account::api_key::{ApiKey, KEYS_MAX};
use domain::base::actor::Role;
use domain::base::json::canonical;
use domain::catalog::metadata_policy::{MetadataPolicy, Version};
use domain::catalog::service::{ReferencesSee, Service, UpdateStrategy};
use domain::model::team::Team;
use domain::{TeamId, Timestamp};
use dovetail_http::key_hash;
use dovetail_table::{Error, Table};
use serde_json::Value;

use super::failure::Failure;
use crate::world::{World, WorldKey, WorldService, WorldTeam};

/// The steps of a load, and the differences that it leaves unchanged.
#[derive(Debug)]
pub struct Plan<'a> {
    /// All teams of the world, in the order of the file.
    pub(super) teams: Vec<PlannedTeam<'a>>,
    pub(super) services: Vec<&'a WorldService>,
    /// Whether the load stores a new version of the mandatory metadata.
    pub(super) sets_metadata_policy: bool,
    /// Differences between stored objects and the file, a sentence each.
    pub differences: Vec<String>,
}

/// A team with its missing keys.
#[derive(Debug)]
pub(super) struct PlannedTeam<'a> {
    pub(super) name: &'a str,
    /// Metadata of a new team as canonical JSON.
    pub(super) metadata: String,
    /// Whether a new team wants removals of whole applications confirmed.
    pub(super) confirm_removals: bool,
    is_new: bool,
    pub(super) keys: Vec<PlannedKey<'a>>,
}

#[derive(derive_more::Debug)]
pub(super) struct PlannedKey<'a> {
    pub(super) name: String,
    pub(super) role: Role,
    /// Secret of the file; if absent, the load generates one.
    #[debug("[hidden]")]
    pub(super) secret: Option<&'a str>,
    /// Position among the team's keys in the file, from 1.
    pub(super) number: u64,
}

impl<'a> Plan<'a> {
    /// Compares a world with the tables. The error holds all problems with their JSON pointers.
    pub async fn of(table: &Table, world: &'a World, now: Timestamp) -> Result<Self, Failure> {
        let newest = table.newest_metadata_policy().await?;
        let metadata_policy = world.metadata_policy.as_ref();
        let sets_metadata_policy = metadata_policy
            .is_some_and(|metadata_policy| Version::after(newest.as_ref(), metadata_policy, now).is_some());
        let metadata_policy = match (metadata_policy, newest) {
            (Some(metadata_policy), _) => metadata_policy.clone(),
            (None, Some(newest)) => newest.compile().map_err(|_| unreadable())?,
            (None, None) => MetadataPolicy::default(),
        };
        let mut comparison =
            Comparison { table, metadata_policy, problems: Vec::new(), differences: Vec::new() };
        let (mut teams, mut services) = (Vec::new(), Vec::new());
        for (team, at) in world.teams.iter().zip(0..) {
            teams.push(comparison.team(team, &format!("/teams/{at}")).await?);
        }
        for (service, at) in world.services.iter().zip(0..) {
            services.extend(comparison.service(service, &format!("/services/{at}")).await?);
        }
        let Comparison { problems, differences, .. } = comparison;
        if problems.is_empty() {
            Ok(Self { teams, services, sets_metadata_policy, differences })
        } else {
            Err(Failure::Refused(problems))
        }
    }

    /// Returns the steps, each as the second half of a sentence.
    pub fn steps(&self) -> impl Iterator<Item = String> {
        let teams = self.teams.iter().flat_map(|team| {
            let created = team.is_new.then(|| format!("create team {}", team.name));
            let key = |key: &PlannedKey<'_>| {
                format!("create key {}/{} with role {}", team.name, key.name, key.role.name())
            };
            created.into_iter().chain(team.keys.iter().map(key))
        });
        let services = self.services.iter();
        let services = services.map(|of| format!("publish service {} of {}", of.schema.title, of.owner));
        let metadata_policy = self.sets_metadata_policy.then(|| "set the mandatory metadata".to_owned());
        teams.chain(services).chain(metadata_policy)
    }
}

fn unreadable() -> Error {
    let (key, reason) = ("MANDATORY".to_owned(), "does not compile".to_owned());
    Error::Corrupt { key, reason }
}

/// The state of a comparison.
struct Comparison<'a> {
    table: &'a Table,
    /// Mandatory metadata after the load.
    metadata_policy: MetadataPolicy,
    problems: Vec<String>,
    differences: Vec<String>,
}

impl Comparison<'_> {
    async fn team<'w>(&mut self, team: &'w WorldTeam, at: &str) -> Result<PlannedTeam<'w>, Error> {
        let stored = self.table.team_by_name(&team.name).await?;
        let metadata = Value::Object(team.metadata.clone().unwrap_or_default());
        if team.metadata.is_some() {
            self.metadata(stored.as_ref(), team, &metadata, at);
        }
        let stored_keys = match &stored {
            Some(stored) => self.table.api_keys(stored.id).await?,
            None => Vec::new(),
        };
        let mut keys = Vec::new();
        for (key, number) in team.api_keys.iter().zip(1..) {
            let at = format!("{at}/api_keys/{}", number - 1);
            let stored = stored.as_ref().map(|stored| stored.id);
            keys.extend(self.key(team, stored, &stored_keys, key, number, &at).await?);
        }
        if u64::try_from(stored_keys.len() + keys.len()).is_ok_and(|count| count > KEYS_MAX) {
            self.problems.push(format!(
                "{at}/api_keys: must be at most {KEYS_MAX}, including the {} of the table",
                stored_keys.len()
            ));
        }
        self.confirm_removals(stored.as_ref(), team);
        let (name, is_new) = (team.name.as_str(), stored.is_none());
        // A new team has no pipeline yet that a confirmation could break.
        let confirm_removals = team.confirm_removals.unwrap_or(true);
        Ok(PlannedTeam { name, metadata: canonical(&metadata), confirm_removals, is_new, keys })
    }

    /// Checks the metadata of a new team, or compares the metadata of an existing one.
    fn metadata(&mut self, stored: Option<&Team>, team: &WorldTeam, metadata: &Value, at: &str) {
        match stored {
            Some(stored) if stored.metadata == canonical(metadata) => {}
            Some(_) => self.differs(&format!("team {} has other metadata", team.name)),
            None => {
                let schema = self.metadata_policy.team.clone();
                let problems = schema
                    .map(|schema| {
                        schema.problems(metadata, &mut domain::catalog::schema::Budget::of_request())
                    })
                    .unwrap_or_default();
                let problem = |of: &domain::base::problem::Problem| {
                    format!("{at}/metadata{}: {}", of.pointer, of.message)
                };
                self.problems.extend(problems.iter().map(problem));
            }
        }
    }

    fn confirm_removals(&mut self, stored: Option<&Team>, team: &WorldTeam) {
        let Some((stored, wanted)) = stored.zip(team.confirm_removals) else { return };
        let is = stored.confirm_removals;
        if is != wanted {
            self.differs(&format!("team {} has confirm_removals {is}, file says {wanted}", team.name));
        }
    }

    /// Returns the key if the load must create it.
    async fn key<'w>(
        &mut self,
        team: &WorldTeam,
        stored: Option<TeamId>,
        stored_keys: &[ApiKey],
        key: &'w WorldKey,
        number: u64,
        at: &str,
    ) -> Result<Option<PlannedKey<'w>>, Error> {
        let name = key.effective_name(&team.name, number);
        // A secret identifies its key, even under another name. Without a secret only the name is left.
        let holder = match &key.key {
            Some(secret) => self.table.api_key(&key_hash(secret)).await?,
            None => stored_keys.iter().rev().find(|stored_key| stored_key.name == name).cloned(),
        };
        // The name of a revoked key stays taken, so the stored names are checked too.
        let is_taken = match stored {
            Some(id) => {
                stored_keys.iter().any(|stored_key| stored_key.name == name)
                    || self.table.is_key_name_taken(id, &name).await?
            }
            None => false,
        };
        match holder {
            Some(holder) if Some(holder.team.id) == stored => self.same_key(team, key, &holder),
            Some(_) => self.problems.push(format!("{at}/key: must not be a key of another team")),
            None if is_taken && key.key.is_some() => {
                self.differs(&format!("key {}/{name} has another secret, or was revoked", team.name));
            }
            None if is_taken => self.differs(&format!("key {}/{name} was revoked", team.name)),
            None => {
                let role = key.role.unwrap_or(Role::Admin);
                return Ok(Some(PlannedKey { name, role, secret: key.key.as_deref(), number }));
            }
        }
        Ok(None)
    }

    fn same_key(&mut self, team: &WorldTeam, key: &WorldKey, holder: &ApiKey) {
        let (team, name, role) = (&team.name, &holder.name, holder.role);
        if let Some(wanted) = key.role.filter(|wanted| *wanted != role) {
            let (role, wanted) = (role.name(), wanted.name());
            self.differs(&format!("key {team}/{name} has role {role}, file says {wanted}"));
        }
        if let Some(wanted) = key.name.as_ref().filter(|wanted| *wanted != name) {
            self.differs(&format!("key {team}/{name} has this name, file says {wanted}"));
        }
    }

    /// Returns the service if the load must create it.
    async fn service<'w>(
        &mut self,
        service: &'w WorldService,
        at: &str,
    ) -> Result<Option<&'w WorldService>, Error> {
        let title = &service.schema.title;
        let Some(stored) = self.table.service(title).await? else { return Ok(Some(service)) };
        if stored.owner.name == service.owner {
            self.same_service(service, &stored).await?;
        } else {
            let owner = &stored.owner.name;
            self.problems.push(format!("{at}/owner: must be {owner}, the owner of service {title}"));
        }
        Ok(None)
    }

    async fn same_service(&mut self, service: &WorldService, stored: &Service) -> Result<(), Error> {
        let title = &stored.title;
        if self.table.schema(stored).await?.text != service.schema.text {
            let version = stored.schema_version;
            self.differs(&format!("service {title} has another schema, version {version}"));
        }
        let settings = &stored.settings;
        self.setting(title, "approval_required", settings.approval_required, service.approval_required);
        let strategy = service.update_strategy.map(UpdateStrategy::name);
        self.setting(title, "update_strategy", settings.update_strategy.name(), strategy);
        self.setting(title, "complete_unneeded", settings.complete_unneeded, service.complete_unneeded);
        self.setting(title, "claim_required", settings.claim_required, service.claim_required);
        let sees = service.references_see.map(ReferencesSee::name);
        self.setting(title, "references_see", settings.references_see.name(), sees);
        self.setting(title, "require_ready", settings.require_ready, service.require_ready);
        let dependent = settings.dependent_teams.iter().map(|team| team.name.clone()).collect();
        self.teams_of(title, "dependent_teams", service.dependent_teams.as_deref(), dependent);
        let mut allowed = BTreeSet::new();
        for id in &settings.allowed_teams {
            allowed.extend(self.table.team(*id).await?.map(|team| team.name));
        }
        self.teams_of(title, "allowed_teams", service.allowed_teams.as_deref(), allowed);
        Ok(())
    }

    fn setting<T: Display + PartialEq>(&mut self, title: &str, field: &str, is: T, wanted: Option<T>) {
        if let Some(wanted) = wanted.filter(|wanted| *wanted != is) {
            self.differs(&format!("service {title} has {field} {is}, file says {wanted}"));
        }
    }

    fn teams_of(&mut self, title: &str, field: &str, wanted: Option<&[String]>, is: BTreeSet<String>) {
        let Some(wanted) = wanted else { return };
        if wanted.iter().collect::<BTreeSet<_>>() != is.iter().collect() {
            let list = |names: Vec<String>| names.join(", ");
            let (is, wanted) = (list(is.into_iter().collect()), list(wanted.to_vec()));
            self.differs(&format!("service {title} has {field} [{is}], file says [{wanted}]"));
        }
    }

    fn differs(&mut self, what: &str) {
        self.differences.push(format!("differs, left unchanged: {what}"));
    }
}
