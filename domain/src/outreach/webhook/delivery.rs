//! Deliveries: one event for one webhook, with its attempts until success or the end of the retries.

use super::Webhook;
use super::pacing::{Paced, SLOW_MILLIS};
use crate::base::id::{ChangeId, WebhookId};
use crate::base::timestamp::Timestamp;
use crate::outreach::event::{CHANGE_INSTANCE, WEBHOOK_REMINDER, WEBHOOK_TEST};
use serde_json::{Value, json};

/// Maximum number of attempts of a delivery.
pub const ATTEMPTS_MAX: u64 = 8;
/// Maximum number of attempts of a reminder. Their pauses end before the next reminder can be due.
pub const REMINDER_ATTEMPTS_MAX: u64 = 3;
/// Number of consecutive failures after which a receiver counts as down.
pub const DOWN_AFTER: u64 = 3;
/// Minimum time between two attempts at a receiver that is down, in seconds.
pub const DOWN_SECONDS: u64 = 60;
/// Retention of failed deliveries, in seconds: two weeks.
pub const GIVEN_UP_SECONDS: u64 = 14 * 24 * 60 * 60;

const MICROS: u64 = 1_000_000;

/// The type of a delivered event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// A change instance has entered a state.
    ChangeInstance,
    /// A caller tests the webhook.
    Test,
    /// Work waits (R65).
    Reminder,
}

impl EventType {
    /// Returns the name in the header of a delivery.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChangeInstance => CHANGE_INSTANCE,
            Self::Test => WEBHOOK_TEST,
            Self::Reminder => WEBHOOK_REMINDER,
        }
    }

    /// Parses the type in a message. Only reminders name it, because messages of earlier releases have none.
    fn of_message(message: &Value) -> Option<Self> {
        match message.get("type").and_then(Value::as_str) {
            None => Some(Self::ChangeInstance),
            Some(name) => Some(Self::Reminder).filter(|reminder| name == reminder.name()),
        }
    }
}

/// A delivery, without credentials, and with no more of the change instance than the event contains.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub webhook: WebhookId,
    pub event_type: EventType,
    /// The number of the next attempt, from 1.
    pub attempt: u64,
    /// The event's content.
    pub event: Value,
    /// The wait for a slow receiver, if there was one in this attempt.
    pub paced: Option<Paced>,
}

impl Delivery {
    /// Creates the first attempt of the event of a change instance.
    pub const fn new(webhook: WebhookId, event: Value) -> Self {
        Self::of_type(EventType::ChangeInstance, webhook, event)
    }

    /// Creates the first attempt of an event of a type.
    pub const fn of_type(event_type: EventType, webhook: WebhookId, event: Value) -> Self {
        Self { webhook, event_type, attempt: 1, event, paced: None }
    }

    /// Returns the next attempt.
    #[must_use]
    pub fn next_attempt(self) -> Self {
        Self { attempt: self.attempt.saturating_add(1), paced: None, ..self }
    }

    /// Returns the event's id, the same for every delivery.
    pub fn event_id(&self) -> &str {
        self.event.pointer("/metadata/id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Serializes the delivery as a message.
    pub fn to_message(&self) -> String {
        let (webhook, paced) = (self.webhook.get(), self.paced.map(Paced::to_part));
        let event_type = Some(self.event_type).filter(|event_type| *event_type == EventType::Reminder);
        json!({"webhook": webhook, "type": event_type.map(EventType::name), "attempt": self.attempt,
            "event": self.event, "paced": paced})
        .to_string()
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
            event_type: EventType::of_message(message)?,
            attempt: number("attempt").filter(|attempt| *attempt > 0)?,
            event: event.clone(),
            paced: message.get("paced").and_then(Paced::of_part),
        };
        (!delivery.event_id().is_empty()).then_some(delivery)
    }

    /// Returns the consequence of the last attempt.
    pub fn end(&self, ended: Ended, now: Timestamp) -> Next {
        match self.event_type {
            EventType::ChangeInstance | EventType::Test => Next::GivenUp(self.given_up(ended, now)),
            EventType::Reminder => Next::Dropped,
        }
    }

    /// Returns the maximum number of attempts.
    const fn attempts_max(&self) -> u64 {
        match self.event_type {
            EventType::ChangeInstance | EventType::Test => ATTEMPTS_MAX,
            EventType::Reminder => REMINDER_ATTEMPTS_MAX,
        }
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

/// The last result of a receiver, with its speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replied {
    pub webhook: WebhookId,
    pub event: String,
    pub attempt: u64,
    pub at: Timestamp,
    /// The result; none until the first attempt is over.
    pub ended: Option<Ended>,
    /// The number of consecutive failures including this one.
    pub failures: u64,
    /// Duration of the attempt in milliseconds; 0 below [`SLOW_MILLIS`].
    pub slow_millis: u64,
    /// The start of a later attempt that is slow and not over.
    pub in_flight_since: Option<Timestamp>,
    /// The last delivery of a change instance's event; none if the webhook sends no reminders (R65).
    pub delivered: Option<Timestamp>,
}

impl Replied {
    /// Returns the record after an attempt.
    pub fn after(
        before: Option<&Self>,
        delivery: &Delivery,
        ended: Ended,
        began: Timestamp,
        now: Timestamp,
    ) -> Self {
        let failures = before.map_or(0, |before| before.failures).saturating_add(1);
        let millis = now.micros().saturating_sub(began.micros()) / 1_000;
        Self {
            webhook: delivery.webhook,
            event: delivery.event_id().to_owned(),
            attempt: delivery.attempt,
            at: now,
            ended: Some(ended),
            failures: if ended.is_delivered() { 0 } else { failures },
            slow_millis: if millis < SLOW_MILLIS { 0 } else { millis },
            in_flight_since: None,
            delivered: before.and_then(|before| before.delivered),
        }
    }

    /// Returns the record with the last delivery of a change instance's event, if the webhook sends reminders (R65).
    #[must_use]
    pub fn noting_delivery(self, webhook: &Webhook, delivery: &Delivery) -> Self {
        let is_delivered = self.ended.is_some_and(Ended::is_delivered);
        // A reminder or a test delivers no change instance, so it must not put off the next reminder.
        let is_noted = is_delivered && delivery.event_type == EventType::ChangeInstance;
        let delivered = if is_noted { Some(self.at) } else { self.delivered };
        Self { delivered: delivered.filter(|_| webhook.reminders().is_some()), ..self }
    }

    /// Returns the record during a slow attempt: the last result remains.
    pub fn during(before: Option<&Self>, delivery: &Delivery, began: Timestamp) -> Self {
        let none = || Self {
            webhook: delivery.webhook,
            event: delivery.event_id().to_owned(),
            attempt: delivery.attempt,
            at: began,
            ended: None,
            failures: 0,
            slow_millis: 0,
            in_flight_since: None,
            delivered: None,
        };
        Self { in_flight_since: Some(began), ..before.cloned().unwrap_or_else(none) }
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
    /// No further attempt of a reminder, which leaves no record, because the next reminder repeats it.
    Dropped,
}

/// Returns the consequence of an attempt: pauses of 15 s, 60 s, 240 s, and then 900 s each.
pub fn next(delivery: Delivery, ended: Ended, now: Timestamp) -> Next {
    if ended.is_delivered() {
        return Next::Done;
    }
    if delivery.attempt >= delivery.attempts_max() {
        return delivery.end(ended, now);
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
