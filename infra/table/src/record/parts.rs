//! Parts of several records.

use super::bytes::{ChainPart, HashPart};
use super::invalid::Bad;
use domain::base::actor::Actor;
use domain::base::id::ServiceId;
use domain::base::refs::{Reference, ServiceRef};
use domain::base::state::{ChangeType, Kind, RuntimeState};
use domain::model::change::{ChainHead, Version};
use domain::model::metadata::Since;
use domain::model::staging::StagingId;
use domain::{Hash, State, TeamId, TeamRef, Timestamp};
use serde::{Deserialize, Serialize};

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
    /// Id of the team.
    id: u64,
    /// Name of the team.
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
    /// Id of the service.
    id: u64,
    /// Title of the service.
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
    /// Number of the item's declaration, counted from 1.
    no: u64,
    /// Hash of the declaration's canonical JSON.
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

/// A reference to another item of the same application.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReferencePart {
    /// Title of the service.
    sv: String,
    /// Name of the item.
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

/// The author of an action. All attributes are absent for the system.
#[derive(Serialize, Deserialize)]
pub(crate) struct ActorPart {
    /// Name of the API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Name of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    ps: Option<String>,
    /// Team of the key or person.
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

/// Returns the author from the stored attributes.
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
pub(crate) struct ChainHeadPart {
    /// Number of entries.
    n: u64,
    /// Time of the last entry.
    at: u64,
    /// Link of the last entry.
    hh: ChainPart,
}

impl ChainHeadPart {
    pub(crate) fn of(head: ChainHead) -> Self {
        Self { n: head.entries, at: head.at.micros(), hh: ChainPart::of(head.chain) }
    }

    pub(crate) const fn value(self) -> ChainHead {
        ChainHead { entries: self.n, at: at(self.at), chain: self.hh.value() }
    }
}

/// The submission that declared metadata. Absent if none did.
#[derive(Serialize, Deserialize)]
pub(crate) struct SincePart {
    /// Number of the submission.
    sub: u64,
    /// Time of the submission.
    at: u64,
    /// Number of the submission that declared the previous metadata. Absent if there were none.
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
