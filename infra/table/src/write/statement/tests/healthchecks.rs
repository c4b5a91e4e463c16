//! Tests of the stored form of healthchecks, schedules and results.

use super::*;
use crate::record::{CheckScheduleRecord, CheckThrottleRecord, HealthRecord, HealthcheckRecord};
use domain::outreach::healthcheck::answer::Failed;
use domain::outreach::healthcheck::crontab::Crontab;
use domain::outreach::healthcheck::run::{CheckSchedule, Counted, Ran};
use domain::outreach::healthcheck::{CheckThrottle, Health, HealthReport, Healthcheck, Settings, Status};

#[test]
fn the_records_of_healthchecks_are_these() {
    let ctx = RequestContext { by: Actor::System, request: "request-1".to_owned(), now: at(0) };
    golden::<HealthcheckRecord>("healthcheck", &healthcheck());
    golden::<CheckScheduleRecord>("course", &check_schedule());
    golden::<CheckScheduleRecord>(
        "idle_course",
        &CheckSchedule { due: None, began: None, last: None, schedule: None, ..check_schedule() },
    );
    golden::<HealthRecord>("health", &health());
    golden::<CheckThrottleRecord>("asked", &CheckThrottle { item: health().item, at: at(0) });
    let audit_entry = AuditEntry::of_healthcheck(AuditEvent::HealthcheckChanged, &healthcheck(), &ctx);
    golden::<AuditEntryRecord>("recorded_healthcheck", &audit_entry);
}

fn healthcheck() -> Healthcheck {
    let settings = Settings {
        target_url: "https://automation.example.com/health".to_owned(),
        authorization: Some("Bearer of.their.own".to_owned()),
        schedule_enabled: true,
        crontab: Crontab::parse("*/5 * * * *").ok(),
    };
    let ctx = RequestContext { by: Actor::System, request: "request-1".to_owned(), now: at(0) };
    Healthcheck::new(settings, service(), owner(), &ctx)
}

/// Returns a schedule with a run in progress, after a failed run.
fn check_schedule() -> CheckSchedule {
    let counted = Counted { checked: 100, healthy: 98, faults: 1, failed: Some(Failed::Status(503)) };
    let last = Some(Ran { began: at(1), ended: at(2), counted });
    CheckSchedule { began: Some(at(3)), last, ..CheckSchedule::of(&healthcheck(), None, at(0)) }
}

fn health() -> Health {
    let report = HealthReport { status: Status::Unhealthy, reason: Some("the disk is full".to_owned()) };
    Health { item: item().id, report, at: at(7) }
}

#[test]
fn a_later_healthcheck_wins_and_no_item_is_checked_twice() {
    let action = newest::<HealthRecord>("table", health().at, &health()).unwrap();
    let expected = r#"put if attribute_not_exists(pk) OR at <= :at {":at":{"N":"1740748711000007"}}"#;
    assert_eq!(condition(&action), expected);
    let throttle = CheckThrottle { item: health().item, at: at(7) };
    let action = not_since::<CheckThrottleRecord>("table", throttle.not_since(), &throttle).unwrap();
    let expected = r#"put if attribute_not_exists(pk) OR at <= :at {":at":{"N":"1740748701000007"}}"#;
    assert_eq!(condition(&action), expected);
}
