//! The tables of the tests: on the embedded engine, or with unique names on the engine in `DOVETAIL_TEST_ENDPOINT`.

use crate::request::{ApiRequest, send};
use crate::shapes::TestEngine;
use domain::rules::plan::REUSE_FROM;
use dovetail_daemon::settings::TABLE;
use dovetail_emulator::engine::Storage;
use dovetail_table::Settings;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// Returns the endpoint of the engine under test, or `None` for the embedded one.
pub fn elsewhere() -> Option<String> {
    std::env::var("DOVETAIL_TEST_ENDPOINT").ok()
}

/// Marks a test of the embedded engine. `tests/engines/left_out.txt` excludes it on other engines.
#[track_caller]
pub fn on_the_embedded_engine_alone() {
    assert!(elsewhere().is_none(), "a test of the embedded engine; leave it out elsewhere");
}

/// Returns a unique name for a table.
pub fn fresh_table() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{TABLE}-{}-{}-{count}", std::process::id(), since.as_micros())
}

/// Additional tables that are removed when they are dropped.
pub struct Tables {
    /// Settings of the tables: names and endpoint.
    pub settings: Settings,
    _engine: TestEngine,
}

impl Tables {
    /// Returns unique names for tables, and an engine for them. The tables do not exist yet.
    pub fn fresh(actions_max: usize) -> Self {
        let (engine, table) = (TestEngine::start(&Storage::Memory), fresh_table());
        let (keys_table, endpoint) = (format!("{table}-keys"), Some(engine.endpoint.clone()));
        Self {
            settings: Settings { table, keys_table, endpoint, actions_max, reuse_from: REUSE_FROM },
            _engine: engine,
        }
    }

    /// Returns the settings of the same tables at another endpoint.
    pub fn through(&self, endpoint: &str) -> Settings {
        Settings { endpoint: Some(endpoint.to_owned()), ..self.settings.clone() }
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        if elsewhere().is_some() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(remove(&self.settings));
        }
    }
}

/// Removes tables from another engine. The embedded one ends with its system.
pub(crate) async fn remove(tables: &Settings) {
    if let (Some(_), Some(endpoint)) = (elsewhere(), &tables.endpoint) {
        for name in [&tables.table, &tables.keys_table] {
            let answer =
                call_engine(endpoint, "DynamoDB_20120810.DeleteTable", &json!({"TableName": name})).await;
            assert!(std::thread::panicking() || answer.is_ok(), "{answer:?}");
        }
    }
}

/// Calls an operation of an engine.
pub(crate) async fn call_engine(engine: &str, target: &str, body: &Value) -> Result<Value, String> {
    let headers = [
        ("x-amz-target", target),
        ("x-amz-date", "20250101T000000Z"),
        (
            "authorization",
            "AWS4-HMAC-SHA256 Credential=local/20250101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
        ),
    ];
    let request =
        ApiRequest { method: "POST", path: "/", key: None, headers: &headers, body: body.to_string().into() };
    let answer = send(engine, &request).await;
    if answer.status == 200 { Ok(answer.body) } else { Err(format!("{target}: {answer:?}")) }
}
