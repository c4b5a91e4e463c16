//! Healthchecks and their results. Only the healthcheck's record has credentials, so it is in the table of keys.

use super::codec::Record;
use super::conversion::{Bad, Part, mirrors};
use super::parts::{ServicePart, TeamPart, seconds_after};
use crate::key::{self, Key};
use domain::outreach::healthcheck::answer::Failed;
use domain::outreach::healthcheck::run::{CheckSchedule, Counted, Ran};
use domain::outreach::healthcheck::{
    COOLING_SECONDS, CheckThrottle, Health, HealthReport, Healthcheck, Settings,
};
use serde::{Deserialize, Serialize};

/// The healthcheck of a service, in the table of keys. Only this record contains its credentials.
#[derive(Serialize, Deserialize)]
pub(crate) struct HealthcheckRecord {
    /// Service owner.
    #[serde(rename = "tm")]
    team: TeamPart,
    /// Service.
    #[serde(rename = "sv")]
    service: ServicePart,
    /// Target URL.
    #[serde(rename = "url")]
    target_url: String,
    /// Value of the `Authorization` header. Absent if none is sent.
    #[serde(rename = "au", skip_serializing_if = "Option::is_none")]
    authorization: Option<String>,
    /// Whether the schedule is enabled.
    #[serde(rename = "en")]
    schedule_enabled: bool,
    /// Schedule in crontab form. Absent if none is set.
    #[serde(rename = "ct", skip_serializing_if = "Option::is_none")]
    crontab: Option<String>,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
    /// Time of the last change.
    #[serde(rename = "mo")]
    modified: u64,
    /// Revision: counts the writes, and is the fence of every change.
    #[serde(rename = "rv")]
    revision: u64,
}

mirrors! {
    HealthcheckRecord = Healthcheck {
        team, service, created, modified, revision, ..settings: Settings { target_url, authorization,
        schedule_enabled, crontab },
    }
}

impl Record for HealthcheckRecord {
    const TYPE: &'static str = "HEALTHCHECK";
    type Value = Healthcheck;

    fn key(healthcheck: &Healthcheck) -> Key {
        key::healthcheck(healthcheck.team.id, healthcheck.service.id)
    }
}

/// The schedule and the runs of a healthcheck.
#[derive(Serialize, Deserialize)]
pub(crate) struct CheckScheduleRecord {
    /// Id of the service owner.
    #[serde(rename = "tm")]
    team: u64,
    /// Service.
    #[serde(rename = "sv")]
    service: ServicePart,
    /// Creation of the healthcheck. Older health results do not count.
    #[serde(rename = "si")]
    since: u64,
    /// Enabled schedule in crontab form. Absent if there is none.
    #[serde(rename = "ct", skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    /// Time of the next run. Absent if none is planned.
    #[serde(rename = "du", skip_serializing_if = "Option::is_none")]
    due: Option<u64>,
    /// Start of the current run. Absent while no run is in progress.
    #[serde(rename = "be", skip_serializing_if = "Option::is_none")]
    began: Option<u64>,
    /// Last finished run. Absent until the first run has finished.
    #[serde(rename = "la", skip_serializing_if = "Option::is_none")]
    last: Option<RanPart>,
    /// Revision: counts the writes, and is the fence of every change.
    #[serde(rename = "rv")]
    revision: u64,
}

mirrors! { CheckScheduleRecord = CheckSchedule { team, service, since, schedule, due, began, last, revision } }

/// A finished run of a healthcheck.
#[derive(Serialize, Deserialize)]
struct RanPart {
    /// Start.
    #[serde(rename = "be")]
    began: u64,
    /// End.
    #[serde(rename = "en")]
    ended: u64,
    /// Number of items checked.
    #[serde(rename = "ch")]
    checked: u64,
    /// Number of healthy items.
    #[serde(rename = "he")]
    healthy: u64,
    /// Number of faulty entries in answers.
    #[serde(rename = "fa")]
    faults: u64,
    /// Reason of an aborted run: `status`, `timeout`, `unreachable`, `not_public` or `malformed`. Absent for a
    /// complete run.
    #[serde(rename = "er", skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    /// HTTP status of the answer that aborted the run.
    #[serde(rename = "st", skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
}

impl Part<Ran> for RanPart {
    fn of(ran: &Ran) -> Self {
        let Counted { checked, healthy, faults, failed } = ran.counted;
        Self {
            began: Part::of(&ran.began),
            ended: Part::of(&ran.ended),
            checked,
            healthy,
            faults,
            failed: failed.map(|failed| failed.name().to_owned()),
            status: failed.and_then(Failed::status),
        }
    }

    fn value(self) -> Result<Ran, Bad> {
        let Self { began, ended, checked, healthy, faults, failed, status } = self;
        let failed = failed.map(|name| Failed::parse(&name, status).ok_or(Bad("failure"))).transpose()?;
        let counted = Counted { checked, healthy, faults, failed };
        Ok(Ran { began: began.value()?, ended: ended.value()?, counted })
    }
}

impl Record for CheckScheduleRecord {
    const TYPE: &'static str = "COURSE";
    type Value = CheckSchedule;

    fn key(schedule: &CheckSchedule) -> Key {
        key::check_schedule(schedule.team, schedule.service.id)
    }

    fn indexes(schedule: &CheckSchedule) -> Vec<(u8, String, String)> {
        let entry = |due| (3, key::ALL_DUE.to_owned(), key::by_age(due, schedule.service.id.get()));
        schedule.due.map(entry).into_iter().collect()
    }
}

/// The latest known health of an item.
#[derive(Serialize, Deserialize)]
pub(crate) struct HealthRecord {
    /// Id of the service item.
    #[serde(rename = "it")]
    item: u64,
    /// Health: `HEALTHY`, `UNHEALTHY` or `UNKNOWN`.
    #[serde(rename = "st")]
    status: String,
    /// Reason in the words of the target, at most 500 bytes. Absent if it sent none.
    #[serde(rename = "re", skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Time of the question.
    at: u64,
}

mirrors! { HealthRecord = Health { item, at, ..report: HealthReport { status, reason } } }

impl Record for HealthRecord {
    const TYPE: &'static str = "HEALTH";
    type Value = Health;

    fn key(health: &Health) -> Key {
        key::health(health.item)
    }
}

/// The last health question about one item on request. The record limits these questions to one in 10 seconds.
#[derive(Serialize, Deserialize)]
pub(crate) struct CheckThrottleRecord {
    /// Id of the service item.
    #[serde(rename = "it")]
    item: u64,
    /// Time of the question.
    at: u64,
    /// Expiry, in seconds since 1970: DynamoDB removes the record later.
    #[serde(rename = "xp")]
    expires_seconds: u64,
}

mirrors! {
    CheckThrottleRecord = CheckThrottle { item, at }, expires_seconds = |throttle| seconds_after(throttle.at, COOLING_SECONDS)
}

impl Record for CheckThrottleRecord {
    const TYPE: &'static str = "ASKED";
    type Value = CheckThrottle;

    fn key(throttle: &CheckThrottle) -> Key {
        key::check_throttle(throttle.item)
    }
}
