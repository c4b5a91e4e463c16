//! A service in the catalogue: its owner, its settings and its current schema version.

use crate::actor::TeamRef;
use crate::id::{ServiceId, TeamId};
use crate::timestamp::Timestamp;

/// How many dependent teams a service may have; keeps the changes of one item within a transaction.
pub const DEPENDENT_TEAMS_MAX: usize = 15;

/// How many teams a private service may name.
pub const ALLOWED_TEAMS_MAX: usize = 1_000;

/// A service by id and title; neither changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceRef {
    /// The service's id.
    pub id: ServiceId,
    /// The service's title, its name in declarations.
    pub title: String,
}

/// What an owner sets about a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether change instances are born PENDING; otherwise APPROVED.
    pub approval_required: bool,
    /// The teams that get a change instance of their own for each one of this service.
    pub dependent_teams: Vec<TeamRef>,
    /// The teams that may declare new items; empty means every team (R21).
    pub allowed_teams: Vec<TeamId>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { approval_required: true, dependent_teams: Vec::new(), allowed_teams: Vec::new() }
    }
}

impl Settings {
    /// Whether `team` may declare new items of the service.
    pub fn allows(&self, team: TeamId) -> bool {
        self.allowed_teams.is_empty() || self.allowed_teams.contains(&team)
    }

    /// Whether `team` is one of the dependent teams.
    pub fn has_dependent(&self, team: TeamId) -> bool {
        self.dependent_teams.iter().any(|dependent| dependent.id == team)
    }
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its id.
    pub id: ServiceId,
    /// Its title, unique among all services.
    pub title: String,
    /// The team that owns it.
    pub owner: TeamRef,
    /// What the owner set.
    pub settings: Settings,
    /// The newest schema version, counted from 1.
    pub schema_version: u64,
    /// Counts the writes of this record.
    pub revision: u64,
    /// When it was first published.
    pub created: Timestamp,
    /// When it last changed.
    pub modified: Timestamp,
}

impl Service {
    /// The service by id and title.
    pub fn to_ref(&self) -> ServiceRef {
        ServiceRef { id: self.id, title: self.title.clone() }
    }

    /// The teams that it names: its owner and the dependent teams.
    pub fn teams(&self) -> impl Iterator<Item = &TeamRef> {
        std::iter::once(&self.owner).chain(&self.settings.dependent_teams)
    }
}

/// What a publication makes of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publish {
    /// The title is free: a new service, with the settings that services begin with.
    New(Settings),
    /// A new schema version of the owner's service.
    NewVersion(Service),
    /// The very schema that is published already.
    Unchanged,
    /// The title belongs to another team's service.
    Foreign,
}

/// Publishes a schema under its title: an upsert (docs/wire.md).
///
/// `before` is the service with that title and the text of its current schema.
pub fn publish(before: Option<(&Service, &str)>, text: &str, owner: &TeamRef, now: Timestamp) -> Publish {
    match before {
        None => Publish::New(Settings::default()),
        Some((service, _)) if service.owner != *owner => Publish::Foreign,
        Some((_, current)) if current == text => Publish::Unchanged,
        Some((service, _)) => Publish::NewVersion(Service {
            schema_version: service.schema_version + 1,
            revision: service.revision + 1,
            modified: now,
            ..service.clone()
        }),
    }
}

/// A service with other settings, unless they are the same.
pub fn set(service: &Service, settings: Settings, now: Timestamp) -> Option<Service> {
    (service.settings != settings).then(|| Service {
        settings,
        revision: service.revision + 1,
        modified: now,
        ..service.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(number: u64) -> TeamRef {
        TeamRef { id: TeamId::new(number).unwrap(), name: format!("Team{number}") }
    }

    fn service() -> Service {
        Service {
            id: ServiceId::new(1).unwrap(),
            title: "VM".to_owned(),
            owner: team(1),
            settings: Settings { dependent_teams: vec![team(2)], ..Settings::default() },
            schema_version: 3,
            revision: 7,
            created: Timestamp::from_micros(1),
            modified: Timestamp::from_micros(2),
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(9);

    #[test]
    fn a_schema_is_published_under_a_free_title_or_as_a_new_version() {
        let before = service();
        let publish = |text, owner: &TeamRef| publish(Some((&before, "text")), text, owner, NOW);
        assert_eq!(super::publish(None, "text", &team(2), NOW), Publish::New(Settings::default()));
        assert_eq!(publish("text", &team(1)), Publish::Unchanged);
        for text in ["text", "other"] {
            assert_eq!(publish(text, &team(2)), Publish::Foreign);
        }
        let after = Service { schema_version: 4, revision: 8, modified: NOW, ..before.clone() };
        assert_eq!(publish("other", &team(1)), Publish::NewVersion(after));
    }

    #[test]
    fn other_settings_are_another_revision() {
        let before = service();
        assert_eq!(set(&before, before.settings.clone(), NOW), None);
        let settings = Settings { approval_required: false, ..before.settings.clone() };
        let after = Service { settings: settings.clone(), revision: 8, modified: NOW, ..before.clone() };
        assert_eq!(set(&before, settings, NOW), Some(after));
    }

    #[test]
    fn a_service_names_its_owner_and_its_dependents() {
        let service = service();
        assert_eq!(service.teams().cloned().collect::<Vec<_>>(), [team(1), team(2)]);
        let dependents = [1, 2, 3].map(|number| service.settings.has_dependent(team(number).id));
        assert_eq!(dependents, [false, true, false]);
    }
}
