//! Healthchecks that are due: each is begun by one sweep alone, and goes on in the queue.

use domain::healthcheck::run::Course;
use dovetail_aws::{log, now};
use dovetail_queue::Queue;
use dovetail_table::{Error, Keyed, Table};
use futures_util::future::join_all;

/// How many are begun by one sweep; the next one goes on.
const DUE_MAX: i32 = 1_000;

/// How many are begun beside each other.
const AT_ONCE: usize = 10;

/// Begins the runs that are due; how many.
pub async fn begin(table: &Table, queue: &Queue) -> Result<u64, Error> {
    let mut begun = 0;
    for some in table.due(now(), DUE_MAX).await?.chunks(AT_ONCE) {
        for one in join_all(some.iter().map(|course| begin_one(table, queue, course))).await {
            begun += u64::from(one);
        }
    }
    Ok(begun)
}

/// Begins a run, unless another one of its service is under way or another sweep was faster.
async fn begin_one(table: &Table, queue: &Queue, course: &Course) -> bool {
    let Some((begun, run)) = course.begun(now()) else { return false };
    let subject = format!("healthcheck of service {}", course.service.id);
    match table.put_course(course, &begun).await {
        Ok(Keyed::Stored) => {}
        Ok(Keyed::Stale) => return false,
        // One that cannot be begun holds up no other.
        Err(error) => {
            log(&subject, &error.to_string());
            return false;
        }
    }
    let Err(not_taken) = queue.send(run.to_message(), 0).await else { return true };
    log(&subject, &format!("the queue does not take it: {}", not_taken.0));
    if let Err(error) = table.put_course(&begun, &begun.put_back(now())).await {
        log(&subject, &error.to_string());
    }
    false
}
