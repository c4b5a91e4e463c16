//! The client of SQS, which sends delayed deliveries, and the types of the batches that a function receives.

pub use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::ProvideErrorMetadata as _;
use dovetail_aws::Endpoint;

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
        let endpoint = Endpoint::to(settings.endpoint.clone());
        Self::connect_by(settings, endpoint)
    }

    /// Connects to an endpoint, without a look at the endpoint of the settings.
    pub fn connect_by(settings: Settings, endpoint: Endpoint) -> Self {
        let config = dovetail_aws::config(endpoint);
        Self { client: Client::new(&config), url: settings.url }
    }

    /// Sends a message that becomes visible after a delay in seconds, at most [`DELAY_SECONDS_MAX`].
    ///
    /// SQS prefers groups with few messages in progress, so a slow group does not delay the others.
    pub async fn send(&self, body: String, group: String, delay_seconds: u64) -> Result<(), NotTaken> {
        let delay = i32::try_from(delay_seconds.min(DELAY_SECONDS_MAX)).unwrap_or(i32::MAX);
        let message = self.client.send_message().queue_url(&self.url).message_body(body);
        match message.message_group_id(group).delay_seconds(delay).send().await {
            Ok(_) => Ok(()),
            Err(error) => Err(NotTaken(error.code().unwrap_or("no response").to_owned())),
        }
    }
}
