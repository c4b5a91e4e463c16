//! Teams, their heads and their applications.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{SincePart, at, hash, team_id};
use crate::key::{self, Key};
use domain::SubmissionId;
use domain::base::id::ApplicationId;
use domain::model::blockers::Blockers;
use domain::model::metadata::{Of, Replaced};
use domain::model::team::{Application, Head, Team};
use serde::{Deserialize, Serialize};

/// A team, as consumer, service owner or both.
#[derive(Serialize, Deserialize)]
pub(crate) struct TeamRecord {
    /// Id of the team.
    id: u64,
    /// Name, unique among all teams.
    nm: String,
    /// Metadata, canonical JSON.
    meta: String,
    /// Submission that declared the metadata. Absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    si: Option<SincePart>,
}

impl Record for TeamRecord {
    const TYPE: &'static str = "TEAM";
    type Value = Team;

    fn of(team: &Team) -> Self {
        Self {
            id: team.id.get(),
            nm: team.name.clone(),
            meta: team.metadata.clone(),
            si: SincePart::of(team.since),
        }
    }

    fn value(self) -> Result<Team, Bad> {
        Ok(Team {
            id: team_id(self.id)?,
            name: self.nm,
            metadata: self.meta,
            since: SincePart::value(self.si),
        })
    }

    fn key(team: &Team) -> Key {
        key::team(team.id)
    }
}

/// The head of a team: the fences of its submissions.
#[derive(Serialize, Deserialize)]
pub(crate) struct HeadRecord {
    /// Id of the team.
    tm: u64,
    /// Number of submissions. Fence against concurrent submissions.
    sub: u64,
    /// Digest of the whole declaration. It reveals a torn read.
    root: String,
    /// Number of blockers. Fence together with `att`.
    attn: i64,
    /// Sum of the blockers' hashes.
    att: i64,
    /// Number of the next application.
    na: u64,
    /// Number of the next change instance. Fence of allocation.
    nc: u64,
    /// Id of the submission in flight. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    inf: Option<u64>,
}

impl Record for HeadRecord {
    const TYPE: &'static str = "HEAD";
    type Value = Head;

    fn of(head: &Head) -> Self {
        Self {
            tm: head.team.get(),
            sub: head.submissions,
            root: head.root.to_string(),
            attn: head.blockers.count,
            att: head.blockers.sum,
            na: head.next_application,
            nc: head.next_change,
            inf: head.in_flight.map(SubmissionId::get),
        }
    }

    fn value(self) -> Result<Head, Bad> {
        Ok(Head {
            team: team_id(self.tm)?,
            submissions: self.sub,
            root: hash(&self.root)?,
            blockers: Blockers { count: self.attn, sum: self.att },
            next_application: self.na,
            next_change: self.nc,
            in_flight: match self.inf {
                Some(raw) => Some(SubmissionId::parse(raw).ok_or(Bad("submission"))?),
                None => None,
            },
        })
    }

    fn key(head: &Head) -> Key {
        key::head(head.team)
    }
}

/// An application of a team.
#[derive(Serialize, Deserialize)]
pub(crate) struct ApplicationRecord {
    /// Id of the application.
    id: u64,
    /// Name, unique within the team.
    nm: String,
    /// Digest of the application's declaration. Fence, together with `ni`.
    dig: String,
    /// Number of the next item.
    ni: u64,
    /// Metadata, canonical JSON.
    meta: String,
    /// Submission that declared the metadata. Absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    si: Option<SincePart>,
    /// Number of the last submission that changed the application. 0 in old records.
    #[serde(default)]
    lc: u64,
    /// Time of the first declaration.
    cr: u64,
    /// Time of the last change of the declaration.
    mo: u64,
}

impl Record for ApplicationRecord {
    const TYPE: &'static str = "APP";
    type Value = Application;

    fn of(application: &Application) -> Self {
        Self {
            id: application.id.get(),
            nm: application.name.clone(),
            dig: application.digest.to_string(),
            ni: application.next_item,
            meta: application.metadata.clone(),
            si: SincePart::of(application.since),
            lc: application.changed,
            cr: application.created.micros(),
            mo: application.modified.micros(),
        }
    }

    fn value(self) -> Result<Application, Bad> {
        Ok(Application {
            id: ApplicationId::parse(self.id).ok_or(Bad("application"))?,
            name: self.nm,
            digest: hash(&self.dig)?,
            next_item: self.ni,
            metadata: self.meta,
            since: SincePart::value(self.si),
            changed: self.lc,
            created: at(self.cr),
            modified: at(self.mo),
        })
    }

    fn key(application: &Application) -> Key {
        key::application(application.id)
    }
}

/// Former metadata of a team or an application. It never changes.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReplacedRecord {
    /// Id of the team.
    tm: u64,
    /// Id of the application. Absent for the metadata of the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<u64>,
    /// Metadata, canonical JSON.
    meta: String,
    /// Submission that declared the metadata. Absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    si: Option<SincePart>,
}

impl Record for ReplacedRecord {
    const TYPE: &'static str = "METADATA";
    type Value = Replaced;

    fn of(replaced: &Replaced) -> Self {
        let app = match replaced.of {
            Of::Team(_) => None,
            Of::Application(id) => Some(id.get()),
        };
        Self {
            tm: replaced.of.team().get(),
            app,
            meta: replaced.metadata.clone(),
            si: SincePart::of(replaced.since),
        }
    }

    fn value(self) -> Result<Replaced, Bad> {
        let of = match self.app {
            None => Of::Team(team_id(self.tm)?),
            Some(raw) => Of::Application(ApplicationId::parse(raw).ok_or(Bad("application"))?),
        };
        Ok(Replaced { of, metadata: self.meta, since: SincePart::value(self.si) })
    }

    fn key(replaced: &Replaced) -> Key {
        key::replaced(replaced.of, replaced.since.submission)
    }
}
