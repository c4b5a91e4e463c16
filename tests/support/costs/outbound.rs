//! Costs of deliveries and healthchecks. The test invokes the function with single messages.

use super::figures::Figures;
use super::page::Table;
use crate::local_server::local_server;
use crate::manual_queue::ManualQueue;
use crate::running::Running;
use domain::base::id::WebhookId;
use domain::outreach::healthcheck::run::{Counted, Run};
use domain::outreach::webhook::delivery::Delivery;
use dovetail_aws::observed;
use dovetail_emulator::gateway::plain;
use dovetail_emulator::queue;
use dovetail_http::Event;
use dovetail_queue::SqsEvent;
use serde_json::{Value, json};

const OWNER: &str = "vm-owner-key";
const EXTERNAL: &str = "/v1/external/serviceowner";

pub fn outbound() -> Table {
    let mut table = Table::new("Deliveries and healthchecks");
    let system = Running::demo();
    // Only this test receives messages.
    system.enable("deliver", false);
    let target = target(&system);
    in_service(&system, 50);
    let rule = queue::rule().unwrap();
    let event = system
        .events(0)
        .into_iter()
        .map(|published| published.envelope)
        .find(|event| rule.matches(event))
        .unwrap();
    table.row("an event without a matching webhook", taken(&system, &event.to_string()));
    let make = |path: &str| {
        let body = json!({"service": 1, "target_url": format!("{target}{path}")});
        let kind = if path == "/health" { "healthchecks" } else { "webhooks" };
        let made = system.call("POST", &format!("{EXTERNAL}/{kind}/"), OWNER, &body);
        made.expect_status(201).at("/id").as_u64().unwrap()
    };
    let delivery =
        |id: u64| Delivery::new(WebhookId::parse(id).unwrap(), event["detail"].clone()).to_message();
    let hook = make("/hook");
    table.row("an event with one matching webhook", taken(&system, &event.to_string()));
    table.row("its delivery", taken(&system, &delivery(hook)));
    table.row("a rejected delivery", taken(&system, &delivery(make("/busy"))));
    make("/health");
    let checks = format!("{EXTERNAL}/healthchecks/trigger");
    let item = system.get("/v1/orcabase/serviceowner/service_items/?limit=1", OWNER);
    let request = system.get(&format!("{checks}/service_item/{}/", item.at("/results/0/id")), OWNER);
    table.answer("check of one item on request", &request);
    table.answer("request of a run", &system.get(&format!("{checks}/service/1/"), OWNER));
    let (begun, observed) = system.block_on(observed(sweep::begin(&system.table, &system.handles.queue)));
    assert_eq!(begun.unwrap(), 1);
    table.row("start of the run by the sweep", Figures::from(observed.cost));
    let service = system.block_on(system.table.service("VM")).unwrap().unwrap();
    let (team, service) = (service.owner.id, service.id);
    let began = system.block_on(system.table.check_schedule(team, service)).unwrap().unwrap().began.unwrap();
    let run = Run { team, service, began, after: None, counted: Counted::default() };
    table.row("its page of 50 items, the last one", taken(&system, &run.to_message()));
    reminders(&mut table);
    table
}

/// Adds the costs of a due reminder in the sweep (R65).
fn reminders(table: &mut Table) {
    let mut world = ManualQueue::start();
    let target_url = format!("{}/hook", target(&world.system));
    let hook = json!({"target_url": target_url, "change_instance_state": "PENDING", "remind_after": 300});
    world.hook(OWNER, "VM", hook);
    world.declare(&json!({"VM": [{"name": "vm1"}]}));
    world.catch_up();
    for (row, sent) in [("a reminder, sent by the sweep", 1), ("a due reminder without waiting work", 0)] {
        world.pass(300);
        let (begun, cost) = world.begin_observed();
        assert_eq!(begun, sent, "{row}");
        table.row(row, cost);
        world.lose();
        if sent > 0 {
            world.approve(OWNER);
        }
    }
}

/// Brings this number of VMs in service.
fn in_service(system: &Running, count: usize) {
    let path = "/v1/orcabase/serviceowner/services/1/";
    assert_eq!(system.call("PATCH", path, OWNER, &json!({"approval_required": false})).status, 200);
    let vms: Vec<Value> = (0..count).map(|n| json!({"name": format!("vm{n}")})).collect();
    let body = json!({"AwesomeConsumer": {"App": {"services": {"VM": vms}}}});
    system.call("POST", "/v1/orcabase/consumer/submissions/submit/", "awesome-key", &body).expect_status(201);
    system.wait_idle();
}

/// Starts a target. It answers 200, and 503 under `/busy`.
fn target(system: &Running) -> String {
    let answer = async |event: Event| {
        let is_busy = event.raw_path.as_deref() == Some("/busy");
        plain(if is_busy { 503 } else { 200 }, &json!({"status": "HEALTHY", "service_items": []}))
    };
    let (target, serving) = system.block_on(local_server(answer));
    drop(system.spawn(serving));
    target
}

/// Returns the cost of one message.
fn taken(system: &Running, message: &str) -> Figures {
    let event: SqsEvent =
        serde_json::from_value(json!({"Records": [{"messageId": "1", "body": message}]})).unwrap();
    let (table, handles) = (system.table.clone(), &system.handles);
    let handles =
        deliver::Handles { table, queue: handles.queue.clone(), outbound: handles.outbound.clone() };
    let ((reply, _), observed) = system.block_on(observed(deliver::handle(&handles, event)));
    assert!(reply.batch_item_failures.is_empty(), "{message}");
    Figures::from(observed.cost)
}
