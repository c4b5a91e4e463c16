//! Due healthchecks and reminders: one sweep starts each run, and the queue continues it (ADR 25).

use crate::reminders;
use domain::outreach::healthcheck::run::CheckSchedule;
use dovetail_aws::{log, now};
use dovetail_queue::Queue;
use dovetail_table::{Error, Stored, Table};
use futures_util::future::join_all;

/// Maximum number of runs and reminders in one sweep; the next one continues.
const DUE_MAX: i32 = 1_000;

/// Maximum number of starts at once.
const AT_ONCE: usize = 10;

/// Starts the due runs and sends the due reminders, and returns their number.
pub async fn begin(table: &Table, queue: &Queue) -> Result<u64, Error> {
    let due = table.due(now(), DUE_MAX).await?;
    let mut begun = 0;
    for some in due.checks.chunks(AT_ONCE) {
        for one in join_all(some.iter().map(|schedule| begin_one(table, queue, schedule))).await {
            begun += u64::from(one);
        }
    }
    Ok(begun + reminders::send(table, queue, &due.reminders).await)
}

/// Starts a run, unless a run of the service is in progress or another sweep was faster.
async fn begin_one(table: &Table, queue: &Queue, schedule: &CheckSchedule) -> bool {
    let Some((begun, run)) = schedule.begun(now()) else { return false };
    let subject = format!("healthcheck of service {}", schedule.service.id);
    match table.put_check_schedule(schedule, &begun).await {
        Ok(Stored::Done(())) => {}
        Ok(Stored::Stale) => return false,
        // A failed start must not stop the others.
        Err(error) => {
            log(&subject, &error.to_string());
            return false;
        }
    }
    // The message comes after the conditional write, so only one of two sweeps sends it.
    let Err(not_taken) = queue.send(run.to_message(), run.group(), 0).await else { return true };
    log(&subject, &format!("the queue rejected it: {}", not_taken.0));
    // Without a message the run never ends, and would block the next one for 30 minutes.
    if let Err(error) = table.put_check_schedule(&begun, &begun.put_back(now())).await {
        log(&subject, &error.to_string());
    }
    false
}
