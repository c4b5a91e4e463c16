//! Healthchecks: whom the owner of a service asks how its items are, when, and what was answered.
//!
//! Asking about all items of a service is in [`run`], what an answer means in [`answer`], when it is due in [`crontab`].

pub mod answer;
pub mod crontab;
pub mod run;

use crate::actor::TeamRef;
use crate::id::ItemId;
use crate::land::Stamp;
use crate::service::ServiceRef;
use crate::timestamp::Timestamp;
use crontab::Crontab;

/// For how long a target is waited for, in seconds.
pub const TIMEOUT_SECONDS: u64 = 10;
/// How long it is between two requests about one item that somebody asks for, at least, in seconds.
pub const COOLING_SECONDS: u64 = 10;
/// How long a reason can be, in bytes; what is longer is cut.
pub const REASON_BYTES_MAX: usize = 500;

/// What an owner sets about a healthcheck.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whom to ask.
    pub target_url: String,
    /// What is sent as `Authorization`, if anything is.
    pub authorization: Option<String>,
    /// Whether it is asked at the times of the crontab.
    pub schedule_enabled: bool,
    /// Those times.
    pub crontab: Option<Crontab>,
}

impl std::fmt::Debug for Settings {
    // Credentials are in the one field, and may be in a URL.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let schedule = self.schedule();
        f.debug_struct("Settings").field("schedule", &schedule).finish_non_exhaustive()
    }
}

impl Settings {
    /// When it is asked by itself, if it is.
    pub fn schedule(&self) -> Option<&Crontab> {
        self.crontab.as_ref().filter(|_| self.schedule_enabled)
    }
}

/// The healthcheck of a service, of which there is at most one: its id is that of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Healthcheck {
    /// The service, one of the team's.
    pub service: ServiceRef,
    /// The team whose it is.
    pub team: TeamRef,
    /// What the owner has set.
    pub settings: Settings,
    /// When it was made.
    pub created: Timestamp,
    /// When it was changed last.
    pub modified: Timestamp,
    /// How often it was changed.
    pub revision: u64,
}

impl Healthcheck {
    /// A healthcheck as it is made.
    pub fn new(settings: Settings, service: ServiceRef, team: TeamRef, stamp: &Stamp) -> Self {
        Self { service, team, settings, created: stamp.now, modified: stamp.now, revision: 1 }
    }

    /// The healthcheck with other settings; none if they are as they were.
    pub fn changed(&self, settings: Settings, now: Timestamp) -> Option<Self> {
        let (modified, revision) = (now.not_before(self.modified), self.revision.saturating_add(1));
        (settings != self.settings).then(|| Self { settings, modified, revision, ..self.clone() })
    }
}

/// How an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is well.
    Healthy,
    /// It is not.
    Unhealthy,
    /// Nobody could tell.
    Unknown,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Healthy, Self::Unhealthy, Self::Unknown];

    /// The one name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "HEALTHY",
            Self::Unhealthy => "UNHEALTHY",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// What is told of an item.
#[derive(Clone, PartialEq, Eq)]
pub struct Told {
    /// How it is.
    pub status: Status,
    /// Why, in the words of whoever was asked.
    pub reason: Option<String>,
}

impl std::fmt::Debug for Told {
    // The words are the owner's.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Told").field("status", &self.status).finish_non_exhaustive()
    }
}

/// How an item was when somebody was last asked. It stands beside the item: it is no part of what was declared, and
/// changes neither the item's version nor when it was modified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The item.
    pub item: ItemId,
    /// What was told of it.
    pub told: Told,
    /// When it was asked for: what was asked for later takes its place, whichever answer comes first.
    pub at: Timestamp,
}

/// That somebody has asked about an item; nobody asks again for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The item.
    pub item: ItemId,
    /// When.
    pub at: Timestamp,
}

impl Asked {
    /// Before when the last one must have been.
    pub const fn not_since(self) -> Timestamp {
        Timestamp::from_micros(self.at.micros().saturating_sub(COOLING_SECONDS * 1_000_000))
    }
}

#[cfg(test)]
mod tests;
