//! Deliveries: one event for one webhook, with its attempts until success or the end of the retries.

use super::Webhook;
use crate::base::id::{ChangeId, WebhookId};
use crate::base::timestamp::Timestamp;
use serde_json::{Value, json};

/// Maximum number of attempts of a delivery.
pub const ATTEMPTS_MAX: u64 = 8;
/// Number of consecutive failures after which a receiver counts as down.
pub const DOWN_AFTER: u64 = 3;
/// Minimum time between two attempts at a receiver that is down, in seconds.
pub const DOWN_SECONDS: u64 = 60;
/// Retention of failed deliveries, in seconds: two weeks.
pub const GIVEN_UP_SECONDS: u64 = 14 * 24 * 60 * 60;

const MICROS: u64 = 1_000_000;

/// A delivery: no credentials, and no more of the change instance than the event contains.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub webhook: WebhookId,
    /// The number of the next attempt, from 1.
    pub attempt: u64,
    /// The event's content.
    pub event: Value,
}

impl Delivery {
    /// Creates the first attempt.
    pub const fn new(webhook: WebhookId, event: Value) -> Self {
        Self { webhook, attempt: 1, event }
    }

    /// Returns the next attempt.
    #[must_use]
    pub fn next_attempt(self) -> Self {
        Self { attempt: self.attempt.saturating_add(1), ..self }
    }

    /// Returns the event's id, the same for every delivery.
    pub fn event_id(&self) -> &str {
        self.event.pointer("/metadata/id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Serializes the delivery as a message.
    pub fn to_message(&self) -> String {
        json!({"webhook": self.webhook.get(), "attempt": self.attempt, "event": self.event}).to_string()
    }

    /// Returns the name under which the queue treats the webhook fairly.
    pub fn group(&self) -> String {
        format!("webhook-{}", self.webhook.get())
    }

    /// Parses a message.
    pub fn of_message(message: &Value) -> Option<Self> {
        let number = |name: &str| message.get(name).and_then(Value::as_u64);
        let event = message.get("event").filter(|event| event.is_object())?;
        let delivery = Self {
            webhook: WebhookId::parse(number("webhook")?)?,
            attempt: number("attempt").filter(|attempt| *attempt > 0)?,
            event: event.clone(),
        };
        (!delivery.event_id().is_empty()).then_some(delivery)
    }

    /// Returns the record of the delivery after its last attempt.
    pub fn given_up(&self, ended: Ended, now: Timestamp) -> GivenUp {
        let change = self.event.pointer("/data/id").and_then(Value::as_u64).and_then(ChangeId::parse);
        let to = self.event.pointer("/data/to").and_then(Value::as_str).unwrap_or_default();
        GivenUp {
            webhook: self.webhook,
            event: self.event_id().to_owned(),
            change,
            state: to.to_owned(),
            attempts: self.attempt,
            at: now,
            ended,
        }
    }
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The receiver answered with this status code.
    Answered(u16),
    TimedOut,
    /// No connection, an untrusted one, or a response without HTTP.
    Unreachable,
    /// The name resolves to an address that is not public.
    NotPublic,
    /// The receiver is down, so no request was made.
    HeldBack,
}

impl Ended {
    /// Returns whether the delivery succeeded.
    pub const fn is_delivered(self) -> bool {
        // A redirect is a failure: following it could lead into another network (ADR 20).
        matches!(self, Self::Answered(200..=299))
    }

    /// Returns the status code, if there was a response.
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::Answered(status) => Some(status),
            Self::TimedOut | Self::Unreachable | Self::NotPublic | Self::HeldBack => None,
        }
    }

    /// Returns the name of the failure; none after a success.
    pub const fn error(self) -> Option<&'static str> {
        match self {
            Self::Answered(200..=299) => None,
            Self::Answered(_) => Some("status"),
            Self::TimedOut => Some("timeout"),
            Self::Unreachable => Some("unreachable"),
            Self::NotPublic => Some("not_public"),
            Self::HeldBack => Some("held_back"),
        }
    }

    /// Parses a result from its status code and its failure name.
    pub fn parse(status: Option<u16>, error: Option<&str>) -> Option<Self> {
        let failures = [Self::TimedOut, Self::Unreachable, Self::NotPublic, Self::HeldBack];
        match status {
            Some(status) => Some(Self::Answered(status)),
            None => failures.into_iter().find(|ended| ended.error() == error),
        }
    }
}

/// The last result of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replied {
    pub webhook: WebhookId,
    pub event: String,
    pub attempt: u64,
    pub at: Timestamp,
    pub ended: Ended,
    /// The number of consecutive failures including this one.
    pub failures: u64,
}

impl Replied {
    /// Returns the record after an attempt.
    pub fn after(before: Option<&Self>, delivery: &Delivery, ended: Ended, now: Timestamp) -> Self {
        let failures = before.map_or(0, |before| before.failures).saturating_add(1);
        Self {
            webhook: delivery.webhook,
            event: delivery.event_id().to_owned(),
            attempt: delivery.attempt,
            at: now,
            ended,
            failures: if ended.is_delivered() { 0 } else { failures },
        }
    }

    /// Returns whether the receiver is down and the last attempt is less than [`DOWN_SECONDS`] ago.
    pub const fn is_down(&self, now: Timestamp) -> bool {
        let until = self.at.micros().saturating_add(DOWN_SECONDS * MICROS);
        self.failures >= DOWN_AFTER && now.micros() < until
    }
}

/// A failed delivery, after its last attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    pub webhook: WebhookId,
    /// The event's id.
    pub event: String,
    /// The change instance of the event.
    pub change: Option<ChangeId>,
    /// The state in the event.
    pub state: String,
    /// The number of attempts.
    pub attempts: u64,
    /// The time of the last attempt.
    pub at: Timestamp,
    /// The result of the last attempt.
    pub ended: Ended,
}

/// The consequence of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    Done,
    /// Another attempt after this number of seconds.
    Retry(Delivery, u64),
    /// No further attempt.
    GivenUp(GivenUp),
}

/// Returns the consequence of an attempt: pauses of 15 s, 60 s, 240 s, and then 900 s each.
pub fn next(delivery: Delivery, ended: Ended, now: Timestamp) -> Next {
    if ended.is_delivered() {
        return Next::Done;
    }
    if delivery.attempt >= ATTEMPTS_MAX {
        return Next::GivenUp(delivery.given_up(ended, now));
    }
    // Growing pauses spare a receiver that is down. The longest is the maximum delay of an SQS message.
    let pause = match delivery.attempt {
        1 => 15,
        2 => 60,
        3 => 240,
        _ => super::HELD_SECONDS_MAX,
    };
    Next::Retry(delivery.next_attempt(), pause)
}

/// The cooling time of a webhook, with the waiting event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cooling {
    pub webhook: WebhookId,
    /// The end of the cooling time.
    pub until: Timestamp,
    /// The event for the next delivery, if one waits.
    pub waiting: Option<String>,
    /// The number of writes; the fence between two deliveries.
    pub revision: u64,
}

/// Whether a delivery may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoolingDecision {
    /// It may, after this record is stored.
    Now(Cooling),
    /// It waits for this number of seconds, after this record is stored.
    Later(Cooling, u64),
    /// Another event waits already and represents this one too.
    Joined,
}

/// Decides whether a delivery to a webhook with a cooling time may start.
///
/// During the cooling time, the first event waits and represents all later ones (ADR 20).
pub fn cooling_decision(
    webhook: &Webhook,
    event: &str,
    before: Option<&Cooling>,
    now: Timestamp,
) -> CoolingDecision {
    let revision = before.map_or(0, |before| before.revision).saturating_add(1);
    let micros = webhook.settings.cooling_seconds.saturating_mul(MICROS);
    let Some(before) = before.filter(|before| now < before.until) else {
        let until = Timestamp::from_micros(now.micros().saturating_add(micros));
        return CoolingDecision::Now(Cooling { webhook: webhook.id, until, waiting: None, revision });
    };
    // SQS may deliver the waiting event early or twice. It must not join itself, or nothing would be delivered.
    if before.waiting.as_deref().is_some_and(|waiting| waiting != event) {
        return CoolingDecision::Joined;
    }
    let left = before.until.micros().saturating_sub(now.micros()).div_ceil(MICROS);
    CoolingDecision::Later(Cooling { waiting: Some(event.to_owned()), revision, ..before.clone() }, left)
}
