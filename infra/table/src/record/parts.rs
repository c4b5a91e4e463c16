//! Parts that several records share.

use super::bytes::{ChainPart, HashPart};
use domain::actor::{Actor, TeamRef};
use domain::change::{ChangeType, Kind, Mark, Version};
use domain::id::{ServiceId, TeamId};
use domain::item::RuntimeState;
use domain::json::Hash;
use domain::metadata::Since;
use domain::schema::Reference;
use domain::service::ServiceRef;
use domain::staging::StagingId;
use domain::state::State;
use domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// An attribute that does not stand for a value, by its name.
pub(crate) struct Bad(pub(crate) &'static str);

pub(crate) fn hash(text: &str) -> Result<Hash, Bad> {
    Hash::parse(text).ok_or(Bad("hash"))
}

pub(crate) const fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(micros)
}

pub(crate) fn state(name: &str) -> Result<State, Bad> {
    State::parse(name).ok_or(Bad("state"))
}

pub(crate) fn change_type(name: &str) -> Result<ChangeType, Bad> {
    ChangeType::parse(name).ok_or(Bad("change type"))
}

pub(crate) fn kind(name: &str) -> Result<Kind, Bad> {
    Kind::parse(name).ok_or(Bad("kind"))
}

pub(crate) fn runtime_state(name: &str) -> Result<RuntimeState, Bad> {
    RuntimeState::parse(name).ok_or(Bad("runtime state"))
}

pub(crate) fn staging_id(id: u64) -> Result<StagingId, Bad> {
    StagingId::parse(id).ok_or(Bad("staging"))
}

pub(crate) fn team_id(id: u64) -> Result<TeamId, Bad> {
    TeamId::new(id).ok_or(Bad("team"))
}

/// A team by id and name.
#[derive(Serialize, Deserialize)]
pub(crate) struct TeamPart {
    id: u64,
    nm: String,
}

impl TeamPart {
    pub(crate) fn of(team: &TeamRef) -> Self {
        Self { id: team.id.get(), nm: team.name.clone() }
    }

    pub(crate) fn value(self) -> Result<TeamRef, Bad> {
        Ok(TeamRef { id: team_id(self.id)?, name: self.nm })
    }
}

/// A service by id and title.
#[derive(Serialize, Deserialize)]
pub(crate) struct ServicePart {
    id: u64,
    ti: String,
}

impl ServicePart {
    pub(crate) fn of(service: &ServiceRef) -> Self {
        Self { id: service.id.get(), ti: service.title.clone() }
    }

    pub(crate) fn value(self) -> Result<ServiceRef, Bad> {
        Ok(ServiceRef { id: ServiceId::new(self.id).ok_or(Bad("service"))?, title: self.ti })
    }
}

/// A declaration by number and hash.
#[derive(Serialize, Deserialize)]
pub(crate) struct VersionPart {
    no: u64,
    dh: HashPart,
}

impl VersionPart {
    pub(crate) fn of(version: &Version) -> Self {
        Self { no: version.number, dh: HashPart::of(version.hash) }
    }

    pub(crate) const fn value(self) -> Version {
        Version { number: self.no, hash: self.dh.value() }
    }
}

/// A reference to another item.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReferencePart {
    sv: String,
    nm: String,
}

impl ReferencePart {
    pub(crate) fn of(reference: &Reference) -> Self {
        Self { sv: reference.service.clone(), nm: reference.name.clone() }
    }

    pub(crate) fn value(self) -> Reference {
        Reference { service: self.sv, name: self.nm }
    }
}

/// Who acted: a key or a person with the team, or the system when all are absent.
#[derive(Serialize, Deserialize)]
pub(crate) struct ActorPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The person.
    #[serde(skip_serializing_if = "Option::is_none")]
    ps: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tm: Option<TeamPart>,
}

impl ActorPart {
    pub(crate) fn of(actor: &Actor) -> Self {
        match actor {
            Actor::Key { name, team } => {
                Self { key: Some(name.clone()), ps: None, tm: Some(TeamPart::of(team)) }
            }
            Actor::Person { name, team } => {
                Self { key: None, ps: Some(name.clone()), tm: Some(TeamPart::of(team)) }
            }
            Actor::System => Self { key: None, ps: None, tm: None },
        }
    }

    pub(crate) fn value(self) -> Result<Actor, Bad> {
        actor(self.key, self.ps, self.tm.map(TeamPart::value).transpose()?)
    }
}

/// Who acted, of what is stored of them.
pub(crate) fn actor(
    key: Option<String>,
    person: Option<String>,
    team: Option<TeamRef>,
) -> Result<Actor, Bad> {
    match (key, person, team) {
        (Some(name), None, Some(team)) => Ok(Actor::Key { name, team }),
        (None, Some(name), Some(team)) => Ok(Actor::Person { name, team }),
        (None, None, None) => Ok(Actor::System),
        _ => Err(Bad("actor")),
    }
}

/// The end of a history.
#[derive(Serialize, Deserialize)]
pub(crate) struct MarkPart {
    n: u64,
    at: u64,
    hh: ChainPart,
}

impl MarkPart {
    pub(crate) fn of(mark: Mark) -> Self {
        Self { n: mark.entries, at: mark.at.micros(), hh: ChainPart::of(mark.chain) }
    }

    pub(crate) const fn value(self) -> Mark {
        Mark { entries: self.n, at: at(self.at), chain: self.hh.value() }
    }
}

/// Since when metadata is what it is; none of what no submission has declared.
#[derive(Serialize, Deserialize)]
pub(crate) struct SincePart {
    /// The submission's number.
    sub: u64,
    at: u64,
    /// That of what was replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    bf: Option<u64>,
}

impl SincePart {
    pub(crate) fn of(since: Since) -> Option<Self> {
        let Since { submission, at, before } = since;
        (since != Since::EVER).then_some(Self { sub: submission, at: at.micros(), bf: before })
    }

    pub(crate) fn value(part: Option<Self>) -> Since {
        part.map_or(Since::EVER, |part| Since { submission: part.sub, at: at(part.at), before: part.bf })
    }
}
