//! Deliveries: what the bus tells becomes a message for each webhook that wants it, and each message is tried until its
//! receiver takes it or it is given up; and healthchecks, which ask about a page of items with each message.
//!
//! Messages of a batch are worked on beside each other, and each is one webhook's alone: no receiver waits for another.

mod attempt;
mod check;
mod fan_out;

use domain::event::CHANGE_INSTANCE;
use domain::healthcheck::run::Run;
use domain::webhook::delivery::Delivery;
use dovetail_aws::log;
use dovetail_outbound::Outbound;
use dovetail_queue::{Message, NotTaken, Queue, QueueEvent, QueueReply};
use dovetail_table::{Error, Table};
use futures_util::future::join_all;
use serde_json::Value;

/// What the function reaches.
#[derive(Clone, Debug)]
pub struct Handles {
    /// The tables.
    pub table: Table,
    /// The queue that its messages are from.
    pub queue: Queue,
    /// The way to receivers.
    pub outbound: Outbound,
}

/// What was done, for the metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Did {
    /// How many deliveries were taken.
    pub delivered: u64,
    /// How many tries were in vain.
    pub not_taken: u64,
    /// How many deliveries were given up.
    pub given_up: u64,
}

/// Why a message has to come again.
#[derive(Debug)]
enum Undone {
    /// It is none of ours.
    Unreadable,
    /// The table.
    Table(Error),
    /// The queue.
    Queue(NotTaken),
}

impl From<Error> for Undone {
    fn from(error: Error) -> Self {
        Self::Table(error)
    }
}

impl From<NotTaken> for Undone {
    fn from(error: NotTaken) -> Self {
        Self::Queue(error)
    }
}

impl Undone {
    fn reason(&self) -> String {
        match self {
            Self::Unreadable => "it is neither an event nor a delivery nor a run".to_owned(),
            Self::Table(error) => error.to_string(),
            Self::Queue(NotTaken(reason)) => format!("the queue does not take what follows: {reason}"),
        }
    }
}

/// Works on a batch of messages. What fails on our side comes again, and in the end goes to the dead-letter queue; what
/// fails on a receiver's is tried again later.
pub async fn handle(handles: &Handles, event: QueueEvent) -> (QueueReply, Did) {
    let ended = join_all(event.records.iter().map(|message| work_on(handles, message))).await;
    let (mut again, mut all) = (Vec::new(), Did::default());
    for (message, ended) in event.records.into_iter().zip(ended) {
        match ended {
            Ok(did) => {
                all.delivered += did.delivered;
                all.not_taken += did.not_taken;
                all.given_up += did.given_up;
            }
            Err(undone) => {
                log(&format!("message {}", message.id), &undone.reason());
                again.push(message.id);
            }
        }
    }
    (QueueReply::again(again), all)
}

async fn work_on(handles: &Handles, message: &Message) -> Result<Did, Undone> {
    let body: Value = serde_json::from_str(&message.body).map_err(|_| Undone::Unreadable)?;
    if let Some(delivery) = Delivery::of_message(&body) {
        return attempt::attempt(handles, delivery).await;
    }
    if let Some(run) = Run::of_message(&body) {
        return check::check(handles, run).await;
    }
    if body.get("detail-type").and_then(Value::as_str) != Some(CHANGE_INSTANCE) {
        return Err(Undone::Unreadable);
    }
    let detail = body.get("detail").ok_or(Undone::Unreadable)?;
    fan_out::fan_out(handles, detail).await
}
