//! A deployed system: a separate stack from the template, reached by its URL.
//!
//! `tests/deploy/run` starts the deployer and sets its URL in `DOVETAIL_TEST_STACKS`.

use crate::published::Published;
use crate::request::{Answer, ApiRequest, send};
use crate::site::Site;
use crate::tables::call_engine;
use domain::rules::plan::REUSE_FROM;
use dovetail_daemon::{load, world};
use dovetail_table::{ACTIONS_MAX, Settings, Table};
use serde_json::{Value, json};
use simulation::checks::{expected, published_numbers};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Maximum time until generation and publishing are idle. The functions run in processes that start first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between two checks.
const PAUSE: Duration = Duration::from_millis(50);

/// A stack that is removed when it is dropped.
pub struct Stack {
    /// Settings of its tables.
    pub settings: Settings,
    base: String,
    deployer: String,
    path: String,
    table: Table,
    runtime: Runtime,
}

impl Stack {
    /// Deploys a stack with this maximum number of writes in one transaction of a submission, and loads a world.
    pub fn deploy(world: &Value, actions_max: usize) -> Self {
        Self::deploy_with(world, actions_max, &json!({}))
    }

    /// Deploys a stack with further parameters of the template.
    pub fn deploy_with(world: &Value, actions_max: usize, parameters: &Value) -> Self {
        Self::deploy_limited(world, (actions_max, REUSE_FROM), parameters)
    }

    /// Deploys a stack with this maximum number of writes, and this number of applications from which numbers are
    /// used again (R45).
    pub fn deploy_limited(
        world: &Value,
        (actions_max, reuse_from): (usize, usize),
        parameters: &Value,
    ) -> Self {
        let deployer = std::env::var("DOVETAIL_TEST_STACKS").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let limits = [("ACTIONS_MAX", actions_max, ACTIONS_MAX), ("REUSE_FROM", reuse_from, REUSE_FROM)];
        let lower = limits.into_iter().filter(|(_, limit, usual)| limit != usual);
        let submit: BTreeMap<String, String> =
            lower.map(|(name, limit, _)| (format!("DOVETAIL_{name}"), limit.to_string())).collect();
        // libtest names each thread after its test.
        let test = std::thread::current().name().map(str::to_owned);
        let body = json!({"test": test, "submit": submit, "parameters": parameters});
        let deployed =
            runtime.block_on(send(&deployer, &ApiRequest::new("POST", "/stacks", &body))).expect_status(201);
        let text = |name: &str| deployed.at(name).as_str().unwrap().to_owned();
        let settings = Settings {
            table: text("/Table"),
            keys_table: text("/KeysTable"),
            endpoint: Some(text("/endpoint")),
            actions_max,
            reuse_from,
        };
        let world = world::parse(&world.to_string()).unwrap();
        let table = runtime.block_on(async {
            let table = Table::connect(settings.clone());
            load::world(&table, &world, dovetail_aws::now(), &mut |_| Ok(())).await.unwrap();
            table
        });
        let (base, path) = (text("/Url"), format!("/stacks/{}", text("/name")));
        Self { settings, base, deployer, path, table, runtime }
    }

    /// Sends a request to the deployer.
    fn send(&self, method: &str, below: &str, body: &Value) -> Answer {
        let path = format!("{}{below}", self.path);
        let body = body.to_string().into_bytes();
        let request = ApiRequest { body, ..ApiRequest::new(method, &path, &Value::Null) };
        self.runtime.block_on(send(&self.deployer, &request))
    }

    /// Invokes a function, and returns its response.
    pub fn invoke(&self, function: &str, payload: &Value) -> Value {
        self.send("POST", &format!("/functions/{function}"), payload).expect_status(200).body
    }

    /// Posts the events of a pattern to a URL.
    pub fn post_events(&self, url: &str, pattern: &Value) {
        self.send("PUT", "/webhook", &json!({"url": url, "pattern": pattern})).expect_status(200);
    }

    /// Returns the stored rows of this type.
    pub fn rows(&self, ty: &str) -> Vec<Value> {
        let scan = json!({"TableName": self.settings.table, "ConsistentRead": true});
        let mut rows = self.engine("DynamoDB_20120810.Scan", &scan);
        assert!(rows["LastEvaluatedKey"].is_null(), "one scan returns all rows");
        let Value::Array(rows) = rows["Items"].take() else { panic!("no rows") };
        rows.into_iter().filter(|row| row["ty"]["S"] == ty).collect()
    }

    /// Writes a row without any fence.
    pub fn put_row(&self, row: &Value) {
        self.engine("DynamoDB_20120810.PutItem", &json!({"TableName": self.settings.table, "Item": row}));
    }

    fn engine(&self, target: &str, body: &Value) -> Value {
        let endpoint = self.settings.endpoint.as_deref().unwrap();
        self.runtime.block_on(call_engine(endpoint, target, body)).unwrap()
    }

    /// Waits until all events are published and, unless generation is paused, no work is pending.
    #[track_caller]
    pub fn wait_idle(&self, generation_rests: bool) {
        let began = Instant::now();
        loop {
            let snapshot = self.runtime.block_on(self.table.snapshot()).unwrap();
            let is_done = generation_rests || (snapshot.works.is_empty() && snapshot.stagings.is_empty());
            let (published, expected) = (published_numbers(&self.details()), expected(&snapshot));
            if is_done && published == expected {
                return;
            }
            assert!(
                began.elapsed() < IDLE_TIMEOUT,
                "published: {published:#?}\nexpected: {expected:#?}\n{:#?}",
                snapshot.works
            );
            std::thread::sleep(PAUSE);
        }
    }

    /// Fails unless the audit confirms every invariant.
    #[track_caller]
    pub fn assert_sound(&self) {
        let audited = self.runtime.block_on(self.table.audit(None, &|_| ())).unwrap();
        assert!(audited.violations.is_empty() && audited.unsettled == 0, "{audited:#?}");
    }

    fn details(&self) -> Vec<Value> {
        self.events(0).into_iter().map(|published| published.envelope["detail"].clone()).collect()
    }
}

impl Site for Stack {
    fn base(&self) -> &str {
        &self.base
    }

    fn send(&self, request: &ApiRequest<'_>) -> Answer {
        self.runtime.block_on(send(&self.base, request))
    }

    fn enable(&self, function: &str, enabled: bool) {
        self.send("PUT", &format!("/mappings/{function}"), &json!({"enabled": enabled})).expect_status(200);
    }

    fn events(&self, after: u64) -> Vec<Published> {
        let answer = self.send("GET", "/events", &Value::Null);
        let events = answer.body.as_array().unwrap_or_else(|| panic!("{answer:?}"));
        let published =
            (1..).zip(events).map(|(number, envelope)| Published { number, envelope: envelope.clone() });
        published.filter(|event| event.number > after).collect()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let answer = self.send("DELETE", "", &Value::Null);
        assert!(std::thread::panicking() || answer.status == 200, "{answer:?}");
    }
}
