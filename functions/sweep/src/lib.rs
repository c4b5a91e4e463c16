//! The scheduled function `sweep`: finishes pending work, removes abandoned stagings, starts due healthchecks, and
//! sends due reminders.
//!
//! Another schedule counts open change instances. A request with `redrive` also processes quarantined work.

mod due;
mod metrics;
mod reminders;
mod waiting;

use domain::model::staging::{Staging, StagingId, StagingState};
use domain::{TeamId, Timestamp};
use dovetail_aws::{log, now};
use dovetail_queue::Queue;
use dovetail_table::{Error, Table};
use dovetail_worker::{Carried, carry_out, carry_out_all};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::time::Instant;

pub use due::begin;
pub use metrics::metrics;
pub use waiting::{Waiting, lines, waiting};

/// Minimum age of pending work, in seconds; the stream is usually much faster.
const AGE_SECONDS: u64 = 60;

/// Minimum age of an abandoned staging, in seconds; a request lives at most 30 (ADR 12).
const ABANDONED_SECONDS: u64 = 900;

/// Maximum number of work records in one sweep; the next one continues.
const RECORDS_MAX: i32 = 100;

/// Maximum number of stagings in one sweep: more than should ever wait for a repair.
const STAGINGS_MAX: i32 = 1_000;

/// Time after which a sweep starts no further record; the next one continues.
const DURATION_MAX: Duration = Duration::from_secs(40);

/// A request to `sweep`. The schedule sends an empty request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Request {
    /// Processes quarantined work as well, with a new count of failures.
    pub redrive: bool,
    /// Minimum age of the work, in seconds; default 60.
    pub older_than_seconds: Option<u64>,
    /// Minimum age of an abandoned staging, in seconds; default 900.
    pub abandoned_after_seconds: Option<u64>,
    /// Counts open change instances, and does nothing else.
    pub count: bool,
}

/// The result of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub reply: Value,
    /// Log lines with metrics.
    pub lines: Vec<Map<String, Value>>,
    /// Number of processed or counted records.
    pub records: u64,
}

/// Executes a request. With `of_owners`, the counts of each owner are metrics, and not only log lines.
pub async fn answer(
    table: &Table,
    queue: &Queue,
    request: Request,
    of_owners: bool,
) -> Result<Answer, Error> {
    if request.count {
        let waiting = waiting(table).await?;
        let records = waiting.iter().map(|waiting| waiting.count).sum();
        let lines = lines(&waiting, now(), of_owners);
        return Ok(Answer { reply: json!({"waiting": records}), lines, records });
    }
    // Pending work is more important, so a failure of the healthchecks and reminders must not stop it.
    let begun = due::begin(table, queue).await;
    if let Err(error) = &begun {
        log("healthchecks and reminders that are due", &error.to_string());
    }
    let swept = handle(table, request).await?;
    let records = swept.carried_out + swept.failed;
    Ok(Answer { reply: json!(swept), lines: vec![metrics(&swept)], records })
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Number of finished work records.
    pub carried_out: u64,
    /// Number of failed work records and stagings.
    pub failed: u64,
    /// Number of work records that left the quarantine.
    pub redriven: u64,
    /// Number of removed stagings.
    pub cleared: u64,
    /// Number of pending work records and stagings at the end.
    #[serde(rename = "owed")]
    pub pending: u64,
    /// Age of the oldest pending work record or staging, in seconds.
    pub oldest_seconds: u64,
    /// Number of work records in quarantine at the end.
    pub quarantined: u64,
}

/// Processes pending work, and removes abandoned stagings.
pub async fn handle(table: &Table, request: Request) -> Result<Swept, Error> {
    let mut sweep = Sweep { table, end: Instant::now() + DURATION_MAX, swept: Swept::default() };
    sweep.works(request).await?;
    sweep.stagings(request).await?;
    let mut swept = sweep.swept;
    (swept.pending, swept.quarantined) = table.count_work().await?;
    if swept.pending > 0
        && let Some(oldest) = table.oldest_work().await?
    {
        swept.oldest_seconds = now().micros().saturating_sub(oldest.micros()) / 1_000_000;
    }
    Ok(swept)
}

/// A sweep in progress.
struct Sweep<'a> {
    table: &'a Table,
    /// Time after which the sweep starts no further record.
    end: Instant,
    swept: Swept,
}

/// Returns the time `seconds` ago.
fn ago(seconds: u64) -> Timestamp {
    Timestamp::from_micros(now().micros().saturating_sub(seconds.saturating_mul(1_000_000)))
}

impl Sweep<'_> {
    fn has_time(&self) -> bool {
        Instant::now() < self.end
    }

    async fn works(&mut self, request: Request) -> Result<(), Error> {
        let mut taken_up = Vec::new();
        if request.redrive {
            for id in self.table.quarantined(RECORDS_MAX).await? {
                self.table.redrive(id).await?;
                taken_up.push(id);
                self.swept.redriven += 1;
            }
        }
        // A redriven record is pending now, so this list may contain it too.
        let age = request.older_than_seconds.unwrap_or(AGE_SECONDS);
        for id in self.table.planned(ago(age), RECORDS_MAX).await? {
            if !taken_up.contains(&id) {
                taken_up.push(id);
            }
        }
        for id in taken_up {
            if !self.has_time() {
                break;
            }
            let carried = carry_out(self.table, id).await.map(|carried| vec![carried]);
            self.count(&id.to_string(), carried);
        }
        Ok(())
    }

    async fn stagings(&mut self, request: Request) -> Result<(), Error> {
        let age = request.older_than_seconds.unwrap_or(AGE_SECONDS);
        let abandoned = ago(request.abandoned_after_seconds.unwrap_or(ABANDONED_SECONDS));
        for (team, id) in self.table.stagings(ago(age), STAGINGS_MAX).await? {
            if !self.has_time() {
                break;
            }
            // A failed staging must not stop the others.
            let carried = self.staging(team, id, abandoned).await;
            self.count(&format!("staging {id}"), carried);
        }
        Ok(())
    }

    async fn staging(
        &mut self,
        team: TeamId,
        id: StagingId,
        abandoned: Timestamp,
    ) -> Result<Vec<Carried>, Error> {
        let Some(staging) = self.table.staging(team, id).await? else { return Ok(Vec::new()) };
        match staging.state {
            StagingState::Committed => return self.committed(&staging).await,
            // The request of a younger staging may still commit it. Commit and removal have the same condition (ADR
            // 12).
            StagingState::Open | StagingState::Aborted if staging.created < abandoned => {
                self.swept.cleared += u64::from(self.table.clear_away(&staging).await?);
            }
            StagingState::Open | StagingState::Aborted => {}
        }
        Ok(Vec::new())
    }

    async fn committed(&self, staging: &Staging) -> Result<Vec<Carried>, Error> {
        match self.table.submission(staging.submission).await? {
            Some(submission) => carry_out_all(self.table, &submission, self.end).await,
            None => {
                let key = format!("staging {}", staging.id);
                Err(Error::Corrupt { key, reason: "its submission is missing".to_owned() })
            }
        }
    }

    fn count(&mut self, subject: &str, carried: Result<Vec<Carried>, Error>) {
        match carried {
            Ok(carried) => {
                for one in carried {
                    match one {
                        Carried::Out => self.swept.carried_out += 1,
                        Carried::Broken | Carried::SetAside => self.swept.failed += 1,
                    }
                }
            }
            Err(error) => {
                log(subject, &error.to_string());
                self.swept.failed += 1;
            }
        }
    }
}
