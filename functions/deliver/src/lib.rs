//! Deliveries of webhooks, and runs of healthchecks.
//!
//! An event becomes one message for each of its webhooks. A message causes one attempt, and a failed attempt the next
//! message. Messages of a batch run concurrently, so receivers do not wait for each other.

mod attempt;
mod check;
mod fan_out;

use domain::outreach::event::CHANGE_INSTANCE;
use domain::outreach::healthcheck::run::Run;
use domain::outreach::webhook::delivery::Delivery;
use dovetail_aws::log;
use dovetail_outbound::Outbound;
use dovetail_queue::{NotTaken, Queue, SqsBatchResponse, SqsEvent, SqsMessage};
use dovetail_table::{Error, Table};
use futures_util::future::join_all;
use serde_json::Value;

/// The clients of the function.
#[derive(Clone, Debug)]
pub struct Handles {
    pub table: Table,
    /// The queue of its own messages.
    pub queue: Queue,
    /// HTTP client for receivers.
    pub outbound: Outbound,
}

/// Counts for the metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryMetrics {
    /// Number of successful deliveries.
    pub delivered: u64,
    /// Number of failed attempts.
    pub not_taken: u64,
    /// Number of abandoned deliveries.
    pub given_up: u64,
}

/// The reason why SQS must repeat a message.
#[derive(Debug)]
enum MessageError {
    /// The message does not come from Dovetail.
    Unreadable,
    Table(Error),
    Queue(NotTaken),
}

impl From<Error> for MessageError {
    fn from(error: Error) -> Self {
        Self::Table(error)
    }
}

impl From<NotTaken> for MessageError {
    fn from(error: NotTaken) -> Self {
        Self::Queue(error)
    }
}

impl MessageError {
    fn reason(&self) -> String {
        match self {
            Self::Unreadable => "the message is not an event, a delivery or a healthcheck run".to_owned(),
            Self::Table(error) => error.to_string(),
            Self::Queue(NotTaken(reason)) => format!("the queue rejected the next message: {reason}"),
        }
    }
}

/// Processes a batch of messages.
///
/// After a failure of Dovetail, SQS repeats the message, and in the end moves it to the dead-letter queue. After a
/// failure of a receiver, a new message makes the next attempt (ADR 20).
pub async fn handle(handles: &Handles, event: SqsEvent) -> (SqsBatchResponse, DeliveryMetrics) {
    let ended = join_all(event.records.iter().map(|message| work_on(handles, message))).await;
    let (mut response, mut all) = (SqsBatchResponse::default(), DeliveryMetrics::default());
    for (message, ended) in event.records.into_iter().zip(ended) {
        match ended {
            Ok(delivery_metrics) => {
                all.delivered += delivery_metrics.delivered;
                all.not_taken += delivery_metrics.not_taken;
                all.given_up += delivery_metrics.given_up;
            }
            Err(error) => {
                let id = message.message_id.unwrap_or_default();
                log(&format!("message {id}"), &error.reason());
                response.add_failure(id);
            }
        }
    }
    (response, all)
}

async fn work_on(handles: &Handles, message: &SqsMessage) -> Result<DeliveryMetrics, MessageError> {
    let text = message.body.as_deref().unwrap_or_default();
    let body: Value = serde_json::from_str(text).map_err(|_| MessageError::Unreadable)?;
    if let Some(delivery) = Delivery::of_message(&body) {
        return attempt::attempt(handles, delivery).await;
    }
    if let Some(run) = Run::of_message(&body) {
        return check::check(handles, run).await;
    }
    if body.get("detail-type").and_then(Value::as_str) != Some(CHANGE_INSTANCE) {
        return Err(MessageError::Unreadable);
    }
    let detail = body.get("detail").ok_or(MessageError::Unreadable)?;
    fan_out::fan_out(handles, detail).await
}
