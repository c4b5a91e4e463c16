//! The event bus: events are published in order for each subject, at least once. The only crate that speaks to
//! EventBridge.

mod order;

use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use domain::event::{Event, SOURCE};
use dovetail_aws::{Way, pause};
use std::time::Duration;
use tokio::time::Instant;

/// How often what the bus does not take is offered again in a row.
const RETRIES_MAX: u32 = 5;

/// How long events are offered in one go; a function has to answer before its own time is up.
const DURATION_MAX: Duration = Duration::from_secs(40);

/// Where the bus is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name of the bus.
    pub bus: String,
    /// A bus to use instead of AWS's, by its endpoint.
    pub endpoint: Option<String>,
}

impl Settings {
    /// The settings of a deployed function: `DOVETAIL_BUS` and, for a bus in AWS's place,
    /// `DOVETAIL_BUS_ENDPOINT`.
    pub fn from_env() -> Result<Self, std::env::VarError> {
        Ok(Self {
            bus: std::env::var("DOVETAIL_BUS")?,
            endpoint: std::env::var("DOVETAIL_BUS_ENDPOINT").ok(),
        })
    }
}

/// A bus and the client that reaches it.
#[derive(Clone, Debug)]
pub struct Bus {
    client: Client,
    name: String,
}

impl Bus {
    /// Connects with the credentials and the region of the environment, or to a bus in AWS's place.
    pub fn connect(settings: Settings) -> Self {
        let way = Way::to(settings.endpoint.clone());
        Self::connect_by(settings, way)
    }

    /// Connects in a certain way, wherever the settings lead.
    pub fn connect_by(settings: Settings, way: Way) -> Self {
        let config = dovetail_aws::config(way);
        Self { client: Client::new(&config), name: settings.bus }
    }

    /// Publishes events; tells which is the first that could not be, if there is one.
    ///
    /// An event may be published twice, as its answer may be lost; it never comes before an earlier one of its
    /// subject.
    pub async fn publish(&self, events: &[Event]) -> Option<usize> {
        let mut waiting: Vec<usize> = (0..events.len()).collect();
        let (began, mut attempt) = (Instant::now(), 0);
        while !waiting.is_empty() && began.elapsed() < DURATION_MAX {
            let batch = order::next(events, &waiting);
            let taken = self.put(events, &batch).await;
            waiting.retain(|event| !taken.contains(event));
            attempt = if taken.is_empty() { attempt + 1 } else { 0 };
            if attempt > RETRIES_MAX {
                break;
            }
            if taken.len() < batch.len() {
                pause(attempt).await;
            }
        }
        waiting.first().copied()
    }

    /// Offers a batch; tells which of it was taken, for each entry is taken or not.
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
