//! The queue of deliveries: what waits for its time, and what a function gets of it. The only crate that speaks to SQS.

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::ProvideErrorMetadata as _;
use dovetail_aws::Way;
use serde::{Deserialize, Serialize};

/// For how long SQS keeps a message back at most, in seconds.
pub const DELAY_SECONDS_MAX: u64 = 900;

/// Where the queue is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The queue's URL.
    pub url: String,
    /// A queue to use instead of AWS's, by its endpoint.
    pub endpoint: Option<String>,
}

impl Settings {
    /// The settings of a deployed function: `DOVETAIL_QUEUE` and, for a queue in AWS's place,
    /// `DOVETAIL_QUEUE_ENDPOINT`.
    pub fn from_env() -> Result<Self, std::env::VarError> {
        Ok(Self {
            url: std::env::var("DOVETAIL_QUEUE")?,
            endpoint: std::env::var("DOVETAIL_QUEUE_ENDPOINT").ok(),
        })
    }
}

/// A queue and the client that reaches it.
#[derive(Clone, Debug)]
pub struct Queue {
    client: Client,
    url: String,
}

/// That a message was not taken, or that nobody knows; it tells a kind and never what the message holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTaken(pub String);

impl Queue {
    /// Connects with the credentials and the region of the environment, or to a queue in AWS's place.
    pub fn connect(settings: Settings) -> Self {
        let config = dovetail_aws::config(Way::to(settings.endpoint));
        Self { client: Client::new(&config), url: settings.url }
    }

    /// Puts a message into the queue, to be seen after so many seconds, or after the most there may be.
    pub async fn send(&self, body: String, delay_seconds: u64) -> Result<(), NotTaken> {
        let delay = i32::try_from(delay_seconds.min(DELAY_SECONDS_MAX)).unwrap_or(i32::MAX);
        let sent = self.client.send_message().queue_url(&self.url).message_body(body).delay_seconds(delay);
        match sent.send().await {
            Ok(_) => Ok(()),
            Err(error) => Err(NotTaken(error.code().unwrap_or("no answer").to_owned())),
        }
    }
}

/// What a function gets of a queue.
#[derive(Debug, Default, Deserialize)]
pub struct QueueEvent {
    /// The messages.
    #[serde(rename = "Records")]
    pub records: Vec<Message>,
}

/// A message.
#[derive(Deserialize)]
pub struct Message {
    /// Its id.
    #[serde(rename = "messageId")]
    pub id: String,
    /// What it holds.
    pub body: String,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Message").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What a function answers: the messages that it has not dealt with, which come again.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueReply {
    /// Those messages.
    #[serde(rename = "batchItemFailures")]
    pub failures: Vec<Undone>,
}

/// A message that comes again.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// Its id.
    #[serde(rename = "itemIdentifier")]
    pub id: String,
}

impl QueueReply {
    /// These messages come again, and no others.
    pub fn again(ids: Vec<String>) -> Self {
        Self { failures: ids.into_iter().map(|id| Undone { id }).collect() }
    }
}
