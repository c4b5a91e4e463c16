//! Teams, their heads and their applications.

use super::Record;
use super::parts::{Bad, at, hash, team_id};
use crate::key::{self, Key};
use domain::attention::Attention;
use domain::id::{ApplicationId, SubmissionId};
use domain::team::{Application, Head, Team};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct TeamRecord {
    id: u64,
    nm: String,
    meta: String,
}

impl Record for TeamRecord {
    const TYPE: &'static str = "TEAM";
    type Value = Team;

    fn of(team: &Team) -> Self {
        Self { id: team.id.get(), nm: team.name.clone(), meta: team.metadata.clone() }
    }

    fn value(self) -> Result<Team, Bad> {
        Ok(Team { id: team_id(self.id)?, name: self.nm, metadata: self.meta })
    }

    fn key(team: &Team) -> Key {
        key::team(team.id)
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct HeadRecord {
    tm: u64,
    /// Submissions recorded.
    sub: u64,
    root: String,
    /// How many things wait for an answer.
    attn: i64,
    /// The sum of their hashes.
    att: i64,
    na: u64,
    nc: u64,
    /// The submission that is in flight.
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
            attn: head.attention.count,
            att: head.attention.sum,
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
            attention: Attention { count: self.attn, sum: self.att },
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

#[derive(Serialize, Deserialize)]
pub(crate) struct ApplicationRecord {
    id: u64,
    nm: String,
    dig: String,
    ni: u64,
    meta: String,
    cr: u64,
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
            created: at(self.cr),
            modified: at(self.mo),
        })
    }

    fn key(application: &Application) -> Key {
        key::application(application.id)
    }
}
