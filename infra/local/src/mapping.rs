//! An event source mapping: brings the records of the table's stream to one function, as Lambda does.
//!
//! Records come at least once, in the order of their shard, and one batch at a time, whichever shard it is of. What to do with a batch is decided in [`delivery`]; here is the
//! loop around it, which reads, invokes, waits and remembers.

pub mod delivery;

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
    stream::{self, Course, Read, Shard, Stream, sequence},
};
use delivery::{Delivery, GivenUp, Last, Policy, Step};

/// How long a consumer waits for a wake-up before it looks by itself: other processes write too.
const POLL: Duration = Duration::from_millis(200);
/// How long a consumer at the end of the stream lets records gather before it looks again. The first after a pause
/// waits for nothing.
const GATHERING: Duration = Duration::from_millis(10);
/// How many records are read at once. The engine does not limit a reply's bytes.
const READ_MAX: usize = 100;

/// Why a consumer could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The stream can't be read.
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// What was done can't be remembered.
    #[error(transparent)]
    Journal(#[from] journal::Error),
}

/// How the stream reaches a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The function's name, which is the consumer's too.
    pub function: &'static str,
    /// How many records it gets at most at once.
    pub batch_size: usize,
    /// How long to wait for more records before it gets fewer.
    pub batch_window: Duration,
    /// What happens to those that it does not accept.
    pub policy: Policy,
    /// Whether it writes to the table, so that there may be more records after it.
    pub writes: bool,
}

/// A function with the records of the stream that are for it.
#[derive(Clone, Debug)]
pub struct Mapping {
    settings: Settings,
    /// A record that matches none of these is not for the function; without any, every record is.
    filters: Vec<Pattern>,
}

impl Mapping {
    /// Reads the filters, each an event pattern as JSON.
    pub fn new(settings: Settings, filters: &[&str]) -> Result<Self, String> {
        let read = |filter: &&str| {
            let pattern = serde_json::from_str(filter).map_err(|error| error.to_string());
            pattern.and_then(|pattern| Pattern::parse(&pattern))
        };
        let filters: Result<Vec<Pattern>, String> = filters.iter().map(read).collect();
        let told = |problem| format!("the filter of `{}`: {problem}", settings.function);
        Ok(Self { settings, filters: filters.map_err(told)? })
    }

    fn takes(&self, record: &Value) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| filter.matches(record))
    }
}

/// How far a consumer is, for those who wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many batches it is done with.
    pub handled: u64,
    /// The count of wake-ups before its last read that found nothing.
    pub idle_since: u64,
    /// Whether it rests.
    pub rests: bool,
}

/// A consumer, for those who wait for it or have it rest.
#[derive(Clone, Debug)]
pub struct Handle {
    /// The function that it feeds.
    pub function: &'static str,
    /// Whether it is at work: the setting `Enabled` of a mapping.
    pub enabled: watch::Sender<bool>,
    /// How far it is.
    pub progress: watch::Receiver<Progress>,
}

/// What all consumers work with.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The stream.
    pub stream: Stream,
    /// The functions.
    pub invoker: Invoker,
    /// Where positions and failed batches are kept.
    pub journal: Arc<Journal>,
    /// Counts what may have written to the table.
    pub wake: watch::Sender<u64>,
    /// The clock that a record's age is told by.
    pub clock: fn() -> SystemTime,
}

/// Tells everyone who reads the stream that there may be more; the count after it.
pub fn wake(wake: &watch::Sender<u64>) -> u64 {
    let mut count = 0;
    wake.send_modify(|woken| {
        *woken = woken.wrapping_add(1);
        count = *woken;
    });
    count
}

/// One mapping at work.
#[derive(Debug)]
pub struct Consumer {
    mapping: Mapping,
    with: Surroundings,
    woken: watch::Receiver<u64>,
    stop: watch::Receiver<bool>,
    enabled: watch::Sender<bool>,
    progress: watch::Sender<Progress>,
    course: Course,
    /// When the stream may be read again.
    due: Instant,
}

/// Records of one shard for the function, which are delivered before anything else is read.
#[derive(Debug)]
struct Gathered {
    shard: Shard,
    records: Vec<Value>,
    /// How far the shard was read for them.
    read_to: Option<String>,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    Stop,
}

impl Consumer {
    /// A consumer that goes on where the journal says.
    pub fn new(mapping: Mapping, with: Surroundings, stop: watch::Receiver<bool>) -> Self {
        let woken = with.wake.subscribe();
        let (enabled, progress) = (watch::Sender::new(true), watch::Sender::default());
        let course = Course::default();
        Self { mapping, with, woken, stop, enabled, progress, course, due: Instant::now() }
    }

    /// Where it is told to rest, and tells how far it is.
    pub fn handle(&self) -> Handle {
        Handle {
            function: self.mapping.settings.function,
            enabled: self.enabled.clone(),
            progress: self.progress.subscribe(),
        }
    }

    /// Works until it is stopped, between two invocations.
    pub async fn run(mut self) -> Result<(), Error> {
        while let Some(Gathered { shard, records, read_to }) = self.gather().await? {
            for batch in records.chunks(self.mapping.settings.batch_size) {
                if self.deliver(&shard, batch.to_vec()).await? == Flow::Stop {
                    return Ok(());
                }
            }
            // Beyond the last batch there may be records for others.
            if let Some(read_to) = &read_to {
                self.with.journal.set_position(&self.place(&shard), read_to)?;
            }
        }
        Ok(())
    }

    /// What the journal calls this consumer's place in a shard.
    fn place(&self, shard: &Shard) -> String {
        place(self.mapping.settings.function, shard)
    }

    /// Reads on until there is something to deliver; none when it is time to stop.
    async fn gather(&mut self) -> Result<Option<Gathered>, Error> {
        loop {
            if *self.stop.borrow() {
                return Ok(None);
            }
            let woken = *self.woken.borrow_and_update();
            let rests = !*self.enabled.borrow();
            self.progress.send_if_modified(|progress| std::mem::replace(&mut progress.rests, rests) != rests);
            if rests {
                self.rest(POLL).await;
                continue;
            }
            let (open, mut found_none) = (self.course.turn(&self.with.stream).await, true);
            if open.is_empty() {
                // The table is new, or what follows a shard that ended is not told yet.
                self.with.stream.look_again().await?;
            }
            for shard in open {
                let read = self.read(&shard).await?;
                found_none &= read.records.is_empty() && !read.is_end;
                let records = self.gather_from(&shard, read).await?;
                if !records.is_empty() {
                    let read_to = self.course.place(&shard).cloned().flatten();
                    return Ok(Some(Gathered { shard, records, read_to }));
                }
            }
            if found_none {
                self.progress.send_modify(|progress| progress.idle_since = woken);
                self.rest(POLL).await;
            }
        }
    }

    /// What is for the function of the records that were read of a shard; if anything is, of those that follow too,
    /// until a batch is full or its window over.
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
                self.rest(POLL.min(until - Instant::now())).await;
                self.woken.mark_unchanged();
            }
            read = self.read(shard).await?;
        }
    }

    /// Reads what follows in a shard, at once or a moment after something was read last.
    async fn read(&mut self, shard: &Shard) -> Result<Read, Error> {
        tokio::time::sleep_until(self.due).await;
        let after = match self.course.place(shard) {
            Some(place) => place.clone(),
            None => self.with.journal.position(&self.place(shard))?,
        };
        let read = shard.read(after.as_deref(), READ_MAX).await?;
        let last = read.records.last().and_then(|record| sequence(record)).map(str::to_owned);
        self.course.go_on(shard, last.or(after));
        if read.is_end {
            self.course.end(shard);
            self.with.stream.look_again().await?;
        }
        self.due = Instant::now() + if read.records.len() < READ_MAX { GATHERING } else { Duration::ZERO };
        Ok(read)
    }

    /// Waits for a while, a wake-up or the stop.
    async fn rest(&mut self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            _ = self.woken.changed() => {}
            _ = self.stop.wait_for(|stop| *stop) => {}
        }
    }

    /// Brings one batch to the function, until all of it is done.
    async fn deliver(&mut self, shard: &Shard, batch: Vec<Value>) -> Result<Flow, Error> {
        let (function, place) = (self.mapping.settings.function, self.place(shard));
        let mut delivery = Delivery::new(self.mapping.settings.policy, batch);
        loop {
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
                    if let Some(done) = delivery.done() {
                        self.with.journal.set_position(&place, done)?;
                    }
                    if self.mapping.settings.writes {
                        wake(&self.with.wake);
                    }
                }
                Step::GiveUp(given_up) => {
                    let batch = self.failed(shard, &given_up);
                    self.with.journal.give_up(&batch, &place, delivery.done().unwrap_or_default())?;
                }
                Step::Finish => {
                    self.progress.send_modify(|progress| progress.handled = progress.handled.wrapping_add(1));
                    return Ok(Flow::Continue);
                }
            }
        }
    }

    /// What is kept of a batch that was given up: what Lambda writes to S3.
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
            Some(Last::Reported) => (answered(None), "it reported records as failed"),
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

/// What the journal calls a function's place in a shard.
fn place(function: &str, shard: &Shard) -> String {
    format!("{function} {}", shard.name())
}

/// The event that a function gets for these records.
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
