//! Healthchecks: the endpoint, the schedule and the results of health questions about a service's items.
//!
//! [`run`] checks all items of a service, [`answer`] interprets responses, [`crontab`] computes the schedule.

pub mod answer;
pub mod crontab;
pub mod run;

use crate::base::context::RequestContext;
use crate::base::id::ItemId;
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::timestamp::Timestamp;
use crontab::Crontab;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Timeout of a request to the target, in seconds.
pub const TIMEOUT_SECONDS: u64 = 10;
/// Minimum time between two checks of one item on request, in seconds.
pub const COOLING_SECONDS: u64 = 10;
/// Maximum length of a reason in bytes; a longer one is cut.
pub const REASON_BYTES_MAX: usize = 500;

/// The owner's settings of a healthcheck.
///
/// `authorization` holds credentials, and the URL may.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Settings {{ schedule: {:?}, .. }}", self.schedule())]
pub struct Settings {
    pub target_url: String,
    /// The value of the `Authorization` header, if any.
    pub authorization: Option<String>,
    /// Whether checks run by the crontab.
    pub schedule_enabled: bool,
    pub crontab: Option<Crontab>,
}

impl Settings {
    /// Returns the crontab, if the schedule is enabled.
    pub fn schedule(&self) -> Option<&Crontab> {
        self.crontab.as_ref().filter(|_| self.schedule_enabled)
    }
}

/// The healthcheck of a service; each service has at most one, with the service's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Healthcheck {
    pub service: ServiceRef,
    /// The service owner.
    pub team: TeamRef,
    pub settings: Settings,
    pub created: Timestamp,
    pub modified: Timestamp,
    /// The number of writes.
    pub revision: u64,
}

impl Healthcheck {
    /// Creates a healthcheck.
    pub fn new(settings: Settings, service: ServiceRef, team: TeamRef, ctx: &RequestContext) -> Self {
        Self { service, team, settings, created: ctx.now, modified: ctx.now, revision: 1 }
    }

    /// Returns the healthcheck with other settings; none if they are the same.
    pub fn changed(&self, settings: Settings, now: Timestamp) -> Option<Self> {
        let (modified, revision) = (now.not_before(self.modified), self.revision.saturating_add(1));
        (settings != self.settings).then(|| Self { settings, modified, revision, ..self.clone() })
    }
}

/// The health of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Status {
    Healthy,
    Unhealthy,
    /// The healthcheck gave no usable answer.
    Unknown,
}

crate::named!(Status);

/// The result of a check of one item.
///
/// The reason belongs to the owner, so no log prints it.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("HealthReport {{ status: {status:?}, .. }}")]
pub struct HealthReport {
    pub status: Status,
    /// The reason in the words of the target.
    pub reason: Option<String>,
}

/// The latest health of an item, in a record next to the item.
///
/// A result is not part of the declaration, so neither the version nor the modification time of the item changes (R40).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub item: ItemId,
    pub report: HealthReport,
    /// The time of the request to the target; the result of a later request wins, whichever response arrives first.
    pub at: Timestamp,
}

/// The latest check of an item on request; it throttles the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckThrottle {
    pub item: ItemId,
    pub at: Timestamp,
}

impl CheckThrottle {
    /// Returns the time before which the previous check must have been.
    pub const fn not_since(self) -> Timestamp {
        Timestamp::from_micros(self.at.micros().saturating_sub(COOLING_SECONDS * 1_000_000))
    }
}

#[cfg(test)]
mod tests;
