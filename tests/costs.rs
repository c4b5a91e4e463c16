//! What deciding and reading cost: the capacity that each call takes of the table, and how many requests in it wait
//! for one another.
#![expect(clippy::unwrap_used, reason = "test support")]

use dovetail_http::{CursorKey, Event, EventReply, Front};
use dovetail_table::{Settings, Table};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use tests::{Cost, Costs, Proxy, Running};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const OWNER: &str = "/v1/orcabase/serviceowner/change_instances";

static REQUESTS: AtomicU32 = AtomicU32::new(0);

/// A function that has just been started, before a proxy that tells what it costs.
struct Started<'a> {
    system: &'a Running,
    table: Table,
    costs: Costs,
    _proxy: Proxy,
}

/// What a call took.
#[derive(Debug, PartialEq)]
struct Took {
    rounds: usize,
    calls: usize,
    read: f64,
    written: f64,
}

impl<'a> Started<'a> {
    fn on(system: &'a Running) -> Self {
        let (proxy, costs) = system.block_on(Proxy::metering(system.engine.clone()));
        let settings = Settings {
            table: dovetail_local::TABLE.to_owned(),
            keys_table: "none".to_owned(),
            actions_max: dovetail_table::ACTIONS_MAX,
            endpoint: Some(proxy.endpoint.clone()),
        };
        let table = system.block_on(Table::connect(settings));
        Self { system, table, costs, _proxy: proxy }
    }

    /// Calls the function that a path belongs to; whose key it is has been looked up before.
    fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> (Value, Took) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut event = Event::default();
        event.raw_path = Some(path.to_owned());
        event.raw_query_string = Some(query.to_owned());
        event.request_context.http.method = method.parse().unwrap();
        event.headers.insert("host", self.system.base.strip_prefix("http://").unwrap().parse().unwrap());
        event.headers.insert("authorization", format!("Api-Key {key}").parse().unwrap());
        event.body = (!body.is_null()).then(|| body.to_string());
        self.costs.lock().unwrap().clear();
        let (table, key) = (&self.table, CursorKey::new("key"));
        let reply: EventReply = self.system.block_on(async {
            // As long as those of API Gateway, and different each time.
            let request = format!("JKJaXmPLvH{:05}=", REQUESTS.fetch_add(1, Ordering::Relaxed));
            let event = Front::Nothing.event(&self.system.table, request, event).await.unwrap();
            match (method, path.ends_with("/history/")) {
                ("GET", false) => list::handle(table, &key, event).await,
                ("GET", true) => history::handle(table, event).await,
                _ => update_state::handle(table, event).await,
            }
        });
        let body = serde_json::from_slice(&reply.body.unwrap()).unwrap();
        assert!(reply.status_code < 300, "{path}: {body}");
        (body, took(&self.costs.lock().unwrap()))
    }
}

fn took(costs: &[Cost]) -> Took {
    let is_write = |cost: &&Cost| cost.operation.starts_with("Transact");
    let units = |some: &dyn Fn(&&Cost) -> bool| costs.iter().filter(some).map(|cost| cost.units).sum();
    Took {
        rounds: costs.iter().map(|cost| cost.round).max().unwrap_or_default(),
        calls: costs.len(),
        read: units(&|cost| !is_write(cost)),
        written: units(&is_write),
    }
}

/// A team with as many VMs as one submission takes, whose names begin so.
fn declared(system: &Running, prefix: &str, commit: &str, cpu: u64, count: u64) {
    let vm = |n: u64| json!({"name": format!("{prefix}{n}"), "cpu": cpu, "memory": 2});
    let vms: Vec<Value> = (1..=count).map(vm).collect();
    let body = json!({"AwesomeConsumer": {"NewApp1": {"services": {"VM": vms}}}});
    let answer = system.call("POST", &format!("{SUBMIT}?commit_id={commit}"), "awesome-key", &body);
    assert_eq!(answer.status, 201, "{answer:?}");
}

fn pending(system: &Running) -> Vec<String> {
    let listed = system.get(&format!("{OWNER}/?state=PENDING&limit=100&light=true"), "vm-owner-key");
    let rows = listed.at("/results").as_array().unwrap().clone();
    rows.iter().map(|row| format!("{OWNER}/{}/", row.get("id").unwrap())).collect()
}

const fn decision(rounds: usize, calls: usize, read: f64, written: f64) -> Took {
    Took { rounds, calls, read, written }
}

#[test]
fn a_decision_takes_three_rounds_at_first_sight_and_two_from_then_on() {
    let system = Running::demo();
    declared(&system, "CoreVM", "c1", 8, 2);
    let function = Started::on(&system);
    let decide = |path: &str, body: &Value| {
        let (reply, took) = function.call("PATCH", path, "vm-owner-key", body);
        assert_eq!(reply, system.get(path, "vm-owner-key").body, "the reply shows what is now");
        took
    };
    let [first, second] = &pending(&system)[..] else { panic!("two are pending") };
    let done = json!({"state": "COMPLETED", "log": "done", "deployed_item": {"ip": "10.0.0.1"}});
    assert_eq!(decide(first, &json!({"state": "APPROVED"})), decision(3, 4, 4.0, 6.0));
    assert_eq!(decide(first, &done), decision(2, 3, 4.0, 10.0));
    assert_eq!(decide(first, &done), decision(2, 2, 4.5, 0.0), "the same again writes nothing");
    assert_eq!(decide(second, &json!({"state": "REJECTED"})), decision(3, 4, 4.0, 8.0));
    let (_, retried) = function.call("POST", &format!("{second}retry/"), "vm-owner-key", &Value::Null);
    assert_eq!(retried, decision(2, 3, 5.0, 12.0));
    system.assert_sound();
}

#[test]
fn long_names_commits_and_older_declarations_cost_no_more() {
    let system = Running::demo();
    let name = "core-virtual-machine-of-the-billing-department-";
    for cpu in [8, 16] {
        declared(&system, name, "51e53e1f51e53e1f51e53e1f51e53e1f51e53e1f", cpu, 1);
        let function = Started::on(&system);
        let [change] = &pending(&system)[..] else { panic!("one is pending") };
        let written = |body| function.call("PATCH", change, "vm-owner-key", &body).1.written;
        assert!(written(json!({"state": "APPROVED", "log": "taken up"})) <= 6.0);
        let done = json!({"state": "COMPLETED", "log": "done", "deployed_item": {"cpu": cpu}});
        assert!(written(done) <= 10.0);
    }
}

#[test]
fn a_light_poll_is_one_query_of_the_rows_that_it_shows() {
    let system = Running::demo();
    for count in [40, 80] {
        declared(&system, "CoreVM", "c1", 8, count);
    }
    let function = Started::on(&system);
    let poll = |path: &str| function.call("GET", path, "vm-owner-key", &Value::Null);
    let (page, took) = poll(&format!("{OWNER}/?state=PENDING&limit=50&light=true"));
    assert_eq!((&page["count"], page["results"].as_array().unwrap().len()), (&Value::Null, 50));
    assert_eq!((took.rounds, took.calls), (1, 1));
    assert!(took.read <= 3.0, "{took:?}");
    let next = page["next"].as_str().unwrap();
    let (rest, took) = poll(next.strip_prefix(&system.base).unwrap());
    assert_eq!((&rest["next"], rest["results"].as_array().unwrap().len()), (&Value::Null, 30));
    assert_eq!((took.rounds, took.calls), (1, 1));
    for light in ["", "&light=true"] {
        let (none, took) = poll(&format!("{OWNER}/?state=ERRORED&limit=50{light}"));
        assert_eq!((none["count"].as_u64(), took), (Some(0), decision(1, 1, 0.5, 0.0)));
    }
    // Those of all states are in as many places, which do not wait for one another.
    let (_, took) = poll(&format!("{OWNER}/?light=true"));
    assert_eq!((took.rounds, took.calls), (1, 6));
}

#[test]
fn a_history_is_one_read() {
    let system = Running::demo();
    declared(&system, "CoreVM", "c1", 8, 1);
    let function = Started::on(&system);
    let [change] = &pending(&system)[..] else { panic!("one is pending") };
    let (history, took) = function.call("GET", &format!("{change}history/"), "vm-owner-key", &Value::Null);
    assert_eq!((history["count"].as_u64(), took), (Some(1), decision(1, 1, 1.0, 0.0)));
}
