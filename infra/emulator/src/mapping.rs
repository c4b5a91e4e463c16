//! An event source mapping: delivers the records of the table's stream to one function, as Lambda does.
//!
//! Records arrive at least once, in the order of their shard, and one batch at a time over all shards. [`delivery`]
//! decides about a batch. This file has the loop that reads, invokes, waits and stores positions.

pub mod delivery;
mod settings;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::{sync::watch, time::Instant};

use crate::{
    envelope,
    invoke::Invoker,
    journal::{self, FailedBatch, Journal},
    pattern::Pattern,
    stream::{self, Read, Shard, Stream, sequence, shard_cursor::ShardCursor},
};
use delivery::{Delivery, GivenUp, Last, Step};
pub use settings::{GENERATE, NOTIFY, Settings};

/// The longest wait for a wake-up. After it a consumer reads anyway, because other processes also write.
const POLL: Duration = Duration::from_millis(200);
/// The wait at the end of the stream in which records gather into a batch. The first record after a pause does not
/// wait.
const GATHERING: Duration = Duration::from_millis(10);
/// The most records of one read. The engine does not limit the bytes of a response.
const READ_MAX: usize = 100;

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
    pub handled: u64,
    /// Wake-ups before the last read that found nothing.
    pub idle_since: u64,
    /// Whether the consumer is disabled and has finished its last batch.
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
    cursor: ShardCursor,
    /// Earliest time of the next read.
    due: Instant,
}

/// The records of one shard for the function. The next read waits for their delivery.
#[derive(Debug)]
struct Gathered {
    shard: Shard,
    records: Vec<Value>,
    /// Position of the shard after the read.
    read_to: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    Stop,
}

impl Consumer {
    /// Returns a consumer, which continues at the position of the journal.
    pub fn new(mapping: Mapping, with: Surroundings, stop: watch::Receiver<bool>) -> Self {
        let woken = with.wake.subscribe();
        let (enabled, progress) = (watch::Sender::new(true), watch::Sender::default());
        let cursor = ShardCursor::default();
        Self { mapping, with, woken, stop, enabled, progress, cursor, due: Instant::now() }
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
    pub async fn run(mut self) -> Result<(), Error> {
        while let Some(Gathered { shard, records, read_to }) = self.gather().await? {
            for batch in records.chunks(self.mapping.settings.batch_size) {
                if self.deliver(&shard, batch.to_vec()).await? == Flow::Stop {
                    return Ok(());
                }
            }
            // The read may end with records that the filters exclude. Without this position, a restart would read
            // them again.
            if let Some(read_to) = &read_to {
                self.with.journal.set_position(&self.position_name(&shard), read_to)?;
            }
        }
        Ok(())
    }

    /// Returns the name of this consumer's position in a shard.
    fn position_name(&self, shard: &Shard) -> String {
        position_name(self.mapping.settings.function, shard)
    }

    /// Reads until there is something to deliver, or returns `None` at the stop.
    async fn gather(&mut self) -> Result<Option<Gathered>, Error> {
        loop {
            if *self.stop.borrow() {
                return Ok(None);
            }
            // The count is taken before the reads. A write during them leaves the count behind, so `settled` keeps
            // waiting.
            let woken = *self.woken.borrow_and_update();
            let rests = !*self.enabled.borrow();
            self.progress.send_if_modified(|progress| std::mem::replace(&mut progress.rests, rests) != rests);
            if rests {
                self.pause(POLL).await;
                continue;
            }
            let (open, mut is_empty) = (self.cursor.next_shards(&self.with.stream).await, true);
            if open.is_empty() {
                // The table is new, or the children of a closed shard are not listed yet.
                self.with.stream.refresh().await?;
            }
            for shard in open {
                let read = self.read(&shard).await?;
                is_empty &= read.records.is_empty() && !read.is_end;
                let records = self.gather_from(&shard, read).await?;
                if !records.is_empty() {
                    let read_to = self.cursor.position(&shard).cloned().flatten();
                    return Ok(Some(Gathered { shard, records, read_to }));
                }
            }
            if is_empty {
                self.progress.send_modify(|progress| progress.idle_since = woken);
                self.pause(POLL).await;
            }
        }
    }

    /// Collects the wanted records of a read; if there are any, it reads on until the batch is full or its window
    /// ends.
    async fn gather_from(&mut self, shard: &Shard, mut read: Read) -> Result<Vec<Value>, Error> {
        let Settings { batch_size, batch_window, .. } = self.mapping.settings;
        let mut gathered = Vec::new();
        let until = Instant::now() + batch_window;
        loop {
            let taken = read.records.iter().filter(|record| self.mapping.takes(record));
            gathered.extend(taken.map(|record| Value::clone(record)));
            let is_over = read.is_end || *self.stop.borrow() || until <= Instant::now();
            if gathered.is_empty() || gathered.len() >= batch_size || is_over {
                return Ok(gathered);
            }
            if read.records.is_empty() {
                self.pause(POLL.min(until - Instant::now())).await;
                self.woken.mark_unchanged();
            }
            read = self.read(shard).await?;
        }
    }

    /// Reads the next records of a shard, at once or after the gathering time.
    async fn read(&mut self, shard: &Shard) -> Result<Read, Error> {
        tokio::time::sleep_until(self.due).await;
        let after = match self.cursor.position(shard) {
            Some(position) => position.clone(),
            None => self.with.journal.position(&self.position_name(shard))?,
        };
        let read = shard.read(after.as_deref(), READ_MAX).await?;
        let last = read.records.last().and_then(|record| sequence(record)).map(str::to_owned);
        self.cursor.go_on(shard, last.or(after));
        if read.is_end {
            self.cursor.end(shard);
            self.with.stream.refresh().await?;
        }
        // A full read means that there is more, so the next one follows at once. At the end of the stream, a short
        // wait turns many small batches into a few large ones.
        self.due = Instant::now() + if read.records.len() < READ_MAX { GATHERING } else { Duration::ZERO };
        Ok(read)
    }

    /// Waits for a time, a wake-up or the stop.
    async fn pause(&mut self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            _ = self.woken.changed() => {}
            _ = self.stop.wait_for(|stop| *stop) => {}
        }
    }

    /// Delivers one batch to the function until all of it is processed or given up.
    async fn deliver(&mut self, shard: &Shard, batch: Vec<Value>) -> Result<Flow, Error> {
        let (function, position_name) = (self.mapping.settings.function, self.position_name(shard));
        let mut delivery = Delivery::new(self.mapping.settings.policy, batch);
        loop {
            // A stop between two invocations leaves the rest undelivered. Its position is not stored, so it comes
            // again.
            if *self.stop.borrow() {
                return Ok(Flow::Stop);
            }
            match delivery.next((self.with.clock)()) {
                Step::Pause(time) => {
                    tokio::select! {
                        () = tokio::time::sleep(time) => {}
                        _ = self.stop.wait_for(|stop| *stop) => {}
                    }
                }
                Step::Invoke(records) => {
                    let reply = self.with.invoker.invoke(function, event(records)).await;
                    delivery.replied(&reply);
                    // Stored after each reply, so a restart repeats at most one invocation.
                    if let Some(done) = delivery.done() {
                        self.with.journal.set_position(&position_name, done)?;
                    }
                    if self.mapping.settings.writes {
                        wake(&self.with.wake);
                    }
                }
                Step::GiveUp(given_up) => {
                    let batch = self.failed(shard, &given_up);
                    self.with.journal.give_up(&batch, &position_name, delivery.done().unwrap_or_default())?;
                }
                Step::Finish => {
                    self.progress.send_modify(|progress| progress.handled = progress.handled.wrapping_add(1));
                    return Ok(Flow::Continue);
                }
            }
        }
    }

    /// Returns the record of a failed batch, as Lambda writes it to S3.
    fn failed(&self, shard: &Shard, given_up: &GivenUp) -> FailedBatch {
        let function = self.mapping.settings.function;
        let (first, last) = (given_up.records.first(), given_up.records.last());
        let number = |record: Option<&Value>| record.and_then(sequence).map(str::to_owned);
        let arrival = |record: Option<&Value>| record.and_then(delivery::created).map(text);
        let answered = |error: Option<&str>| {
            let version = "$LATEST";
            json!({"statusCode": 200, "executedVersion": version, "functionError": error})
        };
        let (response, reason) = match &given_up.last {
            None => (Value::Null, ""),
            Some(Last::Reported) => (answered(None), "the function reported failed records"),
            Some(Last::Failed(reason)) => (answered(Some("Unhandled")), reason.as_str()),
        };
        let record = json!({
            "requestContext": {
                "requestId": envelope::uuid(),
                "functionArn": format!(
                    "arn:aws:lambda:{}:{}:function:{function}", envelope::REGION, envelope::ACCOUNT
                ),
                "condition": given_up.condition.name(),
                "approximateInvokeCount": given_up.invocations,
            },
            "responseContext": response,
            "version": "1.0",
            "timestamp": text((self.with.clock)()),
            "DDBStreamBatchInfo": {
                "shardId": shard.id(),
                "startSequenceNumber": number(first),
                "endSequenceNumber": number(last),
                "approximateArrivalOfFirstRecord": arrival(first),
                "approximateArrivalOfLastRecord": arrival(last),
                "batchSize": given_up.records.len(),
                "streamArn": self.with.stream.arn(),
            },
            "payload": event(given_up.records.clone()).to_string(),
        });
        FailedBatch { function: function.to_owned(), reason: reason.to_owned(), record }
    }
}

/// Returns the name of a function's position in a shard.
fn position_name(function: &str, shard: &Shard) -> String {
    format!("{function} {}", shard.name())
}

/// Returns the event with these records.
fn event(records: Vec<Value>) -> Value {
    json!({ "Records": records })
}

fn text(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let time =
        i64::try_from(seconds).ok().and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    time.map(envelope::time).unwrap_or_default()
}

#[cfg(test)]
mod tests;
