//! Healthchecks and their results. Only the healthcheck's record has credentials. It is in the table of keys.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{ServicePart, TeamPart, at, team_id};
use crate::key::{self, Key};
use domain::outreach::healthcheck::answer::Failed;
use domain::outreach::healthcheck::crontab::Crontab;
use domain::outreach::healthcheck::run::{CheckSchedule, Counted, Ran};
use domain::outreach::healthcheck::{
    COOLING_SECONDS, CheckThrottle, Health, HealthReport, Healthcheck, Settings, Status,
};
use domain::{ItemId, Timestamp};
use serde::{Deserialize, Serialize};

pub(super) fn crontab(text: &str) -> Result<Crontab, Bad> {
    Crontab::parse(text).map_err(|_| Bad("crontab"))
}

fn item(id: u64) -> Result<ItemId, Bad> {
    ItemId::parse(id).ok_or(Bad("item"))
}

/// The healthcheck of a service, in the table of keys. Only this record contains its credentials.
#[derive(Serialize, Deserialize)]
pub(crate) struct HealthcheckRecord {
    /// Service owner.
    tm: TeamPart,
    /// Service.
    sv: ServicePart,
    /// Target URL.
    url: String,
    /// Value of the `Authorization` header. Absent if none is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    au: Option<String>,
    /// Whether the schedule is enabled.
    en: bool,
    /// Schedule in crontab form. Absent if none is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    ct: Option<String>,
    /// Time of creation.
    cr: u64,
    /// Time of the last change.
    mo: u64,
    /// Revision: counts the writes. Fence of every change.
    rv: u64,
}

impl Record for HealthcheckRecord {
    const TYPE: &'static str = "HEALTHCHECK";
    type Value = Healthcheck;

    fn of(healthcheck: &Healthcheck) -> Self {
        let settings = healthcheck.settings.clone();
        Self {
            tm: TeamPart::of(&healthcheck.team),
            sv: ServicePart::of(&healthcheck.service),
            url: settings.target_url,
            au: settings.authorization,
            en: settings.schedule_enabled,
            ct: settings.crontab.map(|crontab| crontab.text().to_owned()),
            cr: healthcheck.created.micros(),
            mo: healthcheck.modified.micros(),
            rv: healthcheck.revision,
        }
    }

    fn value(self) -> Result<Healthcheck, Bad> {
        Ok(Healthcheck {
            service: self.sv.value()?,
            team: self.tm.value()?,
            settings: Settings {
                target_url: self.url,
                authorization: self.au,
                schedule_enabled: self.en,
                crontab: self.ct.as_deref().map(crontab).transpose()?,
            },
            created: at(self.cr),
            modified: at(self.mo),
            revision: self.rv,
        })
    }

    fn key(healthcheck: &Healthcheck) -> Key {
        key::healthcheck(healthcheck.team.id, healthcheck.service.id)
    }
}

/// The schedule and the runs of a healthcheck.
#[derive(Serialize, Deserialize)]
pub(crate) struct CheckScheduleRecord {
    /// Id of the service owner.
    tm: u64,
    /// Service.
    sv: ServicePart,
    /// Creation of the healthcheck. Older health results do not count.
    si: u64,
    /// Enabled schedule in crontab form. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    ct: Option<String>,
    /// Time of the next run. Absent if none is planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    du: Option<u64>,
    /// Start of the current run. Absent between runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    be: Option<u64>,
    /// Last finished run. Absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    la: Option<RanPart>,
    /// Revision: counts the writes. Fence of every change.
    rv: u64,
}

/// A finished run of a healthcheck.
#[derive(Serialize, Deserialize)]
struct RanPart {
    /// Start.
    be: u64,
    /// End.
    en: u64,
    /// Number of items checked.
    ch: u64,
    /// Number of healthy items.
    he: u64,
    /// Number of faulty entries in answers.
    fa: u64,
    /// Reason of an aborted run: `status`, `timeout`, `unreachable`, `not_public` or `malformed`. Absent for a
    /// complete run.
    #[serde(skip_serializing_if = "Option::is_none")]
    er: Option<String>,
    /// HTTP status of the answer that aborted the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    st: Option<u16>,
}

impl RanPart {
    fn of(ran: &Ran) -> Self {
        let Counted { checked, healthy, faults, failed } = ran.counted;
        Self {
            be: ran.began.micros(),
            en: ran.ended.micros(),
            ch: checked,
            he: healthy,
            fa: faults,
            er: failed.map(|failed| failed.name().to_owned()),
            st: failed.and_then(Failed::status),
        }
    }

    fn value(self) -> Result<Ran, Bad> {
        let failed = self.er.map(|name| Failed::parse(&name, self.st).ok_or(Bad("failure"))).transpose()?;
        let counted = Counted { checked: self.ch, healthy: self.he, faults: self.fa, failed };
        Ok(Ran { began: at(self.be), ended: at(self.en), counted })
    }
}

impl Record for CheckScheduleRecord {
    const TYPE: &'static str = "COURSE";
    type Value = CheckSchedule;

    fn of(schedule: &CheckSchedule) -> Self {
        Self {
            tm: schedule.team.get(),
            sv: ServicePart::of(&schedule.service),
            si: schedule.since.micros(),
            ct: schedule.schedule.as_ref().map(|crontab| crontab.text().to_owned()),
            du: schedule.due.map(Timestamp::micros),
            be: schedule.began.map(Timestamp::micros),
            la: schedule.last.as_ref().map(RanPart::of),
            rv: schedule.revision,
        }
    }

    fn value(self) -> Result<CheckSchedule, Bad> {
        Ok(CheckSchedule {
            service: self.sv.value()?,
            team: team_id(self.tm)?,
            since: at(self.si),
            schedule: self.ct.as_deref().map(crontab).transpose()?,
            due: self.du.map(at),
            began: self.be.map(at),
            last: self.la.map(RanPart::value).transpose()?,
            revision: self.rv,
        })
    }

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
    it: u64,
    /// Health: `HEALTHY`, `UNHEALTHY` or `UNKNOWN`.
    st: String,
    /// Reason in the words of the target, at most 500 bytes. Absent if it sent none.
    #[serde(skip_serializing_if = "Option::is_none")]
    re: Option<String>,
    /// Time of the question.
    at: u64,
}

impl Record for HealthRecord {
    const TYPE: &'static str = "HEALTH";
    type Value = Health;

    fn of(health: &Health) -> Self {
        Self {
            it: health.item.get(),
            st: health.report.status.name().to_owned(),
            re: health.report.reason.clone(),
            at: health.at.micros(),
        }
    }

    fn value(self) -> Result<Health, Bad> {
        let status = Status::parse(&self.st).ok_or(Bad("status"))?;
        Ok(Health { item: item(self.it)?, report: HealthReport { status, reason: self.re }, at: at(self.at) })
    }

    fn key(health: &Health) -> Key {
        key::health(health.item)
    }
}

/// The last health question about one item on request. It limits them to one in 10 seconds.
#[derive(Serialize, Deserialize)]
pub(crate) struct CheckThrottleRecord {
    /// Id of the service item.
    it: u64,
    /// Time of the question.
    at: u64,
    /// Expiry, in seconds since 1970: DynamoDB removes the record later.
    xp: u64,
}

impl Record for CheckThrottleRecord {
    const TYPE: &'static str = "ASKED";
    type Value = CheckThrottle;

    fn of(throttle: &CheckThrottle) -> Self {
        let xp = (throttle.at.micros() / 1_000_000).saturating_add(COOLING_SECONDS);
        Self { it: throttle.item.get(), at: throttle.at.micros(), xp }
    }

    fn value(self) -> Result<CheckThrottle, Bad> {
        Ok(CheckThrottle { item: item(self.it)?, at: at(self.at) })
    }

    fn key(throttle: &CheckThrottle) -> Key {
        key::check_throttle(throttle.item)
    }
}
