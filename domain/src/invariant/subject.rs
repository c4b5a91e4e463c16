//! What a violation is about: the record to look at, and the team whose records are read again before it counts.

use crate::id::{ApplicationId, ChangeId, ChargeId, DeployedId, ItemId, ServiceId, SubmissionId, TeamId};
use crate::json::Hash;
use crate::staging::StagingId;
use crate::work::WorkId;
use std::fmt;

/// What a violation is about; texts in it are keys and names, never what is declared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// An item.
    Item(ItemId),
    /// A change instance.
    Change(ChangeId),
    /// A charge.
    Charge(ChargeId),
    /// A deployed item.
    Deployed(DeployedId),
    /// An application.
    Application(ApplicationId),
    /// A team's head.
    Head(TeamId),
    /// A team.
    Team(TeamId),
    /// A submission.
    Submission(SubmissionId),
    /// A staging.
    Staging(TeamId, StagingId),
    /// A work record.
    Work(WorkId),
    /// A declaration.
    Declaration(TeamId, Hash),
    /// A team's idempotency key, by the submission that it leads to: keys are the consumer's.
    Remembered(TeamId, SubmissionId),
    /// A service, by its title.
    Service(String),
    /// A team's messages.
    Messages(TeamId),
    /// Where a service's title is found.
    ServiceId(ServiceId),
    /// Where a team's id is found.
    TeamName(String),
    /// What metadata have to be.
    Mandatory,
    /// The numbers that are allotted to all.
    Counters,
    /// A record as it is stored, by its key.
    Record {
        /// The partition.
        partition: String,
        /// The sort key.
        sort: String,
    },
}

impl Subject {
    /// The consumer team whose records it is among; none for what teams have in common, and for a record by its key.
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
            | Self::Remembered(team, _)
            | Self::Declaration(team, _) => *team,
            Self::Service(_)
            | Self::Messages(_)
            | Self::ServiceId(_)
            | Self::TeamName(_)
            | Self::Mandatory
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
            Self::Remembered(team, id) => write!(f, "idempotency key of team {team} for submission {id}"),
            Self::Service(title) => write!(f, "service {title}"),
            Self::Messages(team) => write!(f, "messages of team {team}"),
            Self::ServiceId(id) => write!(f, "service id {id}"),
            Self::TeamName(name) => write!(f, "team name {name}"),
            Self::Mandatory => f.write_str("mandatory metadata"),
            Self::Counters => f.write_str("counters"),
            Self::Record { partition, sort } => write!(f, "record {partition} / {sort}"),
        }
    }
}
