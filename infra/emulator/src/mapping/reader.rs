//! The half of a consumer that reads shards and hands their records to the lanes.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::{mpsc::UnboundedSender, watch},
    time::Instant,
};

use super::{Consumer, Error, Settings, lane::Queued, window::Window};
use crate::stream::{Read, Shard, sequence, shard_cursor::ShardCursor};

/// The longest wait for a wake-up. After it a consumer reads anyway, because other processes also write.
const POLL: Duration = Duration::from_millis(200);
/// The wait at the end of the stream in which records gather into a batch. The first record after a pause does not
/// wait.
const GATHERING: Duration = Duration::from_millis(10);
/// The most records of one read. The engine does not limit the bytes of a response.
const READ_MAX: usize = 100;
/// The most records behind the oldest unprocessed one. The number bounds the memory, and the repetitions after a
/// restart.
const WINDOW_MAX: usize = 1_000;

/// A reader of all shards; it runs concurrently with the lanes.
pub(super) struct Reader<'a> {
    consumer: &'a Consumer,
    /// Queues of the lanes; the lanes end with this reader.
    lanes: Vec<UnboundedSender<Queued>>,
    woken: watch::Receiver<u64>,
    stop: watch::Receiver<bool>,
    window: watch::Receiver<Window>,
    cursor: ShardCursor,
    /// Earliest time of the next read.
    due: Instant,
}

impl<'a> Reader<'a> {
    pub(super) fn new(consumer: &'a Consumer, lanes: Vec<UnboundedSender<Queued>>) -> Self {
        Self {
            consumer,
            lanes,
            woken: consumer.woken.clone(),
            stop: consumer.stop.clone(),
            window: consumer.window.subscribe(),
            cursor: ShardCursor::default(),
            due: Instant::now(),
        }
    }

    /// Reads and hands over records until the stop.
    pub(super) async fn run(mut self) -> Result<(), Error> {
        while !self.consumer.is_stopped() {
            // Count and window are taken before the reads. A write during the reads makes the count outdated, so
            // `settled` keeps waiting. Only the lanes write, so an empty window adds no record.
            let woken = *self.woken.borrow_and_update();
            let unprocessed = self.window.borrow_and_update().len();
            let is_disabled = !*self.consumer.enabled.borrow();
            let rests = is_disabled && unprocessed == 0;
            self.consumer
                .progress
                .send_if_modified(|progress| std::mem::replace(&mut progress.rests, rests) != rests);
            if is_disabled || unprocessed >= WINDOW_MAX {
                self.pause(POLL).await;
            } else if self.read_shards().await? == Found::Nothing {
                if unprocessed == 0 {
                    self.consumer.progress.send_modify(|progress| progress.idle_since = woken);
                }
                self.pause(POLL).await;
            }
        }
        Ok(())
    }

    /// Reads the shards up to the first one with wanted records, and hands these over.
    async fn read_shards(&mut self) -> Result<Found, Error> {
        let open = self.cursor.next_shards(&self.consumer.with.stream).await;
        if open.is_empty() {
            // The table is new, or the children of a closed shard are not listed yet.
            self.consumer.with.stream.refresh().await?;
        }
        let mut found = Found::Nothing;
        for shard in open {
            let read = self.read(&shard).await?;
            if !read.records.is_empty() || read.is_end {
                found = Found::Something;
            }
            let records = self.gather_from(&shard, read).await?;
            if !records.is_empty() {
                self.hand_over(&shard, records);
                break;
            }
        }
        Ok(found)
    }

    /// Collects the wanted records of a read; if there are any, it reads on until the batch is full or its window
    /// ends.
    async fn gather_from(&mut self, shard: &Shard, mut read: Read) -> Result<Vec<Value>, Error> {
        let Settings { batch_size, batch_window, .. } = self.consumer.mapping.settings;
        let mut gathered = Vec::new();
        let until = Instant::now() + batch_window;
        loop {
            let taken = read.records.iter().filter(|record| self.consumer.mapping.takes(record));
            gathered.extend(taken.map(|record| Value::clone(record)));
            let is_over = read.is_end || self.consumer.is_stopped() || until <= Instant::now();
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
            None => self.consumer.with.journal.position(&self.consumer.position_name(shard))?,
        };
        let read = shard.read(after.as_deref(), READ_MAX).await?;
        let last = read.records.last().and_then(|record| sequence(record)).map(str::to_owned);
        self.cursor.go_on(shard, last.or(after));
        if read.is_end {
            self.cursor.end(shard);
            self.consumer.with.stream.refresh().await?;
        }
        // A full read means that there is more, so the next one follows at once. At the end of the stream, a short
        // wait turns many small batches into a few large ones.
        self.due = Instant::now() + if read.records.len() < READ_MAX { GATHERING } else { Duration::ZERO };
        Ok(read)
    }

    /// Hands records to their lanes.
    fn hand_over(&self, shard: &Shard, records: Vec<Value>) {
        let read_to = self.cursor.position(shard).cloned().flatten();
        let lane = |record: &Value| lane_of(record, self.lanes.len());
        let entry = |record: &Value| Some((sequence(record)?.to_owned(), lane(record)));
        let position = self.consumer.position_name(shard);
        self.consumer
            .window
            .send_modify(|window| window.add(&position, records.iter().filter_map(entry), read_to));
        for record in records {
            if let Some(queue) = self.lanes.get(lane(&record)) {
                // A lane ends only with the whole consumer.
                let _ended = queue.send(Queued { shard: shard.clone(), record });
            }
        }
    }

    /// Waits for a time, a wake-up, progress of a lane or the stop.
    async fn pause(&mut self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            _ = self.woken.changed() => {}
            _ = self.window.changed() => {}
            _ = self.stop.wait_for(|stop| *stop) => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Something,
}

/// Returns the lane of a record, by its partition key. Lambda keeps only the order of each item; this coarser order
/// gives each run the same results. A test of the stream delivers records in any order.
fn lane_of(record: &Value, lanes: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    record.pointer("/dynamodb/Keys/pk").hash(&mut hasher);
    let lanes = u64::try_from(lanes).unwrap_or(u64::MAX);
    let lane = hasher.finish().checked_rem(lanes).unwrap_or_default();
    usize::try_from(lane).unwrap_or_default()
}
