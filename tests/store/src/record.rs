//! Records and their keys.

use crate::fingerprint::Fingerprint;
use domain::base::id::{ApplicationId, ChargeId, DeployedId};
use domain::model::charge::Charge;
use domain::model::claim::Claim;
use domain::model::deployed::Deployed;
use domain::model::staging::{Staging, StagingId};
use domain::model::submission::{IdempotencyRecord, Submission};
use domain::model::team::{Application, Head, Team};
use domain::model::work::{Share, Work, WorkId};
use domain::model::write::Use;
use domain::{Change, ChangeId, Hash, Item, ItemId, SubmissionId, TeamId};
use std::sync::Arc;

/// The key of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Team(TeamId),
    Head(TeamId),
    Application(ApplicationId),
    Item(ItemId),
    Change(ChangeId),
    Charge(ChargeId),
    Deployed(DeployedId),
    Submission(SubmissionId),
    /// An idempotency key of a team.
    IdempotencyRecord(TeamId, Arc<str>),
    Work(WorkId),
    Staging(TeamId, StagingId),
    /// A dependent team's share in an item.
    Share(ItemId, TeamId),
    /// The claim on the work of an owner on an item.
    Claim(ItemId, TeamId),
    /// The use of an item by another one.
    Use(Use),
    /// A declaration of a team, by its hash.
    Declaration(TeamId, Hash),
    /// A service, by its title.
    Service(Arc<str>),
    /// A gone item.
    Gone(ItemId),
    /// A retired application.
    Retired(ApplicationId),
}

impl Key {
    /// Returns the key of an application that has its number, which all generations share.
    pub fn application(id: ApplicationId) -> Self {
        Self::Application(ApplicationId::new(id.team(), id.number()).unwrap_or(id))
    }

    /// Returns the key of an application, retired or not.
    pub fn of_application(application: &Application) -> Self {
        let id = application.id;
        if application.retired.is_some() { Self::Retired(id) } else { Self::application(id) }
    }

    /// Returns the key of a live or of a gone item.
    pub const fn item_at(id: ItemId, is_gone: bool) -> Self {
        if is_gone { Self::Gone(id) } else { Self::Item(id) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Team(Team),
    Head(Head),
    Application(Application),
    Item(Item),
    Change(Change),
    Charge(Charge),
    Deployed(Deployed),
    Submission(Submission),
    /// The content of a team's idempotency key.
    IdempotencyRecord(TeamId, IdempotencyRecord),
    Work(Work),
    Staging(Staging),
    Share(Share),
    Claim(Claim),
    Use(Use),
    /// A declaration or plan: its team, its key, and the text.
    Declaration(TeamId, Hash, Arc<str>),
    /// A service: its title and its revision.
    Service(Arc<str>, u64),
}

impl Record {
    /// Returns the key of the record.
    pub fn key(&self) -> Key {
        match self {
            Self::Team(team) => Key::Team(team.id),
            Self::Head(head) => Key::Head(head.team),
            Self::Application(application) => Key::of_application(application),
            Self::Item(item) => Key::item_at(item.id, item.gone),
            Self::Change(change) => Key::Change(change.id),
            Self::Charge(charge) => Key::Charge(charge.id),
            Self::Deployed(deployed) => Key::Deployed(deployed.id),
            Self::Submission(submission) => Key::Submission(submission.id),
            Self::IdempotencyRecord(team, remembered) => {
                Key::IdempotencyRecord(*team, remembered.key.as_str().into())
            }
            Self::Work(work) => Key::Work(work.id),
            Self::Staging(staging) => Key::Staging(staging.team(), staging.id),
            Self::Share(share) => Key::Share(share.item, share.owner),
            Self::Claim(claim) => Key::Claim(claim.item, claim.owner),
            Self::Use(item_use) => Key::Use(*item_use),
            Self::Declaration(team, hash, _) => Key::Declaration(*team, *hash),
            Self::Service(title, _) => Key::Service(Arc::clone(title)),
        }
    }
}

/// A record with its fingerprint, computed once.
#[derive(Debug)]
pub struct Stored {
    pub record: Record,
    pub fingerprint: Fingerprint,
}

impl From<Record> for Stored {
    fn from(record: Record) -> Self {
        Self { fingerprint: Fingerprint::of(&record), record }
    }
}
