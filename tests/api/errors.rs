//! Every error code over HTTP: its status, its stable name and its shape.

mod page;
mod suggestions;

use crate::api::demo::{OWNER, SERVICES, SUBMIT, TEAMS, definition, numbered, vms};
use domain::account::api_key::KEYS_MAX;
use domain::account::member::TEAMS_MAX;
use domain::base::actor::Role;
use domain::base::state::Kind;
use domain::model::team::Head;
use domain::model::write::Write;
use domain::outreach::message::MESSAGES_MAX;
use domain::outreach::webhook::WEBHOOKS_MAX;
use domain::{Change, ChangeId, State};
use dovetail_daemon::{load, world};
use dovetail_http::Code;
use dovetail_table::{Commit, Settings, Table};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use support::issuer::Issuer;
use support::{
    Answer, ApiRequest, Fate, Proxy, Running, Settings as Start, Tables, fresh_table, functions_on, send,
};

const KEYS: &str = "/v1/account/api_keys/";
const MEMBERS: &str = "/v1/account/members/";
const CHARGES: &str = "/v1/marketplace/serviceowner/charges/";
const ITEMS: &str = "/v1/orcabase/consumer/service_items/";

/// Responses for all codes, provoked once for all tests.
static WHOLE: LazyLock<Provoked> = LazyLock::new(Provoked::whole);

/// A system with one declared VM, and the response for each provoked code.
struct Provoked {
    system: Running,
    issuer: Issuer,
    responses: BTreeMap<&'static str, (Code, Answer)>,
}

impl Provoked {
    fn new() -> Self {
        let mut world: Value = serde_json::from_str(world::DEMO).unwrap();
        let keys = world["teams"][3]["api_keys"].as_array_mut().unwrap();
        keys.push(json!({"key": "read-key", "role": "READ_ONLY"}));
        keys.push(json!({"key": "general-key", "role": "GENERAL"}));
        keys.push(json!({"key": "operating-key", "name": "operating", "role": "PLATFORM"}));
        world["services"][0]["schema"]["metadata"] = json!({"cost_per_change": 5, "monthly_cost": 1});
        let issuer = Issuer::start();
        let start = Start { issuer: Some(issuer.settings()), ..Start::default() };
        let system = Running::start_with(&world.to_string(), start);
        Self { system, issuer, responses: BTreeMap::new() }
    }

    /// Provokes each code once, on one system.
    fn whole() -> Self {
        let mut provoked = Self::new();
        provoke_requests(&mut provoked);
        provoke_fair_use(&mut provoked);
        provoke_keys(&mut provoked);
        provoke_members(&mut provoked);
        provoke_webhooks(&mut provoked);
        provoke_messages(&mut provoked);
        provoke_healthchecks(&mut provoked);
        provoke_submissions(&mut provoked);
        provoke_decisions(&mut provoked);
        provoke_definition_check(&mut provoked);
        provoke_order(&mut provoked);
        provoked.system.assert_sound();
        provoke_records(&mut provoked);
        provoke_storage(&mut provoked);
        provoked
    }

    fn meets(&mut self, code: Code, answer: Answer) {
        self.responses.entry(code.name()).or_insert((code, answer));
    }

    fn call(&mut self, code: Code, method: &str, path: &str, key: &str, body: &Value) {
        let answer = self.system.call(method, path, key, body);
        self.meets(code, answer);
    }

    /// Submits a declaration with a header.
    fn submit_with(&mut self, code: Code, header: (&str, &str), body: &Value) {
        let answer = self.system.call_with(&[header], "POST", SUBMIT, "awesome-key", body);
        self.meets(code, answer);
    }

    /// Repeats a request that creates something, until a limit refuses it.
    fn exceed(&mut self, code: Code, limit: u64, create: impl Fn(&Running, u64) -> Answer) {
        let answer =
            (0..=limit).map(|number| create(&self.system, number)).find(|answer| answer.status != 201);
        self.meets(code, answer.unwrap());
    }

    fn submitted(&self, body: &Value) -> Answer {
        let confirmed = format!("{SUBMIT}?allow_removal=true");
        self.system.expect(201, "POST", &confirmed, "awesome-key", body)
    }

    /// Declares one VM. Returns the path of its change instance for the owner.
    fn declared(&self, cpu: u64) -> String {
        let answer = self.submitted(&vms(&json!([{"name": "one", "cpu": cpu}])));
        format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"))
    }

    fn moved(&self, path: &str, state: &str) {
        self.system.expect(200, "PATCH", path, "vm-owner-key", &json!({"state": state}));
    }

    fn some_change(&self) -> Change {
        let snapshot = self.system.block_on(self.system.table.snapshot()).unwrap();
        snapshot.changes.into_values().next().unwrap()
    }

    fn write(&self, write: Write) {
        let done = self.system.block_on(self.system.table.commit(&[write])).unwrap();
        assert_eq!(done, Commit::Done);
    }
}

fn provoke_requests(provoked: &mut Provoked) {
    let none = &Value::Null;
    provoked.call(Code::NoSuchRoute, "GET", "/v1/nothing/", "awesome-key", none);
    provoked.call(Code::MethodNotAllowed, "DELETE", TEAMS, "awesome-key", none);
    provoked.call(Code::Unauthenticated, "GET", TEAMS, "no-such-key", none);
    provoked.call(Code::ReadOnlyKey, "POST", SUBMIT, "read-key", &vms(&json!([])));
    provoked.call(Code::NeedsAdmin, "GET", KEYS, "general-key", none);
    provoked.call(Code::NeedsPlatform, "GET", "/v1/platform/status/", "awesome-key", none);
    let team = json!({"name": "AwesomeConsumer"});
    provoked.call(Code::TeamNameTaken, "POST", "/v1/platform/teams/", "platform-key", &team);
    provoked.call(Code::NotFound, "GET", &format!("{ITEMS}7/"), "awesome-key", none);
    provoked.call(Code::UnknownFilter, "GET", &format!("{ITEMS}?colour=red"), "awesome-key", none);
    provoked.call(Code::InvalidFilter, "GET", &format!("{ITEMS}?service_id=x"), "awesome-key", none);
    provoked.call(Code::InvalidCursor, "GET", &format!("{ITEMS}?cursor=x"), "awesome-key", none);
}

/// Provokes `too_many_requests`: the team has one request per second.
fn provoke_fair_use(provoked: &mut Provoked) {
    let limits = Start { team_requests_per_second: 1, team_requests_burst: 1, ..Start::default() };
    let system = Running::start_with(world::DEMO, limits);
    let mut answers = std::iter::repeat_with(|| system.get(TEAMS, "awesome-key"));
    provoked.meets(Code::TooManyRequests, answers.find(|answer| answer.status != 200).unwrap());
}

fn provoke_keys(provoked: &mut Provoked) {
    let named = |name: &str| json!({"name": name, "role": "READ_ONLY"});
    let made = provoked.system.expect(201, "POST", KEYS, "awesome-key", &named("one"));
    provoked.call(Code::NameTaken, "POST", KEYS, "awesome-key", &named("one"));
    let rotate = format!("{KEYS}{}/rotate/", made.at("/id"));
    provoked.system.expect(201, "POST", &rotate, "awesome-key", &Value::Null);
    provoked.call(Code::AlreadyRotated, "POST", &rotate, "awesome-key", &Value::Null);
    let keys = provoked.system.get(KEYS, "awesome-key");
    let operating = keys.rows().iter().find(|key| key["name"] == "operating").unwrap();
    let rotate = format!("{KEYS}{}/rotate/", operating["id"]);
    provoked.call(Code::PlatformKey, "POST", &rotate, "awesome-key", &Value::Null);
    provoked.exceed(Code::TooManyKeys, KEYS_MAX, |system, number| {
        system.call("POST", KEYS, "awesome-key", &named(&format!("key {number}")))
    });
}

fn provoke_webhooks(provoked: &mut Provoked) {
    // An active webhook would send the events of all later requests.
    let hook = json!({"service": 1, "target_url": "https://example.com/", "active": false});
    provoked.exceed(Code::TooManyWebhooks, WEBHOOKS_MAX, |system, _| {
        system.call("POST", "/v1/external/serviceowner/webhooks/", "vm-owner-key", &hook)
    });
}

fn provoke_messages(provoked: &mut Provoked) {
    // This team owns no service, so its messages reach no consumer and no other response shows them.
    let (path, message) = ("/v1/orcaexternal/serviceowner/messages/", json!({"description": "VMs rest"}));
    for _ in 0..MESSAGES_MAX {
        provoked.system.expect(201, "POST", path, "np-owner-key", &message);
    }
    provoked.call(Code::TooManyMessages, "POST", path, "np-owner-key", &message);
}

fn provoke_healthchecks(provoked: &mut Provoked) {
    let checks = "/v1/external/serviceowner/healthchecks/";
    let body = json!({"service": 1, "target_url": "http://127.0.0.1:1/"});
    provoked.system.expect(201, "POST", checks, "vm-owner-key", &body);
    let change = provoked.declared(1);
    let item = provoked.system.get(&change, "vm-owner-key").at("/service_item/id").clone();
    let path = format!("{checks}trigger/service_item/{item}/");
    provoked.call(Code::NotInService, "GET", &path, "vm-owner-key", &Value::Null);
    provoked.moved(&change, "APPROVED");
    assert_eq!(provoked.system.get(&path, "vm-owner-key").status, 200);
    provoked.call(Code::AskedJustNow, "GET", &path, "vm-owner-key", &Value::Null);
    provoked.moved(&change, "COMPLETED");
    provoked.submitted(&vms(&json!([])));
    let gone = provoked.system.get(&format!("{OWNER}/change_instances/?state=PENDING"), "vm-owner-key");
    let gone = gone.at("/results/0/url").as_str().unwrap().to_owned();
    provoked.moved(&gone, "APPROVED");
    provoked.moved(&gone, "COMPLETED");
}

fn provoke_members(provoked: &mut Provoked) {
    let person = |subject: &str| json!({"subject": subject, "name": "Jane", "role": Role::ReadOnly.name()});
    let (keys, of_all) = (["awesome-key", "vm-owner-key"], person("u-1"));
    for key in keys {
        provoked.system.expect(201, "POST", MEMBERS, key, &of_all);
    }
    provoked.call(Code::AlreadyMember, "POST", MEMBERS, "awesome-key", &of_all);
    for (code, subject) in [(Code::ChooseTeam, "u-1"), (Code::NotAMember, "u-2")] {
        let bearer = format!("Bearer {}", provoked.issuer.token(subject));
        let headers = [("authorization", bearer.as_str())];
        let request = ApiRequest { method: "GET", path: ITEMS, headers: &headers, ..ApiRequest::default() };
        let answer = provoked.system.send(&request);
        provoked.meets(code, answer);
    }
    let system = &provoked.system;
    let team = |n: u64| json!({"name": format!("Team{n}"), "api_keys": [format!("team-key-{n}")]});
    let more = json!({"teams": (0..TEAMS_MAX).map(team).collect::<Vec<_>>(), "services": []});
    let more = world::parse(&more.to_string()).unwrap();
    let now = domain::Timestamp::from_micros(1);
    system.block_on(load::world(&system.table, &more, now, &mut |_| Ok(()))).unwrap();
    provoked.exceed(Code::TooManyMembers, TEAMS_MAX - 1, |system, n| {
        system.call("POST", MEMBERS, &format!("team-key-{n}"), &of_all)
    });
}

fn provoke_submissions(provoked: &mut Provoked) {
    let (empty, key, long) = (vms(&json!([])), ("idempotency-key", "k"), "k".repeat(256));
    provoked.submit_with(Code::InvalidIdempotencyKey, ("idempotency-key", &long), &empty);
    let one = vms(&json!([{"name": "one", "cpu": 1}]));
    let first = provoked.system.call_with(&[key], "POST", SUBMIT, "awesome-key", &one);
    assert_eq!(first.status, 201, "{first:?}");
    provoked.submit_with(Code::IdempotencyKeyReused, key, &empty);
    provoked.submit_with(Code::PlanChanged, ("if-match", "\"another-plan\""), &empty);
    provoked.call(Code::InvalidDeclaration, "POST", SUBMIT, "awesome-key", &json!({}));
    // A staged submission with generation paused stays in flight, so the next one gets the code.
    provoked.system.enable("generate", false);
    let many = json!({"AwesomeConsumer2": {"App": {"services": {"VM": numbered("vm-", 120)}}}});
    provoked.system.expect(201, "POST", SUBMIT, "awesome2-key", &many);
    provoked.call(Code::SubmissionInFlight, "POST", SUBMIT, "awesome2-key", &many);
    provoked.system.enable("generate", true);
    provoked.system.wait_idle();
    provoke_revert(provoked);
    provoked.call(Code::InvalidSchema, "POST", SERVICES, "vm-owner-key", &json!({"title": "X"}));
    provoked.call(Code::ForeignService, "POST", SERVICES, "lb-owner-key", &definition("VM"));
}

/// Declares more in two applications than the body of one request may have. Removes all of it and reverts.
fn provoke_revert(provoked: &mut Provoked) {
    let (text, mut last) = ("x".repeat(120_000), Value::Null);
    let balancers = |count: u64| -> Vec<Value> {
        (0..count).map(|n| json!({"name": format!("lb-{n}"), "algorithm": text})).collect()
    };
    for (method, application, count) in [("PATCH", "One", 22), ("PATCH", "Two", 22), ("POST", "One", 0)] {
        let body =
            json!({"AwesomeConsumer2": {application: {"services": {"LoadBalancer": balancers(count)}}}});
        if method == "POST" {
            // The declaration has no item in either application.
            provoked.call(Code::RemovalNotConfirmed, method, SUBMIT, "awesome2-key", &body);
        }
        let confirmed = format!("{SUBMIT}?allow_removal=true");
        let answer = provoked.system.expect(201, method, &confirmed, "awesome2-key", &body);
        provoked.system.wait_idle();
        if count > 0 {
            last = answer.at("/url").clone();
        }
    }
    let path = format!("{}revert/", last.as_str().unwrap());
    provoked.call(Code::RevertTooLarge, "POST", &path, "awesome2-key", &Value::Null);
}

/// Approves an item without a value that its definition requires from then on.
fn provoke_definition_check(provoked: &mut Provoked) {
    let mut host = definition("Host");
    host["properties"]["image"] = json!({"type": "string"});
    let mut verified = host.clone();
    verified["x-verified"] = json!(true);
    host["x-from"] = json!({"APPROVED": {"required": ["image"]}});
    provoked.system.expect(201, "POST", SERVICES, "vm-owner-key", &host);
    let body = json!({"AwesomeConsumer": {"Lab": {"services": {"Host": [{"name": "h1"}]}}}});
    let answer = provoked.system.call("PATCH", SUBMIT, "awesome-key", &body);
    let path = format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"));
    provoked.call(Code::InvalidForState, "PATCH", &path, "vm-owner-key", &json!({"state": "APPROVED"}));
    let plan = json!({"planned_item": {"image": "debian"}});
    provoked.call(Code::PlannedItemNotAccepted, "PATCH", &path, "vm-owner-key", &plan);
    provoked.system.expect(200, "POST", SERVICES, "vm-owner-key", &verified);
    let body =
        json!({"AwesomeConsumer": {"Lab": {"services": {"Host": [{"name": "h2", "image": "debian"}]}}}});
    let answer = provoked.system.call("PATCH", SUBMIT, "awesome-key", &body);
    let created = answer.at("/change_instances").as_array().unwrap();
    let created = created.iter().find(|change| change["change_type"] == "CREATE").unwrap();
    let path = format!("{OWNER}/change_instances/{}/", created["id"]);
    provoked.moved(&path, "APPROVED");
    provoked.moved(&path, "ERRORED");
    provoked.call(Code::PlannedItemTooLate, "PATCH", &path, "vm-owner-key", &plan);
}

/// Completes a load balancer before its VM, in a service that refuses that.
fn provoke_order(provoked: &mut Provoked) {
    let service = format!("{OWNER}/services/2/");
    provoked.system.expect(200, "PATCH", &service, "lb-owner-key", &json!({"require_ready": true}));
    let shop = json!({"VM": [{"name": "vm"}], "LoadBalancer": [{"name": "front", "related_vms": ["vm"]}]});
    let body = json!({"AwesomeConsumer": {"Ordered": {"services": shop}}});
    let created = provoked.system.call("PATCH", SUBMIT, "awesome-key", &body);
    let rows = created.at("/change_instances").as_array().unwrap();
    let front = rows.iter().find(|row| row["service"]["name"] == "LoadBalancer").unwrap();
    let path = format!("{OWNER}/change_instances/{}/", front["id"]);
    provoked.system.expect(200, "PATCH", &path, "lb-owner-key", &json!({"state": "APPROVED"}));
    provoked.call(Code::NotReady, "PATCH", &path, "lb-owner-key", &json!({"state": "COMPLETED"}));
}

fn provoke_decisions(provoked: &mut Provoked) {
    let path = provoked.declared(2);
    let as_consumer = path.replace("serviceowner", "consumer");
    let patch = |provoked: &mut Provoked, code, body: &Value| {
        provoked.call(code, "PATCH", &path, "vm-owner-key", body);
    };
    patch(provoked, Code::InvalidBody, &json!([]));
    patch(provoked, Code::UnknownFields, &json!({"status": "APPROVED"}));
    patch(provoked, Code::InvalidField, &json!({"state": "DONE"}));
    provoked.call(Code::NotOwner, "PATCH", &as_consumer, "awesome-key", &json!({"state": "APPROVED"}));
    patch(provoked, Code::IllegalTransition, &json!({"state": "COMPLETED"}));
    patch(provoked, Code::NotClaimed, &json!({"state": "APPROVED", "claim": 1}));
    provoked.call(Code::NotRetryable, "POST", &format!("{path}retry/"), "vm-owner-key", &Value::Null);
    patch(provoked, Code::DeployedItemTooEarly, &json!({"deployed_item": {"ip": "10.0.0.1"}}));
    let large = json!({"state": "APPROVED", "deployed_item": {"x": "x".repeat(128 * 1024)}});
    patch(provoked, Code::DeployedItemTooLarge, &large);
    patch(provoked, Code::LogTooLong, &json!({"log": "x".repeat(1025)}));
    for number in 0..20 {
        let noted = json!({"log": format!("note {number}")});
        provoked.system.expect(200, "PATCH", &path, "vm-owner-key", &noted);
    }
    patch(provoked, Code::LogFull, &json!({"log": "one more"}));

    provoke_by_hand(provoked, &path);
    provoke_charges(provoked);
    let deployed = |data: Value| json!({"data": data, "change_instance": path});
    let deployed_items = format!("{OWNER}/deployed_items/");
    let first = provoked.system.call("POST", &deployed_items, "vm-owner-key", &deployed(json!({"v": 1})));
    let second = provoked.system.call("POST", &deployed_items, "vm-owner-key", &deployed(json!({"v": 2})));
    assert_eq!((first.status, second.status), (201, 201), "{first:?} {second:?}");
    let older = format!("{deployed_items}{}/", first.at("/id"));
    let delta = json!({"data": {"w": 1}});
    provoked.call(Code::DeployedItemNotLatest, "PATCH", &older, "vm-owner-key", &delta);

    let newer = provoked.declared(3);
    provoked.moved(&path, "ERRORED");
    provoked.call(Code::Overtaken, "POST", &format!("{path}retry/"), "vm-owner-key", &Value::Null);
    provoked.moved(&newer, "REJECTED");
    let (outdated, late) = ([("if-match", "\"0-0\"")], json!({"log": "late"}));
    let answer = provoked.system.call_with(&outdated, "PATCH", &newer, "vm-owner-key", &late);
    provoked.meets(Code::ChangedMeanwhile, answer);
    provoked.call(Code::NoSecretsNow, "GET", &format!("{newer}?secrets=true"), "vm-owner-key", &Value::Null);
    provoked.call(Code::Blocked, "POST", SUBMIT, "awesome-key", &vms(&json!([{"name": "one", "cpu": 3}])));
    let mut path = newer;
    for _ in 0..40 {
        let answer = provoked.system.call("POST", &format!("{path}retry/"), "vm-owner-key", &Value::Null);
        if answer.status != 201 {
            provoked.meets(Code::TooManyAttempts, answer);
            break;
        }
        path = format!("{OWNER}/change_instances/{}/", answer.at("/id"));
        provoked.moved(&path, "REJECTED");
    }
}

/// Provokes the codes of charges: the end of a processing mark, and a second division within an hour.
fn provoke_charges(provoked: &mut Provoked) {
    let charges = provoked.system.get(&format!("{CHARGES}?limit=1"), "vm-owner-key");
    let path = charges.at("/results/0/url").as_str().unwrap();
    provoked.system.expect(200, "PATCH", path, "vm-owner-key", &json!({"processed": true}));
    let path = format!("{CHARGES}{}/", charges.at("/results/0/id"));
    provoked.call(Code::ChargeProcessed, "PATCH", &path, "vm-owner-key", &json!({"processed": false}));

    let open = format!("{CHARGES}?charge_type=monthly_cost&processed=false");
    for is_divided in [false, true] {
        let open = provoked.system.get(&open, "vm-owner-key");
        let running = open.rows().iter().find(|charge| charge["end"].is_null()).unwrap();
        let path = format!("{CHARGES}{}/", running["id"]);
        let marked = provoked.system.call("PATCH", &path, "vm-owner-key", &json!({"processed": true}));
        if is_divided {
            provoked.meets(Code::DividedJustNow, marked);
        } else {
            assert_eq!(marked.status, 200, "{marked:?}");
        }
    }
}

/// Provokes the codes for people if a service excludes them from approval and completion (R32).
fn provoke_by_hand(provoked: &mut Provoked, path: &str) {
    let member = json!({"subject": "by-hand", "name": "Jane", "role": "GENERAL"});
    provoked.system.expect(201, "POST", MEMBERS, "vm-owner-key", &member);
    let bearer = format!("Bearer {}", provoked.issuer.token("by-hand"));
    let set = |provoked: &Provoked, body: &Value| {
        provoked.system.expect(200, "PATCH", &format!("{OWNER}/services/1/"), "vm-owner-key", body);
    };
    let request = |provoked: &Provoked, state: &str| {
        let body = json!({"state": state}).to_string().into_bytes();
        let headers = [("authorization", bearer.as_str())];
        let (method, headers) = ("PATCH", headers.as_slice());
        provoked.system.send(&ApiRequest { method, path, body, headers, ..ApiRequest::default() })
    };
    set(provoked, &json!({"allow_manual_approval": false, "allow_manual_completion": false}));
    let answer = request(provoked, "APPROVED");
    provoked.meets(Code::ManualApproval, answer);
    provoked.moved(path, "APPROVED");
    let answer = request(provoked, "COMPLETED");
    provoked.meets(Code::ManualCompletion, answer);
    set(provoked, &json!({"allow_manual_approval": true, "allow_manual_completion": true}));
}

/// Provokes codes with records that no request writes, or none within a lifetime.
fn provoke_records(provoked: &mut Provoked) {
    let change = provoked.some_change();
    let team = change.consumer.id;
    let number = |number: u64| ChangeId::new(team, number).unwrap();
    let owner = provoked.system.block_on(provoked.system.table.team_by_name("NPOwnerTeam"));
    let owner = owner.unwrap().unwrap().to_ref();
    let (id, kind) = (number(1 << 30), Kind::Dependent);
    let state = State::Completed;
    provoked.write(Write::CreateChange(Change { id, kind, state, owner: owner.clone(), ..change.clone() }));
    let body = json!({"deployed_item": {"ip": "10.0.0.1"}});
    let path = format!("{OWNER}/change_instances/{id}/");
    provoked.call(Code::DeployedItemNotMain, "PATCH", &path, "np-owner-key", &body);

    // The item has no slot for this change instance. Every read looks torn, so the decision gives up.
    let id = number((1 << 30) + 16);
    provoked.write(Write::CreateChange(Change { id, kind, owner, state: State::Pending, ..change.clone() }));
    let path = format!("{OWNER}/change_instances/{id}/");
    provoked.call(Code::Contended, "PATCH", &path, "np-owner-key", &json!({"state": "APPROVED"}));

    // A record with an unknown format version.
    let id = number((1 << 30) + 32);
    provoked.write(Write::CreateChange(Change { id, ..change }));
    let is_its = |row: &Value| row.pointer("/id/N") == Some(&json!(id.to_string()));
    let mut row = provoked.system.rows().into_iter().find(is_its).unwrap();
    *row.pointer_mut("/v/N").unwrap() = json!((dovetail_table::RECORD_FORMAT + 1).to_string());
    provoked.system.put_row(&row);
    let path = format!("{OWNER}/change_instances/{id}/");
    provoked.call(Code::Broken, "PATCH", &path, "vm-owner-key", &json!({"state": "APPROVED"}));

    let other = provoked.system.block_on(provoked.system.table.team_by_name("AwesomeConsumer2"));
    let head = provoked.system.block_on(provoked.system.table.head(other.unwrap().unwrap().id));
    let before = head.unwrap().unwrap();
    provoked.write(Write::AdvanceHead { before, after: Head { next_change: 1 << 35, ..before } });
    let body = json!({"AwesomeConsumer2": {"App": {"services": {"VM": [{"name": "one"}]}}}});
    provoked.call(Code::OutOfNumbers, "POST", SUBMIT, "awesome2-key", &body);
}

/// Returns the response of functions on a table.
fn answer_of(system: &Running, table: Settings, method: &str, path: &str, body: Vec<u8>) -> Answer {
    let request = ApiRequest { method, path, key: Some("awesome-key"), body, ..ApiRequest::default() };
    system.block_on(async {
        let (base, serving) = functions_on(Table::connect(table)).await;
        tokio::select! {
            answer = send(&base, &request) => answer,
            () = serving => Answer { status: 0, headers: Vec::new(), body: Value::Null },
        }
    })
}

/// Provokes `unavailable`: the main table does not exist, but the table of API keys does.
fn provoke_storage(provoked: &mut Provoked) {
    let tables = Tables::fresh(dovetail_table::ACTIONS_MAX);
    provoked.system.block_on(async {
        let table = Table::connect(tables.settings.clone());
        table.create().await.unwrap();
        let world = world::parse(world::DEMO).unwrap();
        load::world(&table, &world, domain::Timestamp::from_micros(1), &mut |_| Ok(())).await.unwrap();
    });
    let gone = Settings { table: fresh_table(), ..tables.settings.clone() };
    let answer = answer_of(&provoked.system, gone, "GET", ITEMS, Vec::new());
    provoked.meets(Code::Unavailable, answer);
    provoke_full(provoked, &tables);
}

/// Provokes `storage_full`: the engine has no space for a transaction.
fn provoke_full(provoked: &mut Provoked, tables: &Tables) {
    let fate = |operation: &str| if operation == "TransactWriteItems" { Fate::Full } else { Fate::Pass };
    let proxy = provoked.system.block_on(Proxy::before(tables.settings.endpoint.clone().unwrap(), fate));
    let body = vms(&json!([{"name": "one"}])).to_string().into_bytes();
    let answer = answer_of(&provoked.system, tables.through(&proxy.endpoint), "POST", SUBMIT, body);
    provoked.meets(Code::StorageFull, answer);
}

#[test]
fn every_code_is_provoked_with_its_status_and_shape() {
    let provoked = &*WHOLE;
    for (code, answer) in provoked.responses.values() {
        let name = code.name();
        assert_eq!(answer.status, code.status(), "{name}: {answer:?}");
        if *code == Code::UnknownFilter {
            assert_eq!(answer.body, json!(["Filter param not found."]));
            continue;
        }
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{name}");
        assert_eq!(answer.at("/code"), name, "{answer:?}");
        let page = answer.at("/type").as_str().unwrap();
        assert!(page.starts_with("http://") && page.ends_with(&format!("/v1/errors/{name}")), "{page}");
        answer.assert_is(code.status(), &json!({"/title": code.title(), "/status": code.status()}));
        assert!(answer.at("/detail").as_str().is_some_and(|detail| !detail.is_empty()), "{name}");
        let seconds: Option<u64> = answer.header("retry-after").map(|seconds| seconds.parse().unwrap());
        let expected = match (name, code.status()) {
            ("asked_just_now", _) => Some(10..=10),
            ("too_many_requests", _) => Some(1..=1),
            ("divided_just_now", _) => Some(3_500..=3_600),
            (_, status) => (status == 503).then_some(1..=5),
        };
        assert_eq!(seconds.is_some(), expected.is_some(), "{name}");
        let is_expected = seconds.zip(expected).is_none_or(|(seconds, expected)| expected.contains(&seconds));
        assert!(is_expected, "{name}: {seconds:?}");
        let allow = (*code == Code::MethodNotAllowed).then_some("GET, HEAD");
        assert_eq!(answer.header("allow"), allow, "{name}");
    }
    for code in Code::ALL {
        assert!(provoked.responses.contains_key(code.name()), "{} is not provoked", code.name());
    }
}

#[test]
fn codes_and_their_statuses_stay_the_same() {
    let lines: String = Code::ALL.map(|code| format!("{} {}\n", code.status(), code.name())).concat();
    expect_test::expect_file!["../golden/codes.txt"].assert_eq(&lines);
}

#[test]
fn of_several_errors_the_response_has_the_first_code() {
    let provoked = Provoked::new();
    let path = provoked.declared(1);
    let as_consumer = path.replace("serviceowner", "consumer");
    let nothing_there = format!("{OWNER}/change_instances/7/");
    let two_wrong = json!({"state": "COMPLETED", "log": "x".repeat(1025)});
    let cases = [
        ("DELETE", "/v1/account/teams/?a=1", "no-such-key", json!({}), Code::MethodNotAllowed),
        ("PATCH", &nothing_there, "no-such-key", json!([]), Code::Unauthenticated),
        ("PATCH", &nothing_there, "read-key", json!([]), Code::ReadOnlyKey),
        ("GET", &format!("{ITEMS}?service_id=x&a=1"), "awesome-key", Value::Null, Code::UnknownFilter),
        ("GET", &format!("{ITEMS}?cursor=x&limit=x"), "awesome-key", Value::Null, Code::InvalidFilter),
        ("POST", &format!("{SUBMIT}?a=1"), "awesome-key", json!({}), Code::UnknownFilter),
        ("PATCH", &as_consumer, "awesome-key", two_wrong.clone(), Code::NotOwner),
        ("PATCH", &path, "vm-owner-key", two_wrong, Code::IllegalTransition),
    ];
    for (method, path, key, body, code) in cases {
        let answer = provoked.system.call(method, path, key, &body);
        let actual = answer.at("/code").as_str().unwrap_or(Code::UnknownFilter.name());
        assert_eq!(actual, code.name(), "{method} {path}: {answer:?}");
    }
}

#[test]
fn a_missing_object_precedes_errors_of_the_body() {
    let provoked = Provoked::new();
    // Well-formed ids of objects that do not exist.
    for path in ["change_instances/137438953488/", "deployed_items/137438953489/", "services/77/"] {
        let answer = provoked.system.call("PATCH", &format!("{OWNER}/{path}"), "vm-owner-key", &json!([]));
        assert_eq!(answer.at("/code"), "not_found", "{path}: {answer:?}");
    }
}
