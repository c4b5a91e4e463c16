//! The schedule of EventBridge: runs `sweep` once a minute and never twice at a time.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::{
    sync::{Mutex, watch},
    time::{Instant, MissedTickBehavior},
};

use crate::{
    envelope,
    invoke::{Failure, Invoker},
};

/// The name of the scheduled function.
pub const FUNCTION: &str = "sweep";
const RULE: &str = "dovetail-local-sweep";
const EVERY: Duration = Duration::from_secs(60);

/// The scheduled function; clones share its state.
#[derive(Clone, Debug)]
pub struct Sweep {
    invoker: Invoker,
    running: Arc<Mutex<()>>,
    enabled: watch::Sender<bool>,
}

impl Sweep {
    /// Returns the function behind an invoker.
    pub fn new(invoker: Invoker) -> Self {
        Self { invoker, running: Arc::default(), enabled: watch::Sender::new(true) }
    }

    /// Enables or disables the schedule.
    pub fn enable(&self, enabled: bool) {
        self.enabled.send_replace(enabled);
    }

    /// Runs the function with a payload, after a run that is in progress.
    pub async fn run(&self, payload: Value) -> Result<Value, Failure> {
        // A manual run waits for the scheduled one, and the other way round.
        let _running = self.running.lock().await;
        self.invoker.invoke(FUNCTION, payload).await
    }

    /// Runs the function every minute until the stop.
    pub async fn repeat(self, mut stop: watch::Receiver<bool>) {
        let mut ticks = tokio::time::interval_at(Instant::now() + EVERY, EVERY);
        // After a slow run, the missed ticks are skipped: two sweeps in a row would find nothing new.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
            if *self.enabled.borrow() {
                // A failed run needs no retry, because the next run finds the same work.
                drop(self.run(scheduled()).await);
            }
        }
    }
}

/// Returns the event of a scheduled rule.
fn scheduled() -> Value {
    let rule = format!("arn:aws:events:{}:{}:rule/{RULE}", envelope::REGION, envelope::ACCOUNT);
    envelope::envelope("aws.events", "Scheduled Event", OffsetDateTime::now_utc(), &[rule], &json!({}))
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sweep_runs_every_minute_and_never_twice_at_a_time() {
        let (started, mut starts) = mpsc::unbounded_channel();
        let running = Arc::new(Mutex::new(()));
        let invoker = Invoker::here(move |name, payload| {
            let (started, running) = (started.clone(), Arc::clone(&running));
            async move {
                let _running = running.try_lock().map_err(|_| "it runs already")?;
                assert!(started.send((name, payload, Instant::now())).is_ok());
                tokio::time::sleep(Duration::from_secs(50)).await;
                Ok(Value::Null)
            }
        });
        let (stop, stopped) = watch::channel(false);
        let (sweep, begin) = (Sweep::new(invoker), Instant::now());
        let repeating = tokio::spawn(sweep.clone().repeat(stopped));
        let first = starts.recv().await.unwrap();
        assert_eq!((first.0.as_str(), first.2 - begin), (FUNCTION, EVERY));
        assert_eq!(
            (&first.1["detail-type"], &first.1["source"]),
            (&json!("Scheduled Event"), &json!("aws.events"))
        );
        let resources = json!(["arn:aws:events:local:000000000000:rule/dovetail-local-sweep"]);
        assert_eq!((&first.1["resources"], &first.1["detail"]), (&resources, &json!({})));
        assert_eq!(sweep.run(json!({"by": "hand"})).await, Ok(Value::Null));
        assert_eq!(starts.recv().await.unwrap().1, json!({"by": "hand"}));
        stop.send_replace(true);
        repeating.await.unwrap();
    }
}
