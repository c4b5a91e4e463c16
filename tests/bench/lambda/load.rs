//! Memory, time and write units of `submit` and `generate` for the largest submissions.

use super::events::{OWNER, request};
use super::function::Function;
use super::{disable, kb, mb, memory};
use crate::built::Built;
use crate::figure::Figure;
use crate::figure::time;
use crate::rates::SUBMIT;
use domain::model::declaration::{BODY_BYTES_MAX, ITEMS_MAX};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use support::{Proxy, Running};

/// Number of items in a submission of one transaction, for comparison.
const AT_ONCE: usize = 30;
/// Number of records in a batch of the stream.
const BATCH: usize = 10;
/// Maximum ratio of write units per item: large submission to small one.
const UNITS_RATIO_MAX: f64 = 1.1;

/// Maximum size of a transaction in bytes: 3.5 MB. The limit of DynamoDB is 4 MB.
const TRANSACTION_MAX: u64 = 7 * 512 * 1024;

/// Name and API key of a team.
type Team = (&'static str, &'static str);

/// A large submission, and the service of its items.
struct Load {
    what: &'static str,
    item_bytes: usize,
    dependents: &'static [&'static str],
}

const LOADS: [Load; 3] = [
    Load { what: "10,000 items of 300 bytes", item_bytes: 300, dependents: &[] },
    Load { what: "10,000 items in 5 MiB", item_bytes: 523, dependents: &[] },
    Load { what: "10,000 items in 5 MiB, one dependent team", item_bytes: 523, dependents: &["NPOwnerTeam"] },
];

pub(super) fn measure(built: &Built) -> Vec<Figure> {
    LOADS.iter().flat_map(|load| load.measure(built)).collect()
}

impl Load {
    fn measure(&self, built: &Built) -> Vec<Figure> {
        let mut system = Running::demo();
        disable(&system, &["generate", "notify"]);
        self.publish(&system);
        let (proxy, largest) = system.block_on(Proxy::weighing(system.engine.clone()));
        system.environment = system.environment.replace(&system.engine, &proxy.endpoint);
        let (mut figures, submitted) =
            self.submit(built, &system, ("AwesomeConsumer", "awesome-key"), ITEMS_MAX);
        let (more, generated) = self.generate(built, &system);
        figures.extend(more);
        figures.push(self.largest(largest.load(Ordering::Relaxed)));
        if self.dependents.is_empty() {
            let (_, small) = self.submit(built, &system, ("AwesomeConsumer2", "awesome2-key"), AT_ONCE);
            figures.push(self.units(submitted + generated, small));
        }
        figures
    }

    fn publish(&self, system: &Running) {
        let schema = json!({"title": "Host", "type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "zone": {"type": "string"}, "image": {"type": "string"},
            "cpu": {"type": "integer"}, "memory": {"type": "integer"}, "backup": {"type": "boolean"},
            "disks": {"type": "array", "items": {"type": "integer"}}, "note": {"type": "string"},
            "network": {"type": "object", "properties": {
                "vlan": {"type": "integer"}, "address": {"type": "string"}}}}});
        let services = format!("{OWNER}/services/");
        let published = system.call("POST", &services, "vm-owner-key", &schema);
        assert_eq!(published.status, 201, "{published:?}");
        let settings = json!({"dependent_teams": self.dependents});
        let path = format!("{services}{}/", published.at("/id"));
        assert_eq!(system.call("PATCH", &path, "vm-owner-key", &settings).status, 200);
    }

    fn submit(&self, built: &Built, system: &Running, team: Team, count: usize) -> (Vec<Figure>, f64) {
        let (team, key) = team;
        let body = self.declaration(team, count);
        let bytes = body.to_string().len();
        assert!(bytes <= BODY_BYTES_MAX, "{bytes} bytes");
        let event = request(system, "POST", SUBMIT, key, &body);
        let mut function = Function::start(built.program("submit"), &system.environment);
        let began = Instant::now();
        let reply: Value = serde_json::from_slice(&function.invoke(&event)).unwrap();
        let took = began.elapsed();
        assert_eq!(reply["statusCode"], 201, "{reply}");
        (vec![self.memory("submit", &function), self.time("submit", took)], function.write_units())
    }

    fn declaration(&self, team: &str, count: usize) -> Value {
        let items: Vec<Value> = (0..count).map(|number| self.item(number)).collect();
        json!({team: {"Application": {"services": {"Host": items}}}})
    }

    fn item(&self, number: usize) -> Value {
        let mut item = json!({"name": format!("core-host-{number:05}"), "zone": "north-1a", "cpu": 8, "memory": 32,
            "image": "debian-13-2026-01-15", "backup": true, "disks": [100, 500, 500],
            "network": {"vlan": 117, "address": "10.0.12.34"}, "note": ""});
        let missing = self.item_bytes - item.to_string().len();
        item["note"] =
            "Declared by the platform team. ".chars().cycle().take(missing).collect::<String>().into();
        item
    }

    /// Delivers the stream's records to `generate` until the submission is SETTLED.
    fn generate(&self, built: &Built, system: &Running) -> (Vec<Figure>, f64) {
        let mut function = Function::start(built.program("generate"), &system.environment);
        let began = Instant::now();
        let mut last: Option<String> = None;
        let mut is_complete = false;
        while !is_complete {
            let records = system.stream(last.as_deref());
            let sequence = |record: &Value| record["dynamodb"]["SequenceNumber"].as_str().map(str::to_owned);
            last = Some(records.last().and_then(sequence).unwrap());
            let of_submission = |record: &&Value| image(record)["ty"]["S"] == "SUBMISSION";
            let records: Vec<&Value> = records.iter().filter(of_submission).collect();
            for batch in records.chunks(BATCH) {
                let reply = function.invoke(&json!({"Records": batch}).to_string());
                assert_eq!(&*reply, br#"{"batchItemFailures":[]}"#);
            }
            is_complete = records.last().is_some_and(|record| image(record)["st"]["S"] == "SETTLED");
        }
        let took = began.elapsed();
        let figures =
            vec![self.memory("generate", &function), self.time("generate, with stream reads", took)];
        (figures, function.write_units())
    }

    fn memory(&self, function: &str, of: &Function) -> Figure {
        memory(format!("{function}: memory, {}", self.what), of.memory_peak())
    }

    fn time(&self, function: &str, took: Duration) -> Figure {
        let what = format!("{function}: time, {}, a new connection for each call", self.what);
        Figure::without_goal(&what, time(took.as_secs_f64()))
    }

    /// Returns the figure of the largest transaction. Unlike DynamoDB, it counts the names and signs of JSON.
    fn largest(&self, bytes: usize) -> Figure {
        let what = format!("largest transaction, {}", self.what);
        let bytes = u64::try_from(bytes).unwrap();
        Figure::with_goal(what, format!("< {}", mb(TRANSACTION_MAX)), kb(bytes), bytes < TRANSACTION_MAX)
    }

    fn units(&self, large: f64, small: f64) -> Figure {
        let [large, small] = [(large, ITEMS_MAX), (small, AT_ONCE)]
            .map(|(units, items)| units / f64::from(u32::try_from(items).unwrap()));
        let ratio = large / small;
        let what = format!("write units per item, {}, compared with {AT_ONCE} in one transaction", self.what);
        let measured = format!("{ratio:.2} × ({large:.2} and {small:.2})");
        Figure::with_goal(what, format!("< {UNITS_RATIO_MAX:.2} ×"), measured, ratio < UNITS_RATIO_MAX)
    }
}

fn image(record: &Value) -> &Value {
    &record["dynamodb"]["NewImage"]
}
