//! What the table holds: records by their keys.

use crate::fingerprint::Fingerprint;
use domain::change::Change;
use domain::charge::Charge;
use domain::deployed::Deployed;
use domain::id::{ApplicationId, ChangeId, ChargeId, DeployedId, ItemId, SubmissionId, TeamId};
use domain::item::Item;
use domain::json::Hash;
use domain::staging::{Staging, StagingId};
use domain::submission::{Remembered, Submission};
use domain::team::{Application, Head, Team};
use domain::work::{Share, Work, WorkId};
use std::sync::Arc;

/// Where a record is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A team.
    Team(TeamId),
    /// A team's head.
    Head(TeamId),
    /// An application.
    Application(ApplicationId),
    /// An item.
    Item(ItemId),
    /// A change instance.
    Change(ChangeId),
    /// A charge.
    Charge(ChargeId),
    /// A deployed item version.
    Deployed(DeployedId),
    /// A submission.
    Submission(SubmissionId),
    /// An idempotency key of a team.
    Remembered(TeamId, Arc<str>),
    /// A work record.
    Work(WorkId),
    /// A staging of a team.
    Staging(TeamId, StagingId),
    /// A dependent team's share in an item.
    Share(ItemId, TeamId),
    /// A declaration of a team, by its hash.
    Declaration(TeamId, Hash),
    /// A service, by its title.
    Service(Arc<str>),
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A team.
    Team(Team),
    /// A team's head.
    Head(Head),
    /// An application.
    Application(Application),
    /// An item.
    Item(Item),
    /// A change instance.
    Change(Change),
    /// A charge.
    Charge(Charge),
    /// A deployed item version.
    Deployed(Deployed),
    /// A submission.
    Submission(Submission),
    /// What is remembered under an idempotency key of a team.
    Remembered(TeamId, Remembered),
    /// A work record.
    Work(Work),
    /// A staging.
    Staging(Staging),
    /// A dependent team's share in an item.
    Share(Share),
    /// A declaration: its team, its key and the hash of what is stored under it.
    Declaration(TeamId, Hash, Hash),
    /// A service: its title and its revision.
    Service(Arc<str>, u64),
}

impl Record {
    /// Where it is.
    pub fn key(&self) -> Key {
        match self {
            Self::Team(team) => Key::Team(team.id),
            Self::Head(head) => Key::Head(head.team),
            Self::Application(application) => Key::Application(application.id),
            Self::Item(item) => Key::Item(item.id),
            Self::Change(change) => Key::Change(change.id),
            Self::Charge(charge) => Key::Charge(charge.id),
            Self::Deployed(deployed) => Key::Deployed(deployed.id),
            Self::Submission(submission) => Key::Submission(submission.id),
            Self::Remembered(team, remembered) => Key::Remembered(*team, remembered.key.as_str().into()),
            Self::Work(work) => Key::Work(work.id),
            Self::Staging(staging) => Key::Staging(staging.team(), staging.id),
            Self::Share(share) => Key::Share(share.item, share.owner),
            Self::Declaration(team, hash, _) => Key::Declaration(*team, *hash),
            Self::Service(title, _) => Key::Service(Arc::clone(title)),
        }
    }
}

/// A record with its fingerprint, taken once.
#[derive(Debug)]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
}

impl From<Record> for Stored {
    fn from(record: Record) -> Self {
        Self { fingerprint: Fingerprint::of(&record), record }
    }
}
