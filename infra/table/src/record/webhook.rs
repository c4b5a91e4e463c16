//! Webhooks and the results of their deliveries. Only the webhook's record has credentials, so it is in the table of
//! keys.

use super::codec::{FORMAT_BASE, FORMAT_LIFECYCLE, Record, of_side};
use super::conversion::{Bad, Part, mirrors};
use super::parts::{ServicePart, TeamPart, seconds_after};
use crate::key::{self, Key};
use domain::outreach::webhook::delivery::{Ended, GIVEN_UP_SECONDS, GivenUp, Replied};
use domain::outreach::webhook::reminder::{Reminder, ReminderSettings};
use domain::outreach::webhook::start::Cooling;
use domain::outreach::webhook::{Scope, Settings, Webhook};
use serde::{Deserialize, Serialize};

/// A webhook, in the table of keys. Only this record contains its credentials.
#[derive(Serialize, Deserialize)]
pub(crate) struct WebhookRecord {
    /// Id of the webhook.
    id: u64,
    /// Team.
    #[serde(rename = "tm")]
    team: TeamPart,
    /// Role of the team. Absent for a service owner, and known since format 7.
    #[serde(rename = "pov", skip_serializing_if = "Option::is_none")]
    side: Option<String>,
    /// Service. Absent if the webhook covers all services of a consumer, and known since format 7.
    #[serde(rename = "sv", skip_serializing_if = "Option::is_none")]
    service: Option<ServicePart>,
    /// Secret that signs deliveries.
    #[serde(rename = "sec")]
    secret: String,
    /// Name.
    #[serde(rename = "nm")]
    name: String,
    /// Description.
    #[serde(rename = "ds")]
    description: String,
    /// Target URL.
    #[serde(rename = "url")]
    target_url: String,
    /// Value of the `Authorization` header. Absent if none is sent.
    #[serde(rename = "au", skip_serializing_if = "Option::is_none")]
    authorization: Option<String>,
    /// State that triggers a delivery. Absent if creations trigger the deliveries.
    #[serde(rename = "st", skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Whether the webhook is active.
    #[serde(rename = "ac")]
    active: bool,
    /// Timeout of a delivery, in seconds.
    #[serde(rename = "to")]
    timeout_seconds: u64,
    /// Delay between change and delivery, in seconds.
    #[serde(rename = "wt")]
    wait_seconds: u64,
    /// Minimum time between two deliveries, in seconds.
    #[serde(rename = "co")]
    cooling_seconds: u64,
    /// Time after which the webhook reminds of waiting work, in seconds. Absent if it sends no reminders, and known
    /// since format 9.
    #[serde(rename = "ra", skip_serializing_if = "Option::is_none")]
    remind_after_seconds: Option<u64>,
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
    WebhookRecord = Webhook {
        id, team, secret, created, modified, revision, ..scope: Scope { side, service }, ..settings: Settings { name,
        description, target_url, authorization, state, active, timeout_seconds, wait_seconds, cooling_seconds,
        remind_after_seconds },
    }
}

impl Record for WebhookRecord {
    const TYPE: &'static str = "WEBHOOK";
    type Value = Webhook;

    fn key(webhook: &Webhook) -> Key {
        key::webhook(webhook.id)
    }

    fn format(webhook: &Webhook) -> u64 {
        match webhook.settings.remind_after_seconds {
            Some(_) => FORMAT_LIFECYCLE,
            None => of_side(webhook.scope.side),
        }
    }
}

/// The result of a delivery attempt.
#[derive(Serialize, Deserialize)]
struct EndedPart {
    /// HTTP status of the answer.
    #[serde(rename = "st", skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Error name.
    #[serde(rename = "er", skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Part<Ended> for EndedPart {
    fn of(ended: &Ended) -> Self {
        Self { status: ended.status(), error: ended.error().map(str::to_owned) }
    }

    fn value(self) -> Result<Ended, Bad> {
        Ended::parse(self.status, self.error.as_deref()).ok_or(Bad("end of an attempt"))
    }
}

/// The last answer of a webhook's target.
#[derive(Serialize, Deserialize)]
pub(crate) struct RepliedRecord {
    /// Id of the webhook.
    #[serde(rename = "id")]
    webhook: u64,
    /// Id of the event.
    #[serde(rename = "ev")]
    event: String,
    /// Attempt, counted from 1.
    #[serde(rename = "no")]
    attempt: u64,
    /// Time of the answer.
    at: u64,
    /// Result of the attempt. Absent during the first attempt.
    #[serde(rename = "en", skip_serializing_if = "Option::is_none")]
    ended: Option<EndedPart>,
    /// Number of consecutive failures.
    #[serde(rename = "fa")]
    failures: u64,
    /// Duration of the attempt, in milliseconds. Absent if it is below one second.
    #[serde(rename = "ms", skip_serializing_if = "Option::is_none")]
    slow_millis: Option<u64>,
    /// Start of a later attempt without a response after one second. Absent if no such attempt exists.
    #[serde(rename = "si", skip_serializing_if = "Option::is_none")]
    in_flight_since: Option<u64>,
    /// Last delivery of a change instance's event. Absent if the webhook sends no reminders, and known since format 9.
    #[serde(rename = "de", skip_serializing_if = "Option::is_none")]
    delivered: Option<u64>,
    /// Expiry, in seconds since 1970: two weeks after `at`.
    #[serde(rename = "xp")]
    expires_seconds: u64,
}

mirrors! {
    RepliedRecord = Replied {
        webhook, event, attempt, at, ended, failures, slow_millis, in_flight_since, delivered,
    }, expires_seconds = |replied| seconds_after(replied.at, GIVEN_UP_SECONDS)
}

impl Record for RepliedRecord {
    const TYPE: &'static str = "REPLIED";
    type Value = Replied;

    fn key(replied: &Replied) -> Key {
        key::replied(replied.webhook)
    }

    fn format(replied: &Replied) -> u64 {
        if replied.delivered.is_some() { FORMAT_LIFECYCLE } else { FORMAT_BASE }
    }
}

/// The cooling time of a webhook, or the reserved slots of its slow receiver.
#[derive(Serialize, Deserialize)]
pub(crate) struct CoolingRecord {
    /// Id of the webhook.
    #[serde(rename = "id")]
    webhook: u64,
    /// End of the cooling time or of the last slot.
    #[serde(rename = "un")]
    until: u64,
    /// Id of the waiting event. Absent if no event is waiting.
    #[serde(rename = "wa", skip_serializing_if = "Option::is_none")]
    waiting: Option<String>,
    /// Revision: counts the writes, and is the fence of every change.
    #[serde(rename = "rv")]
    revision: u64,
    /// Expiry, in seconds since 1970: two weeks after `un`.
    #[serde(rename = "xp")]
    expires_seconds: u64,
}

mirrors! {
    CoolingRecord = Cooling {
        webhook, until, waiting, revision,
    }, expires_seconds = |cooling| seconds_after(cooling.until, GIVEN_UP_SECONDS)
}

impl Record for CoolingRecord {
    const TYPE: &'static str = "COOLING";
    type Value = Cooling;

    fn key(cooling: &Cooling) -> Key {
        key::cooling(cooling.webhook)
    }
}

/// The next reminder of a webhook.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReminderRecord {
    /// Id of the webhook.
    #[serde(rename = "id")]
    webhook: u64,
    /// Service of the waiting change instances.
    #[serde(rename = "sv")]
    service: ServicePart,
    /// State of the waiting change instances.
    #[serde(rename = "st")]
    state: String,
    /// Minimum time between two reminders, in seconds.
    #[serde(rename = "ra")]
    interval_seconds: u64,
    /// Earliest time of the next reminder.
    #[serde(rename = "du")]
    due: u64,
    /// Revision: counts the writes, and is the fence of every change.
    #[serde(rename = "rv")]
    revision: u64,
}

mirrors! {
    ReminderRecord = Reminder {
        webhook, due, revision, ..settings: ReminderSettings { service, state, interval_seconds },
    }
}

impl Record for ReminderRecord {
    const TYPE: &'static str = "REMINDER";
    type Value = Reminder;

    fn key(reminder: &Reminder) -> Key {
        key::reminder(reminder.webhook)
    }

    fn format(_reminder: &Reminder) -> u64 {
        FORMAT_LIFECYCLE
    }

    fn indexes(reminder: &Reminder) -> Vec<(u8, String, String)> {
        let sort_key = key::by_age(reminder.due, reminder.webhook.get());
        vec![(3, key::ALL_DUE.to_owned(), sort_key)]
    }
}

/// An abandoned delivery.
#[derive(Serialize, Deserialize)]
pub(crate) struct GivenUpRecord {
    /// Id of the webhook.
    #[serde(rename = "id")]
    webhook: u64,
    /// Id of the event.
    #[serde(rename = "ev")]
    event: String,
    /// Id of the change instance.
    #[serde(rename = "ch", skip_serializing_if = "Option::is_none")]
    change: Option<u64>,
    /// State in the event.
    #[serde(rename = "st")]
    state: String,
    /// Number of attempts.
    #[serde(rename = "no")]
    attempts: u64,
    /// Time of the decision.
    at: u64,
    /// Result of the last attempt.
    #[serde(rename = "en")]
    ended: EndedPart,
    /// Expiry, in seconds since 1970: two weeks after `at`.
    #[serde(rename = "xp")]
    expires_seconds: u64,
}

mirrors! {
    GivenUpRecord = GivenUp {
        webhook, event, change, state, attempts, at, ended,
    }, expires_seconds = |given_up| seconds_after(given_up.at, GIVEN_UP_SECONDS)
}

impl Record for GivenUpRecord {
    const TYPE: &'static str = "GIVEN_UP";
    type Value = GivenUp;

    fn key(given_up: &GivenUp) -> Key {
        let sort_key = format!("{:016}#{}", given_up.at.micros(), given_up.event);
        key::given_up_at(given_up.webhook, &sort_key)
    }
}
