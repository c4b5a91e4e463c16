//! Tests on deployed stacks for features without a scenario: staging, the sweep, API keys, people, webhooks,
//! messages, metadata schemas, secrets and healthchecks.

use crate::scenarios::FOLDER;
use crate::scenarios::player::on_a_stack;
use domain::catalog::config::CONFIGS_MAX;
use domain::model::work::{ITEMS_MAX, TRIES_MAX};
use dovetail_daemon::world;
use dovetail_table::{ACTIONS_MAX, Settings, Table};
use serde_json::{Value, json};
use simulation::system::STAGED;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use support::issuer::{AUDIENCE, Issuer, Signer};
use support::{ApiRequest, Calls, Proxy, Site, Stack, dying_after, functions_on, multipart, send};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const OWNER: &str = "/v1/orcabase/serviceowner";

/// More calls than `submit` needs before it commits a small staged submission.
const PASSES_MAX: usize = 30;

/// Deploys a stack with generation paused.
fn resting(actions_max: usize) -> Stack {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), actions_max);
    stack.enable("generate", false);
    stack
}

/// Returns a declaration of a VM and a load balancer with a reference to it.
///
/// The load balancer causes pending work for its dependent team.
fn declared(cpu: u64, algorithm: &str) -> Value {
    let machines = json!([{"name": "CoreVM1", "cpu": cpu, "memory": 2}]);
    let balancers = json!([{"name": "CoreLB1", "related_vms": ["CoreVM1"], "algorithm": algorithm}]);
    json!({"AwesomeConsumer": {"App": {"services": {"VM": machines, "LoadBalancer": balancers}}}})
}

fn submit(stack: &Stack, cpu: u64, algorithm: &str) {
    let answer = stack.call("POST", SUBMIT, "awesome-key", &declared(cpu, algorithm));
    assert_eq!(answer.status, 201, "{answer:?}");
}

/// Invokes the sweep for pending work and uncommitted staging of any age.
fn sweep(stack: &Stack, redrive: bool) -> Value {
    stack.invoke("sweep", &json!({"redrive": redrive, "older_than_seconds": 0, "abandoned_after_seconds": 0}))
}

fn counted(swept: &Value, name: &str) -> u64 {
    swept[name].as_u64().unwrap_or_else(|| panic!("no {name} in {swept}"))
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn staged_submissions_are_completed() {
    let file = |name: &str| format!("{FOLDER}/{name}.txt");
    on_a_stack::staged(&file("references"));
    on_a_stack::staged(&file("dependent_teams"));
}

/// `submit` itself applies the first work record at most, so `generate` must store the declarations of the second one.
#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn the_stream_completes_a_submission_with_several_work_records() {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX);
    let machines: Vec<Value> =
        (0..=ITEMS_MAX).map(|n| json!({"name": format!("vm{n}"), "cpu": 1, "memory": 2})).collect();
    let declared = json!({"AwesomeConsumer": {"App": {"services": {"VM": machines}}}});
    let answer = stack.call("POST", SUBMIT, "awesome-key", &declared);
    assert_eq!(answer.status, 201, "{answer:?}");
    stack.wait_idle(false);
    assert!(stack.rows("WORK").is_empty());
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn the_owner_alone_reads_a_secret() {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX);
    let definition = json!({"title": "Vault", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "password": {"type": "string", "writeOnly": true, "maxLength": 8}}});
    let published = stack.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition);
    assert_eq!(published.status, 201, "{published:?}");
    let vaults = json!([{"name": "v", "password": "canary"}]);
    let declared = json!({"AwesomeConsumer": {"Safe": {"services": {"Vault": vaults}}}});
    let answer = stack.call("POST", SUBMIT, "awesome-key", &declared);
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(!answer.body.to_string().contains("canary"), "{answer:?}");
    let change = format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"));
    let read = stack.call("GET", &format!("{change}?secrets=true"), "vm-owner-key", &Value::Null);
    assert_eq!(read.at("/new_declaration/declaration/password"), "canary", "{read:?}");
    for body in [json!({"state": "APPROVED"}), json!({"state": "COMPLETED"})] {
        let answer = stack.call("PATCH", &change, "vm-owner-key", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn a_team_changes_its_setting_and_its_keys_and_the_health_check_is_public() {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX);
    let anyone = |path: &str| stack.send(&ApiRequest { method: "GET", path, ..ApiRequest::default() });
    assert_eq!(anyone("/v1/health").at("/status"), "ok");
    assert_eq!(anyone("/v1/openapi.json").at("/info/title"), "Dovetail");
    assert!(anyone("/v1/errors/blocked").body.as_str().is_some_and(|page| page.contains("Remedy")));

    let (keys, admin) = ("/v1/account/api_keys/", "awesome-key");
    let team = stack.get("/v1/account/teams/", admin);
    let path = format!("/v1/account/teams/{}/", team.at("/results/0/id"));
    let changed = stack.call("PATCH", &path, admin, &json!({"confirm_removals": false}));
    assert_eq!(changed.at("/confirm_removals"), &json!(false), "{changed:?}");
    let made = stack.call("POST", keys, admin, &json!({"name": "pipeline", "role": "READ_ONLY"}));
    let rotated = stack.call("POST", &format!("{keys}{}/rotate/", made.at("/id")), admin, &json!({}));
    assert_eq!((made.status, rotated.status), (201, 201), "{made:?} {rotated:?}");
    for key in [&made, &rotated] {
        let teams = stack.get("/v1/account/teams/", key.at("/key").as_str().unwrap());
        assert_eq!(teams.at("/results/0/name"), "AwesomeConsumer");
    }
    let path = format!("{keys}{}/", made.at("/id"));
    assert_eq!(stack.get(&path, admin).at("/successor"), rotated.at("/id"));
    assert_eq!(stack.call("DELETE", &path, admin, &Value::Null).status, 204);
    // The revoked key is gone. Its successor still has the name.
    assert_eq!(stack.get(&path, admin).status, 404);
    let taken = stack.call("POST", keys, admin, &json!({"name": "pipeline", "role": "READ_ONLY"}));
    assert_eq!(taken.at("/code"), "name_taken");
    let records = stack.get("/v1/account/records/?limit=3", admin);
    let events = |number: usize| records.at(&format!("/results/{number}/event")).clone();
    assert_eq!([0, 1, 2].map(events), ["API_KEY_REVOKED", "API_KEY_ROTATED", "API_KEY_CREATED"]);
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn operators_create_a_team_and_read_the_queues_and_the_state() {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX);
    let (path, operator) = ("/v1/platform", "platform-key");
    let created = stack.call("POST", &format!("{path}/teams/"), operator, &json!({"name": "Payments"}));
    assert_eq!(created.status, 201, "{created:?}");
    let taken = stack.call("POST", &format!("{path}/teams/"), operator, &json!({"name": "Payments"}));
    assert_eq!(taken.at("/code"), "team_name_taken");
    let secret = created.at("/api_key/key").as_str().unwrap();
    assert_eq!(stack.get("/v1/account/teams/", secret).at("/results/0/name"), "Payments");
    let teams = stack.get(&format!("{path}/teams/?limit=100"), operator);
    assert_eq!(teams.at("/count"), &json!(7), "{teams:?}");
    let declared = json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": "one"}]}}}});
    assert_eq!(stack.call("POST", SUBMIT, "awesome-key", &declared).status, 201);
    stack.wait_idle(false);
    let queues = stack.get(&format!("{path}/queues/"), operator);
    assert_eq!(queues.at("/results/0/states/PENDING/open"), &json!(1), "{queues:?}");
    let status = stack.get(&format!("{path}/status/"), operator);
    assert_eq!(status.at("/pending_work/records"), &json!(0), "{status:?}");
    assert_eq!(stack.get(&format!("{path}/status/"), "awesome-key").at("/code"), "needs_platform");
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn a_person_acts_for_the_team_that_made_them_a_member_and_no_forgery_does() {
    let issuer = Issuer::start();
    let parameters = json!({"Issuer": issuer.url, "Audience": AUDIENCE});
    let stack = Stack::deploy_with(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX, &parameters);
    let (members, admin) = ("/v1/account/members/", "awesome-key");
    let jane = json!({"subject": "u-1", "name": "Jane Doe", "role": "READ_ONLY"});
    let added = stack.call("POST", members, admin, &jane);
    let path = format!("{members}{}/", added.at("/id"));
    let changed = stack.call("PATCH", &path, admin, &json!({"role": "ADMIN"}));
    assert_eq!((added.status, changed.status), (201, 200), "{added:?} {changed:?}");
    let teams = |token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        stack.send(&ApiRequest {
            method: "GET",
            path: "/v1/account/teams/",
            headers: &headers,
            ..ApiRequest::default()
        })
    };
    assert_eq!(teams(&issuer.token("u-1")).at("/results/0/name"), "AwesomeConsumer");
    let by_rsa = issuer.rsa.token(&json!({"alg": "RS256", "kid": "rsa"}), &issuer.claims("u-1"));
    assert_eq!(teams(&by_rsa).status, 200);
    assert_eq!(teams(&issuer.token("u-2")).at("/code"), "not_a_member");
    let claims = issuer.claims("u-1");
    let forged = [
        Signer::Unsigned.token(&json!({"alg": "none", "kid": "ec"}), &claims),
        Signer::ec().token(&json!({"alg": "ES256", "kid": "ec"}), &claims),
    ];
    for token in forged {
        assert_eq!(teams(&token).status, 401, "{token}");
    }
    assert_eq!(stack.get(&path, admin).at("/role"), "ADMIN");
    assert_eq!(stack.call("DELETE", &path, admin, &Value::Null).status, 204);
    assert_eq!(stack.get(members, admin).at("/count"), 0);
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn a_person_approves_unless_that_is_left_to_keys() {
    let issuer = Issuer::start();
    let parameters = json!({"Issuer": issuer.url, "Audience": AUDIENCE});
    let stack = Stack::deploy_with(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX, &parameters);
    let (admin, joe) = ("vm-owner-key", json!({"subject": "u-3", "name": "Joe", "role": "GENERAL"}));
    assert_eq!(stack.call("POST", "/v1/account/members/", admin, &joe).status, 201);
    submit(&stack, 8, "a");
    let list = stack.get(&format!("{OWNER}/change_instances/"), admin);
    let path = format!("{OWNER}/change_instances/{}/", list.at("/results/0/id"));
    let bearer = format!("Bearer {}", issuer.token("u-3"));
    let approve = || {
        let (headers, body) = ([("authorization", bearer.as_str())], json!({"state": "APPROVED"}));
        let body = body.to_string().into_bytes();
        stack.send(&ApiRequest {
            method: "PATCH",
            path: &path,
            headers: &headers,
            body,
            ..ApiRequest::default()
        })
    };
    let by_hand = |allowed: bool| {
        let set = json!({"allow_manual_approval": allowed});
        assert_eq!(stack.call("PATCH", &format!("{OWNER}/services/1/"), admin, &set).status, 200);
    };
    by_hand(false);
    assert_eq!(approve().at("/code"), "manual_approval");
    by_hand(true);
    assert_eq!(approve().at("/state"), "APPROVED");
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn an_owner_keeps_documentation_configs_and_sees_what_a_definition_would_break() {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX);
    let admin = "vm-owner-key";
    let (header, body) = multipart("md_file", b"# VM");
    let docs = format!("{OWNER}/services/1/docs/");
    let upload = ApiRequest { method: "POST", path: &docs, key: Some(admin), headers: &[header], body };
    assert_eq!(stack.send(&upload).status, 201);
    assert_eq!(stack.get(&docs, admin).at("/md_file"), "# VM");
    let configs = format!("{OWNER}/service_configs/");
    // The version above the limit removes the first one.
    for version in 1..=CONFIGS_MAX + 1 {
        let made = stack.call("POST", &configs, admin, &json!({"service": 1, "config": {"n": version}}));
        assert_eq!((made.status, made.at("/version")), (201, &json!(version)), "{made:?}");
    }
    assert_eq!(stack.get(&format!("{configs}?service_id=1"), admin).at("/count"), &json!(CONFIGS_MAX));
    submit(&stack, 8, "a");
    let service = stack.get(&format!("{OWNER}/services/1/"), admin);
    let mut definition = service.at("/schema/schema").clone();
    definition["properties"]["cpu"]["minimum"] = json!(16);
    let dry = stack.call("POST", &format!("{OWNER}/services/validate/?dry_run=true"), admin, &definition);
    assert_eq!((dry.at("/dry_run/checked"), dry.at("/dry_run/failing")), (&json!(1), &json!(1)), "{dry:?}");
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn pending_work_is_counted() {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX);
    submit(&stack, 8, "a");
    stack.wait_idle(false);
    // One for the VM, one for the load balancer, one for the dependent team's share of it.
    assert_eq!(stack.invoke("sweep", &json!({"count": true})), json!({"waiting": 3}));
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn the_sweep_processes_work_left_by_the_stream() {
    let stack = resting(ACTIONS_MAX);
    // The second submission modifies the VM. Its pending work is the referenced change of the load balancer.
    for cpu in [8, 16] {
        submit(&stack, cpu, "a");
        let swept = sweep(&stack, false);
        assert_eq!((counted(&swept, "carried_out"), counted(&swept, "owed")), (1, 0), "{swept}");
    }
    // Without dependent teams, the referenced change is the only pending work. The next submission overtakes it, so
    // the sweep checks the item and does not write it.
    let settings = json!({"dependant_teams": []});
    let set = stack.call("PATCH", &format!("{OWNER}/services/2/"), "lb-owner-key", &settings);
    assert_eq!(set.status, 200, "{set:?}");
    submit(&stack, 32, "a");
    submit(&stack, 32, "b");
    let swept = sweep(&stack, false);
    assert_eq!((counted(&swept, "carried_out"), counted(&swept, "owed")), (1, 0), "{swept}");
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn failing_work_is_quarantined_and_redriven() {
    let stack = resting(ACTIONS_MAX);
    submit(&stack, 8, "a");
    let sound = stack.rows("WORK").remove(0);
    let mut broken = sound.clone();
    broken["v"]["N"] = json!((dovetail_table::RECORD_FORMAT + 1).to_string());
    stack.put_row(&broken);
    // The stream delivers the record once to `generate`. Further failures come from the sweep.
    stack.enable("generate", true);
    let mut swept = Value::Null;
    // Broken work must not delay a later submission, which overtakes it (R25).
    submit(&stack, 8, "b");
    for _ in 0..TRIES_MAX {
        swept = sweep(&stack, false);
    }
    assert_eq!(counted(&swept, "quarantined"), 1, "{swept}");
    // The row has a known format again, so a redrive can process the quarantined work.
    let mut healed = stack.rows("WORK").remove(0);
    healed["v"] = sound["v"].clone();
    stack.put_row(&healed);
    let swept = sweep(&stack, true);
    assert!(counted(&swept, "redriven") > 0 && counted(&swept, "quarantined") == 0, "{swept}");
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn the_sweep_removes_uncommitted_stagings() {
    let stack = resting(STAGED);
    // Functions of this process use the stack's tables. Each round dies one call later, until one leaves an open
    // staging.
    let request = ApiRequest {
        method: "POST",
        path: SUBMIT,
        key: Some("awesome-key"),
        headers: &[("idempotency-key", "once")],
        body: declared(8, "a").to_string().into_bytes(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut passes = 0;
    while stack.rows("STAGING").is_empty() {
        passes += 1;
        let calls = Calls::default();
        assert!(passes < PASSES_MAX, "nothing is staged");
        let fate = dying_after(passes, false, &calls);
        runtime.block_on(async {
            let proxy = Proxy::before(stack.settings.endpoint.clone().unwrap(), fate).await;
            let settings = Settings { endpoint: Some(proxy.endpoint.clone()), ..stack.settings.clone() };
            let (base, serving) = functions_on(Table::connect(settings)).await;
            tokio::select! {
                answer = send(&base, &request) => panic!("the function does not die: {answer:?}"),
                () = proxy.died() => {}
                () = serving => unreachable!(),
            }
        });
    }
    let swept = sweep(&stack, false);
    assert_eq!(counted(&swept, "cleared"), 1, "{swept}");
    assert!(stack.rows("STAGING").is_empty() && stack.rows("WORK").is_empty());
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn generation_accepts_an_outdated_stream_image() {
    let stack = resting(ACTIONS_MAX);
    submit(&stack, 8, "a");
    // The stream image is older than the table: it counts one more work record.
    let mut image = stack.rows("SUBMISSION").remove(0);
    let left: u64 = image["wl"]["N"].as_str().unwrap().parse().unwrap();
    image["wl"]["N"] = json!((left + 1).to_string());
    let change = json!({"NewImage": image, "SequenceNumber": "1", "SizeBytes": 1, "StreamViewType": "NEW_AND_OLD_IMAGES"});
    let record = json!({"eventID": "1", "eventName": "INSERT", "awsRegion": "us-east-1", "dynamodb": change});
    let reply = stack.invoke("generate", &json!({"Records": [record]}));
    assert_eq!(reply, json!({"batchItemFailures": []}));
    assert!(stack.rows("WORK").is_empty());
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn events_are_posted_to_a_webhook() {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    stack.post_events(&url, &json!({"detail": {"data": {"owner": ["NPOwnerTeam"]}}}));
    submit(&stack, 8, "a");
    let (head, body) = received(&listener);
    assert!(head.starts_with("POST /hook HTTP/1.1") && head.contains("x-webhook-key: webhook-key"), "{head}");
    let event: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(event["detail-type"], "ChangeInstance.StateChanged.v1");
    let data = &event["detail"]["data"];
    assert_eq!((&data["owner"], &data["kind"]), (&json!("NPOwnerTeam"), &json!("DEPENDENT")));
    stack.wait_idle(false);
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn an_owner_creates_tries_changes_and_removes_a_webhook() {
    let parameters = json!({"WebhookTargets": "any"});
    let stack = Stack::deploy_with(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX, &parameters);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let hooks = "/v1/external/serviceowner/webhooks/";
    let hook =
        json!({"service": 1, "target_url": url, "authorization": "Bearer one", "trigger_cooling_time": 1});
    let made = stack.call("POST", hooks, "vm-owner-key", &hook);
    assert_eq!(made.status, 201, "{made:?}");
    let path = format!("{hooks}{}/", made.at("/id"));
    submit(&stack, 8, "a");
    let (head, body) = received(&listener);
    assert!(head.starts_with("POST /hook HTTP/1.1"), "{head}");
    for header in ["authorization: bearer one", "dovetail-event-type: changeinstance.statechanged.v1"] {
        assert!(head.contains(header), "{head}");
    }
    let (_, signature) = head.split_once("dovetail-signature: ").unwrap();
    let (time, _) = signature.strip_prefix("t=").unwrap().split_once(',').unwrap();
    let secret = made.at("/secret").as_str().unwrap();
    let expected = dovetail_outbound::signature(secret, time.parse().unwrap(), &body);
    assert!(signature.starts_with(&expected), "{head}");
    let trying = std::thread::spawn(move || received(&listener));
    let tried = stack.call("POST", &format!("{path}trigger/"), "vm-owner-key", &Value::Null);
    assert_eq!((tried.status, tried.at("/delivered")), (200, &json!(true)), "{tried:?}");
    assert!(trying.join().unwrap().0.contains("dovetail-event-type: webhook.triggered.v1"));
    assert_eq!(stack.get(hooks, "vm-owner-key").at("/results/0/last_reply/status"), &json!(204));
    assert_eq!(stack.get(&format!("{path}failures/"), "vm-owner-key").at("/results"), &json!([]));
    assert_eq!(stack.call("POST", &format!("{path}rotate/"), "vm-owner-key", &Value::Null).status, 201);
    let reminds = json!({"change_instance_state": "APPROVED", "remind_after": 300});
    assert_eq!(stack.call("PATCH", &path, "vm-owner-key", &reminds).at("/remind_after"), &json!(300));
    let rests = json!({"active": false});
    assert_eq!(stack.call("PATCH", &path, "vm-owner-key", &rests).at("/active"), &json!(false));
    assert_eq!(stack.call("DELETE", &path, "vm-owner-key", &Value::Null).status, 204);
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn an_owner_creates_and_removes_a_message() {
    let stack = Stack::deploy(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX);
    let (messages, admin) = ("/v1/orcaexternal/serviceowner/messages/", "vm-owner-key");
    let service = format!("{}{OWNER}/services/1/", stack.base());
    let response = json!({"description": "VMs rest on Sunday", "scopes": [service]});
    // `submit` caches the teams with messages for one minute, so the message must exist before the first submission.
    let made = stack.call("POST", messages, admin, &response);
    assert_eq!(made.status, 201, "{made:?}");
    let answer = stack.call("POST", SUBMIT, "awesome-key", &declared(8, "a"));
    assert_eq!(answer.at("/messages/0/id"), made.at("/id"), "{answer:?}");
    let consumers = messages.replace("serviceowner", "consumer");
    assert_eq!(stack.get(&consumers, "awesome-key").at("/results/0/id"), made.at("/id"));
    let path = format!("{messages}{}/", made.at("/id"));
    for (method, text) in [("PATCH", "VMs rest on Monday"), ("PUT", "VMs rest no more")] {
        let changed = stack.call(method, &path, admin, &json!({"description": text}));
        assert_eq!((changed.status, changed.at("/description")), (200, &json!(text)), "{changed:?}");
    }
    assert_eq!(stack.call("DELETE", &path, admin, &Value::Null).status, 204);
    assert_eq!(stack.get(&consumers, "awesome-key").at("/count"), 0);
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn metadata_must_match_the_schemas_of_the_platform() {
    let mut world: Value = serde_json::from_str(world::DEMO).unwrap();
    let schema = json!({"type": "object", "required": ["owner"]});
    world["mandatory_metadata"] = json!({"application": schema});
    let stack = Stack::deploy(&world, ACTIONS_MAX);
    let refused = stack.call("POST", SUBMIT, "awesome-key", &declared(8, "a"));
    let response = refused.at("/errors/AwesomeConsumer/App/metadata/owner/0");
    assert_eq!((refused.status, response), (400, &json!("\"owner\" is a required property")), "{refused:?}");
    let mut owned = declared(8, "a");
    owned["AwesomeConsumer"]["App"]["metadata"] = json!({"owner": "jane"});
    assert_eq!(stack.call("POST", SUBMIT, "awesome-key", &owned).status, 201);
    stack.wait_idle(false);
    stack.assert_sound();
}

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn a_healthcheck_runs_on_request_and_on_schedule() {
    let parameters = json!({"WebhookTargets": "any"});
    let stack = Stack::deploy_with(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX, &parameters);
    let (checks, key) = ("/v1/external/serviceowner/healthchecks/", "vm-owner-key");
    let open = json!({"approval_required": false});
    let service = "/v1/orcabase/serviceowner/services/1/";
    assert_eq!(stack.call("PATCH", service, key, &open).status, 200);
    submit(&stack, 8, "a");
    // Port 1 has no listener, so every check fails at once.
    let body = json!({"service": 1, "target_url": "http://127.0.0.1:1/", "authorization": "Bearer one"});
    let made = stack.call("POST", checks, key, &body);
    assert_eq!(made.status, 201, "{made:?}");
    let scheduled = json!({"service": 1, "target_url": "http://127.0.0.1:1/", "schedule_enabled": true,
        "schedule_crontab": "0 3 1 1 *"});
    assert_eq!(stack.call("POST", checks, key, &scheduled).status, 200);
    let items = "/v1/orcabase/serviceowner/service_items/";
    let item = stack.get(items, key).at("/results/0/id").clone();
    let response = stack.get(&format!("{checks}trigger/service_item/{item}/"), key);
    assert_eq!((response.status, response.at("/error")), (200, &json!("unreachable")), "{response:?}");
    assert_eq!(stack.get(&format!("{checks}trigger/service/1/"), key).status, 200);
    sweep(&stack, false);
    let path = format!("{checks}1/");
    let began = Instant::now();
    // The run passes through the queue of the stack, with a cold start.
    while stack.get(&path, key).at("/last_run").is_null() {
        assert!(began.elapsed() < Duration::from_secs(120), "the run does not end");
    }
    assert_eq!(stack.get(checks, key).at("/results/0/last_run/error"), "unreachable");
    assert_eq!(stack.get(items, key).at("/results/0/healthcheck_status"), "UNKNOWN");
    assert_eq!(stack.call("DELETE", &path, key, &Value::Null).status, 204);
    stack.wait_idle(false);
    stack.assert_sound();
}

/// Accepts the next request with 204. Returns its head, in lower case after the first line, and its body.
fn received(listener: &TcpListener) -> (String, String) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    reader.read_line(&mut head).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let line = line.to_lowercase();
        length = line.strip_prefix("content-length: ").map_or(length, |response| response.parse().unwrap());
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").unwrap();
    (head, String::from_utf8(body).unwrap())
}
