//! An event source mapping: the stream's records go to a function in batches, in order, as Lambda delivers them.
//!
//! What happens to a batch is decided in [`delivery`], without I/O; here it is read, invoked and noted.

pub mod delivery;

use std::{
    io,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use tokio::sync::watch;

use self::delivery::{Delivery, Limits, Step};
use crate::{
    journal::{Failed, Journal},
    pattern::Pattern,
    stream::{Stream, sequence},
};

/// How often the stream is looked at when nobody says that there is something new.
const POLL: Duration = Duration::from_millis(200);
/// How many records are read at once.
const READ_MAX: usize = 1_000;
/// The pause before a first retry; it doubles.
const BACKOFF: Duration = Duration::from_millis(50);
/// The longest pause before a retry.
const BACKOFF_MAX: Duration = Duration::from_secs(10);

/// How records go to a function.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The function.
    pub function: &'static str,
    /// Records that match one of these go to it; the others count as delivered.
    pub filters: Vec<Pattern>,
    /// How many records one batch has at most.
    pub batch_size: usize,
    /// How long records are gathered for a batch that is not full.
    pub window: Duration,
    /// What a batch that fails gets.
    pub limits: Limits,
}

/// Tells all mappings that the stream may have something new.
#[derive(Clone, Debug)]
pub struct Wake(watch::Sender<u64>);

impl Default for Wake {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Wake {
    /// Wakes; what is read after this bears at least this number.
    pub fn wake(&self) -> u64 {
        self.0.send_modify(|number| *number += 1);
        *self.0.borrow()
    }
}

/// What one look at the stream came to.
enum Turn {
    /// A batch was delivered, or given up.
    Delivered,
    /// There was nothing that this function wants.
    PassedOver,
    /// There was nothing.
    Nothing,
}

/// A mapping as it is at work.
#[derive(Debug)]
pub struct Mapping {
    /// How it works.
    pub settings: Settings,
    stream: Stream,
    journal: Journal,
    wake: Wake,
    enabled: AtomicBool,
    /// How many batches were delivered or given up.
    handled: AtomicU64,
    /// The number of the wake before the last read that found nothing.
    idle: watch::Sender<u64>,
}

impl Mapping {
    /// A mapping that goes on where it was.
    pub fn new(settings: Settings, stream: Stream, journal: Journal, wake: Wake) -> Self {
        let (enabled, handled) = (AtomicBool::new(true), AtomicU64::new(0));
        Self { settings, stream, journal, wake, enabled, handled, idle: watch::Sender::new(0) }
    }

    /// Has the mapping rest, or go on.
    pub fn enable(&self, enabled: bool) {
        self.enabled.store(enabled, Ordering::SeqCst);
        self.wake.wake();
    }

    /// Whether it is at work.
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::SeqCst)
    }

    /// How many batches were delivered or given up.
    pub fn handled(&self) -> u64 {
        self.handled.load(Ordering::SeqCst)
    }

    /// Waits until a read that began after a wake has found nothing, or the mapping rests.
    pub async fn idle_since(&self, wake: u64) {
        let mut idle = self.idle.subscribe();
        while self.is_enabled() && *idle.borrow_and_update() < wake {
            // The sender lives as long as this.
            drop(tokio::time::timeout(POLL, idle.changed()).await);
        }
    }

    /// Delivers records for ever.
    pub async fn run<F, A>(&self, invoke: F)
    where
        F: Fn(Value) -> A + Send + Sync,
        A: Future<Output = Result<Value, String>> + Send,
    {
        let mut wakes = self.wake.0.subscribe();
        loop {
            let woken = *wakes.borrow_and_update();
            let turn = if self.is_enabled() { self.turn(&invoke).await } else { Ok(Turn::Nothing) };
            match turn {
                Ok(Turn::Delivered) => {
                    self.handled.fetch_add(1, Ordering::SeqCst);
                    self.wake.wake();
                    continue;
                }
                Ok(Turn::PassedOver) => continue,
                Ok(Turn::Nothing) => {
                    self.idle.send_replace(woken);
                }
                Err(error) => dovetail_aws::log(self.settings.function, &error.to_string()),
            }
            // Woken, or time to look: what it was makes no difference.
            drop(tokio::time::timeout(POLL, wakes.changed()).await);
        }
    }

    /// Reads one batch and delivers it.
    async fn turn<F, A>(&self, invoke: &F) -> io::Result<Turn>
    where
        F: Fn(Value) -> A + Send + Sync,
        A: Future<Output = Result<Value, String>> + Send,
    {
        let position = self.journal.position(self.settings.function).map_err(io::Error::other)?;
        let read = self.gather(position.as_deref()).await?;
        let (batch, last) = self.batch(read);
        let Some(last) = last else { return Ok(Turn::Nothing) };
        let is_empty = batch.is_empty();
        if !is_empty {
            self.deliver(batch, invoke).await?;
        }
        self.advance(&last)?;
        Ok(if is_empty { Turn::PassedOver } else { Turn::Delivered })
    }

    /// Reads from a position on, for as long as the window is open and the batch is not full.
    async fn gather(&self, position: Option<&str>) -> io::Result<Vec<Value>> {
        let read = self.stream.read(position, READ_MAX).await?;
        let wanted = read.iter().filter(|record| self.wants(record)).count();
        if self.settings.window.is_zero() || wanted == 0 || wanted >= self.settings.batch_size {
            return Ok(read);
        }
        tokio::time::sleep(self.settings.window).await;
        self.stream.read(position, READ_MAX).await
    }

    fn wants(&self, record: &Value) -> bool {
        self.settings.filters.iter().any(|filter| filter.matches(record))
    }

    /// The wanted records of the first batch, and how far the stream is read with it.
    fn batch(&self, read: Vec<Value>) -> (Vec<Value>, Option<String>) {
        let (mut batch, mut last) = (Vec::new(), None);
        for record in read {
            let is_wanted = self.wants(&record);
            if is_wanted && batch.len() >= self.settings.batch_size {
                break;
            }
            last = Some(sequence(&record).to_owned());
            if is_wanted {
                batch.push(record);
            }
        }
        (batch, last)
    }

    fn advance(&self, place: &str) -> io::Result<()> {
        self.journal.advance(self.settings.function, place).map_err(io::Error::other)
    }

    /// Delivers a batch until all of it is taken or given up.
    async fn deliver<F, A>(&self, batch: Vec<Value>, invoke: &F) -> io::Result<()>
    where
        F: Fn(Value) -> A + Send + Sync,
        A: Future<Output = Result<Value, String>> + Send,
    {
        let mut delivery = Delivery::new(batch, self.settings.limits);
        loop {
            match delivery.next(now()) {
                Step::Invoke(records) => {
                    let reply = invoke(json!({"Records": records})).await;
                    let retry = delivery.replied(reply);
                    self.note(&delivery)?;
                    if let Some(retry) = retry {
                        tokio::time::sleep(BACKOFF.saturating_mul(1 << retry.min(16)).min(BACKOFF_MAX)).await;
                    }
                }
                Step::GiveUp(given_up) => {
                    let function = self.settings.function.to_owned();
                    let record = given_up.record(&function, &self.stream.arn, &self.stream.shard, now());
                    self.journal.give_up(&Failed { function, record }).map_err(io::Error::other)?;
                    self.note(&delivery)?;
                }
                Step::Done => return Ok(()),
            }
        }
    }

    /// Notes how far a delivery has come.
    fn note(&self, delivery: &Delivery) -> io::Result<()> {
        delivery.done().map_or(Ok(()), |place| self.advance(place))
    }
}

/// The time since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
