//! The start of a delivery: the cooling time of a webhook, and the slots of a slow receiver (ADR 20).

use super::delivery::{Delivery, Replied};
use super::pacing::{Paced, SLOW_MILLIS};
use super::{HELD_SECONDS_MAX, Webhook};
use crate::base::id::WebhookId;
use crate::base::timestamp::Timestamp;

/// Maximum time that a delivery waits for slots of a slow receiver, in seconds: one day.
pub const PACED_SECONDS_MAX: u64 = 24 * 60 * 60;

const MICROS: u64 = 1_000_000;
const MICROS_PER_MILLI: u64 = 1_000;

/// The earliest time of the next delivery to a webhook: the end of its cooling time, or of the reserved slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cooling {
    pub webhook: WebhookId,
    pub until: Timestamp,
    /// The event for the next delivery, if one waits for the end of the cooling time.
    pub waiting: Option<String>,
    /// The number of writes; the fence between two deliveries.
    pub revision: u64,
}

/// Whether a delivery may start.
#[derive(Clone, Debug, PartialEq)]
pub enum StartDecision {
    /// The delivery may start, once this record is stored, if any.
    Now(Option<Cooling>),
    /// The delivery waits as this message for this number of seconds, once this record is stored, if any.
    Later(Option<Cooling>, Delivery, u64),
    /// Another event waits already and represents this one too.
    Joined,
    /// The delivery has waited for slots of a slow receiver for too long.
    TooLate,
}

impl Replied {
    /// Returns whether the receiver is slow.
    pub const fn is_slow(&self) -> bool {
        self.slow_millis > 0 || self.in_flight_since.is_some()
    }

    /// Returns the duration from which an attempt without a response makes the receiver slower, in milliseconds.
    pub fn in_flight_millis(last: Option<&Self>) -> u64 {
        // Reserved slots allow twice the last duration, so a smaller increase needs no record.
        last.map_or(0, |last| last.slow_millis.saturating_mul(2)).max(SLOW_MILLIS)
    }

    /// Returns the expected duration of the next attempt, in milliseconds.
    fn expected_millis(&self, webhook: &Webhook) -> u64 {
        let timeout_millis = webhook.settings.timeout_seconds.saturating_mul(1_000);
        // An attempt without a result has no duration yet, but at most that of the timeout.
        self.in_flight_since.map_or(self.slow_millis, |_| self.slow_millis.max(timeout_millis))
    }

    /// Returns a wait in seconds, while a slow attempt is in flight.
    fn in_flight_wait(&self, webhook: &Webhook, now: Timestamp) -> Option<u64> {
        let elapsed = now.micros().saturating_sub(self.in_flight_since?.micros()) / MICROS;
        // A function may stop without a result, so a mark older than the timeout means nothing.
        let left = webhook.settings.timeout_seconds.checked_sub(elapsed).filter(|left| *left > 0)?;
        // Waits that double let each message return only a few times during one attempt.
        Some(elapsed.clamp(1, left))
    }
}

/// Decides whether a delivery may start, from the last result and the record of the last start.
pub fn start_decision(
    webhook: &Webhook,
    delivery: &Delivery,
    last: Option<&Replied>,
    before: Option<&Cooling>,
    now: Timestamp,
) -> StartDecision {
    let slow = last.filter(|last| last.is_slow());
    match slow {
        _ if webhook.settings.cooling_seconds > 0 => cooling_decision(webhook, delivery, slow, before, now),
        Some(slow) => pacing_decision(webhook, delivery, slow, before, now),
        None => StartDecision::Now(None),
    }
}

/// Decides by the cooling time, during which the first event waits and represents all later ones. At a slow receiver,
/// the cooling time is at least the expected duration.
fn cooling_decision(
    webhook: &Webhook,
    delivery: &Delivery,
    slow: Option<&Replied>,
    before: Option<&Cooling>,
    now: Timestamp,
) -> StartDecision {
    let Some(before) = before.filter(|before| now < before.until) else {
        let slow_micros =
            slow.map_or(0, |slow| slow.expected_millis(webhook).saturating_mul(MICROS_PER_MILLI));
        let micros = webhook.settings.cooling_seconds.saturating_mul(MICROS).max(slow_micros);
        return StartDecision::Now(Some(next_record(webhook, before, later(now, micros))));
    };
    let event = delivery.event_id();
    // SQS may deliver the waiting event early or twice. The event must not join itself, or nothing would be delivered.
    if before.waiting.as_deref().is_some_and(|waiting| waiting != event) {
        return StartDecision::Joined;
    }
    let after =
        Cooling { waiting: Some(event.to_owned()), ..next_record(webhook, Some(before), before.until) };
    // Slots from a time without cooling can end later than the longest delay of a message.
    let seconds = seconds_until(before.until, now).min(HELD_SECONDS_MAX);
    StartDecision::Later(Some(after), delivery.clone(), seconds)
}

/// Decides at a slow receiver: each delivery reserves a slot of the expected duration, so on average one request is in
/// progress.
fn pacing_decision(
    webhook: &Webhook,
    delivery: &Delivery,
    slow: &Replied,
    before: Option<&Cooling>,
    now: Timestamp,
) -> StartDecision {
    let paced = delivery.paced.unwrap_or(Paced { since: now, slot_millis: 0 });
    let wait = |record, slot_millis, seconds| {
        let paced = Some(Paced { slot_millis, ..paced });
        StartDecision::Later(record, Delivery { paced, ..delivery.clone() }, seconds)
    };
    if let Some(seconds) = slow.in_flight_wait(webhook, now) {
        return wait(None, paced.slot_millis, seconds);
    }
    let expected_millis = slow.expected_millis(webhook);
    // A slot from a faster time is too short. With the factor of two, the slots fit again after a few reservations, and
    // durations may vary.
    if paced.slot_millis.saturating_mul(2) >= expected_millis {
        return StartDecision::Now(None);
    }
    if now > later(paced.since, PACED_SECONDS_MAX.saturating_mul(MICROS)) {
        return StartDecision::TooLate;
    }
    let slot = before.map_or(now, |before| before.until.max(now));
    let seconds = seconds_until(slot, now);
    // A message cannot wait for longer. The delivery reserves no slot here, so the record does not grow without bound.
    if seconds > HELD_SECONDS_MAX {
        return wait(None, 0, HELD_SECONDS_MAX);
    }
    let end = later(slot, expected_millis.saturating_mul(MICROS_PER_MILLI));
    let record = Some(next_record(webhook, before, end));
    if seconds == 0 { StartDecision::Now(record) } else { wait(record, expected_millis, seconds) }
}

fn next_record(webhook: &Webhook, before: Option<&Cooling>, until: Timestamp) -> Cooling {
    let revision = before.map_or(0, |before| before.revision).saturating_add(1);
    Cooling { webhook: webhook.id, until, waiting: None, revision }
}

fn later(at: Timestamp, micros: u64) -> Timestamp {
    Timestamp::from_micros(at.micros().saturating_add(micros))
}

fn seconds_until(at: Timestamp, now: Timestamp) -> u64 {
    at.micros().saturating_sub(now.micros()).div_ceil(MICROS)
}

#[cfg(test)]
mod tests;
