//! The one mechanism of retries: a bounded number of attempts, with random and growing pauses between them.
//!
//! A policy limits each loop by itself. Loops nest, so a request also has one budget of failed transactions for all of
//! its loops (docs/explanation/concurrency.md, retries).

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Number of transactions of one request that may fail before all its loops end.
const BUDGET: u32 = 12;

/// Bounds of a pause.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Longest time of requests against a limited rate, out of the 30 seconds of API Gateway.
const THROTTLED_MAX: Duration = Duration::from_secs(10);

tokio::task_local! {
    /// The rest of the budget of the current request.
    static REMAINING: Cell<u32>;
}

/// Plans of a submission or a preview. Each failed plan has lost a race, or met a submission in flight.
///
/// One plan with all items may take some seconds itself, and API Gateway waits for 30 seconds.
pub const PLAN: Policy = Policy { time: Some(Duration::from_secs(8)), ..Policy::writes(12) };

/// Optimistic writes: load, decide, write. Each failed attempt has lost against another writer.
pub const WRITE: Policy = Policy::writes(12);

/// Transactions with the same actions, while the table is busy. After the last attempt, the caller decides on fresh
/// records.
///
/// Throttled transactions count only against the time. Fresh records would not help against a limited rate.
pub const TRANSACTION: Policy = Policy { time: Some(THROTTLED_MAX), ..Policy::writes(6) };

/// Requests for the unprocessed rest of a batch. Throttled requests, and those with progress, count only against the
/// time.
pub const BATCH: Policy = Policy { time: Some(THROTTLED_MAX), ..Policy::reads(9) };

/// Reads of records that do not match. A transaction during the read explains one mismatch, and rarely a second one.
pub const TORN_READ: Policy = Policy::reads(4);

/// Reads of the audit while writers change the records. An index is usually late by less than a second.
pub const AUDIT: Policy = Policy::reads(12);

/// Consecutive requests that the event bus rejects completely. `notify` must answer before its own timeout.
pub const EVENTS: Policy = Policy { time: Some(Duration::from_secs(40)), ..Policy::reads(6) };

/// Looks at a table that an engine creates in the background, with the pauses for about half a minute.
pub const TABLE_CREATION: Policy = Policy::reads(60);

/// The limits of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Maximum number of attempts.
    attempts: u32,
    /// Time from the start of the loop after which no attempt begins, if there is a limit.
    time: Option<Duration>,
    /// Whether the attempts send transactions, so the budget of the request ends the loop too.
    has_budget: bool,
}

impl Policy {
    const fn writes(attempts: u32) -> Self {
        Self { attempts, time: None, has_budget: true }
    }

    const fn reads(attempts: u32) -> Self {
        Self { attempts, time: None, has_budget: false }
    }

    /// Starts a loop.
    pub fn attempts(self) -> Attempts {
        Attempts { policy: self, began: Instant::now(), number: 0, pause: PAUSE_MIN }
    }
}

/// Repeats an optimistic write until it is stored. Each attempt reads the records, decides and writes.
///
/// An attempt returns `None` to start over, because another writer was faster. The result is `None` if no attempt is
/// left. Even then, the last attempt may be stored if its answer was lost.
pub async fn until_stored<T, E, F>(policy: Policy, mut attempt: impl FnMut(u32) -> F) -> Result<Option<T>, E>
where
    F: Future<Output = Result<Option<T>, E>>,
{
    let ended = until_stored_from(policy, (), |number, ()| {
        let attempt = attempt(number);
        async move { Ok(attempt.await?.map_or(ControlFlow::Continue(()), ControlFlow::Break)) }
    });
    Ok(ended.await?.break_value())
}

/// Repeats an optimistic write until it is stored, as [`until_stored`] does, and passes a value from each attempt to
/// the next.
pub async fn until_stored_from<S, T, E, F>(
    policy: Policy,
    first: S,
    mut attempt: impl FnMut(u32, S) -> F,
) -> Result<ControlFlow<T, S>, E>
where
    F: Future<Output = Result<ControlFlow<T, S>, E>>,
{
    let (mut attempts, mut passed) = (policy.attempts(), first);
    while let Some(number) = attempts.next().await {
        match attempt(number, passed).await? {
            ControlFlow::Break(stored) => return Ok(ControlFlow::Break(stored)),
            ControlFlow::Continue(next) => passed = next,
        }
    }
    Ok(ControlFlow::Continue(passed))
}

/// The attempts of a loop.
#[derive(Debug)]
pub struct Attempts {
    policy: Policy,
    began: Instant,
    /// Number of the next attempt, from 0.
    number: u32,
    /// The last pause.
    pause: Duration,
}

impl Attempts {
    /// Waits for the next attempt and returns its number, from 0; `None` if no attempt is left.
    ///
    /// The first attempt follows at once, whatever the budget, so a step that safety needs, such as the abort of a
    /// staging, is always tried.
    pub async fn next(&mut self) -> Option<u32> {
        let number = self.number;
        if number > 0 {
            // Decorrelated jitter: writers that conflicted once would otherwise meet again at the same records.
            let longest = self.pause.saturating_mul(3).min(PAUSE_MAX);
            self.pause = random(PAUSE_MIN, longest);
            if number >= self.policy.attempts || self.is_late() || self.policy.has_budget && is_exhausted() {
                return None;
            }
            sleep(self.pause).await;
        }
        self.number = number.saturating_add(1);
        Some(number)
    }

    /// Starts over after progress. The next attempt follows at once, or after a first pause if it `waits`.
    pub fn restart(&mut self, waits: bool) {
        self.number = u32::from(waits);
        self.pause = PAUSE_MIN;
    }

    /// Leaves the last attempt out of the count. The next attempt follows after a pause, within the time of the policy.
    pub fn uncount(&mut self) {
        self.number = self.number.saturating_sub(1).max(1);
    }

    /// Returns whether the next attempt would begin too late.
    fn is_late(&self) -> bool {
        self.policy.time.is_some_and(|time| self.began.elapsed() + self.pause >= time)
    }
}

fn random(min: Duration, max: Duration) -> Duration {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(fastrand::u64(micros(min)..=micros(max)))
}

/// Runs a request, or one item of pending work, with a budget of its own.
pub async fn with_budget<F: Future>(request: F) -> F::Output {
    REMAINING.scope(Cell::new(BUDGET), request).await
}

/// Charges a failed transaction to the budget of the request. A stored transaction is progress and costs nothing.
pub fn charge() {
    // Without a budget, the policy alone limits a loop.
    let _unlimited = REMAINING.try_with(|remaining| remaining.set(remaining.get().saturating_sub(1)));
}

fn is_exhausted() -> bool {
    REMAINING.try_with(|remaining| remaining.get() == 0).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the times at which the attempts of a loop begin.
    async fn times(policy: Policy) -> Vec<Duration> {
        let (mut times, began) = (Vec::new(), Instant::now());
        let mut attempts = policy.attempts();
        while let Some(number) = attempts.next().await {
            assert_eq!(usize::try_from(number), Ok(times.len()));
            times.push(began.elapsed());
        }
        times
    }

    fn pauses(times: &[Duration]) -> Vec<Duration> {
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// Returns the number of transactions of a decision whose transactions all fail.
    async fn transactions() -> u32 {
        let mut sent = 0;
        // Without a limit of time, so random pauses do not change the number.
        let mut decisions = WRITE.attempts();
        while decisions.next().await.is_some() {
            let mut transactions = TRANSACTION.attempts();
            while transactions.next().await.is_some() {
                sent += 1;
                charge();
            }
        }
        sent
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_attempt_follows_at_once_and_pauses_grow_within_their_bounds() {
        for seed in 0..100 {
            fastrand::seed(seed);
            let times = times(WRITE).await;
            assert_eq!((times.len(), times[0]), (12, Duration::ZERO));
            let mut last = PAUSE_MIN;
            for pause in pauses(&times) {
                // The clock of tokio has a resolution of one millisecond.
                let longest = (last * 3).min(PAUSE_MAX) + Duration::from_millis(1);
                assert!((PAUSE_MIN..=longest).contains(&pause), "seed {seed}: {times:?}");
                last = pause;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_is_repeated_until_it_is_stored_or_fails() {
        let stored =
            until_stored(WRITE, |number| async move { Ok::<_, ()>((number == 2).then_some(number)) });
        assert_eq!(stored.await, Ok(Some(2)));
        let failed =
            until_stored(
                WRITE,
                |number| async move { if number == 1 { Err(number) } else { Ok(None::<()>) } },
            );
        assert_eq!(failed.await, Err(1));
        assert_eq!(until_stored(WRITE, |_| async { Ok::<_, ()>(None::<()>) }).await, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_of_two_loops_differ() {
        fastrand::seed(7);
        assert_ne!(times(WRITE).await, times(WRITE).await);
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_begins_after_the_time_of_the_policy() {
        let policy = Policy { attempts: u32::MAX, ..PLAN };
        let times = times(policy).await;
        let last = times[times.len() - 1];
        let most = Duration::from_secs(8);
        assert!(last < most && last + PAUSE_MAX >= most, "{last:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_has_one_budget_for_all_of_its_loops() {
        assert_eq!(transactions().await, 72, "without a budget the loops multiply");
        assert_eq!(with_budget(transactions()).await, 12);
        assert_eq!(transactions().await, 72, "the budget ends with its request");
        let two = async { transactions().await + transactions().await };
        assert_eq!(with_budget(two).await, 13, "a later loop still makes its first attempt");
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_of_work_has_a_budget_of_its_own() {
        let request = async {
            let items = with_budget(transactions()).await + with_budget(transactions()).await;
            (items, transactions().await)
        };
        assert_eq!(with_budget(request).await, (24, 12));
    }

    #[tokio::test(start_paused = true)]
    async fn an_exhausted_budget_ends_no_read() {
        let request = async {
            (0..BUDGET).for_each(|_| charge());
            (times(WRITE).await.len(), times(BATCH).await.len())
        };
        assert_eq!(with_budget(request).await, (1, 9));
    }

    #[tokio::test(start_paused = true)]
    async fn an_uncounted_attempt_is_limited_by_the_time_alone() {
        let (began, mut attempts, mut uncounted) = (Instant::now(), TRANSACTION.attempts(), 0);
        while attempts.next().await.is_some() {
            attempts.uncount();
            uncounted += 1;
        }
        assert!(uncounted > 6, "{uncounted}");
        // A timer ends at a whole millisecond.
        assert!(began.elapsed() <= THROTTLED_MAX + Duration::from_millis(1));
        assert!(began.elapsed() + PAUSE_MAX >= THROTTLED_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn progress_starts_the_count_over() {
        let (began, mut attempts) = (Instant::now(), TORN_READ.attempts());
        for _ in 0..10 {
            assert_eq!(attempts.next().await, Some(0));
            attempts.restart(false);
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        attempts.restart(true);
        for number in 1..4 {
            assert_eq!(attempts.next().await, Some(number));
        }
        assert!(began.elapsed() >= PAUSE_MIN * 3);
        assert_eq!(attempts.next().await, None);
    }
}
