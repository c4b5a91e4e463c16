//! The one clock of all functions: the system's, unless whoever runs a function gives it another.

use domain::timestamp::Timestamp;
use std::sync::Arc;
use std::time::SystemTime;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

tokio::task_local! {
    static GIVEN: Clock;
}

/// Runs a function by a clock of its own: one that is wrong, or that stands still until it is moved.
pub async fn by_clock<F: Future>(clock: Clock, function: F) -> F::Output {
    GIVEN.scope(clock, function).await
}

/// The time.
pub fn now() -> Timestamp {
    GIVEN.try_with(|clock| clock()).unwrap_or_else(|_| system())
}

fn system() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}
