//! What all teams have in common: services, and what leads from a name or an id to its record.

use super::{Audit, Snapshot, Subject, Violation};
use crate::actor::TeamRef;
use crate::id::{ChangeId, ConfigId, ServiceId, TeamId};
use crate::message::Messages;
use crate::service::{Service, ServiceRef};
use std::collections::{BTreeMap, BTreeSet};

/// The records that belong to no consumer.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Services by title.
    pub services: BTreeMap<String, Service>,
    /// The schema versions that are stored, by title.
    pub schemas: BTreeSet<(String, u64)>,
    /// What is kept of services' configs: whose it says it is.
    pub configs: BTreeMap<ConfigId, (ServiceRef, TeamRef)>,
    /// The titles of services with documentation, and the ids that it says they have.
    pub documented: BTreeMap<String, ServiceId>,
    /// What owners tell the consumers of their services.
    pub messages: BTreeMap<TeamId, Messages>,
    /// The versions of what metadata have to be.
    pub mandatory: BTreeSet<u64>,
    /// Titles by service id.
    pub titles: BTreeMap<ServiceId, String>,
    /// Teams by name.
    pub names: BTreeMap<String, TeamId>,
    /// The numbers that were allotted last: of teams, of services.
    pub counted: (u64, u64),
}

/// Every violation among the records of the catalogue and what leads to them, I5, I16 and I24 (docs/explanation/architecture.md).
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
    audit.mandatory();
    audit.services_of_items();
    audit.owners();
    audit.counters();
    audit.found
}

impl Audit<'_> {
    /// I16: a name leads to the team that has it, and a team is found by its name.
    fn names(&mut self) {
        for (name, id) in &self.snapshot.catalogue.names {
            let leads = self.snapshot.teams.get(id).is_some_and(|team| team.name == *name);
            let detail = "it leads nowhere or elsewhere";
            self.require(leads, "I16", Subject::TeamName(name.clone()), detail);
        }
        for team in self.snapshot.teams.values() {
            let found = self.snapshot.catalogue.names.get(&team.name) == Some(&team.id);
            let detail = format!("it does not lead to team {}", team.id);
            self.require(found, "I16", Subject::TeamName(team.name.clone()), detail);
        }
    }

    /// I16: an id leads to the service that has it.
    fn titles(&mut self) {
        let catalogue = &self.snapshot.catalogue;
        for (id, title) in &catalogue.titles {
            let leads = catalogue.services.get(title).is_some_and(|service| service.id == *id);
            self.require(leads, "I16", Subject::ServiceId(*id), "it leads nowhere or elsewhere");
        }
    }

    /// I16: a service is found by its id, its teams exist, and so do all versions of its schema.
    fn service(&mut self, service: &Service) {
        let subject = || Subject::Service(service.title.clone());
        let catalogue = &self.snapshot.catalogue;
        let found = catalogue.titles.get(&service.id) == Some(&service.title);
        self.require(found, "I16", Subject::ServiceId(service.id), "it does not lead to its service");
        for team in service.teams() {
            let known = self.snapshot.teams.get(&team.id).is_some_and(|known| known.name == team.name);
            self.require(known, "I16", subject(), format!("team {} has another name, or is none", team.id));
        }
        let versions = catalogue.schemas.iter().filter(|(title, _)| *title == service.title);
        let dense = versions.map(|(_, version)| *version).eq(1..=service.schema_version);
        self.require(dense, "I16", subject(), "the versions of its schema have gaps");
        let settled = service
            .settings
            .minimum_version
            .is_none_or(|version| (1..=service.schema_version).contains(&version));
        self.require(settled, "I16", subject(), "no version of its schema is the minimum");
        let documented = catalogue.documented.get(&service.title).copied();
        let told = documented == service.has_docs.then_some(service.id);
        self.require(told, "I16", subject(), "it says otherwise of its documentation");
        let former = &service.former_dependents;
        let sorted = former.is_sorted_by(|one, next| one < next);
        let apart = former.iter().all(|team| !service.settings.has_dependent(*team));
        let exist = former.iter().all(|team| self.snapshot.teams.contains_key(team));
        let detail = "a former dependent team is none, is one now, or is named twice";
        self.require(sorted && apart && exist, "I16", subject(), detail);
        self.service_size(service);
    }

    /// I16: what is kept of a service's config is that service's, and its owner's, and no version between is missing.
    fn services_of_configs(&mut self) {
        let catalogue = &self.snapshot.catalogue;
        for (id, (named, owner)) in &catalogue.configs {
            let service = catalogue.services.get(&named.title);
            let agrees = service.is_some_and(|service| {
                service.id == id.service() && service.id == named.id && service.owner == *owner
            });
            let detail = format!("config {id} says otherwise of its id or owner, or there is none");
            self.require(agrees, "I16", Subject::Service(named.title.clone()), detail);
        }
        let follows = catalogue.configs.iter().zip(catalogue.configs.keys().skip(1));
        for ((before, (named, _)), after) in
            follows.filter(|((id, _), after)| id.service() == after.service())
        {
            let detail = format!("between configs {before} and {after} one is missing");
            let next = after.version() == before.version() + 1;
            self.require(next, "I16", Subject::Service(named.title.clone()), detail);
        }
    }

    /// I5, I16: a team's messages are its own, numbered in their order, and of services that it owns.
    fn messages(&mut self, messages: &Messages) {
        let (team, catalogue) = (messages.owner.id, &self.snapshot.catalogue);
        let numbers = || messages.all.iter().map(|message| message.id.number()).chain([messages.next]);
        let numbered = numbers().is_sorted_by(|one, next| one < next)
            && messages.all.iter().all(|message| message.id.team() == team);
        self.require(numbered, "I5", Subject::Messages(team), "their numbers are not what was allotted");
        let known = self.snapshot.teams.get(&team).is_some_and(|known| known.name == messages.owner.name);
        self.require(known, "I16", Subject::Messages(team), "the team has another name, or is none");
        let mut named = messages.all.iter().flat_map(|message| &message.content.services);
        let own = named.all(|named| {
            let service = catalogue.services.get(&named.title);
            service.is_some_and(|service| service.id == named.id && service.owner.id == team)
        });
        self.require(own, "I16", Subject::Messages(team), "one is for a service that is not the team's");
    }

    /// I16: no version of what metadata have to be is missing.
    fn mandatory(&mut self) {
        let versions = &self.snapshot.catalogue.mandatory;
        let dense = versions.iter().zip(1..).all(|(version, number)| *version == number);
        self.require(dense, "I16", Subject::Mandatory, "its versions have gaps");
    }

    /// I16: what items say of their service is so, and each is of a version of its schema that there is.
    fn services_of_items(&mut self) {
        let mut told: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
        for item in self.snapshot.items.values() {
            told.entry((&item.service, &item.service_owner)).or_default().insert(item.schema_version);
        }
        for ((named, owner), versions) in told {
            let subject = || Subject::Service(named.title.clone());
            let service = self.snapshot.catalogue.services.get(&named.title);
            let agrees = service.is_some_and(|service| service.id == named.id && service.owner == *owner);
            self.require(
                agrees,
                "I16",
                subject(),
                "items say otherwise of its id or owner, or there is none",
            );
            let known = 1..=service.map_or(u64::MAX, |service| service.schema_version);
            let of_known = versions.iter().all(|version| known.contains(version));
            self.require(
                of_known,
                "I16",
                subject(),
                "items are of a version of its schema that there is not",
            );
        }
    }

    /// I16: the owners of change instances have the names that these tell.
    fn owners(&mut self) {
        let mut named: BTreeMap<&TeamRef, ChangeId> = BTreeMap::new();
        for change in self.snapshot.changes.values() {
            named.entry(&change.owner).or_insert(change.id);
        }
        for (owner, change) in named {
            let agrees = self.snapshot.teams.get(&owner.id).is_some_and(|team| team.name == owner.name);
            let detail = format!("change instance {change} says otherwise of its name, or there is none");
            self.require(agrees, "I16", Subject::Team(owner.id), detail);
        }
    }

    /// I5: no number is allotted twice.
    fn counters(&mut self) {
        let team = self.snapshot.teams.keys().map(|id| id.get()).max().unwrap_or_default();
        let service = self.snapshot.catalogue.titles.keys().map(|id| id.get()).max().unwrap_or_default();
        let (teams, services) = self.snapshot.catalogue.counted;
        let detail = format!("team {team} and service {service} exist, {teams} and {services} are counted");
        self.require(teams >= team && services >= service, "I5", Subject::Counters, detail);
    }
}
