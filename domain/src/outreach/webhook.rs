//! Webhooks: the endpoint for events of a team's change instances, with filter and delays.
//!
//! [`occasion`] contains the facts that select the webhooks of an event, [`delivery`] the delivery of one event, and
//! [`start`] decides when it may start. [`reminder`] repeats the signal while work waits.

pub mod delivery;
pub mod occasion;
pub mod pacing;
pub mod reminder;
pub mod start;

use crate::base::context::RequestContext;
use crate::base::id::WebhookId;
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::side::Side;
use crate::base::state::State;
use crate::base::timestamp::Timestamp;
use occasion::Occasion;

/// Maximum number of webhooks of a team, in both roles and for all services.
pub const WEBHOOKS_MAX: u64 = 100;
/// Maximum length of a description, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 1_024;
/// Maximum length of a URL, in bytes.
pub const URL_BYTES_MAX: usize = 2_048;
/// Maximum length of the `Authorization` header's value, in bytes.
pub const AUTHORIZATION_BYTES_MAX: usize = 2_048;
/// Maximum timeout of a receiver, in seconds.
pub const TIMEOUT_SECONDS_MAX: u64 = 30;
/// Default timeout of a receiver, in seconds.
pub const TIMEOUT_SECONDS: u64 = 10;
/// Maximum delay of a delivery, in seconds: the longest delay of an SQS message.
pub const HELD_SECONDS_MAX: u64 = 900;

/// The owner's settings of a webhook.
///
/// `authorization` holds credentials, and the URL may.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Settings {{ name: {name:?}, .. }}")]
pub struct Settings {
    pub name: String,
    pub description: String,
    pub target_url: String,
    /// The value of the `Authorization` header, if any.
    pub authorization: Option<String>,
    /// The state that triggers a delivery; none if the creation of a change instance in any state does.
    pub state: Option<State>,
    /// Whether deliveries are enabled.
    pub active: bool,
    /// Timeout of the receiver, in seconds.
    pub timeout_seconds: u64,
    /// Delay between change and delivery, in seconds.
    pub wait_seconds: u64,
    /// Minimum time between two deliveries, in seconds.
    pub cooling_seconds: u64,
    /// Time after which the webhook reminds of waiting work, in seconds (R65).
    pub remind_after_seconds: Option<u64>,
}

/// The change instances whose events a webhook delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The role of the team, which owns the change instances, or has declared their items.
    pub side: Side,
    /// The service; none for all services, which only a consumer can have.
    pub service: Option<ServiceRef>,
}

impl Scope {
    /// Returns whether a change instance of an event is in the scope of a webhook of `team`.
    pub fn covers(&self, team: &TeamRef, occasion: &Occasion) -> bool {
        // A service owner sees the shares of dependent teams, but does not decide them.
        let party = match self.side {
            Side::ServiceOwner => occasion.owner,
            Side::Consumer => occasion.consumer,
        };
        party == team.id && self.service.as_ref().is_none_or(|service| service.id == occasion.service)
    }
}

/// A webhook.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Webhook {{ id: {id:?}, scope: {scope:?}, .. }}")]
pub struct Webhook {
    pub id: WebhookId,
    pub team: TeamRef,
    pub scope: Scope,
    /// The key of the deliveries' signatures.
    pub secret: String,
    pub settings: Settings,
    pub created: Timestamp,
    pub modified: Timestamp,
    /// The number of writes; the fence of a change.
    pub revision: u64,
}

impl Webhook {
    /// Creates a webhook, whose id comes from `hash`, the hash of its secret.
    pub fn new(
        settings: Settings,
        scope: Scope,
        team: TeamRef,
        secret: String,
        hash: &str,
        ctx: &RequestContext,
    ) -> Self {
        let id = WebhookId::of(team.id, hash);
        Self { id, team, scope, secret, settings, created: ctx.now, modified: ctx.now, revision: 1 }
    }

    /// Returns the webhook with other settings; none if they are the same.
    pub fn changed(&self, settings: Settings, now: Timestamp) -> Option<Self> {
        (settings != self.settings).then(|| Self { settings, ..self.next_revision(now) })
    }

    /// Returns the webhook with another secret.
    pub fn rotated(&self, secret: String, now: Timestamp) -> Self {
        Self { secret, ..self.next_revision(now) }
    }

    fn next_revision(&self, now: Timestamp) -> Self {
        // The clocks of two functions may differ, but times in a record never go back.
        let modified = now.not_before(self.modified);
        Self { modified, revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// Returns whether the webhook delivers the event of a change instance.
    pub fn delivers(&self, occasion: &Occasion) -> bool {
        let (settings, Occasion { from, to, .. }) = (&self.settings, *occasion);
        let is_it = match settings.state {
            None => from.is_none(),
            // A log text leaves the state unchanged.
            Some(state) => to == state && from != Some(to),
        };
        settings.active && is_it && self.scope.covers(&self.team, occasion)
    }
}

#[cfg(test)]
mod tests;
