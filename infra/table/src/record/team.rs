//! Teams, their heads and their applications.

use super::codec::{FORMAT_BASE, FORMAT_GENERATIONS, FORMAT_USES, Record, of_confirmed, of_generation};
use super::conversion::{Bad, Part, mirrors};
use super::parts::SincePart;
use crate::key::{self, Key};
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
    #[serde(rename = "nm")]
    name: String,
    /// Metadata, canonical JSON.
    #[serde(rename = "meta")]
    metadata: String,
    /// Submission that declared the metadata. Absent if no submission declared them.
    #[serde(rename = "si", skip_serializing_if = "Option::is_none")]
    since: Option<SincePart>,
    /// Whether removals of whole applications need a confirmation. Absent if they do not, and known since format 7.
    #[serde(rename = "cf", skip_serializing_if = "Option::is_none")]
    confirm_removals: Option<bool>,
}

mirrors! { TeamRecord = Team { id, name, metadata, since, confirm_removals } }

impl Record for TeamRecord {
    const TYPE: &'static str = "TEAM";
    type Value = Team;

    fn key(team: &Team) -> Key {
        key::team(team.id)
    }

    fn format(team: &Team) -> u64 {
        of_confirmed(team.confirm_removals)
    }
}

/// The head of a team: the fences of its submissions.
#[derive(Serialize, Deserialize)]
pub(crate) struct HeadRecord {
    /// Id of the team.
    #[serde(rename = "tm")]
    team: u64,
    /// Number of submissions, as a fence against concurrent ones.
    #[serde(rename = "sub")]
    submissions: u64,
    /// Digest of the whole declaration. The digest reveals a torn read.
    root: String,
    #[serde(flatten)]
    blockers: BlockersPart,
    /// Number of the next application.
    #[serde(rename = "na")]
    next_application: u64,
    /// Number of the next change instance, as the fence of its allocation.
    #[serde(rename = "nc")]
    next_change: u64,
    /// Id of the submission in flight. Absent if there is none.
    #[serde(rename = "inf", skip_serializing_if = "Option::is_none")]
    in_flight: Option<u64>,
}

mirrors! {
    HeadRecord = Head { team, submissions, root, blockers, next_application, next_change, in_flight }
}

/// The blockers of a team.
#[derive(Serialize, Deserialize)]
struct BlockersPart {
    /// Number of blockers, and a fence together with `att`.
    #[serde(rename = "attn")]
    count: i64,
    /// Sum of the blockers' hashes.
    #[serde(rename = "att")]
    sum: i64,
}

mirrors! { BlockersPart = Blockers { count, sum } }

impl Record for HeadRecord {
    const TYPE: &'static str = "HEAD";
    type Value = Head;

    fn key(head: &Head) -> Key {
        key::head(head.team)
    }
}

/// An application of a team. A retired one is in partition `RETIRED#{team}`, and in an index.
#[derive(Serialize, Deserialize)]
pub(crate) struct ApplicationRecord {
    /// Id of the application.
    id: u64,
    /// Name, unique within the team.
    #[serde(rename = "nm")]
    name: String,
    /// Digest of the application's declaration, and a fence together with `ni` and `dr`.
    #[serde(rename = "dig")]
    digest: String,
    /// Number of items of earlier applications with the same number. Absent if there are none, and known since format
    /// 4.
    #[serde(rename = "ib", skip_serializing_if = "Option::is_none")]
    items_before: Option<u64>,
    /// Number of the next item.
    #[serde(rename = "ni")]
    next_item: u64,
    /// Number of drifted items. Absent or 0 if there are none, and known since format 6.
    #[serde(rename = "dr", skip_serializing_if = "Option::is_none")]
    drifted: Option<u64>,
    /// Number of references from other applications and teams that ever began, and a fence together with `dig`. Absent
    /// or 0 if there are none, and known since format 10.
    #[serde(rename = "us", skip_serializing_if = "Option::is_none")]
    uses_ever: Option<u64>,
    /// Metadata, canonical JSON.
    #[serde(rename = "meta")]
    metadata: String,
    /// Submission that declared the metadata. Absent if no submission declared them.
    #[serde(rename = "si", skip_serializing_if = "Option::is_none")]
    since: Option<SincePart>,
    /// Number of the last submission that changed the application, or 0 in old records.
    #[serde(rename = "lc", default)]
    changed: u64,
    /// Time of the first declaration.
    #[serde(rename = "cr")]
    created: u64,
    /// Time of the last change of the declaration.
    #[serde(rename = "mo")]
    modified: u64,
    /// Number of the submission that gave this application's number to another one. Absent while the application has
    /// its number, and known since format 4.
    #[serde(rename = "rt", skip_serializing_if = "Option::is_none")]
    retired: Option<u64>,
}

mirrors! {
    ApplicationRecord = Application {
        id, name, digest, items_before, next_item, drifted, uses_ever, metadata, since, changed, created, modified, retired,
    }
}

impl Record for ApplicationRecord {
    const TYPE: &'static str = "APP";
    type Value = Application;

    fn key(application: &Application) -> Key {
        key::application_at(application.id, application.retired.is_some())
    }

    fn format(application: &Application) -> u64 {
        let Application { id, items_before, drifted, uses_ever, retired, .. } = application;
        // One update adds to both numbers, and cannot know the format of the stored record.
        if *uses_ever > 0 || *drifted > 0 {
            return FORMAT_USES;
        }
        let is_of_generations = id.generation() > 0 || *items_before > 0 || retired.is_some();
        if is_of_generations { FORMAT_GENERATIONS } else { FORMAT_BASE }
    }

    fn indexes(application: &Application) -> Vec<(u8, String, String)> {
        let Application { id, retired, .. } = application;
        let entry = |by| (3, key::team_retired(id.team()), key::by_submission(by, id.get()));
        retired.map(entry).into_iter().collect()
    }
}

/// Former metadata of a team or an application. The record never changes after its creation.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReplacedRecord {
    /// Id of the team.
    #[serde(rename = "tm")]
    team: u64,
    /// Id of the application. Absent for the metadata of the team.
    #[serde(rename = "app", skip_serializing_if = "Option::is_none")]
    application: Option<u64>,
    /// Metadata, canonical JSON.
    #[serde(rename = "meta")]
    metadata: String,
    /// Submission that declared the metadata. Absent if no submission declared them.
    #[serde(rename = "si", skip_serializing_if = "Option::is_none")]
    since: Option<SincePart>,
}

impl Part<Replaced> for ReplacedRecord {
    fn of(replaced: &Replaced) -> Self {
        let application = match replaced.of {
            Of::Team(_) => None,
            Of::Application(id) => Some(id.get()),
        };
        Self {
            team: Part::of(&replaced.of.team()),
            application,
            metadata: replaced.metadata.clone(),
            since: Part::of(&replaced.since),
        }
    }

    fn value(self) -> Result<Replaced, Bad> {
        let of = match self.application.value()? {
            None => Of::Team(self.team.value()?),
            Some(application) => Of::Application(application),
        };
        Ok(Replaced { of, metadata: self.metadata, since: self.since.value()? })
    }
}

impl Record for ReplacedRecord {
    const TYPE: &'static str = "METADATA";
    type Value = Replaced;

    fn key(replaced: &Replaced) -> Key {
        key::replaced(replaced.of, replaced.since.submission)
    }

    fn format(replaced: &Replaced) -> u64 {
        match replaced.of {
            Of::Team(_) => FORMAT_BASE,
            Of::Application(application) => of_generation(application.generation()),
        }
    }
}
