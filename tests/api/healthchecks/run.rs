//! Runs of a healthcheck: all items of a service, page by page, on request and on schedule.

use super::report::{CHECKS, CONSUMER, OWNER, all_healthy, items, make, status, world};
use crate::api::demo::{SUBMIT, VALIDATE, vms};
use dovetail_outbound::{Outbound, Targets};
use serde_json::{Value, json};
use std::thread;
use support::assert_values;
use support::manual_queue::ManualQueue;
use support::receiver::Request;

fn trigger(world: &ManualQueue) -> Value {
    let request = world.system.get(&format!("{CHECKS}trigger/service/1/"), OWNER);
    assert_eq!(request.status, 200, "{request:?}");
    request.body
}

fn read(world: &ManualQueue) -> Value {
    world.system.get(&format!("{CHECKS}1/"), OWNER).body
}

/// Requests a run and starts what is due. Returns the number of started runs.
fn start(world: &ManualQueue) -> u64 {
    trigger(world);
    world.catch_up();
    world.begin()
}

#[test]
fn a_run_checks_all_items_of_a_service_that_are_in_service() {
    let (mut world, target) = world(3);
    world.declare(&json!({"VM": [{"name": "vm0"}, {"name": "vm1"}], "LoadBalancer": [{"name": "lb", "related_vms": ["vm0"]}]}));
    target.says("/all", |request| {
        let items = request.body["service_items"].as_array().unwrap();
        json!({"service_items": [
            {"id": items[1]["id"], "status": "UNHEALTHY", "reason": "hot"},
            {"id": items[0]["id"].to_string(), "status": "HEALTHY"},
            {"id": items[0]["id"], "status": "UNHEALTHY"}, {"id": 1, "status": "HEALTHY"}, {"status": "HEALTHY"}, 7]})
    });
    make(&world, &target, "/all");
    assert_eq!(world.begin(), 0, "no run is due before a request");
    let run = trigger(&world);
    assert_eq!((&run["service"], &run["running"]), (&json!(1), &json!(false)));
    assert_eq!(trigger(&world), run, "a second request gets the same run");
    world.catch_up();
    assert_eq!((world.begin(), world.begin()), (1, 0));
    assert_eq!(read(&world)["running"], true);
    world.deliver();
    let requests = target.of("/all");
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), "Bearer canary");
    // The declaration removed one of the three VMs, and the load balancer belongs to another service.
    let all = items(&world);
    let item = |n: usize| json!({"id": all[n]["id"], "name": all[n]["name"], "application": "App", "consumer": "AwesomeConsumer"});
    assert_eq!(requests[0].body, json!({"service": "VM", "service_items": [item(0), item(1)]}));
    assert_eq!([status(&all[0]), status(&all[1])], ["HEALTHY", "UNHEALTHY"]);
    assert_eq!(all[1]["healthcheck_reason"], "hot");
    let done = read(&world);
    assert_values(&done["last_run"], &json!({"/checked": 2, "/healthy": 1, "/faults": 4, "/error": null}));
    assert_values(&done, &json!({"/running": false, "/next_run": null}));
    for text in world.sent() {
        assert!(!text.contains("canary") && !text.contains("http"), "{text}");
    }
    world.system.assert_sound();
}

#[test]
fn a_run_checks_a_hundred_items_at_a_time() {
    let (mut world, target) = world(250);
    make(&world, &target, "/all");
    assert_eq!(start(&world), 1);
    world.deliver();
    let size = |request: &Request| request.body["service_items"].as_array().unwrap().len();
    assert_eq!(target.of("/all").iter().map(size).collect::<Vec<_>>(), [100, 100, 50]);
    let expected = json!({"/last_run/checked": 250, "/last_run/healthy": 250, "/last_run/faults": 0});
    assert_values(&read(&world), &expected);
    assert!(items(&world).iter().all(|item| status(item) == "HEALTHY"));
    world.system.assert_sound();
}

#[test]
fn a_silent_target_gets_one_request_and_all_items_become_unknown() {
    let (mut world, target) = world(120);
    make(&world, &target, "/all");
    for (count, expected) in [(2, "HEALTHY"), (3, "UNKNOWN")] {
        assert_eq!(start(&world), 1);
        target.answers("/all", if expected == "HEALTHY" { &[] } else { &[500] });
        world.deliver();
        assert_eq!(target.of("/all").len(), count);
        let all = items(&world);
        assert!(all.iter().all(|item| status(item) == expected), "{expected}");
    }
    let last = json!({"/checked": 120, "/healthy": 0, "/status": 500, "/error": "status"});
    assert_values(&read(&world)["last_run"], &last);
}

#[test]
fn a_target_in_the_private_network_is_not_called() {
    let (mut world, target) = world(1);
    let url = target.url("/").replace("http://127.0.0.1", "https://localhost");
    let body = json!({"service": 1, "target_url": url});
    world.system.expect(201, "POST", CHECKS, OWNER, &body);
    world.handles.outbound = Outbound::new(Targets::Public);
    start(&world);
    world.deliver();
    assert_eq!(read(&world)["last_run"]["error"], "not_public");
    assert_eq!(target.of("/"), []);
}

#[test]
fn a_scheduled_run_begins_when_it_is_due_and_by_one_sweep_alone() {
    let (mut world, target) = world(1);
    let body = json!({"service": 1, "target_url": target.url("/all"), "schedule_enabled": true,
        "schedule_crontab": "*/5 * * * *"});
    world.system.expect(201, "POST", CHECKS, OWNER, &body);
    world.catch_up();
    let mut runs = 0;
    let mut next = read(&world)["next_run"].clone();
    for _ in 0..15 {
        world.pass(60);
        // Two concurrent sweeps race for the due run. Only one may start it.
        let begun = thread::scope(|scope| {
            let one = || world.begin();
            let both = [scope.spawn(one), scope.spawn(one)];
            both.map(|one| one.join().unwrap()).iter().sum::<u64>()
        });
        assert!(begun <= 1, "{begun}");
        runs += begun;
        world.deliver();
        let then = read(&world)["next_run"].clone();
        assert_eq!(then != next, begun == 1, "the next time changes only if a run begins");
        assert!(then.as_str().unwrap().ends_with(":00.000000Z"), "{then}");
        next = then;
    }
    let requests = u64::try_from(target.of("/all").len()).unwrap();
    assert!(runs == requests && (3..=4).contains(&runs), "{runs} {requests}");
    // Without a schedule no run is due.
    let body = json!({"service": 1, "target_url": target.url("/all")});
    world.system.expect(200, "POST", CHECKS, OWNER, &body);
    world.pass(600);
    assert_eq!(world.begin(), 0);
    world.system.assert_sound();
}

#[test]
fn an_outdated_run_sends_and_stores_nothing() {
    let (mut world, target) = world(1);
    make(&world, &target, "/all");
    start(&world);
    world.deliver();
    let message = world.sent().last().unwrap().clone();
    let before = (target.of("/all").len(), read(&world), items(&world));
    // The queue can deliver a message twice. This one belongs to a finished run.
    assert_eq!(world.handle(&[&message]), Vec::<String>::new());
    assert_eq!((target.of("/all").len(), read(&world), items(&world)), before);
    // A message of an earlier run arrives late.
    let mut late: Value = serde_json::from_str(&message).unwrap();
    late["began"] = json!(1);
    assert_eq!(world.handle(&[&late.to_string()]), Vec::<String>::new());
    assert_eq!((target.of("/all").len(), items(&world)), (before.0, before.2));
    // The owner removes the healthcheck during a run.
    start(&world);
    world.system.expect(204, "DELETE", &format!("{CHECKS}1/"), OWNER, &Value::Null);
    world.deliver();
    assert_eq!(target.of("/all").len(), before.0);
    world.system.assert_sound();
}

#[test]
fn a_run_waits_for_the_one_before_unless_it_is_lost() {
    let (mut world, target) = world(1);
    make(&world, &target, "/all");
    assert_eq!(start(&world), 1);
    // The queue loses the message of the run, so only its age ends it.
    world.lose();
    assert_eq!(start(&world), 0, "no run begins while another one is running");
    assert_eq!(read(&world)["running"], true);
    world.pass(domain::outreach::healthcheck::run::LOST_AFTER_SECONDS);
    assert_eq!(world.begin(), 1);
    world.deliver();
    assert_eq!(target.of("/all").len(), 1);
    assert_eq!(read(&world)["running"], false);
}

#[test]
fn a_run_and_a_change_of_its_item_do_not_interfere() {
    let (mut world, target) = world(1);
    let version = |world: &ManualQueue| {
        let item = &items(world)[0];
        (item["declaration_version"].clone(), item["modified"].clone(), item["runtime_state"].clone())
    };
    target.says("/all", all_healthy);
    make(&world, &target, "/all");
    start(&world);
    world.declare(&json!({"VM": [{"name": "vm0", "cpu": 7}]}));
    let after = version(&world);
    world.deliver();
    assert_eq!(version(&world), after);
    assert_eq!(status(&items(&world)[0]), "HEALTHY");
    // Health leaves plans valid (R40): the preview is from before a run, the submission from after it.
    let body = vms(&json!([{"name": "vm0", "cpu": 8}]));
    let preview = world.system.call("POST", VALIDATE, CONSUMER, &body);
    assert_eq!(start(&world), 1);
    world.deliver();
    let headers = [("if-match", preview.at("/plan").as_str().unwrap())];
    assert_eq!(world.system.call_with(&headers, "POST", SUBMIT, CONSUMER, &body).status, 201);
}
