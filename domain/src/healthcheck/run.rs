//! Runs: all items of a service that are in service are asked about, page by page, one run of a service at a time.

use super::answer::Failed;
use super::crontab::Crontab;
use super::{Healthcheck, Status, Told};
use crate::id::{ServiceId, TeamId};
use crate::service::ServiceRef;
use crate::timestamp::Timestamp;
use serde_json::{Value, json};

/// After how long a run that has not ended is held to be lost, in seconds.
pub const LOST_AFTER_SECONDS: u64 = 1_800;

/// Where a healthcheck stands: when it is due, whether it runs, and what came of the last run. No credentials are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// The service.
    pub service: ServiceRef,
    /// The team that owns it.
    pub team: TeamId,
    /// When the healthcheck was made: what was told before is not of it.
    pub since: Timestamp,
    /// When it is due by itself.
    pub schedule: Option<Crontab>,
    /// When it is due next.
    pub due: Option<Timestamp>,
    /// When the run began that is under way.
    pub began: Option<Timestamp>,
    /// The last run that has ended.
    pub last: Option<Ran>,
    /// How often this was changed.
    pub revision: u64,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// What was counted.
    pub counted: Counted,
}

/// What a run has counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Items that were asked about.
    pub checked: u64,
    /// Those of them that are healthy.
    pub healthy: u64,
    /// What was wrong with answers, entry by entry.
    pub faults: u64,
    /// Why it has stopped to ask: from then on nothing is known.
    pub failed: Option<Failed>,
}

impl Course {
    /// The course of a healthcheck as it is from now on, after what it was before.
    pub fn of(healthcheck: &Healthcheck, before: Option<&Self>, now: Timestamp) -> Self {
        let schedule = healthcheck.settings.schedule().cloned();
        Self {
            service: healthcheck.service.clone(),
            team: healthcheck.team.id,
            since: healthcheck.created,
            due: schedule.as_ref().and_then(|schedule| schedule.next(now)),
            schedule,
            began: before.and_then(|before| before.began),
            last: before.and_then(|before| before.last.clone()),
            revision: before.map_or(0, |before| before.revision).saturating_add(1),
        }
    }

    /// The course with a run that is due at once; none if one is due already.
    pub fn asked(&self, now: Timestamp) -> Option<Self> {
        let is_due = self.due.is_some_and(|due| due <= now);
        (!is_due).then(|| Self { due: Some(now), ..self.next() })
    }

    /// The course with a run that begins; none if none is due, or while another one is under way.
    pub fn begun(&self, now: Timestamp) -> Option<(Self, Run)> {
        let is_due = self.due.is_some_and(|due| due <= now);
        let lost = |began: Timestamp| began.micros().saturating_add(LOST_AFTER_SECONDS * 1_000_000);
        let is_busy = self.began.is_some_and(|began| now.micros() < lost(began));
        // No two runs have one time, whatever the clocks say: messages of an earlier one are known by it.
        let latest = self.began.into_iter().chain(self.last.as_ref().map(|last| last.began)).max();
        let after = latest.map_or(0, |latest| latest.micros().saturating_add(1));
        let began = now.not_before(Timestamp::from_micros(after));
        let due = self.schedule.as_ref().and_then(|schedule| schedule.next(now));
        let run = Run {
            team: self.team,
            service: self.service.id,
            began,
            after: None,
            counted: Counted::default(),
        };
        (is_due && !is_busy).then(|| (Self { due, began: Some(began), ..self.next() }, run))
    }

    /// The course after a run of which nothing was sent out: it is due again.
    pub fn put_back(&self, now: Timestamp) -> Self {
        Self { due: Some(now), began: None, ..self.next() }
    }

    /// The course after a run has ended; none if that is not the one that is under way.
    pub fn ended(&self, run: &Run, now: Timestamp) -> Option<Self> {
        let (began, ended, counted) = (run.began, now.not_before(run.began), run.counted);
        let last = Some(Ran { began, ended, counted });
        self.is_at(run).then(|| Self { began: None, last, ..self.next() })
    }

    /// Whether a run is the one that is under way.
    pub fn is_at(&self, run: &Run) -> bool {
        self.began == Some(run.began)
    }

    fn next(&self) -> Self {
        Self { revision: self.revision.saturating_add(1), ..self.clone() }
    }
}

/// A run as far as it has come: a message, without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The team that owns the service.
    pub team: TeamId,
    /// The service.
    pub service: ServiceId,
    /// When it began.
    pub began: Timestamp,
    /// Behind which of the owner's items it goes on.
    pub after: Option<String>,
    /// What was counted so far.
    pub counted: Counted,
}

impl Run {
    /// The run after a page of items.
    #[must_use]
    pub fn past<'a>(
        mut self,
        told: impl Iterator<Item = &'a Told>,
        faults: u64,
        failed: Option<Failed>,
        position: Option<String>,
    ) -> Self {
        for told in told {
            self.counted.checked = self.counted.checked.saturating_add(1);
            self.counted.healthy += u64::from(told.status == Status::Healthy);
        }
        self.counted.faults = self.counted.faults.saturating_add(faults);
        self.counted.failed = self.counted.failed.or(failed);
        Self { after: position, ..self }
    }

    /// As a message.
    pub fn to_message(&self) -> String {
        let Counted { checked, healthy, faults, failed } = self.counted;
        json!({
            "healthcheck": self.service.get(), "team": self.team.get(), "began": self.began.micros(),
            "after": self.after, "checked": checked, "healthy": healthy, "faults": faults,
            "failed": failed.map(Failed::name), "status": failed.and_then(Failed::status),
        })
        .to_string()
    }

    /// Reads a message.
    pub fn of_message(message: &Value) -> Option<Self> {
        let number = |name: &str| message.get(name).and_then(Value::as_u64);
        let text = |name: &str| message.get(name).and_then(Value::as_str);
        let status = number("status").and_then(|status| u16::try_from(status).ok());
        let failed = match text("failed") {
            None => None,
            Some(name) => Some(Failed::parse(name, status)?),
        };
        let counted = Counted {
            checked: number("checked")?,
            healthy: number("healthy")?,
            faults: number("faults")?,
            failed,
        };
        Some(Self {
            team: TeamId::new(number("team")?)?,
            service: ServiceId::new(number("healthcheck")?)?,
            began: Timestamp::from_micros(number("began")?),
            after: text("after").map(str::to_owned),
            counted,
        })
    }
}
