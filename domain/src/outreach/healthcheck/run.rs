//! Runs: a check of all items of a service, page by page; at most one run of a service at a time.

use super::answer::Failed;
use super::crontab::Crontab;
use super::{HealthReport, Healthcheck, Status};
use crate::base::id::{ServiceId, TeamId};
use crate::base::refs::ServiceRef;
use crate::base::timestamp::Timestamp;
use serde_json::{Value, json};

/// Time after which an unfinished run counts as lost, in seconds.
pub const LOST_AFTER_SECONDS: u64 = 1_800;

/// The schedule and state of a healthcheck, without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSchedule {
    pub service: ServiceRef,
    /// The service owner.
    pub team: TeamId,
    /// Creation time of the healthcheck; older results do not belong to it.
    pub since: Timestamp,
    /// The crontab, if enabled.
    pub schedule: Option<Crontab>,
    pub due: Option<Timestamp>,
    /// The start of the present run; none while no run is in progress.
    pub began: Option<Timestamp>,
    /// The last completed run.
    pub last: Option<Ran>,
    /// The number of writes; the fence between two sweeps.
    pub revision: u64,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub began: Timestamp,
    pub ended: Timestamp,
    pub counted: Counted,
}

/// The counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The number of checked items.
    pub checked: u64,
    /// The number of healthy items.
    pub healthy: u64,
    /// The number of faulty response entries.
    pub faults: u64,
    /// The failure that ended the questions; the remaining items are unknown.
    pub failed: Option<Failed>,
}

impl CheckSchedule {
    /// Returns the schedule after a change of the healthcheck, with the present run and the last result.
    pub fn of(healthcheck: &Healthcheck, before: Option<&Self>, now: Timestamp) -> Self {
        let schedule = healthcheck.settings.schedule().cloned();
        Self {
            service: healthcheck.service.clone(),
            team: healthcheck.team.id,
            since: healthcheck.created,
            due: schedule.as_ref().and_then(|schedule| schedule.next(now)),
            schedule,
            // A change of the settings must not start a second run next to the present one.
            began: before.and_then(|before| before.began),
            last: before.and_then(|before| before.last.clone()),
            revision: before.map_or(0, |before| before.revision).saturating_add(1),
        }
    }

    /// Returns the schedule with a run due now; none if one is due already.
    pub fn with_run_due(&self, now: Timestamp) -> Option<Self> {
        let is_due = self.due.is_some_and(|due| due <= now);
        (!is_due).then(|| Self { due: Some(now), ..self.next() })
    }

    /// Starts a run and returns it with the new schedule. Returns `None` if no run is due, or if one is in progress.
    pub fn begun(&self, now: Timestamp) -> Option<(Self, Run)> {
        let is_due = self.due.is_some_and(|due| due <= now);
        let lost = |began: Timestamp| began.micros().saturating_add(LOST_AFTER_SECONDS * 1_000_000);
        // A run whose message is lost never ends, and must not block all later ones (ADR 25).
        let is_busy = self.began.is_some_and(|began| now.micros() < lost(began));
        // Messages of an earlier run differ by its start time, so no two runs may have the same one, whatever the
        // clocks say.
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

    /// Returns the schedule after a run whose first message could not be sent, so that the run is due again.
    pub fn put_back(&self, now: Timestamp) -> Self {
        Self { due: Some(now), began: None, ..self.next() }
    }

    /// Returns the schedule after the end of a run; none if another run is in progress.
    pub fn ended(&self, run: &Run, now: Timestamp) -> Option<Self> {
        let (began, ended, counted) = (run.began, now.not_before(run.began), run.counted);
        let last = Some(Ran { began, ended, counted });
        self.is_at(run).then(|| Self { began: None, last, ..self.next() })
    }

    /// Returns whether a run is the present one.
    pub fn is_at(&self, run: &Run) -> bool {
        self.began == Some(run.began)
    }

    fn next(&self) -> Self {
        Self { revision: self.revision.saturating_add(1), ..self.clone() }
    }
}

/// The progress of a run: the content of its message, without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The service owner.
    pub team: TeamId,
    pub service: ServiceId,
    /// The start of the run, which identifies it.
    pub began: Timestamp,
    /// The position in the owner's items; none at the start.
    pub after: Option<String>,
    pub counted: Counted,
}

impl Run {
    /// Returns the run after a page of items.
    #[must_use]
    pub fn after_page<'a>(
        mut self,
        reports: impl Iterator<Item = &'a HealthReport>,
        faults: u64,
        failed: Option<Failed>,
        position: Option<String>,
    ) -> Self {
        for report in reports {
            self.counted.checked = self.counted.checked.saturating_add(1);
            self.counted.healthy += u64::from(report.status == Status::Healthy);
        }
        self.counted.faults = self.counted.faults.saturating_add(faults);
        // The first failure is the reason why the rest of the run asked nothing.
        self.counted.failed = self.counted.failed.or(failed);
        Self { after: position, ..self }
    }

    /// Returns the name under which the queue treats the healthcheck fairly.
    pub fn group(&self) -> String {
        format!("healthcheck-{}", self.service.get())
    }

    /// Serializes the run as a message.
    pub fn to_message(&self) -> String {
        let Counted { checked, healthy, faults, failed } = self.counted;
        json!({
            "healthcheck": self.service.get(), "team": self.team.get(), "began": self.began.micros(),
            "after": self.after, "checked": checked, "healthy": healthy, "faults": faults,
            "failed": failed.map(Failed::name), "status": failed.and_then(Failed::status),
        })
        .to_string()
    }

    /// Parses a message.
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
