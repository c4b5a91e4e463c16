//! The client of SQS: sends delayed deliveries, and decodes the batches that a function receives.

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::ProvideErrorMetadata as _;
use dovetail_aws::Way;
use serde::{Deserialize, Serialize};

/// The longest delay of a message, in seconds; a limit of SQS.
pub const DELAY_SECONDS_MAX: u64 = 900;

/// The address of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// URL of the queue.
    pub url: String,
    /// Endpoint of a queue that replaces AWS; `None` means AWS.
    pub endpoint: Option<String>,
}

impl Settings {
    /// Reads the settings from the environment: `DOVETAIL_QUEUE` and, for another queue, `DOVETAIL_QUEUE_ENDPOINT`.
    pub fn from_env() -> Result<Self, std::env::VarError> {
        Ok(Self {
            url: std::env::var("DOVETAIL_QUEUE")?,
            endpoint: std::env::var("DOVETAIL_QUEUE_ENDPOINT").ok(),
        })
    }
}

/// A queue with its client.
#[derive(Clone, Debug)]
pub struct Queue {
    client: Client,
    url: String,
}

/// A rejected message, or a lost answer. The text names a kind, never the content of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTaken(pub String);

impl Queue {
    /// Connects to AWS with the credentials and region of the environment, or to another queue.
    pub fn connect(settings: Settings) -> Self {
        let config = dovetail_aws::config(Way::to(settings.endpoint));
        Self { client: Client::new(&config), url: settings.url }
    }

    /// Sends a message that becomes visible after a delay in seconds, at most [`DELAY_SECONDS_MAX`].
    pub async fn send(&self, body: String, delay_seconds: u64) -> Result<(), NotTaken> {
        let delay = i32::try_from(delay_seconds.min(DELAY_SECONDS_MAX)).unwrap_or(i32::MAX);
        let sent = self.client.send_message().queue_url(&self.url).message_body(body).delay_seconds(delay);
        match sent.send().await {
            Ok(_) => Ok(()),
            Err(error) => Err(NotTaken(error.code().unwrap_or("no response").to_owned())),
        }
    }
}

/// The event of a function that a queue triggers.
#[derive(Debug, Default, Deserialize)]
pub struct QueueEvent {
    /// Messages of the batch.
    #[serde(rename = "Records")]
    pub records: Vec<Message>,
}

/// A message of the queue; its debug form leaves out the body.
#[derive(derive_more::Debug, Deserialize)]
#[debug("Message {{ id: {id:?}, .. }}")]
pub struct Message {
    #[serde(rename = "messageId")]
    pub id: String,
    /// The text as the sender wrote it.
    pub body: String,
}

/// The response of the function: the messages that SQS delivers again.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueReply {
    #[serde(rename = "batchItemFailures")]
    pub failures: Vec<Undone>,
}

/// A message that SQS delivers again.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Undone {
    #[serde(rename = "itemIdentifier")]
    pub id: String,
}

impl QueueReply {
    /// Returns the response that makes SQS deliver these messages again, and no others.
    pub fn again(ids: Vec<String>) -> Self {
        Self { failures: ids.into_iter().map(|id| Undone { id }).collect() }
    }
}
