//! The subject of a violation: the record, and the team whose records the audit reads again before it reports.

use crate::base::hash::Hash;
use crate::base::id::{
    ApplicationId, ChangeId, ChargeId, DeployedId, ItemId, ServiceId, SubmissionId, TeamId,
};
use crate::model::staging::StagingId;
use crate::model::work::WorkId;
use std::fmt;

/// The subject of a violation; its texts are keys and names, never content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    Item(ItemId),
    Change(ChangeId),
    Charge(ChargeId),
    Deployed(DeployedId),
    Application(ApplicationId),
    Head(TeamId),
    Team(TeamId),
    Submission(SubmissionId),
    Staging(TeamId, StagingId),
    Work(WorkId),
    Declaration(TeamId, Hash),
    /// An idempotency key, by its submission, because keys belong to the consumer.
    IdempotencyRecord(TeamId, SubmissionId),
    Service(String),
    Messages(TeamId),
    /// The record that maps a service's id to its title.
    ServiceId(ServiceId),
    /// The record that maps a team's name to its id.
    TeamName(String),
    /// The platform's schemas for metadata.
    MetadataPolicy,
    /// The counters of teams and services.
    Counters,
    /// A stored record by its key.
    Record {
        /// The partition key.
        partition: String,
        /// The sort key.
        sort: String,
    },
}

impl Subject {
    /// Returns the consumer team of the record; none for shared records, and for a record by its key.
    pub const fn team(&self) -> Option<TeamId> {
        Some(match self {
            Self::Item(id) => id.team(),
            Self::Change(id) => id.team(),
            Self::Charge(id) => id.team(),
            Self::Deployed(id) => id.team(),
            Self::Application(id) => id.team(),
            Self::Submission(id) => id.team(),
            Self::Work(id) => id.submission.team(),
            Self::Head(team)
            | Self::Team(team)
            | Self::Staging(team, _)
            | Self::IdempotencyRecord(team, _)
            | Self::Declaration(team, _) => *team,
            Self::Service(_)
            | Self::Messages(_)
            | Self::ServiceId(_)
            | Self::TeamName(_)
            | Self::MetadataPolicy
            | Self::Counters
            | Self::Record { .. } => return None,
        })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(id) => write!(f, "item {id}"),
            Self::Change(id) => write!(f, "change instance {id}"),
            Self::Charge(id) => write!(f, "charge {id}"),
            Self::Deployed(id) => write!(f, "deployed item {id}"),
            Self::Application(id) => write!(f, "application {id}"),
            Self::Head(team) => write!(f, "head of team {team}"),
            Self::Team(team) => write!(f, "team {team}"),
            Self::Submission(id) => write!(f, "submission {id}"),
            Self::Staging(team, id) => write!(f, "staging {id} of team {team}"),
            Self::Work(id) => write!(f, "{id}"),
            Self::Declaration(team, hash) => write!(f, "declaration {hash} of team {team}"),
            Self::IdempotencyRecord(team, id) => {
                write!(f, "idempotency key of team {team} for submission {id}")
            }
            Self::Service(title) => write!(f, "service {title}"),
            Self::Messages(team) => write!(f, "messages of team {team}"),
            Self::ServiceId(id) => write!(f, "service id {id}"),
            Self::TeamName(name) => write!(f, "team name {name}"),
            Self::MetadataPolicy => f.write_str("mandatory metadata"),
            Self::Counters => f.write_str("counters"),
            Self::Record { partition, sort } => write!(f, "record {partition} / {sort}"),
        }
    }
}
