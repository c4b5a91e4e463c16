//! Crontabs, responses and runs.

use super::answer::{Failed, about_one};
use super::crontab::Crontab;
use super::run::{CheckSchedule, Counted, LOST_AFTER_SECONDS, Run};
use super::{COOLING_SECONDS, CheckThrottle, HealthReport, REASON_BYTES_MAX, Settings, Status};
use crate::base::id::{ApplicationId, ItemId, ServiceId, TeamId};
use crate::base::refs::ServiceRef;
use crate::base::timestamp::Timestamp;
use serde_json::{Value, json};
use time::OffsetDateTime;

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn the_next_time_is_the_first_minute_that_a_crontab_means() {
    for (crontab, after, next) in [
        ("* * * * *", "2026-11-23T22:00:00Z", "2026-11-23T22:01:00Z"),
        ("* * * * *", "2026-11-23T22:00:59.999999Z", "2026-11-23T22:01:00Z"),
        ("*/15 * * * *", "2026-11-23T22:46:00Z", "2026-11-23T23:00:00Z"),
        ("0 3 * * *", "2026-11-23T03:00:00Z", "2026-11-24T03:00:00Z"),
        ("5,10-12 0 1 1 *", "2026-01-01T00:05:00Z", "2026-01-01T00:10:00Z"),
        ("0 0 1 1 *", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z"),
        ("0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"),
        // `*/4` does not restrict the weekday field, so the 29 February has to be a Sunday or a Thursday.
        ("0 0 29 2 */4", "2064-03-01T00:00:00Z", "2080-02-29T00:00:00Z"),
        ("10-40/15 9 * * 1-5", "2026-11-20T09:40:00Z", "2026-11-23T09:10:00Z"),
        ("0 0 * * 0", "2026-11-23T22:00:00Z", "2026-11-29T00:00:00Z"),
        ("0 0 * * 7", "2026-11-23T22:00:00Z", "2026-11-29T00:00:00Z"),
        // With both day fields restricted, either is enough.
        ("0 0 25 * 4", "2026-11-23T22:00:00Z", "2026-11-25T00:00:00Z"),
        ("0 0 30 * 2", "2026-11-23T22:00:00Z", "2026-11-24T00:00:00Z"),
        ("0 0 */2 * 4", "2026-11-23T22:00:00Z", "2026-12-03T00:00:00Z"),
    ] {
        let read = Crontab::parse(crontab).unwrap();
        assert_eq!(read.next(time(after)), Some(time(next)), "{crontab} after {after}");
    }
    assert_eq!(Crontab::parse("  0\t3 * *  * ").unwrap().text(), "0 3 * * *");
    assert_eq!(Crontab::parse("* * * * *").unwrap().next(Timestamp::from_micros(u64::MAX)), None);
}

#[test]
fn an_invalid_crontab_is_refused_with_its_field() {
    let long = format!("{}0 * * * *", "0,".repeat(200));
    for (bad, message) in [
        ("", "must have five fields"),
        ("* * * *", "must have five fields"),
        ("* * * * * *", "must have five fields"),
        ("@daily", "must have five fields"),
        ("60 * * * *", "must have a valid minute: numbers from 0 to 59"),
        ("-1 * * * *", "must have a valid minute"),
        ("*/0 * * * *", "must have a valid minute"),
        ("5/10 * * * *", "must have a valid minute"),
        ("9-3 * * * *", "must have a valid minute"),
        ("1,,2 * * * *", "must have a valid minute"),
        ("007 * * * *", "must have a valid minute"),
        ("+1 * * * *", "must have a valid minute"),
        ("* 24 * * *", "must have a valid hour"),
        ("* * 0 * *", "must have a valid day of the month"),
        ("* * L * *", "must have a valid day of the month"),
        ("* * * 13 *", "must have a valid month"),
        ("* * * JAN *", "must have a valid month"),
        ("* * * * 8", "must have a valid day of the week"),
        ("0 0 30 2 *", "must include a date that exists"),
        ("0 0 31 4,6,9,11 *", "must include a date that exists"),
        (long.as_str(), "must be at most 256 bytes"),
    ] {
        let problem = Crontab::parse(bad).unwrap_err();
        assert!(problem.starts_with(message), "{bad}: {problem}");
    }
}

/// Returns a number from a reproducible sequence.
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// Returns a random field and its numbers.
fn field(seed: &mut u64, from: u64, to: u64) -> (String, Vec<u64>) {
    let one = |seed: &mut u64| from + random(seed) % (to - from + 1);
    match random(seed) % 4 {
        0 => ("*".to_owned(), (from..=to).collect()),
        1 => {
            let step = 1 + random(seed) % 20;
            (format!("*/{step}"), (from..=to).filter(|number| (number - from).is_multiple_of(step)).collect())
        }
        2 => {
            let (a, b) = (one(seed), one(seed));
            (format!("{a},{b}"), vec![a, b])
        }
        _ => {
            let (a, b) = (one(seed), one(seed));
            let (low, high) = (a.min(b), a.max(b));
            (format!("{low}-{high}"), (low..=high).collect())
        }
    }
}

#[test]
fn the_next_time_is_later_is_meant_and_no_earlier_one_is() {
    let mut seed = 7;
    let mut read = 0;
    for _ in 0..2_000 {
        let fields =
            [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)].map(|(from, to)| field(&mut seed, from, to));
        let text = fields.each_ref().map(|(text, _)| text.as_str()).join(" ");
        let after = Timestamp::from_micros(
            random(&mut seed) % 4_000_000_000 * 1_000_000 + random(&mut seed) % 1_000_000,
        );
        let Ok(crontab) = Crontab::parse(&text) else { continue };
        read += 1;
        let either = !fields[2].0.starts_with('*') && !fields[4].0.starts_with('*');
        let means = |minute: u64| {
            let at = OffsetDateTime::from_unix_timestamp(i64::try_from(minute * 60).unwrap()).unwrap();
            let has = |field: usize, number: u8| fields[field].1.contains(&number.into());
            let weekday = at.weekday().number_days_from_sunday();
            let (day, weekday) = (has(2, at.day()), has(4, weekday) || (weekday == 0 && has(4, 7)));
            let days = if either { day || weekday } else { day && weekday };
            has(0, at.minute()) && has(1, at.hour()) && has(3, u8::from(at.month())) && days
        };
        let next = crontab.next(after).unwrap();
        assert!(next > after && next.micros().is_multiple_of(60_000_000), "{text}");
        let (from, to) = (after.micros() / 60_000_000 + 1, next.micros() / 60_000_000);
        assert!(means(to), "{text}: {}", next.to_wire());
        // At most 2,000 minutes, to limit the time of the test.
        assert!(!(from..to).take(2_000).any(means), "{text} after {}", after.to_wire());
    }
    assert!(read > 1_900, "{read}");
}

fn check_schedule(crontab: Option<&str>, due: Option<u64>) -> CheckSchedule {
    let service = ServiceRef { id: ServiceId::new(1).unwrap(), title: "VM".to_owned() };
    let (team, since) = (TeamId::new(2).unwrap(), Timestamp::from_micros(0));
    let schedule = crontab.map(|text| Crontab::parse(text).unwrap());
    CheckSchedule {
        service,
        team,
        since,
        schedule,
        due: due.map(seconds),
        began: None,
        last: None,
        revision: 1,
    }
}

fn seconds(seconds: u64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

#[test]
fn one_run_of_a_service_is_active_at_a_time() {
    let asleep = check_schedule(None, None);
    assert_eq!(asleep.begun(seconds(100)), None);
    let due = asleep.with_run_due(seconds(100)).unwrap();
    assert_eq!((due.due, due.revision), (Some(seconds(100)), 2));
    assert_eq!(due.with_run_due(seconds(101)), None, "it is due already");
    let (running, run) = due.begun(seconds(110)).unwrap();
    assert_eq!((running.due, running.began, running.revision), (None, Some(seconds(110)), 3));
    assert!(running.is_at(&run));
    // A request during a run: the next run starts after the end of the present one, or when it counts as lost.
    let second = running.with_run_due(seconds(120)).unwrap();
    assert_eq!(second.begun(seconds(120)), None);
    let (_, late) = second.begun(seconds(110 + LOST_AFTER_SECONDS)).unwrap();
    assert_ne!(late.began, run.began);
    let ended = second.ended(&run, seconds(130)).unwrap();
    assert_eq!((ended.began, ended.last.as_ref().unwrap().ended), (None, seconds(130)));
    assert_eq!(ended.ended(&run, seconds(131)), None, "it has ended");
    // After a clock step backwards, a run still gets a later start.
    let (_, next) = CheckSchedule { due: Some(seconds(1)), ..ended }.begun(seconds(5)).unwrap();
    assert!(next.began > run.began);
}

#[test]
fn a_scheduled_run_is_due_later_and_a_failed_send_at_once() {
    let due = check_schedule(Some("*/5 * * * *"), Some(300));
    assert_eq!(due.begun(seconds(299)), None);
    let (running, run) = due.begun(seconds(301)).unwrap();
    assert_eq!(running.due, Some(seconds(600)));
    let back = running.put_back(seconds(302));
    assert_eq!((back.due, back.began), (Some(seconds(302)), None));
    assert!(!back.is_at(&run));
}

#[test]
fn a_run_is_a_message_and_reads_back() {
    let (_, run) = check_schedule(None, Some(1)).begun(seconds(2)).unwrap();
    let report = |status| HealthReport { status, reason: None };
    let page = [report(Status::Healthy), report(Status::Unhealthy), report(Status::Unknown)];
    let run = run.after_page(page.iter(), 2, None, Some("0001#2".to_owned()));
    let run = run.after_page(page[..1].iter(), 0, Some(Failed::Status(503)), Some("0001#3".to_owned()));
    let run = run.after_page(page[..0].iter(), 0, Some(Failed::TimedOut), None);
    assert_eq!(run.counted, Counted { checked: 4, healthy: 2, faults: 2, failed: Some(Failed::Status(503)) });
    let message: Value = serde_json::from_str(&run.to_message()).unwrap();
    assert_eq!(Run::of_message(&message), Some(run));
    for name in ["healthcheck", "team", "began", "checked", "healthy", "faults"] {
        let mut bad = message.clone();
        bad[name] = json!("x");
        assert_eq!(Run::of_message(&bad), None, "{name}");
    }
    let mut bad = message;
    bad["failed"] = json!("gone");
    assert_eq!(Run::of_message(&bad), None);
}

#[test]
fn an_answer_about_an_item_is_read_or_refused() {
    for (answer, status, reason) in [
        (r#"{"status":"HEALTHY"}"#, Status::Healthy, None),
        (r#"{"status":"UNHEALTHY","reason":"disk"}"#, Status::Unhealthy, Some("disk")),
        (r#"{"status":"UNKNOWN","reason":null,"more":1}"#, Status::Unknown, None),
    ] {
        let report = about_one(answer.as_bytes()).unwrap();
        assert_eq!((report.status, report.reason.as_deref()), (status, reason), "{answer}");
    }
    for bad in [
        "",
        "[]",
        "{}",
        "\"HEALTHY\"",
        r#"{"status":"ok"}"#,
        r#"{"status":true}"#,
        r#"{"status":"HEALTHY","reason":5}"#,
    ] {
        assert_eq!(about_one(bad.as_bytes()), Err(Failed::Malformed), "{bad}");
    }
    let long = json!({"status": "HEALTHY", "reason": "ä".repeat(400)}).to_string();
    assert_eq!(about_one(long.as_bytes()).unwrap().reason.unwrap().len(), REASON_BYTES_MAX);
}

#[test]
fn failure_names_read_back_and_report_an_unknown_state() {
    let all =
        [Failed::Status(404), Failed::TimedOut, Failed::Unreachable, Failed::NotPublic, Failed::Malformed];
    for failed in all {
        assert_eq!(Failed::parse(failed.name(), failed.status()), Some(failed));
        assert_eq!(failed.to_report().status, Status::Unknown);
    }
    assert_eq!((Failed::parse("status", None), Failed::parse("timeout", Some(200))), (None, None));
    for status in Status::ALL {
        assert_eq!(Status::parse(status.name()), Some(status));
    }
}

#[test]
fn nothing_of_credentials_is_in_what_is_logged() {
    let settings = Settings {
        target_url: "https://canary.example".to_owned(),
        authorization: Some("Bearer canary".to_owned()),
        schedule_enabled: true,
        crontab: Crontab::parse("0 3 * * *").ok(),
    };
    assert_eq!(settings.schedule().map(Crontab::text), Some("0 3 * * *"));
    assert_eq!(Settings { schedule_enabled: false, ..settings.clone() }.schedule(), None);
    let health = HealthReport { status: Status::Healthy, reason: Some("canary".to_owned()) };
    assert!(!format!("{settings:?} {health:?}").contains("canary"));
}

#[test]
fn a_repeated_check_waits() {
    let item = ApplicationId::new(TeamId::new(1).unwrap(), 1).and_then(|app| ItemId::new(app, 1)).unwrap();
    let throttle = CheckThrottle { item, at: seconds(100) };
    assert_eq!(throttle.not_since(), seconds(100 - COOLING_SECONDS));
}
