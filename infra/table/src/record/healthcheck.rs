//! Healthchecks, and what they have told. Credentials are in a healthcheck's own record alone, beside the API keys.

use super::Record;
use super::parts::{Bad, ServicePart, TeamPart, at, team_id};
use crate::key::{self, Key};
use domain::healthcheck::answer::Failed;
use domain::healthcheck::crontab::Crontab;
use domain::healthcheck::run::{Counted, Course, Ran};
use domain::healthcheck::{Asked, COOLING_SECONDS, Health, Healthcheck, Settings, Status, Told};
use domain::id::ItemId;
use domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

pub(super) fn crontab(text: &str) -> Result<Crontab, Bad> {
    Crontab::parse(text).map_err(|_| Bad("crontab"))
}

fn item(id: u64) -> Result<ItemId, Bad> {
    ItemId::parse(id).ok_or(Bad("item"))
}

#[derive(Serialize, Deserialize)]
pub(crate) struct HealthcheckRecord {
    tm: TeamPart,
    sv: ServicePart,
    url: String,
    /// What is sent as `Authorization`.
    #[serde(skip_serializing_if = "Option::is_none")]
    au: Option<String>,
    /// Whether there is a schedule, and which.
    en: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ct: Option<String>,
    cr: u64,
    mo: u64,
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

/// Where a healthcheck stands.
#[derive(Serialize, Deserialize)]
pub(crate) struct CourseRecord {
    tm: u64,
    sv: ServicePart,
    /// Since when there is a healthcheck.
    si: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ct: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    du: Option<u64>,
    /// When the run began that is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    be: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    la: Option<RanPart>,
    rv: u64,
}

#[derive(Serialize, Deserialize)]
struct RanPart {
    be: u64,
    en: u64,
    /// Items that were asked about, healthy ones, faults.
    ch: u64,
    he: u64,
    fa: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    er: Option<String>,
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

impl Record for CourseRecord {
    const TYPE: &'static str = "COURSE";
    type Value = Course;

    fn of(course: &Course) -> Self {
        Self {
            tm: course.team.get(),
            sv: ServicePart::of(&course.service),
            si: course.since.micros(),
            ct: course.schedule.as_ref().map(|crontab| crontab.text().to_owned()),
            du: course.due.map(Timestamp::micros),
            be: course.began.map(Timestamp::micros),
            la: course.last.as_ref().map(RanPart::of),
            rv: course.revision,
        }
    }

    fn value(self) -> Result<Course, Bad> {
        Ok(Course {
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

    fn key(course: &Course) -> Key {
        key::course(course.team, course.service.id)
    }

    fn indexes(course: &Course) -> Vec<(u8, String, String)> {
        let place = |due| (3, key::ALL_DUE.to_owned(), key::by_age(due, course.service.id.get()));
        course.due.map(place).into_iter().collect()
    }
}

/// How an item was when somebody was last asked.
#[derive(Serialize, Deserialize)]
pub(crate) struct HealthRecord {
    it: u64,
    st: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    re: Option<String>,
    at: u64,
}

impl Record for HealthRecord {
    const TYPE: &'static str = "HEALTH";
    type Value = Health;

    fn of(health: &Health) -> Self {
        Self {
            it: health.item.get(),
            st: health.told.status.name().to_owned(),
            re: health.told.reason.clone(),
            at: health.at.micros(),
        }
    }

    fn value(self) -> Result<Health, Bad> {
        let status = Status::parse(&self.st).ok_or(Bad("status"))?;
        Ok(Health { item: item(self.it)?, told: Told { status, reason: self.re }, at: at(self.at) })
    }

    fn key(health: &Health) -> Key {
        key::health(health.item)
    }
}

/// When somebody asked how an item is.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskedRecord {
    it: u64,
    at: u64,
    xp: u64,
}

impl Record for AskedRecord {
    const TYPE: &'static str = "ASKED";
    type Value = Asked;

    fn of(asked: &Asked) -> Self {
        let xp = (asked.at.micros() / 1_000_000).saturating_add(COOLING_SECONDS);
        Self { it: asked.item.get(), at: asked.at.micros(), xp }
    }

    fn value(self) -> Result<Asked, Bad> {
        Ok(Asked { item: item(self.it)?, at: at(self.at) })
    }

    fn key(asked: &Asked) -> Key {
        key::asked(asked.item)
    }
}
