//! One invocation of a function: on a machine with a clock of its own, which may die at one of its calls.

use dovetail_aws::{Clock, by_clock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;

tokio::task_local! {
    static UNDER_WAY: Arc<Invocation>;
}

/// Where a function dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// It lives.
    Never,
    /// Before its call of this number, counted from zero, is sent.
    Before(u64),
    /// After its call of this number was carried out, before it sees the reply.
    After(u64),
}

/// What becomes of a call for the function that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It is made.
    Made,
    /// The function is dead before it.
    NotMade,
    /// It is made, and the function dies of it.
    Last,
}

/// An invocation under way.
#[derive(Debug)]
pub struct Invocation {
    death: Death,
    calls: AtomicU64,
    is_dead: AtomicBool,
    died: Notify,
}

impl Invocation {
    /// One that ends so.
    pub fn new(death: Death) -> Arc<Self> {
        Arc::new(Self {
            death,
            calls: AtomicU64::new(0),
            is_dead: AtomicBool::new(false),
            died: Notify::new(),
        })
    }

    /// The invocation that this code runs in.
    pub fn under_way() -> Option<Arc<Self>> {
        UNDER_WAY.try_with(Arc::clone).ok()
    }

    /// Counts a call, and tells what becomes of it.
    pub fn call(&self) -> Call {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.death {
            Death::Before(at) if number == at => Call::NotMade,
            Death::After(at) if number == at => Call::Last,
            Death::Never | Death::Before(_) | Death::After(_) => Call::Made,
        }
    }

    /// How many calls it has made.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Whether it has died.
    pub fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    /// Ends it.
    pub fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.died.notify_one();
    }

    /// Runs a function; nothing comes of one that dies.
    pub async fn run<F: Future>(self: &Arc<Self>, clock: Clock, function: F) -> Option<F::Output> {
        tokio::select! {
            biased;
            () = self.died.notified() => None,
            output = UNDER_WAY.scope(Arc::clone(self), by_clock(clock, function)) => Some(output),
        }
    }
}
