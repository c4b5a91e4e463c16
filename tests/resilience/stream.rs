//! Behavior of the stream: any loss, repetition or order of records leads to the same result. Failed records do not
//! delay others.

use crate::scenarios::player::play::{By, rows_after};
use crate::scenarios::{FOLDER, LISTED};
use dovetail_daemon::functions::{self, Handles};
use dovetail_daemon::world;
use dovetail_table::Table;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, server};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use support::{Answer, Proxy, Random, Running, Settings, timeless};
use tokio::net::TcpListener;

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const OWNER: &str = "/v1/orcabase/serviceowner";
/// The sweep plays each fifth of the scenarios that generate.
const EACH: usize = 5;

/// Returns a declaration of VMs and load balancers, each with a field to modify.
fn declared(team: &str, vms: &[(&str, u64)], balancers: &[(&str, &[&str], &str)]) -> Value {
    let vms: Vec<Value> = vms.iter().map(|(name, cpu)| json!({"name": name, "cpu": cpu})).collect();
    let balancer = |(name, vms, algorithm): &(&str, &[&str], &str)| json!({"name": name, "related_vms": vms, "algorithm": algorithm});
    let balancers: Vec<Value> = balancers.iter().map(balancer).collect();
    json!({team: {"App": {"services": {"VM": vms, "LoadBalancer": balancers}}}})
}

#[track_caller]
fn submit(system: &Running, key: &str, body: &Value) -> Answer {
    let answer = system.call("POST", SUBMIT, key, body);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer
}

fn state_of(system: &Running, submission: &Answer) -> Value {
    let path = format!("/v1/orcabase/consumer/submissions/{}/", submission.at("/id"));
    system.get(&path, "awesome-key").at("/state").clone()
}

#[test]
fn the_sweep_does_the_work_of_a_silent_stream() {
    let paths = LISTED.iter().map(|scenario| format!("{FOLDER}/{scenario}.txt"));
    let generate = paths.filter(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        let is_about_the_stream = text.contains("\ngeneration rests") || text.contains("\nevents ->");
        text.contains(" generates ") && !is_about_the_stream
    });
    let mut played = 0;
    // All of them would take minutes, and the sweep generates by the same rules for each.
    for path in generate.step_by(EACH) {
        let [stream, sweep] = [By::Stream, By::Sweep].map(|by| timeless(&rows_after(&path, by)));
        assert_eq!(stream, sweep, "{path}");
        played += 1;
    }
    // The filter above depends on words of the scenarios. A lower number would mean that it matches too few.
    assert!(played >= 6, "{played} scenarios generate something");
}

/// Sends the commands of the test below. Their results do not depend on the time of generation.
fn commands(system: &Running) {
    let mut vm = Value::Null;
    for round in 1..=6 {
        let algorithm = if round % 3 == 0 { "b" } else { "a" };
        let vms = [("CoreVM1", round), ("CoreVM2", round / 2)];
        let balancers: [(&str, &[&str], &str); 2] =
            [("CoreLB1", &["CoreVM1", "CoreVM2"], algorithm), ("CoreLB2", &["CoreVM2"], "a")];
        let balancers = if round == 4 { &balancers[..1] } else { &balancers[..] };
        let answer = submit(system, "awesome-key", &declared("AwesomeConsumer", &vms, balancers));
        let changes = answer.at("/change_instances").as_array().unwrap();
        vm = changes.iter().find(|change| change["service_item"]["name"] == "CoreVM1").unwrap()["id"].clone();
        if round % 2 == 0 {
            let path = format!("{OWNER}/change_instances/{vm}/");
            for state in ["APPROVED", "COMPLETED"] {
                let moved = system.call("PATCH", &path, "vm-owner-key", &json!({"state": state}));
                assert_eq!(moved.status, 200, "{moved:?}");
            }
        }
    }
    assert!(vm.is_u64());
}

/// Returns kind, owner and final state of each change instance.
fn ends(system: &Running) -> BTreeMap<u64, (Value, Value, Value)> {
    let path = "/v1/orcabase/consumer/change_instances/?limit=100";
    let list = system.get(path, "awesome-key");
    assert!(list.at("/next").is_null());
    let rows = list.at("/results").as_array().unwrap().iter();
    let end = |row: &Value| (row["kind"].clone(), row["owner"]["name"].clone(), row["state"].clone());
    rows.map(|row| (row["id"].as_u64().unwrap(), end(row))).collect()
}

#[test]
fn deliveries_in_any_order_and_concurrently_lead_to_the_same_states() {
    let calm = Running::demo();
    commands(&calm);
    calm.wait_idle();
    let expected = ends(&calm);
    assert!(expected.len() > 20, "{expected:?}");
    for _ in 0..3 {
        let mut random = Random::seeded();
        let wild = Running::demo();
        wild.enable("generate", false);
        commands(&wild);
        // The worst stream: all records in random order, some of them twice, in four concurrent batches.
        let mut records = wild.stream(None);
        let repeated: Vec<Value> = records.iter().filter(|_| random.below(2) == 0).cloned().collect();
        records.extend(repeated);
        for at in (1..records.len()).rev() {
            records.swap(at, random.index(at + 1));
        }
        let batches: Vec<Value> = records.chunks(3).map(|batch| json!({"Records": batch})).collect();
        for concurrent in batches.chunks(4) {
            let deliver = |batch: &Value| functions::invoke(&wild.handles, "generate", batch.clone());
            let replies = wild.block_on(futures_util::future::join_all(concurrent.iter().map(deliver)));
            assert!(replies.iter().all(Result::is_ok), "{replies:?}");
        }
        wild.assert_sound();
        assert_eq!(ends(&wild), expected);
        let (planned, set_aside) = wild.block_on(wild.table.count_work()).unwrap();
        assert_eq!((planned, set_aside), (0, 0));
    }
}

#[test]
fn slow_work_of_one_team_delays_no_other_team_of_its_batch() {
    let system = Running::demo();
    system.enable("generate", false);
    for (key, team) in [("awesome-key", "AwesomeConsumer"), ("awesome2-key", "AwesomeConsumer2")] {
        submit(&system, key, &declared(team, &[], &[("CoreLB1", &[], "a")]));
    }
    let is_submission = |record: &Value| record["dynamodb"]["NewImage"]["ty"]["S"] == "SUBMISSION";
    let batch: Vec<Value> = system.stream(None).into_iter().filter(is_submission).collect();
    let [slow, fast] = [&batch[0], &batch[1]]
        .map(|record| record["dynamodb"]["Keys"]["pk"]["S"].as_str().unwrap().replace("SUBMISSION", "WORK"));
    let reply = system.block_on(async {
        // A batch that waits for the slow team ends with the timeout of its calls, and reports a failure.
        let writes_fast =
            move |operation: &str, body: &str| operation == "TransactWriteItems" && body.contains(&fast);
        let proxy = Proxy::holding(system.engine.clone(), slow, writes_fast).await;
        let table = Table::connect(system.tables_through(&proxy.endpoint));
        let event = serde_json::from_value(json!({ "Records": batch })).unwrap();
        generate::handle(&table, event).await
    });
    assert!(reply.batch_item_failures.is_empty(), "{reply:?}");
    assert_eq!(works(&system), Vec::<Value>::new());
    system.assert_sound();
}

#[test]
fn the_count_of_open_changes_reads_owners_concurrently() {
    let system = Running::demo();
    submit(&system, "awesome-key", &declared("AwesomeConsumer", &[("CoreVM1", 1)], &[("CoreLB1", &[], "a")]));
    system.wait_idle();
    let waiting = system.block_on(async {
        // The reads of the first owner wait for a read of the last one. In sequence they would time out.
        let [first, last] = [1, 3].map(|owner| format!("OWNER#{owner}#"));
        let reads_last = move |_: &str, body: &str| body.contains(&last);
        let proxy = Proxy::holding(system.engine.clone(), first, reads_last).await;
        sweep::waiting(&Table::connect(system.tables_through(&proxy.endpoint))).await
    });
    let owners: Vec<String> = waiting.unwrap().into_iter().map(|one| one.owner.name).collect();
    assert_eq!(owners, ["VMOwnerTeam", "LBOwnerTeam", "NPOwnerTeam"]);
}

/// Returns the stored work records.
fn works(system: &Running) -> Vec<Value> {
    system.rows().into_iter().filter(|row| row["ty"]["S"] == "WORK").collect()
}

#[test]
fn a_broken_work_record_delays_no_other_and_a_redrive_processes_it() {
    let system = Running::demo();
    system.enable("generate", false);
    let poisoned =
        submit(&system, "awesome-key", &declared("AwesomeConsumer", &[], &[("CoreLB1", &[], "a")]));
    let [sound] = works(&system).try_into().unwrap();
    let mut broken = sound.clone();
    broken["v"]["N"] = json!((dovetail_table::RECORD_FORMAT + 1).to_string());
    system.put_row(&broken);
    let other = declared("AwesomeConsumer2", &[], &[("CoreLB1", &[], "a")]);
    submit(&system, "awesome2-key", &other);
    system.enable("generate", true);
    system.wait_idle();
    // The other team's work is done. The broken record stays, with a failure counted.
    let list = system.get(&format!("{OWNER}/change_instances/"), "np-owner-key");
    assert_eq!(list.at("/count"), 1);
    assert_eq!(list.at("/results/0/consumer_team/name"), "AwesomeConsumer2");
    assert_eq!(state_of(&system, &poisoned), "APPLIED");
    // The stream counted one failure. Nine sweeps reach the limit of ten.
    for sweep in 1..=9 {
        let mut swept = system.sweep();
        let set_aside = u64::from(sweep == 9);
        assert!(swept["oldest_seconds"].take().is_u64());
        let expected = json!({"carried_out": 0, "failed": 1, "redriven": 0, "cleared": 0,
            "owed": 1 - set_aside, "oldest_seconds": null, "quarantined": set_aside});
        assert_eq!(swept, expected, "sweep {sweep}");
    }
    assert_eq!(system.sweep()["failed"], 0, "a sweep leaves quarantined work alone");
    // The record is valid again, but only a redrive takes it out of quarantine.
    let mut healed = works(&system).remove(0);
    healed["v"] = sound["v"].clone();
    system.put_row(&healed);
    assert_eq!(system.sweep()["carried_out"], 0);
    let swept = system.call("POST", "/_local/sweep", "", &json!({"redrive": true})).body;
    let counts = ["redriven", "carried_out", "quarantined"].map(|name| &swept[name]);
    assert_eq!(counts, [1, 1, 0], "{swept}");
    assert_eq!(state_of(&system, &poisoned), "SETTLED");
    system.assert_published();
    system.assert_sound();
}

#[test]
fn a_condition_that_never_holds_is_counted_and_delays_no_other() {
    let system = Running::demo();
    system.enable("generate", false);
    let both = declared("AwesomeConsumer", &[], &[("CoreLB1", &[], "a"), ("CoreLB2", &[], "a")]);
    submit(&system, "awesome-key", &both);
    let rows = system.rows();
    let item = rows.iter().find(|row| row["ty"]["S"] == "ITEM" && row["nm"]["S"] == "CoreLB1").unwrap();
    let np = system.block_on(system.table.team_by_name("NPOwnerTeam")).unwrap().unwrap();
    let (pk, sk) = (item["pk"]["S"].as_str().unwrap(), item["sk"]["S"].as_str().unwrap());
    // The share record of the item already exists, so the condition of its creation never holds.
    system.put_row(&json!({"pk": {"S": pk.replace("ITEM", "SHARE")}, "sk": {"S": format!("{sk}#{}", np.id)},
        "ty": {"S": "SHARE"}, "v": {"N": "2"}, "it": item["id"], "ow": {"N": np.id.to_string()}, "cr": {"N": "1"}}));
    submit(&system, "awesome2-key", &declared("AwesomeConsumer2", &[], &[("CoreLB1", &[], "a")]));
    system.enable("generate", true);
    system.wait_idle();
    let list = system.get(&format!("{OWNER}/change_instances/"), "np-owner-key");
    let row = |row: &Value| vec![row["consumer_team"]["name"].clone(), row["service_item"]["name"].clone()];
    // The teams proceed concurrently, so the rows have no order.
    let mut rows: Vec<Vec<Value>> = list.at("/results").as_array().unwrap().iter().map(row).collect();
    rows.sort_by_key(|row| row[0].to_string());
    let expected = [["AwesomeConsumer", "CoreLB2"], ["AwesomeConsumer2", "CoreLB1"]];
    assert_eq!(rows, expected, "the other item and the other consumer have their change instances");
    assert_eq!(works(&system)[0]["tr"]["N"], "1");
    assert_eq!(system.sweep()["failed"], 1);
    assert_eq!(works(&system)[0]["tr"]["N"], "2");
}

/// Partition key of the first consumer's submissions. The function below fails on it.
const OFFENDING: &str = "SUBMISSION#4";

/// A Lambda endpoint with a defect: `generate` fails on one partition key until a test repairs it.
struct Defective {
    handles: OnceLock<Arc<Handles>>,
    is_repaired: AtomicBool,
}

impl Defective {
    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let function = request.uri().path().split('/').rev().nth(1).unwrap().to_owned();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let mut response = Response::default();
        let offends = function == "generate" && String::from_utf8_lossy(&body).contains(OFFENDING);
        if offends && !self.is_repaired.load(Ordering::SeqCst) {
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            return response;
        }
        let payload = serde_json::from_slice(&body).unwrap();
        let reply = functions::invoke(self.handles.wait(), &function, payload).await.unwrap();
        *response.body_mut() = Full::from(reply.to_string());
        response
    }
}

/// Serves HTTP until its runtime stops.
async fn serve<F, A>(listener: TcpListener, respond: F) -> Infallible
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let respond = respond.clone();
        let service = service_fn(move |request| {
            let answer = respond(request);
            async { Ok::<_, Infallible>(answer.await) }
        });
        // The system closes its connections at its end, which is not a failure.
        tokio::spawn(async move {
            drop(server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

/// Starts a runtime for a server outside of the system. Returns also its listener and URL.
fn outside_server() -> (tokio::runtime::Runtime, TcpListener, String) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (runtime, listener, url)
}

#[test]
fn a_failing_record_is_quarantined_and_delivered_after_the_repair() {
    let (runtime, listener, url) = outside_server();
    let function = Arc::new(Defective { handles: OnceLock::new(), is_repaired: AtomicBool::new(false) });
    let responding = Arc::clone(&function);
    runtime.spawn(serve(listener, move |request| {
        let function = Arc::clone(&responding);
        async move { function.respond(request).await }
    }));
    let world = world::DEMO.replace("\"notify\": \"http://127.0.0.1:9100/\"", "\"notify\": null");
    let system = Running::start_with(&world, Settings { functions: Some(url), ..Settings::default() });
    assert!(function.handles.set(Arc::clone(&system.handles)).is_ok());
    let poisoned =
        submit(&system, "awesome-key", &declared("AwesomeConsumer", &[], &[("CoreLB1", &[], "a")]));
    submit(&system, "awesome2-key", &declared("AwesomeConsumer2", &[], &[("CoreLB1", &[], "a")]));
    system.wait_idle();
    // The next record was processed. The failed one is at the on-failure destination.
    let list = system.get(&format!("{OWNER}/change_instances/"), "np-owner-key");
    assert_eq!(list.at("/count"), 1);
    assert_eq!(list.at("/results/0/consumer_team/name"), "AwesomeConsumer2");
    let [given_up] = failures(&system).try_into().unwrap();
    assert_eq!(given_up["function"], "generate");
    assert_eq!(given_up["record"]["requestContext"]["condition"], "RetryAttemptsExhausted");
    assert_eq!(given_up["record"]["DDBStreamBatchInfo"]["batchSize"], 1);
    assert_eq!(state_of(&system, &poisoned), "APPLIED");
    // A redrive fails before the repair, and succeeds after it.
    let redrive = || system.call("POST", "/_local/failures/redrive", "", &json!({})).body;
    assert_eq!(redrive(), json!({"redriven": 0, "left": 1}));
    function.is_repaired.store(true, Ordering::SeqCst);
    assert_eq!(redrive(), json!({"redriven": 1, "left": 0}));
    assert_eq!(failures(&system), Vec::<Value>::new());
    assert_eq!(state_of(&system, &poisoned), "SETTLED");
    system.assert_published();
    system.assert_sound();
}

fn failures(system: &Running) -> Vec<Value> {
    system.get("/_local/failures", "").at("/failures").as_array().unwrap().clone()
}

#[test]
fn a_receiver_that_fails_nine_of_ten_times_gets_every_event_of_its_team_in_order() {
    let (runtime, listener, url) = outside_server();
    let (take, taken) = std::sync::mpsc::channel();
    let count = Arc::new(std::sync::atomic::AtomicU64::new(0));
    runtime.spawn(serve(listener, move |request: Request<Incoming>| {
        let (take, count) = (take.clone(), Arc::clone(&count));
        async move {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let mut response = Response::default();
            if count.fetch_add(1, Ordering::SeqCst) % 10 == 9 {
                *response.status_mut() = StatusCode::NO_CONTENT;
                take.send(serde_json::from_slice::<Value>(&body).unwrap()).unwrap();
            } else {
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            }
            response
        }
    }));
    let mut world: Value = serde_json::from_str(world::DEMO).unwrap();
    for team in world["teams"].as_array_mut().unwrap() {
        // The pattern matches only new pending changes of the team, so the test knows all events.
        let pattern = json!({"detail": {"data": {"owner": ["NPOwnerTeam"], "to": ["PENDING"]}}});
        let is_notified = team["name"] == "NPOwnerTeam";
        team["notify"] = if is_notified { json!({"url": url, "pattern": pattern}) } else { Value::Null };
    }
    let system = Running::start(&world.to_string());
    for round in ["a", "b", "c"] {
        submit(&system, "awesome-key", &declared("AwesomeConsumer", &[], &[("CoreLB1", &[], round)]));
        system.wait_idle();
    }
    let received: Vec<Value> = (0..3).map(|_| taken.recv().unwrap()).collect();
    let list = system.get(&format!("{OWNER}/change_instances/"), "np-owner-key");
    let ids: Vec<&Value> = list.at("/results").as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(received.iter().map(|event| &event["detail"]["data"]["id"]).collect::<Vec<_>>(), ids);
    for event in &received {
        assert_eq!(event["detail-type"], "ChangeInstance.StateChanged.v1");
        assert_eq!(event["detail"]["data"]["to"], "PENDING");
    }
    drop(system);
    assert!(taken.try_recv().is_err(), "the receiver gets no other event");
}
