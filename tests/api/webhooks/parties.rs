//! Webhooks of each party of a change instance: the service owner, a dependent team, and the consumer.

use crate::api::demo::SUBMIT;
use serde_json::{Value, json};
use support::manual_queue::{HOOKS, ManualQueue, OWNER};
use support::receiver::{Receiver, Request};

const CONSUMER: &str = "awesome-key";

/// Returns item, owner and new state of each delivery to a path, in order of their texts.
fn deliveries(receiver: &Receiver, path: &str) -> Vec<String> {
    let of = |request: &Request| {
        let data = &request.body["data"];
        let text = |name: &str| data[name].as_str().unwrap().to_owned();
        format!("{} of {} {}", text("service_item"), text("owner"), text("to"))
    };
    let mut deliveries: Vec<String> = receiver.of(path).iter().map(of).collect();
    deliveries.sort_unstable();
    deliveries
}

/// Returns a webhook for change instances that enter a state, or for new ones.
fn hook(receiver: &Receiver, path: &str, state: Option<&str>) -> Value {
    json!({"target_url": receiver.url(path), "change_instance_state": state})
}

/// Declares a load balancer and its VM.
fn declare_balancer(world: &mut ManualQueue) {
    world.declare(
        &json!({"VM": [{"name": "one"}], "LoadBalancer": [{"name": "entry", "related_vms": ["one"]}]}),
    );
    world.deliver();
}

/// Decides the open change instance of an item.
#[track_caller]
fn decide(world: &ManualQueue, key: &str, item: &str, decision: &Value) {
    let list = world.system.get(&format!("{OWNER}/change_instances/?state=PENDING,APPROVED"), key);
    let change = list.rows().iter().find(|change| change["service_item"]["name"] == item).unwrap();
    world.system.expect(200, "PATCH", change["url"].as_str().unwrap(), key, decision);
}

#[test]
fn a_consumer_gets_the_results_of_its_changes_and_reads_the_reason_of_a_rejection() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let hook = |path, state| hook(&receiver, path, state);
    for (path, state) in [("/rejected", "REJECTED"), ("/errored", "ERRORED"), ("/completed", "COMPLETED")] {
        world.hook_of_consumer(CONSUMER, &hook(path, Some(state)));
    }
    world.hook_of_consumer(CONSUMER, &hook("/created", None));
    // Another consumer has webhooks for the same services, and no items.
    world.hook_of_consumer("awesome2-key", &hook("/other", Some("REJECTED")));
    world.hook_of_consumer("awesome2-key", &hook("/other", None));
    world.declare(&json!({"VM": [{"name": "no", "cpu": 7001}, {"name": "yes"}, {"name": "bad"}]}));
    world.deliver();
    let created = ["bad of VMOwnerTeam PENDING", "no of VMOwnerTeam PENDING", "yes of VMOwnerTeam PENDING"];
    assert_eq!(deliveries(&receiver, "/created"), created);
    let key = "vm-owner-key";
    decide(&world, key, "no", &json!({"state": "REJECTED", "log": "7001 processors are too many"}));
    for item in ["yes", "bad"] {
        decide(&world, key, item, &json!({"state": "APPROVED"}));
    }
    decide(&world, key, "yes", &json!({"state": "COMPLETED", "deployed_item": {"ip": "10.7.0.1"}}));
    decide(&world, key, "bad", &json!({"state": "ERRORED", "log": "no power"}));
    world.deliver();
    assert_eq!(deliveries(&receiver, "/rejected"), ["no of VMOwnerTeam REJECTED"]);
    assert_eq!(deliveries(&receiver, "/errored"), ["bad of VMOwnerTeam ERRORED"]);
    assert_eq!(deliveries(&receiver, "/completed"), ["yes of VMOwnerTeam COMPLETED"]);
    assert_eq!(receiver.of("/other"), [], "webhooks of another consumer get nothing");
    // A delivery has no declaration, log text or deployed item. The consumer reads them with its key.
    let requests = ["/created", "/rejected", "/errored", "/completed"].map(|path| receiver.of(path)).concat();
    for private in ["cpu", "7001", "too many", "no power", "10.7.0.1"] {
        assert!(requests.iter().all(|request| !request.text.contains(private)), "{private}");
    }
    let id = receiver.of("/rejected")[0].body["data"]["id"].clone();
    let change = world.system.get(&format!("/v1/orcabase/consumer/change_instances/{id}/"), CONSUMER);
    change.assert_is(200, &json!({"/state": "REJECTED", "/log": "7001 processors are too many"}));
    world.system.assert_sound();
}

#[test]
fn a_consumer_limits_a_webhook_to_one_service_and_gets_the_shares_of_dependent_teams() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    world.hook_of_consumer(CONSUMER, &json!({"target_url": receiver.url("/all")}));
    world.hook_of_consumer(CONSUMER, &json!({"target_url": receiver.url("/balancers"), "service": 2}));
    declare_balancer(&mut world);
    let balancers = ["entry of LBOwnerTeam PENDING", "entry of NPOwnerTeam PENDING"];
    assert_eq!(deliveries(&receiver, "/balancers"), balancers);
    assert_eq!(deliveries(&receiver, "/all"), [&balancers[..], &["one of VMOwnerTeam PENDING"]].concat());
}

#[test]
fn a_dependent_team_gets_its_own_shares_and_keeps_them_as_a_former_one() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let hook = |path, state| hook(&receiver, path, state);
    world.hook("np-owner-key", "LoadBalancer", hook("/shares", None));
    world.hook("np-owner-key", "LoadBalancer", hook("/done", Some("REJECTED")));
    world.hook("lb-owner-key", "LoadBalancer", hook("/own", None));
    declare_balancer(&mut world);
    assert_eq!(deliveries(&receiver, "/shares"), ["entry of NPOwnerTeam PENDING"]);
    assert_eq!(receiver.of("/shares")[0].body["data"]["kind"], "DEPENDENT");
    assert_eq!(deliveries(&receiver, "/own"), ["entry of LBOwnerTeam PENDING"]);
    // Its open share stays the team's own, and a new change has none.
    let service = format!("{OWNER}/services/2/");
    let none = json!({"dependant_teams": []});
    world.system.expect(200, "PATCH", &service, "lb-owner-key", &none);
    decide(&world, "np-owner-key", "entry", &json!({"state": "REJECTED"}));
    world.deliver();
    assert_eq!(deliveries(&receiver, "/done"), ["entry of NPOwnerTeam REJECTED"]);
    let late = json!({"service": 2, "target_url": receiver.url("/late")});
    world.system.expect(400, "POST", HOOKS, "np-owner-key", &late);
}

#[test]
fn a_team_that_is_owner_and_consumer_gets_each_delivery_in_each_role_once() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let key = "vm-owner-key";
    world.hook(key, "VM", json!({"target_url": receiver.url("/owner")}));
    world.hook_of_consumer(key, &json!({"target_url": receiver.url("/consumer")}));
    let body = json!({"VMOwnerTeam": {"App": {"services": {"VM": [{"name": "own"}]}}}});
    world.system.expect(201, "POST", SUBMIT, key, &body);
    world.declare(&json!({"VM": [{"name": "foreign"}]}));
    world.deliver();
    let both = ["foreign of VMOwnerTeam PENDING", "own of VMOwnerTeam PENDING"];
    assert_eq!(deliveries(&receiver, "/owner"), both);
    assert_eq!(deliveries(&receiver, "/consumer"), ["own of VMOwnerTeam PENDING"]);
}

#[test]
fn an_event_of_an_earlier_release_reaches_the_same_webhooks() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    world.declare(&json!({"LoadBalancer": [{"name": "entry", "related_vms": []}]}));
    world.system.wait_idle();
    world.deliver();
    world.hook("lb-owner-key", "LoadBalancer", json!({"target_url": receiver.url("/owner")}));
    world.hook("np-owner-key", "LoadBalancer", json!({"target_url": receiver.url("/dependent")}));
    world.hook_of_consumer(CONSUMER, &json!({"target_url": receiver.url("/consumer")}));
    for published in world.system.events(0) {
        let mut event = published.envelope;
        if event["detail-type"] == "ChangeInstance.StateChanged.v1" {
            for name in ["owner_id", "service_id"] {
                assert!(event["detail"]["data"].as_object_mut().unwrap().remove(name).is_some(), "{name}");
            }
            assert_eq!(world.handle(&[&event.to_string()]), Vec::<String>::new());
        }
    }
    world.deliver();
    assert_eq!(deliveries(&receiver, "/owner"), ["entry of LBOwnerTeam PENDING"]);
    assert_eq!(deliveries(&receiver, "/dependent"), ["entry of NPOwnerTeam PENDING"]);
    let both = ["entry of LBOwnerTeam PENDING", "entry of NPOwnerTeam PENDING"];
    assert_eq!(deliveries(&receiver, "/consumer"), both);
}
