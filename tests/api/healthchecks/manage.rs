//! Creation, replacement and removal of healthchecks: permissions, fields and the audit log.

use super::report::{BY_CONSUMER, CHECKS, CONSUMER, OWNER};
use crate::api::demo::{RECORDS, SERVICES, definition};
use crate::api::lists::library::ids;
use domain::base::id::ServiceId;
use domain::outreach::healthcheck::answer::about_one;
use dovetail_http::view::MASK;
use serde_json::{Value, json};
use support::manual_queue::ManualQueue;
use support::{Running, first_commands};

const TARGET: &str = "https://automation.example.com/health";

#[test]
fn a_healthcheck_is_made_read_replaced_and_removed() {
    let world = ManualQueue::start();
    let call = |body: &Value| world.system.call("POST", CHECKS, OWNER, body);
    // The body of the clients' documentation, with two spaces in the crontab.
    let made = call(&json!({"service": 1, "target_url": TARGET, "authorization": "Bearer one",
        "schedule_enabled": true, "schedule_crontab": "* *  * * *"}));
    let expected = json!({
        "id": 1, "url": made.at("/url"), "service": 1, "target_url": TARGET, "authorization": MASK, "schedule_enabled": true,
        "schedule_crontab": "* * * * *", "next_run": made.at("/next_run"), "running": false, "last_run": null,
        "created": made.at("/created"), "modified": made.at("/created"),
    });
    assert_eq!((made.status, &made.body), (201, &expected));
    assert!(made.at("/next_run").as_str() > made.at("/created").as_str(), "{made:?}");
    let url = made.at("/url").as_str().unwrap().to_owned();
    assert_eq!(world.system.get(&url, OWNER).body, made.body);
    let listed = world.system.get(CHECKS, OWNER);
    listed.assert_is(200, &json!({"/results/0": made.body, "/next": null, "/count": 1}));
    // A client can send back the object as read, and nothing changes.
    let same = call(&made.body);
    assert_eq!((same.status, &same.body), (200, &made.body));
    let team = world.system.block_on(world.system.table.service("VM")).unwrap().unwrap().owner.id;
    let service = ServiceId::new(1).unwrap();
    let stored = || world.system.block_on(world.system.table.healthcheck(team, service)).unwrap().unwrap();
    // The mask means the stored credentials. An absent field gets its default.
    let changed = call(&json!({"service": made.at("/service"), "target_url": TARGET, "authorization": MASK,
        "schedule_crontab": "0 3 * * *"}));
    changed.assert_is(200, &json!({"/authorization": MASK, "/created": made.at("/created")}));
    let schedule = json!({"/schedule_enabled": false, "/schedule_crontab": "0 3 * * *", "/next_run": null});
    changed.assert_is(200, &schedule);
    assert_eq!(stored().settings.authorization.as_deref(), Some("Bearer one"));
    let least = call(&json!({"service": 1, "target_url": TARGET}));
    least.assert_is(200, &json!({"/authorization": null, "/schedule_crontab": null}));
    assert_eq!(stored().settings.authorization, None);
    world.system.expect(204, "DELETE", &url, OWNER, &Value::Null);
    assert_eq!(world.system.get(&url, OWNER).status, 404);
    assert_eq!(world.system.get(CHECKS, OWNER).at("/results"), &json!([]));
    let records = world.system.get(RECORDS, OWNER);
    let results = records.rows();
    let events: Vec<&Value> = results.iter().map(|record| &record["event"]).collect();
    let all = ["HEALTHCHECK_REMOVED", "HEALTHCHECK_CHANGED", "HEALTHCHECK_CHANGED", "HEALTHCHECK_CREATED"];
    assert_eq!(events[..4], all);
    assert_eq!(results[3]["healthcheck"], json!({"id": 1, "service": 1, "schedule": "* * * * *"}));
    for secret in ["Bearer one", "automation.example"] {
        assert!(!records.body.to_string().contains(secret), "{secret}");
        assert!(!format!("{:?}", world.system.rows()).contains(secret), "{secret}");
    }
    world.system.assert_sound();
}

#[test]
fn a_moved_healthcheck_needs_new_credentials() {
    let world = ManualQueue::start();
    let of = |target_url: &str, authorization: Value| {
        let body = json!({"service": 1, "target_url": target_url, "authorization": authorization});
        world.system.call("POST", CHECKS, OWNER, &body)
    };
    let (here, elsewhere) = ("https://automation.example.com/health", "https://attacker.example.com/health");
    assert_eq!(of(here, json!("Bearer one")).status, 201);
    for target_url in [elsewhere, "http://automation.example.com/", "https://automation.example.com:1/"] {
        let refused = of(target_url, json!(MASK));
        assert_eq!(refused.code(), (400, "invalid_field"), "{target_url}");
        assert_eq!(refused.at("/pointer"), "/authorization", "{refused:?}");
    }
    let moved = of("https://automation.example.com/other", json!(MASK));
    assert_eq!((moved.status, moved.at("/authorization")), (200, &json!(MASK)));
    assert_eq!(of(elsewhere, json!("Bearer two")).status, 200);
    assert_eq!(of(here, Value::Null).at("/authorization"), &Value::Null);
}

#[test]
fn a_rejection_lists_all_errors_and_creates_nothing() {
    let world = ManualQueue::start();
    let bad = json!({"service": 2, "target_url": "ftp://example.com", "authorization": "two\nlines",
        "schedule_enabled": "yes", "schedule_crontab": "60 * * * *"});
    let answer = world.system.call("POST", CHECKS, OWNER, &bad);
    assert_eq!(answer.code(), (400, "invalid_field"));
    for field in bad.as_object().unwrap().keys() {
        assert!(answer.at(&format!("/{field}/0")).is_string(), "{field}: {answer:?}");
    }
    let five_fields = "must have five fields: minute, hour, day of the month, month, day of the week";
    let no_password = "must not contain a user name or a password: send them as `authorization`";
    for (field, value, message) in [
        ("service", json!("one"), "must be the id or the URL of a service"),
        ("service", json!(99), "must be a service of the team"),
        ("target_url", Value::Null, "must be a string"),
        ("target_url", json!("https://me:secret@example.com"), no_password),
        ("authorization", json!(MASK), "must be a value, not the mask of a stored one"),
        ("schedule_enabled", json!(1), "must be true or false"),
        ("schedule_crontab", json!(5), "must be a string"),
        ("schedule_crontab", json!("* * * *"), five_fields),
    ] {
        let mut body = json!({"service": 1, "target_url": TARGET});
        body[field] = value;
        let answer = world.system.call("POST", CHECKS, OWNER, &body);
        assert_eq!((answer.status, answer.at(&format!("/{field}/0"))), (400, &json!(message)), "{body}");
    }
    let answer = world.system.call("POST", CHECKS, OWNER, &json!({"service": 1, "schedule_enabled": true}));
    let crontab = "must be present, because schedule_enabled is true";
    answer.assert_is(400, &json!({"/target_url/0": "must be present", "/schedule_crontab/0": crontab}));
    assert_eq!(world.system.get(CHECKS, OWNER).at("/results"), &json!([]));
}

#[test]
fn a_healthcheck_is_its_owners_alone() {
    let world = ManualQueue::start();
    let body = json!({"service": 1, "target_url": TARGET});
    let made = world.system.call("POST", CHECKS, OWNER, &body);
    let url = made.at("/url").as_str().unwrap();
    for key in [OWNER, "lb-owner-key", CONSUMER] {
        assert_eq!(world.system.get(BY_CONSUMER, key).at("/results"), &json!([]), "{key}");
        assert_eq!(world.system.call("POST", BY_CONSUMER, key, &body).status, 404, "{key}");
        assert_eq!(world.system.get(&url.replace("serviceowner", "consumer"), key).status, 404, "{key}");
    }
    for key in ["lb-owner-key", CONSUMER] {
        assert_eq!(world.system.get(CHECKS, key).at("/results"), &json!([]));
        assert_eq!(world.system.get(url, key).status, 404, "{key}");
        assert_eq!(world.system.call("DELETE", url, key, &Value::Null).status, 404, "{key}");
        assert_eq!(world.system.call("POST", CHECKS, key, &body).status, 400, "{key}");
    }
    assert_eq!(world.system.get(url, OWNER).body, made.body);
}

#[test]
fn a_page_of_healthchecks_leads_to_the_next_one() {
    let world = ManualQueue::start();
    for number in 0..3 {
        let service = world.system.call("POST", SERVICES, OWNER, &definition(&format!("S{number}")));
        let body = json!({"service": service.at("/url"), "target_url": TARGET});
        world.system.expect(201, "POST", CHECKS, OWNER, &body);
    }
    let pages = world.system.pages(&format!("{CHECKS}?limit=2"), OWNER);
    let ids: Vec<u64> = pages.iter().flat_map(|page| ids(page.rows())).collect();
    assert!(ids.len() == 3 && ids.is_sorted(), "{ids:?}");
}

const PAGE: &str = include_str!("../../../docs/how-to/healthchecks.md");

#[test]
fn the_healthcheck_of_the_page_is_made_and_its_answer_is_one() {
    let system = Running::demo();
    let written = first_commands(PAGE, &system);
    let mut documents = serde_json::Deserializer::from_slice(&written).into_iter::<Value>();
    let made = documents.next().unwrap().unwrap();
    assert_eq!((&made["schedule_crontab"], &made["authorization"]), (&json!("*/5 * * * *"), &json!(MASK)));
    let request = documents.next().unwrap().unwrap();
    assert_eq!((&request["service"], &request["running"]), (&json!(1), &json!(false)));
    let blocks: Vec<&str> =
        PAGE.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    let [_, _, answer, all] = blocks.as_slice() else { panic!("{blocks:?}") };
    assert_eq!(about_one(answer.as_bytes()).unwrap().reason.as_deref(), Some("the disk is full"));
    let all: Value = serde_json::from_str(all).unwrap();
    assert!(about_one(all["service_items"][0].to_string().as_bytes()).is_ok());
}
