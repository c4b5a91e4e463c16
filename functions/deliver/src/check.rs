//! One page of a healthcheck run: one request about its items, then a message for the next page (ADR 25).

use crate::{DeliveryMetrics, Handles, MessageError};
use domain::Item;
use domain::base::state::RuntimeState;
use domain::outreach::healthcheck::answer::{Failed, HealthReports};
use domain::outreach::healthcheck::run::Run;
use domain::outreach::healthcheck::{Health, Healthcheck, answer};
use dovetail_aws::{now, retry};
use dovetail_table::{Direction, Error, Source};

/// Maximum number of items in one read, and so in one request.
const ITEMS_MAX: usize = 100;
/// Maximum number of reads without an item to check.
const READS_MAX: usize = 10;

/// The items of one page.
struct Page {
    items: Vec<Item>,
    /// Position in the owner's items for the next page; none at the end.
    after: Option<String>,
}

/// Continues a run, unless it is not the present one or its healthcheck is gone.
pub(crate) async fn check(handles: &Handles, run: Run) -> Result<DeliveryMetrics, MessageError> {
    let schedule = handles.table.check_schedule(run.team, run.service).await?;
    // SQS may repeat a message, even after the end of its run.
    if !schedule.is_some_and(|schedule| schedule.is_at(&run)) {
        return Ok(DeliveryMetrics::default());
    }
    let Some(healthcheck) = handles.table.healthcheck(run.team, run.service).await? else {
        return Ok(DeliveryMetrics::default());
    };
    let page = page(handles, &run).await?;
    let (reports, failed) = match run.counted.failed {
        // The target has failed in this run. A dead target must cost one timeout, and not one for each page (ADR 25).
        Some(failed) => (unknown(&page.items, failed), Some(failed)),
        None => send_check(handles, &healthcheck, &page.items).await,
    };
    let health = reports.items.iter().map(|(item, report)| Health {
        item: *item,
        report: report.clone(),
        at: run.began,
    });
    handles.table.put_health(&health.collect::<Vec<_>>()).await?;
    let is_last = page.after.is_none();
    let run = run.after_page(reports.items.values(), reports.faults, failed, page.after);
    if is_last {
        end(handles, &run).await?;
    } else {
        handles.queue.send(run.to_message(), run.group(), 0).await?;
    }
    Ok(DeliveryMetrics::default())
}

/// Returns the next items to check: those of the service in runtime state `IN_SERVICE`.
async fn page(handles: &Handles, run: &Run) -> Result<Page, Error> {
    let source = Source::<Item>::owned_by(run.team).live();
    let rows = handles.table.rows(&source, Direction::Ascending, run.after.as_deref());
    let mut rows = rows.at_once(ITEMS_MAX);
    let mut page = Page { items: Vec::new(), after: run.after.clone() };
    // The owner may have many items of other services. The next message continues the search.
    for _ in 0..READS_MAX {
        let Some(batch) = rows.next().await? else {
            return Ok(Page { after: None, ..page });
        };
        page.after = batch.last().map(|row| row.position.clone()).or(page.after);
        let items = batch.into_iter().map(|row| row.value);
        page.items.extend(
            items.filter(|item| {
                item.service.id == run.service && item.runtime_state == RuntimeState::InService
            }),
        );
        if rows.is_over() {
            return Ok(Page { after: None, ..page });
        }
        if !page.items.is_empty() {
            break;
        }
    }
    Ok(page)
}

async fn send_check(
    handles: &Handles,
    healthcheck: &Healthcheck,
    items: &[Item],
) -> (HealthReports, Option<Failed>) {
    if items.is_empty() {
        return (HealthReports { items: [].into(), faults: 0 }, None);
    }
    let question = answer::question_about_all(&healthcheck.service.title, items);
    let answered = dovetail_outbound::send(&handles.outbound, healthcheck, &question).await;
    match answered.and_then(|answer| answer::about_all(&answer, items)) {
        Ok(reports) => (reports, None),
        Err(failed) => (unknown(items, failed), Some(failed)),
    }
}

fn unknown(items: &[Item], failed: Failed) -> HealthReports {
    HealthReports { items: items.iter().map(|item| (item.id, failed.to_report())).collect(), faults: 0 }
}

/// Stores the end of a run.
async fn end(handles: &Handles, run: &Run) -> Result<(), MessageError> {
    let ended = retry::until_stored(retry::WRITE, |_| async {
        let before = handles.table.check_schedule(run.team, run.service).await?;
        let after = before.as_ref().and_then(|before| before.ended(run, now()));
        let Some((before, after)) = before.zip(after) else { return Ok(Some(())) };
        let is_stored = handles.table.put_check_schedule(&before, &after).await?.is_done();
        Ok::<_, Error>(is_stored.then_some(()))
    });
    let changed = || Error::Unavailable("the state of the healthcheck changed at every attempt".to_owned());
    Ok(ended.await?.ok_or_else(changed)?)
}
