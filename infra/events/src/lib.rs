//! The client of EventBridge: publishes events at least once and in order for each subject (decision record 11).

mod order;

use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use domain::outreach::event::{Event, SOURCE};
use dovetail_aws::{Endpoint, Handshake, retry};

/// The name and the endpoint of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub bus: String,
    /// Endpoint of a bus that replaces AWS; `None` means AWS.
    pub endpoint: Option<String>,
}

impl Settings {
    /// Reads the settings from the environment: `DOVETAIL_BUS` and, for another bus, `DOVETAIL_BUS_ENDPOINT`.
    pub fn from_env() -> Result<Self, std::env::VarError> {
        Ok(Self {
            bus: std::env::var("DOVETAIL_BUS")?,
            endpoint: std::env::var("DOVETAIL_BUS_ENDPOINT").ok(),
        })
    }
}

/// A bus with its client.
#[derive(Clone, Debug)]
pub struct Bus {
    client: Client,
    name: String,
    uses_tls: bool,
}

impl Bus {
    /// Connects to AWS with the credentials and region of the environment, or to another bus.
    pub fn connect(settings: Settings) -> Self {
        let endpoint = Endpoint::to(settings.endpoint.clone());
        Self::connect_by(settings, endpoint)
    }

    /// Connects to `endpoint` and ignores the endpoint of the settings.
    pub fn connect_by(settings: Settings, endpoint: Endpoint) -> Self {
        let config = dovetail_aws::config(endpoint);
        let uses_tls = dovetail_aws::uses_tls(&config);
        Self { client: Client::new(&config), name: settings.bus, uses_tls }
    }

    /// Opens the connection, so the first request does not wait for its TLS handshake.
    pub async fn open_connection(&self) {
        if self.uses_tls {
            let call = self.client.put_events().customize().interceptor(Handshake);
            dovetail_aws::open(Box::pin(call.send())).await;
        }
    }

    /// Publishes events, and returns the index of the first one that failed.
    ///
    /// A lost answer leads to a second publication of the same event. An event never comes before an earlier one of
    /// its subject.
    pub async fn publish(&self, events: &[Event]) -> Option<usize> {
        let mut waiting: Vec<usize> = (0..events.len()).collect();
        let mut attempts = retry::EVENTS.attempts();
        while !waiting.is_empty() && attempts.next().await.is_some() {
            let batch = order::next(events, &waiting);
            let taken = self.put(events, &batch).await;
            waiting.retain(|event| !taken.contains(event));
            // Progress resets the count, so a long batch may take many requests. Only a bus that accepts nothing at
            // all ends the loop before its time is over.
            if !taken.is_empty() {
                // A partly rejected batch is a throttle as well, so the next request waits a moment.
                attempts.restart(taken.len() < batch.len());
            }
        }
        waiting.first().copied()
    }

    /// Sends a batch, and returns the accepted entries. EventBridge accepts or rejects each entry by itself.
    async fn put(&self, events: &[Event], batch: &[usize]) -> Vec<usize> {
        let entries = batch.iter().filter_map(|at| events.get(*at)).map(|event| self.entry(event)).collect();
        let Ok(reply) = self.client.put_events().set_entries(Some(entries)).send().await else {
            return Vec::new();
        };
        let answers = batch.iter().zip(reply.entries());
        answers.filter(|(_, answer)| answer.error_code().is_none()).map(|(at, _)| *at).collect()
    }

    fn entry(&self, event: &Event) -> PutEventsRequestEntry {
        let seconds = i64::try_from(event.time.micros() / 1_000_000).unwrap_or_default();
        PutEventsRequestEntry::builder()
            .event_bus_name(&self.name)
            .source(SOURCE)
            .detail_type(event.detail_type)
            .time(DateTime::from_secs(seconds))
            .set_resources(Some(std::iter::once(&event.subject).chain(&event.resources).cloned().collect()))
            .detail(event.detail.to_string())
            .build()
    }
}
