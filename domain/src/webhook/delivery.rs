//! Deliveries: one event to one webhook, tried until it is taken or given up.

use super::Webhook;
use crate::id::{ChangeId, WebhookId};
use crate::timestamp::Timestamp;
use serde_json::{Value, json};

/// How often a delivery is tried before it is given up.
pub const ATTEMPTS_MAX: u64 = 8;
/// After how many failures in a row a receiver is held to be down.
pub const DOWN_AFTER: u64 = 3;
/// How often one that is down is tried, whatever waits for it, in seconds.
pub const DOWN_SECONDS: u64 = 60;
/// For how long it is remembered what was given up, in seconds: two weeks.
pub const GIVEN_UP_SECONDS: u64 = 14 * 24 * 60 * 60;

const MICROS: u64 = 1_000_000;

/// What is to be delivered: no credentials, and no more of the change instance than the event has.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// To which webhook.
    pub webhook: WebhookId,
    /// How many tries there were, with the next one.
    pub attempt: u64,
    /// The event's content.
    pub event: Value,
}

impl Delivery {
    /// The first try.
    pub const fn new(webhook: WebhookId, event: Value) -> Self {
        Self { webhook, attempt: 1, event }
    }

    /// The next try.
    #[must_use]
    pub fn again(self) -> Self {
        Self { attempt: self.attempt.saturating_add(1), ..self }
    }

    /// The event's id, the same for every delivery of it.
    pub fn event_id(&self) -> &str {
        self.event.pointer("/metadata/id").and_then(Value::as_str).unwrap_or_default()
    }

    /// As a message.
    pub fn to_message(&self) -> String {
        json!({"webhook": self.webhook.get(), "attempt": self.attempt, "event": self.event}).to_string()
    }

    /// Reads a message.
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

    /// What is remembered when it is given up.
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

/// How a try has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The receiver has answered with a status.
    Answered(u16),
    /// It did not answer in time.
    TimedOut,
    /// There was no connection, or none that it can be trusted on, or no answer that is HTTP.
    Unreachable,
    /// Its name leads to an address that is not public.
    NotPublic,
    /// It was down, and not asked.
    HeldBack,
}

impl Ended {
    /// Whether the receiver has taken it.
    pub const fn is_delivered(self) -> bool {
        matches!(self, Self::Answered(200..=299))
    }

    /// The status, if there was an answer.
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::Answered(status) => Some(status),
            Self::TimedOut | Self::Unreachable | Self::NotPublic | Self::HeldBack => None,
        }
    }

    /// The one name of what went wrong; none if nothing did.
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

    /// Reads what the other two told.
    pub fn parse(status: Option<u16>, error: Option<&str>) -> Option<Self> {
        let known = [Self::TimedOut, Self::Unreachable, Self::NotPublic, Self::HeldBack];
        match status {
            Some(status) => Some(Self::Answered(status)),
            None => known.into_iter().find(|ended| ended.error() == error),
        }
    }
}

/// What a receiver answered last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replied {
    /// The webhook.
    pub webhook: WebhookId,
    /// Which event it was about.
    pub event: String,
    /// Which try it was.
    pub attempt: u64,
    /// When.
    pub at: Timestamp,
    /// How it ended.
    pub ended: Ended,
    /// How many failures in a row there were, with this one.
    pub failures: u64,
}

impl Replied {
    /// What is remembered of a try, after what was remembered before.
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

    /// Whether the receiver is down and was asked a short while ago.
    pub const fn is_down(&self, now: Timestamp) -> bool {
        let until = self.at.micros().saturating_add(DOWN_SECONDS * MICROS);
        self.failures >= DOWN_AFTER && now.micros() < until
    }
}

/// A delivery that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// The webhook.
    pub webhook: WebhookId,
    /// The event's id.
    pub event: String,
    /// The change instance that it was about.
    pub change: Option<ChangeId>,
    /// The state that it told of.
    pub state: String,
    /// How often it was tried.
    pub attempts: u64,
    /// When it was given up.
    pub at: Timestamp,
    /// How the last try ended.
    pub ended: Ended,
}

/// What follows from a try that has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Nothing more.
    Done,
    /// Another try after so many seconds.
    Again(Delivery, u64),
    /// No further try.
    GivenUp(GivenUp),
}

/// What follows from a try that has ended: further ones after a quarter of a minute, one, four, and then every fifteen
/// minutes.
pub fn next(delivery: Delivery, ended: Ended, now: Timestamp) -> Next {
    if ended.is_delivered() {
        return Next::Done;
    }
    if delivery.attempt >= ATTEMPTS_MAX {
        return Next::GivenUp(delivery.given_up(ended, now));
    }
    let pause = match delivery.attempt {
        1 => 15,
        2 => 60,
        3 => 240,
        _ => super::HELD_SECONDS_MAX,
    };
    Next::Again(delivery.again(), pause)
}

/// When a webhook with a cooling time may be delivered to again, and what waits for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cooling {
    /// The webhook.
    pub webhook: WebhookId,
    /// Until when it cools.
    pub until: Timestamp,
    /// The event that is delivered then, if one waits.
    pub waiting: Option<String>,
    /// How often the record was changed.
    pub revision: u64,
}

/// Whether a delivery may go ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It may, once this is stored.
    Now(Cooling),
    /// It waits for so many seconds, once this is stored.
    Later(Cooling, u64),
    /// Another one waits already, and stands for this one too.
    Joined,
}

/// Whether a delivery to a webhook with a cooling time may go ahead; while it cools, the first to come waits and stands
/// for all that come after it.
pub fn turn(webhook: &Webhook, event: &str, before: Option<&Cooling>, now: Timestamp) -> Turn {
    let revision = before.map_or(0, |before| before.revision).saturating_add(1);
    let micros = webhook.settings.cooling_seconds.saturating_mul(MICROS);
    let Some(before) = before.filter(|before| now < before.until) else {
        let until = Timestamp::from_micros(now.micros().saturating_add(micros));
        return Turn::Now(Cooling { webhook: webhook.id, until, waiting: None, revision });
    };
    if before.waiting.as_deref().is_some_and(|waiting| waiting != event) {
        return Turn::Joined;
    }
    let left = before.until.micros().saturating_sub(now.micros()).div_ceil(MICROS);
    Turn::Later(Cooling { waiting: Some(event.to_owned()), revision, ..before.clone() }, left)
}
