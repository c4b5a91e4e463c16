//! The stream in the replay: lanes of `generate` and `notify` behind the polls of each shard.

use crate::names::Names;
use crate::sequence::Sequence;
use crate::stack::Stack;
use dovetail_aws::retry;
use dovetail_worker::TURN;
use simulation::load::lanes::{POLL, SHARDS, shard_and_lane_of};
use simulation::locked;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// Most records of an invocation of `notify`, as in the template.
const NOTIFIED_MAX: usize = 100;
/// Events of a request to the bus.
const ENTRIES_MAX: usize = 10;

/// Most concurrent instances of `deliver`, as in the template.
pub const DELIVERING_MAX: usize = 10;

/// A lane. Invocations of one lane run in sequence.
type Lane = Arc<tokio::sync::Mutex<()>>;

/// The stream with its lanes.
pub struct Flow {
    lanes: usize,
    generating: Mutex<BTreeMap<(usize, usize), Lane>>,
    notifying: Mutex<BTreeMap<(usize, usize), Lane>>,
    /// Times of the records that wait in a lane of `notify`.
    waiting: Mutex<BTreeMap<(usize, usize), Vec<Duration>>>,
    times: Mutex<Times>,
    delivering: Semaphore,
}

/// The times that a replay measures behind the stream.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Times from commits until generated change instances, with the consumer.
    pub generated: Vec<(u64, Duration)>,
    /// Times from commits until events.
    pub published: Vec<Duration>,
    /// Time at work of each worker.
    pub busy: BTreeMap<Worker, Duration>,
}

/// A part of the stack that works on one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worker {
    /// A lane of `generate`, by shard and lane.
    Generate(usize, usize),
    /// A lane of `notify`, by shard and lane.
    Notify(usize, usize),
    /// All instances of `deliver` together.
    Deliver,
}

impl Flow {
    /// Creates a stream with this number of lanes for each shard.
    pub fn new(lanes: usize) -> Self {
        Self {
            lanes,
            generating: Mutex::default(),
            notifying: Mutex::default(),
            waiting: Mutex::default(),
            times: Mutex::default(),
            delivering: Semaphore::new(DELIVERING_MAX),
        }
    }

    pub fn times(&self) -> Times {
        locked(&self.times).clone()
    }

    fn work(&self, worker: Worker, time: Duration) {
        *locked(&self.times).busy.entry(worker).or_default() += time;
    }

    /// Delivers the records of a stored write: one for each event, and one for pending work.
    pub fn write(&self, stack: &Arc<Stack>, sequence: &Arc<Sequence>, names: Names) {
        if sequence.name.contains("with a dependent team") {
            self.generate(stack, "generate 1 share", 1, names);
        }
        self.notify(stack, sequence, names);
    }

    /// Generates the work records of a submission, one after the other.
    pub fn generate(&self, stack: &Arc<Stack>, operation: &str, works: usize, names: Names) {
        let (stack, sequence, began) = (Arc::clone(stack), stack.sequence(operation), stack.now());
        let at =
            shard_and_lane_of(&format!("SUBMISSION#{}", names.consumer), &names.id.to_string(), self.lanes);
        let lane = Arc::clone(locked(&self.generating).entry(at).or_default());
        drop(tokio::spawn(async move {
            let mut left = works;
            while left > 0 {
                until_poll(&stack, at.0).await;
                // Others in this lane wait for one turn. The last record of a turn wakes `generate` again behind them.
                let _order = lane.lock().await;
                let turn = stack.now() + TURN;
                while left > 0 {
                    let started = stack.now();
                    while !stack.invoke(&sequence, names, retry::WRITE).await {}
                    stack.flow.work(Worker::Generate(at.0, at.1), stack.now() - started);
                    stack.flow.notify(&stack, &sequence, names);
                    left -= 1;
                    if stack.now() >= turn {
                        break;
                    }
                }
            }
            locked(&stack.flow.times).generated.push((names.consumer, stack.now() - began));
        }));
    }

    /// Publishes the events of a write in the lane of their change instance.
    fn notify(&self, stack: &Arc<Stack>, sequence: &Arc<Sequence>, names: Names) {
        let (events, changes) = (sequence.events, sequence.changes);
        if events == 0 {
            return;
        }
        let (stack, began) = (Arc::clone(stack), stack.now());
        let at = shard_and_lane_of(&format!("CHANGE#{}", names.consumer), &names.id.to_string(), self.lanes);
        let lane = Arc::clone(locked(&self.notifying).entry(at).or_default());
        locked(&self.waiting).entry(at).or_default().extend(std::iter::repeat_n(began, events));
        drop(tokio::spawn(async move {
            until_poll(&stack, at.0).await;
            let _order = lane.lock().await;
            let started = stack.now();
            // One invocation takes all records that wait.
            loop {
                let records = stack.flow.taken(at);
                if records.is_empty() {
                    break;
                }
                let sequence = stack.sequence("publish 1 event");
                for _ in records.chunks(ENTRIES_MAX) {
                    stack.invoke(&sequence, names, retry::WRITE).await;
                }
                stack.usage.publish(records.len());
                let now = stack.now();
                locked(&stack.flow.times).published.extend(records.iter().map(|began| now - *began));
            }
            stack.flow.work(Worker::Notify(at.0, at.1), stack.now() - started);
            for _ in 0..changes {
                drop(tokio::spawn(deliver(Arc::clone(&stack), names)));
            }
        }));
    }

    /// Takes the next records of a lane.
    fn taken(&self, at: (usize, usize)) -> Vec<Duration> {
        let mut waiting = locked(&self.waiting);
        let records = waiting.entry(at).or_default();
        let count = records.len().min(NOTIFIED_MAX);
        records.drain(..count).collect()
    }
}

/// Looks for the webhooks of an event.
async fn deliver(stack: Arc<Stack>, names: Names) {
    let Ok(_instance) = stack.flow.delivering.acquire().await else { return };
    let started = stack.now();
    let sequence = stack.sequence("look for webhooks of an event");
    stack.invoke(&sequence, names, retry::WRITE).await;
    let compute = Duration::from_millis(crate::prices::compute_millis(&sequence));
    sleep(compute).await;
    stack.flow.work(Worker::Deliver, stack.now() - started);
}

/// Waits until the next poll of a shard.
async fn until_poll(stack: &Stack, shard: usize) {
    let phase = POLL * u32::try_from(shard).unwrap() / u32::try_from(SHARDS).unwrap();
    let elapsed = (stack.now() + POLL).saturating_sub(phase).as_micros();
    let since = Duration::from_micros(u64::try_from(elapsed % POLL.as_micros()).unwrap());
    sleep(POLL - since).await;
}
