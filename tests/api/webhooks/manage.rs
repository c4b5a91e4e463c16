//! Creation and changes of webhooks: permissions, fields and the audit log.

use crate::api::demo::{RECORDS, SERVICES};
use domain::TeamId;
use domain::base::id::WebhookId;
use domain::outreach::webhook::WEBHOOKS_MAX;
use dovetail_http::view::MASK;
use serde_json::{Value, json};
use support::manual_queue::{CONSUMER_HOOKS, HOOKS, ManualQueue};

const KEY: &str = "vm-owner-key";
const TARGET: &str = "https://automation.example.com/hook";
const FIXED: &str = "must be unchanged: the service of a webhook is fixed";

#[test]
fn a_webhook_is_made_read_changed_and_removed_as_clients_do_it() {
    let world = ManualQueue::start();
    // The smallest body in the clients' documentation.
    let smallest = json!({"target_url": TARGET, "service": 1, "change_instance_state": "PENDING"});
    let made = world.system.call("POST", HOOKS, KEY, &smallest);
    let usual = json!({
        "id": made.at("/id"), "url": made.at("/url"), "name": "VM", "description": "", "service": 1, "target_url": TARGET,
        "authorization": null, "change_instance_state": "PENDING", "active": true, "verify": true, "timeout": 10,
        "trust_env": false, "trigger_wait_time": 0, "trigger_cooling_time": 0, "remind_after": null,
        "secret": made.at("/secret"),
        "standard_webhooks_secret": dovetail_outbound::standard_secret(made.at("/secret").as_str().unwrap()),
        "created": made.at("/created"), "modified": made.at("/created"),
    });
    assert_eq!((made.status, &made.body), (201, &usual));
    let url = made.at("/url").as_str().unwrap().to_owned();
    let read = world.system.get(&url, KEY);
    assert_eq!(read.at("/last_reply"), &Value::Null);
    for name in ["secret", "standard_webhooks_secret"] {
        assert!(!read.body.as_object().unwrap().contains_key(name), "only the creation returns {name}");
    }
    let listed = world.system.get(HOOKS, KEY);
    listed.assert_is(200, &json!({"/count": 1, "/results/0": read.body, "/next": null}));
    assert_eq!(world.system.get(&format!("{HOOKS}?service_id=2"), KEY).at("/count"), 0);
    // A client can send back the object as read, with the mask in place of the credentials.
    let given =
        json!({"authorization": "Bearer one", "trigger_cooling_time": 900, "change_instance_state": null});
    let changed = world.system.call("PATCH", &url, KEY, &given);
    changed.assert_is(200, &json!({"/trigger_cooling_time": 900, "/change_instance_state": null}));
    assert_eq!(changed.at("/authorization"), MASK);
    let same = world.system.call("PUT", &url, KEY, &changed.body);
    assert_eq!((same.status, &same.body), (200, &changed.body), "an unchanged object keeps its time");
    let id = WebhookId::parse(made.at("/id").as_u64().unwrap()).unwrap();
    let stored = || world.system.block_on(world.system.table.webhook(id)).unwrap().unwrap();
    assert_eq!(stored().settings.authorization.as_deref(), Some("Bearer one"), "the mask keeps its value");
    world.system.expect(200, "PUT", &url, KEY, &json!({"authorization": null}));
    assert_eq!(stored().settings.authorization, None);
    world.system.expect(204, "DELETE", &url, KEY, &Value::Null);
    world.system.expect(404, "DELETE", &url, KEY, &Value::Null);
    assert_eq!(world.system.get(HOOKS, KEY).at("/count"), 0);
    let records = world.system.get(RECORDS, KEY);
    let events: Vec<&Value> = records.rows().iter().map(|record| &record["event"]).collect();
    assert_eq!(events[..4], ["WEBHOOK_REMOVED", "WEBHOOK_CHANGED", "WEBHOOK_CHANGED", "WEBHOOK_CREATED"]);
    let removed = &records.rows()[0];
    let then = json!({"id": made.at("/id"), "name": "VM", "pov": "serviceowner", "service": 1,
        "change_instance_state": null, "active": true});
    assert_eq!((&removed["webhook"], &removed["changed_by_team"]), (&then, &json!("VMOwnerTeam")));
    for secret in ["Bearer one", "automation.example", made.at("/secret").as_str().unwrap()] {
        assert!(!records.body.to_string().contains(secret), "{secret}");
    }
}

#[test]
fn a_moved_webhook_needs_new_credentials() {
    let world = ManualQueue::start();
    let (url, credentials) = ("https://automation.example.com/hook", "Bearer one");
    let team = TeamId::new(1).unwrap();
    let made = world.hook(KEY, "VM", json!({"target_url": url, "authorization": credentials}));
    let path = made["url"].as_str().unwrap();
    let stored = || world.system.block_on(world.system.table.webhooks(team)).unwrap()[0].settings.clone();
    let elsewhere = [
        "http://automation.example.com/hook",
        "https://automation.example.com:8443/hook",
        "https://attacker.example.com/hook",
    ];
    let message = "must be sent again: target_url has another scheme, host or port";
    for target_url in elsewhere {
        for mut body in [json!({}), json!({"authorization": MASK})] {
            body["target_url"] = json!(target_url);
            let refused = world.system.expect(400, "PATCH", path, KEY, &body);
            let problem = (refused.code().1, refused.at("/pointer"), refused.at("/authorization/0"));
            assert_eq!(problem, ("invalid_field", &json!("/authorization"), &json!(message)), "{body}");
            assert_eq!(stored().target_url, url);
        }
    }
    // The same scheme, host and port keep the credentials. Any other target needs them again, or null.
    let same = json!({"target_url": "https://AUTOMATION.example.com:443/other", "authorization": MASK});
    world.system.expect(200, "PATCH", path, KEY, &same);
    assert_eq!(stored().authorization.as_deref(), Some(credentials));
    let repeated = json!({"target_url": elsewhere[2], "authorization": "Bearer two"});
    world.system.expect(200, "PATCH", path, KEY, &repeated);
    assert_eq!(stored().authorization.as_deref(), Some("Bearer two"));
    let without = json!({"target_url": url, "authorization": null});
    world.system.expect(200, "PATCH", path, KEY, &without);
    let free = json!({"target_url": elsewhere[0]});
    world.system.expect(200, "PATCH", path, KEY, &free);
    assert_eq!((stored().authorization, stored().target_url.as_str()), (None, elsewhere[0]));
}

#[test]
fn a_rejection_lists_all_errors_and_creates_nothing() {
    let world = ManualQueue::start();
    let bad = json!({
        "service": 2, "target_url": "ftp://example.com", "name": "", "description": 5, "authorization": "two\nlines",
        "change_instance_state": "DONE", "active": "yes", "verify": false, "timeout": 31, "trust_env": true,
        "trigger_wait_time": 901, "trigger_cooling_time": -1, "remind_after": 299,
    });
    let answer = world.system.call("POST", HOOKS, KEY, &bad);
    assert_eq!(answer.code(), (400, "invalid_field"));
    for field in bad.as_object().unwrap().keys() {
        assert!(answer.at(&format!("/{field}/0")).is_string(), "{field}: {answer:?}");
    }
    let message = "must be a service of the team, or one with the team as a dependent team";
    let verify = "must be true: Dovetail always verifies the certificate of the receiver";
    answer.assert_is(400, &json!({"/service/0": message, "/verify/0": verify}));
    let no_password = "must not contain a user name or a password: send them as `authorization`";
    for (field, value, message) in [
        ("service", json!("one"), "must be the id or the URL of a service"),
        ("service", json!(99), message),
        ("target_url", json!("https://me:secret@example.com"), no_password),
        ("target_url", json!("x".repeat(2_049)), "must be at most 2048 bytes"),
        ("target_url", json!("nowhere"), "must be an absolute URL of ASCII characters"),
        ("authorization", json!(MASK), "must be a value, not the mask of a stored one"),
        ("authorization", json!("x".repeat(2_049)), "must be at most 2048 bytes"),
        ("description", json!("x".repeat(1_025)), "must be at most 1024 bytes"),
        ("timeout", json!(0), "must be an integer number of seconds from 1 to 30"),
        ("timeout", json!(1.5), "must be an integer number of seconds from 1 to 30"),
        ("trigger_wait_time", json!("1"), "must be an integer number of seconds from 0 to 900"),
        ("remind_after", json!(86_401), "must be null or an integer number of seconds from 300 to 86400"),
        ("remind_after", json!(300), "must be null, unless change_instance_state is PENDING or APPROVED"),
    ] {
        let mut body = json!({"service": 1, "target_url": TARGET});
        body[field] = value;
        let answer = world.system.call("POST", HOOKS, KEY, &body);
        assert_eq!((answer.status, answer.at(&format!("/{field}/0"))), (400, &json!(message)), "{body}");
    }
    let without = world.system.call("POST", HOOKS, KEY, &json!({"service": 1}));
    assert_eq!(without.at("/target_url/0"), "must be present");
    assert_eq!(world.system.get(HOOKS, KEY).at("/count"), 0);
    // A body can name the service by URL. The service of a webhook is fixed.
    let service = world.system.get(&format!("{SERVICES}1/"), KEY).at("/url").clone();
    let body = json!({"service": service, "target_url": TARGET});
    let made = world.system.expect(201, "POST", HOOKS, KEY, &body);
    let moved = world.system.call("PATCH", made.at("/url").as_str().unwrap(), KEY, &json!({"service": 2}));
    moved.assert_is(400, &json!({"/service/0": FIXED}));
}

#[test]
fn a_webhook_is_its_owners_alone() {
    let world = ManualQueue::start();
    let made = world.hook(KEY, "VM", json!({"target_url": TARGET}));
    let path = made["url"].as_str().unwrap();
    let as_consumer = path.replace("serviceowner", "consumer");
    let body = json!({"service": 1, "target_url": TARGET});
    for key in [KEY, "lb-owner-key", "awesome-key"] {
        assert_eq!(world.system.get(CONSUMER_HOOKS, key).at("/count"), 0, "{key}");
        assert_eq!(world.system.get(&as_consumer, key).status, 404, "{key}");
    }
    for key in ["lb-owner-key", "awesome-key"] {
        assert_eq!(world.system.get(HOOKS, key).at("/count"), 0);
        for (method, below) in [("GET", ""), ("GET", "failures/"), ("POST", "trigger/"), ("POST", "rotate/")]
        {
            world.system.expect(404, method, &format!("{path}{below}"), key, &Value::Null);
        }
        world.system.expect(404, "PATCH", path, key, &json!({"active": false}));
        world.system.expect(400, "POST", HOOKS, key, &body);
    }
    let bad = world.system.get(&format!("{path}failures/?cursor=x"), KEY);
    assert_eq!(bad.at("/code"), "invalid_cursor");
}

#[test]
fn a_consumers_webhook_is_for_all_services_or_for_one_and_only_in_its_role() {
    let world = ManualQueue::start();
    let key = "awesome-key";
    for body in [json!({"target_url": TARGET}), json!({"target_url": TARGET, "service": null})] {
        let made = world.system.call("POST", CONSUMER_HOOKS, key, &body);
        made.assert_is(201, &json!({"/service": null, "/name": "All services"}));
        let url = made.at("/url").as_str().unwrap();
        let read = world.system.get(url, key);
        assert_eq!(world.system.get(CONSUMER_HOOKS, key).at("/results"), &json!([read.body]));
        let same = world.system.call("PUT", url, key, &read.body);
        assert_eq!((same.status, &same.body), (200, &read.body), "an object as read changes nothing");
        let moved = world.system.call("PATCH", url, key, &json!({"service": 1}));
        moved.assert_is(400, &json!({"/service/0": FIXED}));
        // As an owner the same team has no webhook.
        let as_owner = url.replace("consumer", "serviceowner");
        assert_eq!(world.system.get(&as_owner, key).status, 404);
        world.system.expect(404, "DELETE", &as_owner, key, &Value::Null);
        assert_eq!(world.system.get(HOOKS, key).at("/count"), 0);
        world.system.expect(204, "DELETE", url, key, &Value::Null);
    }
    let entry = world.system.get(&format!("{RECORDS}?limit=1"), key);
    let of_all = json!({"name": "All services", "pov": "consumer", "service": null, "change_instance_state": null,
        "active": true, "id": entry.at("/results/0/webhook/id")});
    assert_eq!(entry.at("/results/0/webhook"), &of_all);
    let one = world.system.call("POST", CONSUMER_HOOKS, key, &json!({"service": 2, "target_url": TARGET}));
    one.assert_is(201, &json!({"/service": 2, "/name": "LoadBalancer"}));
    for (query, count) in [("service_id=2", 1), ("service_id=1", 0), ("", 1)] {
        let listed = world.system.get(&format!("{CONSUMER_HOOKS}?{query}"), key);
        assert_eq!(listed.at("/count"), count, "{query}");
    }
    world.system.expect(400, "PATCH", one.at("/url").as_str().unwrap(), key, &json!({"service": null}));
    // An invisible service is a missing one.
    let private = json!({"allowed_teams": ["AwesomeConsumer2"]});
    world.system.expect(200, "PATCH", &format!("{SERVICES}1/"), KEY, &private);
    for service in [1, 99] {
        let body = json!({"service": service, "target_url": TARGET});
        let refused = world.system.expect(400, "POST", CONSUMER_HOOKS, key, &body);
        assert_eq!(refused.at("/service/0"), "must be a service in the catalogue of the team", "{service}");
    }
}

#[test]
fn a_dependent_team_has_webhooks_for_its_shares_and_the_limit_counts_both_roles() {
    let world = ManualQueue::start();
    let (key, body) = ("np-owner-key", json!({"service": 2, "target_url": TARGET}));
    let made = world.system.call("POST", HOOKS, key, &body);
    made.assert_is(201, &json!({"/service": 2, "/name": "LoadBalancer"}));
    assert_eq!(world.system.get(HOOKS, "lb-owner-key").at("/count"), 0, "the service owner does not see it");
    let refused = world.system.call("POST", HOOKS, key, &json!({"service": 1, "target_url": TARGET}));
    assert_eq!(refused.status, 400, "this service has no dependent teams: {refused:?}");
    let all = json!({"target_url": TARGET});
    for number in 1..WEBHOOKS_MAX {
        let (hooks, body) = if number % 2 == 0 { (HOOKS, &body) } else { (CONSUMER_HOOKS, &all) };
        assert_eq!(world.system.call("POST", hooks, key, body).status, 201, "{number}");
    }
    for hooks in [HOOKS, CONSUMER_HOOKS] {
        let full = world.system.call("POST", hooks, key, &body);
        assert_eq!(full.code(), (400, "too_many_webhooks"), "{hooks}");
    }
    world.system.expect(204, "DELETE", made.at("/url").as_str().unwrap(), key, &Value::Null);
    world.system.expect(201, "POST", CONSUMER_HOOKS, key, &body);
}
