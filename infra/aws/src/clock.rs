//! The clock of all functions: the system clock, unless a caller provides another one.

use domain::Timestamp;
use std::sync::Arc;
use std::time::SystemTime;

/// A function that returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

tokio::task_local! {
    static GIVEN: Clock;
}

/// Runs a future with its own clock, for example a wrong one, or one that tests move.
pub async fn by_clock<F: Future>(clock: Clock, function: F) -> F::Output {
    GIVEN.scope(clock, function).await
}

/// Returns the current time.
pub fn now() -> Timestamp {
    GIVEN.try_with(|clock| clock()).unwrap_or_else(|_| system())
}

fn system() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}
