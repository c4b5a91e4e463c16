//! Parts of several records.

use super::bytes::{ChainPart, HashPart};
use super::conversion::{Bad, Part, mirrors};
use domain::base::actor::Actor;
use domain::base::refs::{ItemReference, ServiceRef};
use domain::model::change::{ChainHead, Version};
use domain::model::metadata::Since;
use domain::model::wait::Wait;
use domain::{TeamRef, Timestamp};
use serde::{Deserialize, Serialize};

/// Returns the end of a duration after a time, in seconds since 1970.
pub(crate) const fn seconds_after(at: Timestamp, seconds: u64) -> u64 {
    (at.micros() / 1_000_000).saturating_add(seconds)
}

/// A team by id and name.
#[derive(Serialize, Deserialize)]
pub(crate) struct TeamPart {
    /// Id of the team.
    id: u64,
    /// Name of the team.
    #[serde(rename = "nm")]
    name: String,
}

mirrors! { TeamPart = TeamRef { id, name } }

/// A service by id and title.
#[derive(Serialize, Deserialize)]
pub(crate) struct ServicePart {
    /// Id of the service.
    id: u64,
    /// Title of the service.
    #[serde(rename = "ti")]
    title: String,
}

mirrors! { ServicePart = ServiceRef { id, title } }

/// A declaration by number and hash.
#[derive(Serialize, Deserialize)]
pub(crate) struct VersionPart {
    /// Number of the item's declaration, counted from 1.
    #[serde(rename = "no")]
    number: u64,
    /// Hash of the declaration's canonical JSON.
    #[serde(rename = "dh")]
    hash: HashPart,
}

mirrors! { VersionPart = Version { number, hash } }

/// A reference to another item of the same application.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReferencePart {
    /// Title of the service.
    #[serde(rename = "sv")]
    service: String,
    /// Name of the item.
    #[serde(rename = "nm")]
    name: String,
    /// Id of the item that had this name at the submission. Absent in records of release 0.4 and earlier.
    #[serde(rename = "it", default, skip_serializing_if = "Option::is_none")]
    item: Option<u64>,
}

mirrors! { ReferencePart = ItemReference { service, name, item } }

/// Something that has to happen before a change.
#[derive(Serialize, Deserialize)]
pub(crate) struct WaitPart {
    /// Id of the item.
    #[serde(rename = "it")]
    item: u64,
    /// Id of the change instance that must end. Absent if the item must be in place.
    #[serde(rename = "ci", default, skip_serializing_if = "Option::is_none")]
    change: Option<u64>,
    /// Id of the new item in reserve. Absent if there is none.
    #[serde(rename = "sp", default, skip_serializing_if = "Option::is_none")]
    spare: Option<u64>,
}

mirrors! { WaitPart = Wait { item, change, spare } }

/// The author of an action. All attributes are absent for the system.
#[derive(Serialize, Deserialize)]
pub(crate) struct ActorPart {
    /// Name of the API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Name of the person.
    #[serde(rename = "ps", skip_serializing_if = "Option::is_none")]
    person: Option<String>,
    /// Team of the key or person.
    #[serde(rename = "tm", skip_serializing_if = "Option::is_none")]
    team: Option<TeamPart>,
}

impl Part<Actor> for ActorPart {
    fn of(actor: &Actor) -> Self {
        let [key, person] = names_of(actor);
        Self { key, person, team: actor.team().map(TeamPart::of) }
    }

    fn value(self) -> Result<Actor, Bad> {
        actor(self.key, self.person, self.team.value()?)
    }
}

/// Returns the name of the API key and the name of the person.
pub(crate) fn names_of(actor: &Actor) -> [Option<String>; 2] {
    match actor {
        Actor::Key { name, .. } => [Some(name.clone()), None],
        Actor::Person { name, .. } => [None, Some(name.clone())],
        Actor::System => [None, None],
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
    #[serde(rename = "n")]
    entries: u64,
    /// Time of the last entry.
    at: u64,
    /// Link of the last entry.
    #[serde(rename = "hh")]
    chain: ChainPart,
}

mirrors! { ChainHeadPart = ChainHead { entries, at, chain } }

/// The submission that declared metadata. Absent if no submission declared them.
#[derive(Serialize, Deserialize)]
pub(crate) struct SincePart {
    /// Number of the submission.
    #[serde(rename = "sub")]
    submission: u64,
    /// Time of the submission.
    at: u64,
    /// Number of the submission that declared the previous metadata. Absent if there were none.
    #[serde(rename = "bf", skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
}

mirrors! { SincePart = Since { submission, at, before } }
