//! Reminders: a webhook repeats its signal while work waits (R65).
//!
//! The record of the next reminder has no credentials, so the sweep reads no webhook.

use super::delivery::{Delivery, EventType, Replied};
use super::{Settings, Webhook};
use crate::base::id::WebhookId;
use crate::base::refs::ServiceRef;
use crate::base::side::Side;
use crate::base::state::State;
use crate::base::timestamp::Timestamp;
use crate::model::change::Change;
use crate::model::claim::Claim;
use serde_json::json;

/// Minimum interval of reminders, in seconds.
pub const REMIND_SECONDS_MIN: u64 = 300;
/// Maximum interval of reminders, in seconds: one day.
pub const REMIND_SECONDS_MAX: u64 = 86_400;
/// Maximum number of change instances that a reminder looks at, oldest first.
pub const LOOKED_AT_MAX: usize = 1_000;

const MICROS: u64 = 1_000_000;

/// The work of which a webhook reminds, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReminderSettings {
    pub service: ServiceRef,
    /// The state of the waiting change instances.
    pub state: State,
    /// Minimum time between two reminders, in seconds.
    pub interval_seconds: u64,
}

/// The next reminder of a webhook. A webhook has this record if it sends reminders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reminder {
    pub webhook: WebhookId,
    pub settings: ReminderSettings,
    /// The earliest time of the next reminder.
    pub due: Timestamp,
    /// The number of writes; the fence between two sweeps.
    pub revision: u64,
}

impl Settings {
    /// Returns the error of reminders that a webhook of a team in this role cannot send.
    pub fn reminder_problem(&self, side: Side) -> Option<&'static str> {
        self.remind_after_seconds?;
        match (side, self.state) {
            // The changes of a consumer have no index by state, so no sweep could find them with few reads.
            (Side::Consumer, _) => Some("must be null, because consumers get no reminders"),
            (Side::ServiceOwner, Some(State::Pending | State::Approved)) => None,
            (Side::ServiceOwner, _) => {
                Some("must be null, unless change_instance_state is PENDING or APPROVED")
            }
        }
    }
}

impl Webhook {
    /// Returns the settings of its reminders; none if it sends no reminders.
    pub fn reminders(&self) -> Option<ReminderSettings> {
        let settings = &self.settings;
        let has_problem = settings.reminder_problem(self.scope.side).is_some();
        let (service, state) = (self.scope.service.clone()?, settings.state?);
        let interval_seconds = settings.remind_after_seconds.filter(|_| settings.active && !has_problem)?;
        Some(ReminderSettings { service, state, interval_seconds })
    }
}

impl Reminder {
    /// Returns the record of a new or changed webhook; none if it sends no reminders.
    ///
    /// `before` is the record of the webhook before the change. It stays if the settings of the reminders do.
    pub fn of(webhook: &Webhook, before: Option<&Self>, now: Timestamp) -> Option<Self> {
        let settings = webhook.reminders()?;
        if let Some(before) = before.filter(|before| before.settings == settings) {
            return Some(before.clone());
        }
        let revision = before.map_or(0, |before| before.revision).saturating_add(1);
        let due = settings.after(now);
        Some(Self { webhook: webhook.id, settings, due, revision })
    }

    /// Returns the record with the next due time, if the webhook has delivered an event within the interval.
    pub fn put_off(&self, last: Option<&Replied>, now: Timestamp) -> Option<Self> {
        let due = self.settings.after(last?.delivered?);
        (due > now).then(|| Self { due, ..self.next(now) })
    }

    /// Returns the record after a look at the work. Without a reminder, `first` is the time from which other work
    /// waits.
    pub fn after_look(&self, first: Option<Timestamp>, now: Timestamp) -> Self {
        let next = self.next(now);
        let due = first.map_or(next.due, |first| next.due.min(first));
        Self { due, ..next }
    }

    /// Returns the record after a reminder.
    pub fn sent(&self, now: Timestamp) -> Self {
        self.next(now)
    }

    /// Returns the record after a reminder that the queue rejected, so that it is due again.
    pub fn put_back(&self, now: Timestamp) -> Self {
        Self { due: now, ..self.next(now) }
    }

    fn next(&self, now: Timestamp) -> Self {
        Self { due: self.settings.after(now), revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// Returns the time from which a change instance waits for a reminder; none if it is other work.
    pub fn waits_from(&self, change: &Change) -> Option<Timestamp> {
        let ReminderSettings { service, state, .. } = &self.settings;
        let is_covered = change.service.id == service.id && change.state == *state;
        is_covered.then(|| self.settings.after(change.entered()))
    }

    /// Returns whether no change instance that was created at a time, or later, can wait already.
    pub fn is_too_new(&self, created: Timestamp, now: Timestamp) -> bool {
        // A change instance enters its state at its creation or later.
        self.settings.after(created) > now
    }

    /// Returns the first attempt of the reminder; `oldest` is the creation time of the oldest waiting change instance.
    pub fn delivery(&self, oldest: Timestamp) -> Delivery {
        let ReminderSettings { service, state, .. } = &self.settings;
        let (webhook, due) = (self.webhook.get(), self.due.micros());
        let id = format!("webhook/{webhook}:{due}");
        let event = json!({
            "metadata": {"specversion": "1.0", "id": id, "sequence": due, "correlation_id": webhook},
            "data": {"id": webhook, "service": service.title, "service_id": service.id.get(),
                "state": state.name(), "oldest": oldest.to_wire()},
        });
        Delivery::of_type(EventType::Reminder, self.webhook, event)
    }
}

impl ReminderSettings {
    fn after(&self, at: Timestamp) -> Timestamp {
        Timestamp::from_micros(at.micros().saturating_add(self.interval_seconds.saturating_mul(MICROS)))
    }
}

/// Returns whether a change instance waits: the time `from` has come, and no worker has a live claim (R64).
pub fn is_waiting(from: Timestamp, claim: Option<&Claim>, now: Timestamp) -> bool {
    from <= now && claim.is_none_or(|claim| claim.is_free(now))
}
