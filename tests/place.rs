//! Where the tables of the tests are: on the embedded engine, or, under names of their own, on the engine elsewhere that
//! `DOVETAIL_TEST_ENDPOINT` names.

use crate::{Ask, send};
use dovetail_local::arguments::TABLE;
use dovetail_local::engine::{Engine, Place};
use dovetail_table::Settings;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// The engine elsewhere that the tests run on; none is the embedded one.
pub fn elsewhere() -> Option<String> {
    std::env::var("DOVETAIL_TEST_ENDPOINT").ok()
}

/// Says that a test is about the embedded engine itself; `tests/engines/left_out.txt` leaves such tests out elsewhere.
#[track_caller]
pub fn on_the_embedded_engine_alone() {
    assert!(elsewhere().is_none(), "a test of the embedded engine; leave it out elsewhere");
}

/// A name that no other table has.
pub fn fresh_table() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{TABLE}-{}-{}-{count}", std::process::id(), since.as_micros())
}

/// Tables beside those of a system, gone when this is dropped.
pub struct Tables {
    /// Where they are.
    pub settings: Settings,
    _engine: Engine,
}

impl Tables {
    /// Names for tables, and an engine that serves them.
    pub fn fresh(actions_max: usize) -> Self {
        let engine = match elsewhere() {
            Some(endpoint) => Engine::elsewhere(&endpoint, &Place::Memory),
            None => Engine::start(&Place::Memory),
        };
        let (engine, table) = (engine.unwrap(), fresh_table());
        let (keys_table, endpoint) = (format!("{table}-keys"), Some(engine.endpoint().to_owned()));
        Self { settings: Settings { table, keys_table, endpoint, actions_max }, _engine: engine }
    }

    /// The same tables, reached at another endpoint.
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

/// Removes tables from an engine elsewhere; the embedded one is gone with its system.
pub(crate) async fn remove(tables: &Settings) {
    if let (Some(_), Some(endpoint)) = (elsewhere(), &tables.endpoint) {
        for name in [&tables.table, &tables.keys_table] {
            let answer = ask(endpoint, "DynamoDB_20120810.DeleteTable", &json!({"TableName": name})).await;
            assert!(std::thread::panicking() || answer.is_ok(), "{answer:?}");
        }
    }
}

/// Calls an operation of an engine.
pub(crate) async fn ask(engine: &str, target: &str, body: &Value) -> Result<Value, String> {
    let headers = [
        ("x-amz-target", target),
        ("x-amz-date", "20250101T000000Z"),
        (
            "authorization",
            "AWS4-HMAC-SHA256 Credential=local/20250101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
        ),
    ];
    let ask = Ask { method: "POST", path: "/", key: None, headers: &headers, body: body.to_string().into() };
    let answer = send(engine, &ask).await;
    if answer.status == 200 { Ok(answer.body) } else { Err(format!("{target}: {answer:?}")) }
}
