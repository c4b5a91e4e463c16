//! The health of items by healthchecks: R40.

use crate::world::{VM_OWNER, World, vm};
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::outreach::healthcheck::answer::{Failed, about_all, question_about, question_about_all};
use domain::outreach::healthcheck::run::CheckSchedule;
use domain::outreach::healthcheck::{Health, HealthReport, Healthcheck, REASON_BYTES_MAX, Settings, Status};
use domain::views::related::Related;
use domain::{Item, Timestamp};
use serde_json::{Value, json};

/// Returns three items of a service.
fn items() -> Vec<Item> {
    let mut world = World::new();
    world.declare(&[vm("a", 1), vm("b", 1), vm("c", 1)]);
    ["a", "b", "c"].iter().map(|name| world.item(name).clone()).collect()
}

fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn report(status: Status, reason: &str) -> HealthReport {
    HealthReport { status, reason: (!reason.is_empty()).then(|| reason.to_owned()) }
}

#[test]
fn r40_an_item_has_the_health_from_its_services_present_healthcheck() {
    let items = items();
    let (item, other) = (&items[0], &items[1]);
    let settings = Settings {
        target_url: "https://example.com".to_owned(),
        authorization: None,
        schedule_enabled: false,
        crontab: None,
    };
    let ctx = RequestContext { by: Actor::System, request: "r".to_owned(), now: at(100) };
    let made = Healthcheck::new(settings, item.service.clone(), item.service_owner.clone(), &ctx);
    assert_eq!(made.team.name, VM_OWNER);
    let health = |time| Health { item: item.id, report: report(Status::Healthy, ""), at: at(time) };
    let related = |time: Option<u64>| {
        let mut related = Related::default();
        related.healths.extend(time.map(|time| (item.id, health(time))));
        related
    };
    assert_eq!(related(Some(200)).health(item), None, "the service has none");
    let with = |time| {
        let mut related = related(time);
        related.check_schedules.insert(item.service.id, CheckSchedule::of(&made, None, at(100)));
        related
    };
    assert_eq!(with(None).health(item), None, "no check ran");
    assert_eq!(with(Some(99)).health(item), None, "the result belongs to another healthcheck");
    assert_eq!(with(Some(100)).health(item), Some(&health(100)));
    assert_eq!(with(Some(100)).health(other), None);
}

#[test]
fn r40_an_answer_counts_for_the_requested_items_only() {
    let items = items();
    let (requested, foreign) = (&items[..2], items[2].id.get());
    let [a, b] = [items[0].id, items[1].id];
    let silent = "the response does not contain this item";
    for (name, entries, expected, faults) in [
        (
            "all",
            json!([{"id": a.get(), "status": "HEALTHY"}, {"id": b.get(), "status": "UNHEALTHY", "reason": "hot"}]),
            ["HEALTHY", "UNHEALTHY hot"],
            0,
        ),
        (
            "by digits",
            json!([{"id": a.to_string(), "status": "HEALTHY"}, {"id": b.get(), "status": "UNKNOWN"}]),
            ["HEALTHY", "UNKNOWN"],
            0,
        ),
        (
            "another's",
            json!([{"id": foreign, "status": "UNHEALTHY"}, {"id": a.get(), "status": "HEALTHY"}]),
            ["HEALTHY", "UNKNOWN -"],
            2,
        ),
        (
            "twice",
            json!([{"id": a.get(), "status": "HEALTHY"}, {"id": a.get(), "status": "UNHEALTHY"}]),
            ["HEALTHY", "UNKNOWN -"],
            2,
        ),
        (
            "unreadable",
            json!([7, null, {}, {"id": a.get()}, {"id": a.get(), "status": "fine"}, {"id": -1, "status": "HEALTHY"}]),
            ["UNKNOWN -", "UNKNOWN -"],
            8,
        ),
        ("none", json!([]), ["UNKNOWN -", "UNKNOWN -"], 2),
    ] {
        let answer = json!({"service_items": entries}).to_string();
        let reports = about_all(answer.as_bytes(), requested).unwrap();
        let text = |report: &HealthReport| match report.reason.as_deref() {
            None => report.status.name().to_owned(),
            Some(reason) if reason == silent => format!("{} -", report.status.name()),
            Some(reason) => format!("{} {reason}", report.status.name()),
        };
        let got: Vec<String> = reports.items.values().map(text).collect();
        assert_eq!((got, reports.faults), (expected.map(str::to_owned).to_vec(), faults), "{name}");
    }
    for bad in [json!([]), json!({}), json!({"service_items": {}}), json!("HEALTHY")] {
        assert_eq!(about_all(bad.to_string().as_bytes(), requested), Err(Failed::Malformed), "{bad}");
    }
    assert_eq!(about_all(b"{", requested), Err(Failed::Malformed));
    let long = json!({"service_items": [{"id": a.get(), "status": "HEALTHY", "reason": "x".repeat(9_000)}]})
        .to_string();
    let reports = about_all(long.as_bytes(), requested).unwrap();
    assert_eq!(reports.items[&a].reason.as_ref().map(String::len), Some(REASON_BYTES_MAX));
}

#[test]
fn r40_a_healthcheck_request_has_names_and_ids_and_no_declaration() {
    let items = items();
    let entry = |item: &Item| json!({"id": item.id.get(), "name": item.name, "application": item.application, "consumer": item.consumer.name});
    let all = question_about_all("VM", &items[..2]);
    assert_eq!(all, json!({"service": "VM", "service_items": [entry(&items[0]), entry(&items[1])]}));
    let one: Value = question_about(&items[0]);
    let expected = json!({"service": "VM", "service_item": "a", "application": items[0].application,
        "consumer": items[0].consumer.name, "id": items[0].id.get()});
    assert_eq!(one, expected);
}
