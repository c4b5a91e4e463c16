//! One invocation of a function, on a machine with a separate clock. It can die at one of its calls.

use crate::call_shape::shape;
use crate::locked;
use dovetail_aws::{Clock, by_clock};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

tokio::task_local! {
    static UNDER_WAY: Arc<Invocation>;
}

/// The moment of a function's death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    Never,
    /// Before it sends the call with this number, counted from 0.
    Before(u64),
    /// After the execution of the call with this number, before its reply.
    After(u64),
}

/// The fate of a call, as its function sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Made,
    /// The function dies before the call.
    NotMade,
    /// The call is made, and then the function dies.
    Last,
}

#[derive(Debug)]
pub struct Invocation {
    death: Death,
    calls: AtomicU64,
    /// Numbers of the calls that are no reads.
    effects: Mutex<Vec<u64>>,
    /// Shapes of the calls, if the invocation records them.
    shapes: Option<Mutex<Vec<u64>>>,
    is_dead: AtomicBool,
    died: Notify,
}

impl Invocation {
    /// Creates an invocation with this death.
    pub fn new(death: Death) -> Arc<Self> {
        Self::with(death, None)
    }

    /// Creates an invocation without a death that records the shapes of its calls.
    pub fn with_shapes() -> Arc<Self> {
        Self::with(Death::Never, Some(Mutex::default()))
    }

    fn with(death: Death, shapes: Option<Mutex<Vec<u64>>>) -> Arc<Self> {
        Arc::new(Self {
            death,
            calls: AtomicU64::new(0),
            effects: Mutex::default(),
            shapes,
            is_dead: AtomicBool::new(false),
            died: Notify::new(),
        })
    }

    /// Returns the invocation of the current task.
    pub fn under_way() -> Option<Arc<Self>> {
        UNDER_WAY.try_with(Arc::clone).ok()
    }

    /// Counts a call and returns its fate.
    pub fn call(&self, target: &str, body: &Value) -> Call {
        if let Some(shapes) = &self.shapes {
            locked(shapes).push(shape(target, body));
        }
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        if !is_read(target) {
            locked(&self.effects).push(number);
        }
        match self.death {
            Death::Before(at) if number == at => Call::NotMade,
            Death::After(at) if number == at => Call::Last,
            Death::Never | Death::Before(_) | Death::After(_) => Call::Made,
        }
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Returns the numbers of the calls so far that are no reads.
    pub fn effects(&self) -> Vec<u64> {
        locked(&self.effects).clone()
    }

    /// Returns the shapes of the calls so far, or none if the invocation does not record them.
    pub fn shapes(&self) -> Vec<u64> {
        self.shapes.as_ref().map(|shapes| locked(shapes).clone()).unwrap_or_default()
    }

    pub fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    pub fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.died.notify_one();
    }

    /// Runs a function. Returns `None` if it dies.
    pub async fn run<F: Future>(self: &Arc<Self>, clock: Clock, function: F) -> Option<F::Output> {
        tokio::select! {
            // The death has precedence, so that a dead function never returns.
            biased;
            () = self.died.notified() => None,
            output = UNDER_WAY.scope(Arc::clone(self), by_clock(clock, function)) => Some(output),
        }
    }
}

/// Returns whether a call changes nothing.
fn is_read(target: &str) -> bool {
    let operation = target.split_once('.').map(|(_, operation)| operation);
    let reads = ["GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems", "DescribeTable"];
    operation.is_some_and(|operation| reads.contains(&operation))
}
