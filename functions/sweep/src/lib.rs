//! The sweep: on a schedule, what the stream left is carried out, what waits is counted, and healthchecks that are due are
//! begun; on request, also what was set aside is carried out.

mod due;
mod metrics;
mod waiting;

use domain::id::TeamId;
use domain::staging::{Staging, StagingId, StagingState};
use domain::timestamp::Timestamp;
use dovetail_aws::{log, now};
use dovetail_queue::Queue;
use dovetail_table::{Error, Table};
use generate::{Carried, carry_out, carry_out_all};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::time::Instant;

pub use due::begin;
pub use metrics::metrics;
pub use waiting::{Waiting, lines, waiting};

/// How old work is, in seconds, when it counts as left behind: the stream is much faster.
const AGE_SECONDS: u64 = 60;

/// How old a staging is, in seconds, when nobody can be about to commit it: far beyond what a request may take.
const ABANDONED_SECONDS: u64 = 900;

/// How many records one sweep takes up; the next one goes on.
const RECORDS_MAX: i32 = 100;

/// How many stagings one sweep looks at: more than are likely to wait for somebody to mend them.
const STAGINGS_MAX: i32 = 1_000;

/// How long records are taken up; the next sweep goes on.
const DURATION_MAX: Duration = Duration::from_secs(40);

/// What a sweep is asked for; a schedule asks for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Request {
    /// Takes up what was set aside as well, its failures counted anew.
    pub redrive: bool,
    /// Takes up work from this age on, in seconds.
    pub older_than_seconds: Option<u64>,
    /// Clears stagings away that are not committed at this age, in seconds.
    pub abandoned_after_seconds: Option<u64>,
    /// Counts what waits, and carries nothing out.
    pub count: bool,
}

/// What comes of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The reply.
    pub reply: Value,
    /// The lines of metrics to tell.
    pub lines: Vec<Map<String, Value>>,
    /// How many records it was about.
    pub records: u64,
}

/// Does what is asked; what waits is told as metrics of each owner if `of_owners` says so.
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
    // What is owed is not held up by what may be left out once.
    let begun = due::begin(table, queue).await;
    if let Err(error) = &begun {
        log("healthchecks that are due", &error.to_string());
    }
    let swept = handle(table, request).await?;
    let records = swept.carried_out + swept.failed;
    Ok(Answer { reply: json!(swept), lines: vec![metrics(&swept)], records })
}

/// What a sweep did and what is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Records that were carried out.
    pub carried_out: u64,
    /// Records that could not be carried out.
    pub failed: u64,
    /// Records that were set aside before and taken up again.
    pub redriven: u64,
    /// Stagings that were cleared away.
    pub cleared: u64,
    /// Records that are owed now, and stagings.
    pub owed: u64,
    /// How old the oldest of them is, in seconds.
    pub oldest_seconds: u64,
    /// Records that are set aside now.
    pub quarantined: u64,
}

/// Carries out what is owed, and clears away what nobody will commit.
pub async fn handle(table: &Table, request: Request) -> Result<Swept, Error> {
    let mut sweep = Sweep { table, began: Instant::now(), swept: Swept::default() };
    sweep.works(request).await?;
    sweep.stagings(request).await?;
    let mut swept = sweep.swept;
    (swept.owed, swept.quarantined) = table.count_work().await?;
    if swept.owed > 0
        && let Some(oldest) = table.oldest_work().await?
    {
        swept.oldest_seconds = now().micros().saturating_sub(oldest.micros()) / 1_000_000;
    }
    Ok(swept)
}

/// A sweep under way.
struct Sweep<'a> {
    table: &'a Table,
    began: Instant,
    swept: Swept,
}

/// The time that was `seconds` ago.
fn ago(seconds: u64) -> Timestamp {
    Timestamp::from_micros(now().micros().saturating_sub(seconds.saturating_mul(1_000_000)))
}

impl Sweep<'_> {
    fn has_time(&self) -> bool {
        self.began.elapsed() < DURATION_MAX
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
        // Oldest first, and each once.
        let age = request.older_than_seconds.unwrap_or(AGE_SECONDS);
        for id in self.table.owed(ago(age), RECORDS_MAX).await? {
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
            // One that cannot be read or cleared away holds up no other.
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
            StagingState::Open | StagingState::Aborted if staging.created < abandoned => {
                self.swept.cleared += u64::from(self.table.clear_away(&staging).await?);
            }
            StagingState::Open | StagingState::Aborted => {}
        }
        Ok(Vec::new())
    }

    async fn committed(&self, staging: &Staging) -> Result<Vec<Carried>, Error> {
        match self.table.submission(staging.submission).await? {
            Some(submission) => carry_out_all(self.table, &submission).await,
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
