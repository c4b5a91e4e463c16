//! The catalogue: services, and the records that map a name or an id to its record.

use super::uses::UseRecords;
use super::{Audit, Snapshot, Subject, Violation};
use crate::base::id::{ChangeId, ConfigId, ServiceId, TeamId};
use crate::base::refs::{ServiceRef, TeamRef};
use crate::catalog::service::Service;
use crate::outreach::message::Messages;
use std::collections::{BTreeMap, BTreeSet};

/// The records without a consumer.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pub services: BTreeMap<String, Service>,
    /// The stored schema versions by title.
    pub schemas: BTreeSet<(String, u64)>,
    /// The service and owner of each stored config.
    pub configs: BTreeMap<ConfigId, (ServiceRef, TeamRef)>,
    /// The services with documentation, by title, and the service id in it.
    pub documented: BTreeMap<String, ServiceId>,
    /// The messages of each owner.
    pub messages: BTreeMap<TeamId, Messages>,
    /// The stored versions of the platform's schemas for metadata.
    pub policy_versions: BTreeSet<u64>,
    pub titles: BTreeMap<ServiceId, String>,
    pub names: BTreeMap<String, TeamId>,
    /// The last allotted numbers: of teams, of services.
    pub counted: (u64, u64),
    /// The services and owners in items that were forgotten, each with the schema versions in them.
    used: BTreeMap<(ServiceRef, TeamRef), BTreeSet<u64>>,
    /// The owners in change instances that were forgotten, each with one of its change instances.
    owners: BTreeMap<TeamRef, ChangeId>,
    /// The parts of forgotten records that the checks of uses need.
    pub(super) uses: UseRecords,
}

impl Snapshot {
    /// Drops the records of consumers, except for the parts that the checks of the catalogue need.
    ///
    /// An audit checks a large table team by team, so it needs little memory.
    pub fn forget(&mut self) {
        let mut uses = std::mem::take(&mut self.catalogue.uses);
        uses.add(self);
        let Self { teams, mut catalogue, definitions, items, changes, .. } = std::mem::take(self);
        catalogue.uses = uses;
        for item in items.into_values() {
            catalogue.used.entry((item.service, item.service_owner)).or_default().insert(item.schema_version);
        }
        for change in changes.into_values() {
            let checking = catalogue.used.entry((change.service, change.service_owner)).or_default();
            checking.extend(change.schema_version);
            catalogue.owners.entry(change.owner).or_insert(change.id);
        }
        *self = Self { teams, catalogue, definitions, ..Self::default() };
    }
}

/// Returns all violations of I5, I16 and I24 in the catalogue and its references (docs/explanation/audit.md).
pub fn catalogue(snapshot: &Snapshot) -> Vec<Violation> {
    let mut audit = Audit::new(snapshot);
    audit.names();
    audit.titles();
    for service in snapshot.catalogue.services.values() {
        audit.service(service);
    }
    audit.services_of_configs();
    for messages in snapshot.catalogue.messages.values() {
        audit.messages(messages);
    }
    audit.metadata_policy();
    audit.services_of_items();
    audit.owners();
    audit.counters();
    audit.violations
}

impl Audit<'_> {
    /// I16: each name maps to the team with that name, and back.
    fn names(&mut self) {
        for (name, id) in &self.snapshot.catalogue.names {
            let leads = self.snapshot.teams.get(id).is_some_and(|team| team.name == *name);
            let detail = "it refers to no team, or to a team with another name";
            self.require(leads, "I16", Subject::TeamName(name.clone()), detail);
        }
        for team in self.snapshot.teams.values() {
            let is_registered = self.snapshot.catalogue.names.get(&team.name) == Some(&team.id);
            let detail = format!("it does not refer to team {}", team.id);
            self.require(is_registered, "I16", Subject::TeamName(team.name.clone()), detail);
        }
    }

    /// I16: each id maps to the service with that id.
    fn titles(&mut self) {
        let catalogue = &self.snapshot.catalogue;
        for (id, title) in &catalogue.titles {
            let leads = catalogue.services.get(title).is_some_and(|service| service.id == *id);
            self.require(
                leads,
                "I16",
                Subject::ServiceId(*id),
                "it refers to no service, or to a service with another id",
            );
        }
    }

    /// I16: a service is reachable by its id, and its teams and all its schema versions exist.
    fn service(&mut self, service: &Service) {
        let subject = || Subject::Service(service.title.clone());
        let catalogue = &self.snapshot.catalogue;
        let is_registered = catalogue.titles.get(&service.id) == Some(&service.title);
        self.require(
            is_registered,
            "I16",
            Subject::ServiceId(service.id),
            "it does not refer to its service",
        );
        for team in service.teams() {
            let has_that_name =
                self.snapshot.teams.get(&team.id).is_some_and(|stored| stored.name == team.name);
            self.require(
                has_that_name,
                "I16",
                subject(),
                format!("team {} has another name or does not exist", team.id),
            );
        }
        self.versions_of_service(service);
        let documented = catalogue.documented.get(&service.title).copied();
        let has_matching_docs = documented == service.has_docs.then_some(service.id);
        self.require(
            has_matching_docs,
            "I16",
            subject(),
            "its documentation flag does not match the stored documentation",
        );
        let former_dependents = &service.former_dependents;
        let sorted = former_dependents.is_sorted_by(|one, next| one < next);
        let apart = former_dependents.iter().all(|team| !service.settings.has_dependent(*team));
        let exist = former_dependents.iter().all(|team| self.snapshot.teams.contains_key(team));
        let detail =
            "former dependent teams must exist, be sorted and unique, and not be dependent teams now";
        self.require(sorted && apart && exist, "I16", subject(), detail);
        self.service_size(service);
    }

    /// I16: the versions of a service have no gaps, and the service refers to existing ones.
    fn versions_of_service(&mut self, service: &Service) {
        let subject = || Subject::Service(service.title.clone());
        let schemas = &self.snapshot.catalogue.schemas;
        let versions = schemas.iter().filter(|(title, _)| *title == service.title);
        let dense = versions.map(|(_, version)| *version).eq(1..=service.schema_version);
        self.require(dense, "I16", subject(), "its schema versions have gaps");
        let exists = |version: u64| (1..=service.schema_version).contains(&version);
        let detail = "its minimum_version is not one of its schema versions";
        self.require(service.settings.minimum_version.is_none_or(exists), "I16", subject(), detail);
        let detail = "its first version with words is not one of its schema versions";
        self.require(service.first_with_words.is_none_or(exists), "I16", subject(), detail);
    }

    /// I16: each stored config belongs to its service and that owner, without missing versions.
    fn services_of_configs(&mut self) {
        let catalogue = &self.snapshot.catalogue;
        for (id, (named, owner)) in &catalogue.configs {
            let service = catalogue.services.get(&named.title);
            let agrees = service.is_some_and(|service| {
                service.id == id.service() && service.id == named.id && service.owner == *owner
            });
            let detail =
                format!("config {id} has another service id or owner, or the service does not exist");
            self.require(agrees, "I16", Subject::Service(named.title.clone()), detail);
        }
        let follows = catalogue.configs.iter().zip(catalogue.configs.keys().skip(1));
        for ((before, (named, _)), after) in
            follows.filter(|((id, _), after)| id.service() == after.service())
        {
            let detail = format!("a config between {before} and {after} is missing");
            let next = after.version() == before.version() + 1;
            self.require(next, "I16", Subject::Service(named.title.clone()), detail);
        }
    }

    /// I5, I16: a team's messages have its numbers, in order, and name only its own services.
    fn messages(&mut self, messages: &Messages) {
        let (team, catalogue) = (messages.owner.id, &self.snapshot.catalogue);
        let numbers = || messages.all.iter().map(|message| message.id.number()).chain([messages.next]);
        let numbered = numbers().is_sorted_by(|one, next| one < next)
            && messages.all.iter().all(|message| message.id.team() == team);
        self.require(
            numbered,
            "I5",
            Subject::Messages(team),
            "message ids must be in order, of this team, and below the counter",
        );
        let has_that_name =
            self.snapshot.teams.get(&team).is_some_and(|stored| stored.name == messages.owner.name);
        self.require(
            has_that_name,
            "I16",
            Subject::Messages(team),
            "the team has another name or does not exist",
        );
        let mut named = messages.all.iter().flat_map(|message| &message.content.services);
        let own = named.all(|named| {
            let service = catalogue.services.get(&named.title);
            service.is_some_and(|service| service.id == named.id && service.owner.id == team)
        });
        self.require(
            own,
            "I16",
            Subject::Messages(team),
            "a message names a service that the team does not own",
        );
    }

    /// I16: the platform's schemas for metadata have no missing version.
    fn metadata_policy(&mut self) {
        let versions = &self.snapshot.catalogue.policy_versions;
        let dense = versions.iter().zip(1..).all(|(version, number)| *version == number);
        self.require(dense, "I16", Subject::MetadataPolicy, "its versions have gaps");
    }

    /// I16: items agree with their service, and their schema version exists.
    fn services_of_items(&mut self) {
        let forgotten = self.snapshot.catalogue.used.iter();
        let mut versions_by_service: BTreeMap<_, BTreeSet<u64>> =
            forgotten.map(|((service, owner), versions)| ((service, owner), versions.clone())).collect();
        for item in self.snapshot.items.values() {
            versions_by_service
                .entry((&item.service, &item.service_owner))
                .or_default()
                .insert(item.schema_version);
        }
        for change in self.snapshot.changes.values() {
            let checking = versions_by_service.entry((&change.service, &change.service_owner)).or_default();
            checking.extend(change.schema_version);
        }
        for ((named, owner), versions) in versions_by_service {
            let subject = || Subject::Service(named.title.clone());
            let service = self.snapshot.catalogue.services.get(&named.title);
            let agrees = service.is_some_and(|service| service.id == named.id && service.owner == *owner);
            self.require(
                agrees,
                "I16",
                subject(),
                "items have another service id or owner, or the service does not exist",
            );
            let published_versions = 1..=service.map_or(u64::MAX, |service| service.schema_version);
            let are_published = versions.iter().all(|version| published_versions.contains(version));
            self.require(
                are_published,
                "I16",
                subject(),
                "items or change instances have a schema version that does not exist",
            );
        }
    }

    /// I16: the owners of change instances have the names in them.
    fn owners(&mut self) {
        let forgotten = self.snapshot.catalogue.owners.iter();
        let mut named: BTreeMap<&TeamRef, ChangeId> =
            forgotten.map(|(owner, change)| (owner, *change)).collect();
        for change in self.snapshot.changes.values() {
            named.entry(&change.owner).or_insert(change.id);
        }
        for (owner, change) in named {
            let agrees = self.snapshot.teams.get(&owner.id).is_some_and(|team| team.name == owner.name);
            let detail =
                format!("change instance {change} has another team name, or the team does not exist");
            self.require(agrees, "I16", Subject::Team(owner.id), detail);
        }
    }

    /// I5: the counters of teams and services are not behind.
    fn counters(&mut self) {
        let team = self.snapshot.teams.keys().map(|id| id.get()).max().unwrap_or_default();
        let service = self.snapshot.catalogue.titles.keys().map(|id| id.get()).max().unwrap_or_default();
        let (teams, services) = self.snapshot.catalogue.counted;
        let detail =
            format!("team {team} and service {service} exist, but the counters are {teams} and {services}");
        self.require(teams >= team && services >= service, "I5", Subject::Counters, detail);
    }
}
