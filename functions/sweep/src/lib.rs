//! The sweep: on a schedule, what the stream left is carried out; on request, also what was set aside.

mod metrics;

use domain::timestamp::Timestamp;
use dovetail_aws::{log, now};
use dovetail_table::{Error, Table};
use generate::{Carried, carry_out};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

pub use metrics::metrics;

/// How old work is, in seconds, when it counts as left behind: the stream is much faster.
const AGE_SECONDS: u64 = 60;

/// How many records one sweep takes up; the next one goes on.
const RECORDS_MAX: i32 = 100;

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
    /// Records that are owed now.
    pub owed: u64,
    /// Records that are set aside now.
    pub quarantined: u64,
}

/// Carries out what is owed.
pub async fn handle(table: &Table, request: Request) -> Result<Swept, Error> {
    let mut swept = Swept::default();
    let mut taken_up = Vec::new();
    if request.redrive {
        for id in table.quarantined(RECORDS_MAX).await? {
            table.redrive(id).await?;
            taken_up.push(id);
            swept.redriven += 1;
        }
    }
    let age = request.older_than_seconds.unwrap_or(AGE_SECONDS);
    let before = now().micros().saturating_sub(age.saturating_mul(1_000_000));
    // Oldest first, and each once.
    for id in table.owed(Timestamp::from_micros(before), RECORDS_MAX).await? {
        if !taken_up.contains(&id) {
            taken_up.push(id);
        }
    }
    let began = Instant::now();
    for id in taken_up.into_iter().take_while(|_| began.elapsed() < DURATION_MAX) {
        match carry_out(table, id).await {
            Ok(Carried::Out) => swept.carried_out += 1,
            Ok(Carried::Broken | Carried::SetAside) => swept.failed += 1,
            Err(error) => {
                log(&id.to_string(), &error.to_string());
                swept.failed += 1;
            }
        }
    }
    (swept.owed, swept.quarantined) = table.count_work().await?;
    Ok(swept)
}
