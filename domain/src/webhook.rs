//! Webhooks: where the owner of a service wants to be told of its change instances, of which, and how soon.
//!
//! How one is delivered is in [`delivery`].

pub mod delivery;

use crate::actor::TeamRef;
use crate::id::WebhookId;
use crate::land::Stamp;
use crate::service::ServiceRef;
use crate::state::State;
use crate::timestamp::Timestamp;

/// How many webhooks a team has at most, of all its services together.
pub const WEBHOOKS_MAX: u64 = 100;
/// How long a description can be, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 1_024;
/// How long a URL can be, in bytes.
pub const URL_BYTES_MAX: usize = 2_048;
/// How long what is sent as `Authorization` can be, in bytes.
pub const AUTHORIZATION_BYTES_MAX: usize = 2_048;
/// For how long a receiver may be waited for, in seconds.
pub const TIMEOUT_SECONDS_MAX: u64 = 30;
/// For how long it is when nothing is said.
pub const TIMEOUT_SECONDS: u64 = 10;
/// For how long a delivery may be held back, in seconds: a queue keeps a message back no longer.
pub const HELD_SECONDS_MAX: u64 = 900;

/// What an owner sets about a webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where to.
    pub target_url: String,
    /// What is sent as `Authorization`, if anything is.
    pub authorization: Option<String>,
    /// The state that is told of when a change instance enters it; none tells of births, in whatever state.
    pub state: Option<State>,
    /// Whether anything is told at all.
    pub active: bool,
    /// For how long the receiver is waited for, in seconds.
    pub timeout_seconds: u64,
    /// How long after the change it is told of, in seconds.
    pub wait_seconds: u64,
    /// How long it is between two deliveries at least, in seconds.
    pub cooling_seconds: u64,
}

impl std::fmt::Debug for Settings {
    // Credentials are in the one field, and may be in a URL.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The id.
    pub id: WebhookId,
    /// The team whose it is.
    pub team: TeamRef,
    /// The service, one of the team's.
    pub service: ServiceRef,
    /// What deliveries are signed with.
    pub secret: String,
    /// What the owner has set.
    pub settings: Settings,
    /// When it was made.
    pub created: Timestamp,
    /// When it was changed last.
    pub modified: Timestamp,
    /// How often it was changed.
    pub revision: u64,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook")
            .field("id", &self.id)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Webhook {
    /// A webhook as it is made; `hash`, of its secret, is what its number is made of.
    pub fn new(
        settings: Settings,
        service: ServiceRef,
        team: TeamRef,
        secret: String,
        hash: &str,
        stamp: &Stamp,
    ) -> Self {
        let id = WebhookId::of(team.id, hash);
        Self { id, team, service, secret, settings, created: stamp.now, modified: stamp.now, revision: 1 }
    }

    /// The webhook with other settings; none if they are as they were.
    pub fn changed(&self, settings: Settings, now: Timestamp) -> Option<Self> {
        (settings != self.settings).then(|| Self { settings, ..self.again(now) })
    }

    /// The webhook with another secret.
    pub fn rotated(&self, secret: String, now: Timestamp) -> Self {
        Self { secret, ..self.again(now) }
    }

    fn again(&self, now: Timestamp) -> Self {
        let modified = now.not_before(self.modified);
        Self { modified, revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// Whether it tells of a move: from nothing is a birth.
    pub fn tells_of(&self, from: Option<State>, to: State) -> bool {
        let settings = &self.settings;
        let is_it = match settings.state {
            None => from.is_none(),
            // A log text leaves the state as it is.
            Some(state) => to == state && from != Some(to),
        };
        settings.active && is_it
    }
}

#[cfg(test)]
mod tests;
