//! Runs each operation on the engine and measures its cost.

use super::figures::Figures;
use super::page::Table;
use crate::request::Answer;
use crate::running::Running;
use domain::{SubmissionId, TeamId};
use dovetail_aws::observed;
use dovetail_worker::{Carried, TURN, carry_out_all};
use serde_json::{Value, json};
use tokio::time::Instant;

const VALIDATE: &str = "/v1/orcabase/consumer/submissions/validate/";
const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CONSUMER: &str = "/v1/orcabase/consumer";
pub(super) const OWNER: &str = "/v1/orcabase/serviceowner";

/// Starts a system with generation paused, because tests measure it separately.
///
/// A preview fills the cache of teams with messages. No measured operation pays for it.
pub(super) fn system() -> Running {
    system_of(dovetail_daemon::world::DEMO)
}

fn system_of(world: &str) -> Running {
    let mut world: Value = serde_json::from_str(world).unwrap();
    // Some operations remove an application. The setting is in the record of the team, so it costs nothing.
    for team in world["teams"].as_array_mut().unwrap() {
        team["confirm_removals"] = json!(false);
    }
    let system = Running::start(&world.to_string());
    system.enable("generate", false);
    let nothing = json!({"AwesomeConsumer2": {}});
    assert_eq!(system.call("POST", VALIDATE, "awesome2-key", &nothing).status, 200);
    system
}

/// Returns an application with VMs of these numbers, each with this number of CPUs.
pub(super) fn vms(items: impl IntoIterator<Item = u64>, cpu: u64) -> Value {
    let vm = |n| json!({"name": format!("CoreVM{n}"), "cpu": cpu, "memory": 2});
    let items: Vec<Value> = items.into_iter().map(vm).collect();
    json!({"services": {"VM": items}})
}

#[track_caller]
pub(super) fn submit(system: &Running, applications: &Value) -> Answer {
    let answer = system.call("POST", SUBMIT, "awesome-key", &json!({"AwesomeConsumer": applications}));
    assert!(matches!(answer.status, 200 | 201), "{answer:?}");
    answer
}

/// Returns the owner's path of the first change instance of a submission.
pub(super) fn change(answer: &Answer) -> String {
    format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"))
}

#[track_caller]
fn decide(system: &Running, path: &str, body: &Value) -> Figures {
    let answer = system.call("PATCH", path, "vm-owner-key", body).expect_status(200);
    Figures::from_answer(&answer)
}

pub(super) fn move_to(system: &Running, path: &str, state: &str) -> Figures {
    decide(system, path, &json!({"state": state}))
}

/// Moves the change instance with an id to a state.
pub(super) fn decide_on(system: &Running, id: &Value, state: &str) -> Figures {
    move_to(system, &format!("{OWNER}/change_instances/{id}/"), state)
}

/// Approves and completes the first change instance of a submission.
fn complete(system: &Running, answer: &Answer) {
    for state in ["APPROVED", "COMPLETED"] {
        move_to(system, &change(answer), state);
    }
}

#[track_caller]
fn read(system: &Running, path: &str, key: &str, rows: Option<usize>) -> Figures {
    let answer = system.get(path, key).expect_status(200);
    let rows_read = answer.at("/results").as_array().map(Vec::len);
    assert_eq!(rows_read, rows, "{path}");
    Figures::from_answer(&answer)
}

pub fn submissions() -> Table {
    let mut table = Table::new("Submissions");
    let fresh = system();
    let one = submit(&fresh, &json!({"App": vms(1..=1, 8)}));
    let one = Figures::from_answer(&one);
    table.row("one CREATE, in a new application", one);
    let repeated = submit(&fresh, &json!({"App": vms(1..=1, 8)}));
    let more = submit(&fresh, &json!({"App": vms(1..=2, 8)}));
    table.answer("one CREATE, in an application with one item", &more);
    let eleven = submit(&system(), &json!({"App": vms(1..=11, 8)}));
    assert_eq!(Figures::from_answer(&eleven).round_trips, one.round_trips);
    table.units("each further CREATE", Figures::from_answer(&eleven).tenth_above(one));
    let [fifty, sixty] =
        [50, 60].map(|count| Figures::from_answer(&submit(&system(), &json!({"App": vms(1..=count, 8)}))));
    table.writes("each further CREATE, staged", sixty.tenth_above(fifty));
    table.answer("no changes, 1 item", &repeated);
    let fresh = system();
    submit(&fresh, &json!({"App": vms(1..=20, 8)}));
    let repeated = submit(&fresh, &json!({"App": vms(1..=20, 8)}));
    table.answer("no changes, 20 items", &repeated);
    let message =
        json!({"description": "VMs rest on Sunday", "scopes": ["/v1/orcabase/serviceowner/services/1/"]});
    let messages = "/v1/orcaexternal/serviceowner/messages/";
    fresh.call("POST", messages, "vm-owner-key", &message).expect_status(201);
    // The first submission fills the caches of messages and service owners, so the second one is measured.
    submit(&fresh, &json!({"App": vms(1..=20, 8)}));
    let response = submit(&fresh, &json!({"App": vms(1..=20, 8)}));
    assert_eq!(response.at("/messages/0/description"), "VMs rest on Sunday");
    table.answer("the same, with a message of the service owner", &response);
    let fresh = system();
    let created = submit(&fresh, &json!({"App": vms(1..=1, 8)}));
    complete(&fresh, &created);
    table.answer("one MODIFY", &submit(&fresh, &json!({"App": vms(1..=1, 16)})));
    table.answer("one MODIFY, displacing another", &submit(&fresh, &json!({"App": vms(1..=1, 12)})));
    let fresh = system();
    let fixed = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": {"type": "integer"},
        "memory": {"type": "integer", "x-on-change": "refuse"}}});
    fresh.call("POST", "/v1/orcabase/serviceowner/services/", "vm-owner-key", &fixed).expect_status(200);
    let created = submit(&fresh, &json!({"App": vms(1..=1, 8)}));
    complete(&fresh, &created);
    let modified = submit(&fresh, &json!({"App": vms(1..=1, 16)}));
    table.answer("one MODIFY, in a service with a fixed property", &modified);
    let fresh = system();
    let created = submit(&fresh, &json!({"App": vms(1..=2, 8)}));
    complete(&fresh, &created);
    table.answer("one DELETE", &submit(&fresh, &json!({"App": vms(2..=2, 8)})));
    table
}

pub fn decisions() -> Table {
    let mut table = Table::new("Decisions");
    let system = system();
    let state = |path: &str, state: &str| move_to(&system, path, state);
    let done = fresh_in(&system, "Done");
    table.row("approve, unknown change instance", state(&done, "APPROVED"));
    let decision = |name: &str| known_in(&system, name);
    table.row("approve", state(&decision("Known"), "APPROVED"));
    table.row("complete", state(&done, "COMPLETED"));
    let deployed = decision("Deployed");
    state(&deployed, "APPROVED");
    let body = json!({"state": "COMPLETED", "deployed_item": {"ip": "10.0.0.1"}});
    table.row("complete, with a deployed item", decide(&system, &deployed, &body));
    let closed = decision("Closed");
    table.row("reject", state(&closed, "REJECTED"));
    table.row("close", state(&closed, "CLOSED"));
    let declared = json!({"AwesomeConsumer": {"Done": vms([], 8)}});
    let delete = change(&system.call("PATCH", SUBMIT, "awesome-key", &declared));
    state(&delete, "APPROVED");
    table.row("complete a DELETE, with the move of the item", state(&delete, "COMPLETED"));
    let failed = decision("Failed");
    state(&failed, "APPROVED");
    table.row("report an error", state(&failed, "ERRORED"));
    let retried =
        system.call("POST", &format!("{failed}retry/"), "vm-owner-key", &Value::Null).expect_status(201);
    table.answer("retry", &retried);
    table
}

/// Measures the operations of a service with words. The tables above have the same operations without words.
pub fn checked() -> Table {
    let mut table = Table::new("A service with words");
    let system = system();
    let define = |from: &Value, is_verified: bool| {
        let mut definition = json!({"title": "VM", "type": "object", "required": ["name", "ip"], "x-from": from,
            "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"}, "memory": {"type": "integer"},
                "ip": {"type": "string", "readOnly": true}}});
        if is_verified {
            definition["x-verified"] = json!(true);
        }
        system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition).expect_status(200);
    };
    // One decision reads the definition into the cache of the process.
    let cached = |name: &str| {
        let path = fresh_in(&system, name);
        move_to(&system, &path, "APPROVED");
        decide(&system, &path, &json!({"state": "COMPLETED", "deployed_item": {"ip": "10.0.0.1"}}));
    };
    define(&json!({}), false);
    cached("First");
    let path = known_in(&system, "One");
    table.row("approve, without a schema for the approval", move_to(&system, &path, "APPROVED"));
    define(&json!({"APPROVED": {"required": ["cpu"]}}), false);
    cached("Second");
    let path = known_in(&system, "Two");
    table.row("one change instance, PENDING", read(&system, &path, "vm-owner-key", None));
    table.row("approve, with a schema for the approval", move_to(&system, &path, "APPROVED"));
    let body = json!({"state": "COMPLETED", "deployed_item": {"ip": "10.0.0.1"}});
    table.row("complete, with another deployed item", decide(&system, &path, &body));
    let modified = json!({"AwesomeConsumer": {"Two": vms(1..=1, 16)}});
    let modified = system.call("PATCH", SUBMIT, "awesome-key", &modified);
    table.answer("submit one MODIFY", &modified);
    let path = change(&modified);
    move_to(&system, &path, "APPROVED");
    table.row("complete, with the newest deployed item", move_to(&system, &path, "COMPLETED"));
    let preview = json!({"AwesomeConsumer": {"Two": vms(1..=1, 32)}});
    let preview = system.call("PATCH", VALIDATE, "awesome-key", &preview).expect_status(200);
    table.answer("preview of one MODIFY", &preview);
    let again = json!({"AwesomeConsumer": {"Two": vms(1..=1, 24)}});
    let path = change(&system.call("PATCH", SUBMIT, "awesome-key", &again));
    move_to(&system, &path, "APPROVED");
    let body = json!({"state": "ERRORED", "deployed_item": {"ip": "10.0.0.2"}});
    table.row("report an error, with a deployed item", decide(&system, &path, &body));
    define(&json!({"COMPLETED": {}}), true);
    cached("Third");
    let path = known_in(&system, "Three");
    let plan = json!({"planned_item": {"ip": "10.0.0.1"}});
    table.row("verified: plan", decide(&system, &path, &plan));
    table.row("verified: approve a planned change instance", move_to(&system, &path, "APPROVED"));
    table.row("verified: complete it", move_to(&system, &path, "COMPLETED"));
    let found = |cpu: u64| decide(&system, &path, &json!({"deployed_item": {"cpu": cpu}}));
    table.row("verified: observe the same", found(8));
    table.row("verified: observe a difference, drift begins", found(4));
    table.row("verified: observe another difference", found(5));
    table.row("verified: observe the declared value, drift ends", found(8));
    found(4);
    let again = json!({"AwesomeConsumer": {"Three": vms(1..=1, 8)}});
    let again = system.call("PATCH", SUBMIT, "awesome-key", &again);
    table.answer("verified: submit one drifted item again", &again);
    table.row("verified: approve its correction", move_to(&system, &change(&again), "APPROVED"));
    let path = known_in(&system, "Four");
    let body = json!({"state": "APPROVED", "planned_item": {"ip": "10.0.0.1"}});
    table.row("verified: approve with a plan", decide(&system, &path, &body));
    table
}

/// Declares an item in an application of its own, and returns the owner's path of its change instance.
fn fresh_in(system: &Running, application: &str) -> String {
    let declared = json!({"AwesomeConsumer": {application: vms(1..=1, 8)}});
    change(&system.call("PATCH", SUBMIT, "awesome-key", &declared))
}

/// Does the same, and sends a decision, so that the service owner knows the change instance.
fn known_in(system: &Running, application: &str) -> String {
    let path = fresh_in(system, application);
    move_to(system, &path, "PENDING");
    path
}

pub fn operators() -> Table {
    let mut table = Table::new("Operators");
    let system = system();
    let get = |path: &str, rows| read(&system, &format!("/v1/platform/{path}"), "platform-key", rows);
    table.row("all teams, 6", get("teams/", Some(6)));
    table.row("the state of an idle system", get("status/", None));
    table.row("queues of 6 teams, empty", get("queues/", Some(0)));
    submit(&system, &json!({"App": vms(1..=100, 8)}));
    table.row("queues of 6 teams, one with 100 small change instances", get("queues/", Some(1)));
    let team = system.call("POST", "/v1/platform/teams/", "platform-key", &json!({"name": "Payments"}));
    table.answer("create a team with its first key", &team.expect_status(201));
    table
}

pub fn reads() -> Table {
    let mut table = Table::new("Reads");
    let system = system();
    let queue = format!("{OWNER}/change_instances/?state=PENDING&limit=50");
    table.row("an owner's queue, empty", read(&system, &queue, "vm-owner-key", Some(0)));
    let first = submit(&system, &json!({"App1": vms(1..=25, 8)}));
    submit(&system, &json!({"App1": vms(1..=25, 8), "App2": vms(1..=25, 8)}));
    let light = format!("{queue}&light=true");
    table
        .row("an owner's queue, 50 change instances, light", read(&system, &light, "vm-owner-key", Some(50)));
    table.row("an owner's queue, 50 change instances", read(&system, &queue, "vm-owner-key", Some(50)));
    let path = change(&first);
    table.row("one change instance", read(&system, &path, "vm-owner-key", None));
    let history = format!("{path}history/");
    table.row("its history", read(&system, &history, "vm-owner-key", Some(1)));
    let items = format!("{CONSUMER}/service_items/?limit=50");
    table.row("a consumer's items, 50", read(&system, &items, "awesome-key", Some(50)));
    let items = format!("{OWNER}/service_items/?limit=50");
    table.row("an owner's items, 50", read(&system, &items, "vm-owner-key", Some(50)));
    let declaration = format!("{CONSUMER}/declaration/");
    table.row("a consumer's declaration, 50 items", read(&system, &declaration, "awesome-key", None));
    let application = system.get(&format!("{CONSUMER}/applications/?name=App1"), "awesome-key");
    let graph = format!("{}graph/", application.at("/results/0/url").as_str().unwrap());
    table.row("the graph of an application, 25 items", read(&system, &graph, "awesome-key", None));
    table
}

/// Measures operations with prices. The tables above have the same operations without prices.
pub fn charges() -> Table {
    let mut table = Table::new("Charges of a service with both prices");
    let mut world: Value = serde_json::from_str(dovetail_daemon::world::DEMO).unwrap();
    world["services"][0]["schema"]["metadata"] = json!({"cost_per_change": 5, "monthly_cost": 49.99});
    let system = system_of(&world.to_string());
    let created = submit(&system, &json!({"App": vms(1..=1, 8)}));
    table.answer("one CREATE, in a new application, with its fee", &created);
    let path = change(&created);
    move_to(&system, &path, "PENDING");
    table.row("approve it, with the start of a time charge", move_to(&system, &path, "APPROVED"));
    move_to(&system, &path, "COMPLETED");
    let charges = "/v1/marketplace/serviceowner/charges/";
    let mark_charge = |charge_type: &str| {
        let open =
            system.get(&format!("{charges}?charge_type={charge_type}&processed=false"), "vm-owner-key");
        let path = format!("{charges}{}/", open.at("/results/0/id"));
        decide(&system, &path, &json!({"processed": true}))
    };
    table.row("mark a fee as processed", mark_charge("cost_per_change"));
    table.row("mark a running charge as processed, with its split", mark_charge("monthly_cost"));
    let removed = change(&submit(&system, &json!({"App": vms([], 8)})));
    move_to(&system, &removed, "PENDING");
    table.row("approve a DELETE, with the end of the running charge", move_to(&system, &removed, "APPROVED"));
    submit(&system, &json!({"App": vms(1..=20, 8)}));
    let open = format!("{charges}?charge_type=cost_per_change&processed=false&limit=20");
    table.row("an owner's open charges of a type, first 20", read(&system, &open, "vm-owner-key", Some(20)));
    let own = "/v1/marketplace/consumer/charges/?limit=20";
    table.row("a consumer's charges, first 20", read(&system, own, "awesome-key", Some(20)));
    let summed = "/v1/marketplace/consumer/charges/accumulated/?limit=20";
    table.row(
        "accumulated charges of a consumer's items, first 20",
        read(&system, summed, "awesome-key", Some(20)),
    );
    table
}

pub fn generation() -> Table {
    let mut table = Table::new("Generation, per work record");
    let declared = |cpu: u64, balancers: u64| {
        let balancer =
            |n| json!({"name": format!("CoreLB{n}"), "algorithm": "a", "related_vms": ["CoreVM1"]});
        let balancers: Vec<Value> = (1..=balancers).map(balancer).collect();
        let mut application = vms(1..=1, cpu);
        application.as_object_mut().unwrap()["services"]["LoadBalancer"] = json!(balancers);
        json!({"App": application})
    };
    let carried = |system: &Running, submission: u64| {
        let team = system.block_on(system.table.team_by_name("AwesomeConsumer")).unwrap().unwrap().id;
        let submission = SubmissionId::new(TeamId::new(team.get()).unwrap(), submission).unwrap();
        let submission = system.block_on(system.table.submission(submission)).unwrap().unwrap();
        let (carried, observed) =
            system.block_on(observed(carry_out_all(&system.table, &submission, Instant::now() + TURN)));
        assert!(carried.unwrap().iter().all(|carried| *carried == Carried::Out));
        Figures::from(observed.cost)
    };
    let one = system();
    submit(&one, &declared(8, 1));
    let eleven = system();
    submit(&eleven, &declared(8, 11));
    let dependent = carried(&one, 1);
    table.row("a dependent team's share of one item", dependent);
    table.units("each further item", carried(&eleven, 1).tenth_above(dependent));
    table.row("the same work, delivered again", carried(&one, 1));
    submit(&one, &declared(16, 1));
    table.row("a referenced item with its dependent team's share", carried(&one, 2));
    table
}
