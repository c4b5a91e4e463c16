//! An event source mapping: delivers the records of the table's stream to one function, as Lambda does.
//!
//! A `reader` reads the shards and divides the records into lanes by their key. Each `lane` delivers its records
//! at least once, one batch at a time, in the order of the stream. A failing lane does not delay the others.
//! [`delivery`] decides about a batch, and `window` about the stored position.

pub mod delivery;
mod lane;
mod reader;
mod settings;
mod window;

use std::{sync::Arc, time::SystemTime};

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::{
    invoke::Invoker,
    journal::{self, Journal},
    pattern::Pattern,
    stream::{self, Shard, Stream},
};
use reader::Reader;
pub use settings::{GENERATE, NOTIFY, Settings};
use window::Window;

/// The reason why a consumer ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// The position could not be stored.
    #[error(transparent)]
    Journal(#[from] journal::Error),
}

/// A function with the filters of its records.
#[derive(Clone, Debug)]
pub struct Mapping {
    settings: Settings,
    /// Patterns of the wanted records; an empty list selects all.
    filters: Vec<Pattern>,
}

impl Mapping {
    /// Parses the filters, each an event pattern in JSON.
    pub fn new(settings: Settings, filters: &[&str]) -> Result<Self, String> {
        let read = |filter: &&str| {
            let pattern = serde_json::from_str(filter).map_err(|error| error.to_string());
            pattern.and_then(|pattern| Pattern::parse(&pattern))
        };
        let filters: Result<Vec<Pattern>, String> = filters.iter().map(read).collect();
        let describe = |problem| format!("the filter of `{}`: {problem}", settings.function);
        Ok(Self { settings, filters: filters.map_err(describe)? })
    }

    fn takes(&self, record: &Value) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| filter.matches(record))
    }
}

/// The progress of a consumer, for those that wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Invocations that processed records, and given-up batches.
    pub handled: u64,
    /// Wake-ups before the last read that found nothing.
    pub idle_since: u64,
    /// Whether the consumer is disabled and has finished its last batches.
    pub rests: bool,
}

/// The control of a consumer: wait for it, disable it or enable it.
#[derive(Clone, Debug)]
pub struct Handle {
    /// Name of the function.
    pub function: &'static str,
    /// Whether the consumer is enabled, as the setting `Enabled` of a mapping.
    pub enabled: watch::Sender<bool>,
    /// Progress of the consumer.
    pub progress: watch::Receiver<Progress>,
}

/// The common resources of all consumers.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub stream: Stream,
    /// Client that invokes functions.
    pub invoker: Invoker,
    /// Storage of positions and failed batches.
    pub journal: Arc<Journal>,
    /// Count of events that may have added records.
    pub wake: watch::Sender<u64>,
    /// Clock for the age of records.
    pub clock: fn() -> SystemTime,
}

/// Wakes all consumers of the stream, and returns the new count of wake-ups.
pub fn wake(wake: &watch::Sender<u64>) -> u64 {
    let mut count = 0;
    wake.send_modify(|woken| {
        *woken = woken.wrapping_add(1);
        count = *woken;
    });
    count
}

/// The task of one event source mapping.
#[derive(Debug)]
pub struct Consumer {
    mapping: Mapping,
    with: Surroundings,
    woken: watch::Receiver<u64>,
    stop: watch::Receiver<bool>,
    enabled: watch::Sender<bool>,
    progress: watch::Sender<Progress>,
    /// Records that were read and are not yet processed.
    window: watch::Sender<Window>,
}

impl Consumer {
    /// Returns a consumer, which continues at the position of the journal.
    pub fn new(mapping: Mapping, with: Surroundings, stop: watch::Receiver<bool>) -> Self {
        let woken = with.wake.subscribe();
        let (enabled, progress) = (watch::Sender::new(true), watch::Sender::default());
        Self { mapping, with, woken, stop, enabled, progress, window: watch::Sender::default() }
    }

    /// Returns the control of this consumer.
    pub fn handle(&self) -> Handle {
        Handle {
            function: self.mapping.settings.function,
            enabled: self.enabled.clone(),
            progress: self.progress.subscribe(),
        }
    }

    /// Runs until the stop, which takes effect between two invocations.
    pub async fn run(self) -> Result<(), Error> {
        let (senders, queues): (Vec<_>, Vec<_>) =
            (0..self.mapping.settings.lanes).map(|_| mpsc::unbounded_channel()).unzip();
        let lanes = queues.into_iter().enumerate();
        let lanes = try_join_all(lanes.map(|(number, queue)| self.run_lane(number, queue)));
        tokio::try_join!(Reader::new(&self, senders).run(), lanes)?;
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns the name of this consumer's position in a shard.
    fn position_name(&self, shard: &Shard) -> String {
        position_name(self.mapping.settings.function, shard)
    }
}

/// Returns the name of a function's position in a shard.
fn position_name(function: &str, shard: &Shard) -> String {
    format!("{function} {}", shard.name())
}

#[cfg(test)]
mod tests;
