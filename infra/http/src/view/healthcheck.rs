//! Healthchecks on the wire, without credentials, and their results.

use super::{MASK, Viewpoint};
use domain::Timestamp;
use domain::outreach::healthcheck::answer::Failed;
use domain::outreach::healthcheck::crontab::Crontab;
use domain::outreach::healthcheck::run::{CheckSchedule, Ran};
use domain::outreach::healthcheck::{Health, Healthcheck};
use serde_json::{Value, json};

/// Returns a healthcheck with its schedule and its last run.
pub fn healthcheck(
    healthcheck: &Healthcheck,
    schedule: Option<&CheckSchedule>,
    viewpoint: &Viewpoint,
) -> Value {
    let (id, settings) = (healthcheck.service.id.get(), &healthcheck.settings);
    json!({
        "id": id,
        "url": viewpoint.external("healthchecks", id),
        "service": id,
        "target_url": settings.target_url,
        "authorization": settings.authorization.as_ref().map(|_| MASK),
        "schedule_enabled": settings.schedule_enabled,
        "schedule_crontab": settings.crontab.as_ref().map(Crontab::text),
        "next_run": schedule.and_then(|schedule| schedule.due).map(Timestamp::to_wire),
        "running": schedule.is_some_and(|schedule| schedule.began.is_some()),
        "last_run": schedule.and_then(|schedule| schedule.last.as_ref()).map(ran),
        "created": healthcheck.created.to_wire(),
        "modified": healthcheck.modified.to_wire(),
    })
}

fn ran(ran: &Ran) -> Value {
    let counted = &ran.counted;
    json!({
        "began": ran.began.to_wire(),
        "ended": ran.ended.to_wire(),
        "checked": counted.checked,
        "healthy": counted.healthy,
        "faults": counted.faults,
        "status": counted.failed.and_then(Failed::status),
        "error": counted.failed.map(Failed::name),
    })
}

/// Returns the reply to a request for a run.
pub fn check_requested(schedule: &CheckSchedule) -> Value {
    json!({
        "service": schedule.service.id.get(),
        "next_run": schedule.due.map(Timestamp::to_wire),
        "running": schedule.began.is_some(),
    })
}

/// Returns the health of an item.
pub fn health(health: &Health, failed: Option<Failed>) -> Value {
    json!({
        "service_item": health.item.get(),
        "healthcheck_status": health.report.status.name(),
        "healthcheck_reason": health.report.reason,
        "healthcheck_at": health.at.to_wire(),
        "status": failed.and_then(Failed::status),
        "error": failed.map(Failed::name),
    })
}
