//! Tests that output and events never hold content.
//!
//! Keys, declarations, metadata, log texts and deployed items all contain the word `hunter`. Successful and failed
//! requests must not print or publish it.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

mod program;

use program::Program;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

const CANARY: &str = "hunter";
const CONSUMER: &str = "hunter-key-of-the-consumer";
const OWNER: &str = "hunter-key-of-the-owner";
const CORE: &str = "/v1/orcabase";
/// The longest wait for the report of a broken record.
const REPORT_TIMEOUT: Duration = Duration::from_secs(60);

fn world() -> Value {
    json!({
        "teams": [
            {"name": "Consumer", "api_keys": [CONSUMER]},
            {"name": "Owner", "api_keys": [OWNER]},
        ],
        "services": [{"owner": "Owner", "schema": {"title": "VM", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "password": {"type": "string", "maxLength": 40}}}}],
    })
}

/// A program with canaries in its world, and the files of its output.
struct Cage {
    program: Program,
    folder: tempfile::TempDir,
}

impl Cage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("world.json"), world().to_string()).unwrap();
        let text = |name: &str| at(name).to_str().unwrap().to_owned();
        let arguments = ["--world", &text("world.json"), "--env-file", &text("env")];
        let file = |name: &str| Stdio::from(File::create(at(name)).unwrap());
        let program = Program::start_telling(&at("data"), &arguments, file("stdout"), file("stderr"));
        Self { program, folder }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn call(&self, method: &str, path: &str, key: &str, headers: &str, body: &Value) -> (u16, Value) {
        self.program.send(method, &format!("{CORE}{path}"), key, headers, body).unwrap()
    }

    /// Sends an operation to the engine itself, which a holder of a key cannot do.
    fn engine(&self, operation: &str, body: &Value) -> Value {
        let env = self.read("env");
        let host = env.lines().find_map(|line| line.strip_prefix("DOVETAIL_ENDPOINT=http://")).unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let body = body.to_string();
        write!(
            stream,
            "POST / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nx-amz-target: DynamoDB_20120810.{operation}\r\n\
             x-amz-date: 20260101T000000Z\r\nauthorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/\
             dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0\r\n\
             content-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{reply}");
        serde_json::from_str(body).unwrap()
    }

    /// Breaks every record of these types: each text in it becomes a canary.
    fn break_records(&self, types: &[&str]) -> usize {
        let table = dovetail_daemon::settings::TABLE;
        let rows = self.engine("Scan", &json!({"TableName": table}))["Items"].take();
        // Events contain the id of the request (`op`), so a canary in it would not be a leak.
        let is_key_attribute =
            |name: &str| ["pk", "sk", "ty", "op"].contains(&name) || name.starts_with("gs");
        let mut broken = 0;
        for mut row in rows.as_array().unwrap().iter().cloned() {
            if !types.iter().any(|row_type| row["ty"]["S"] == *row_type) {
                continue;
            }
            for (name, value) in row.as_object_mut().unwrap() {
                if value.get("S").is_some() && !is_key_attribute(name) {
                    *value = json!({"S": "hunter-broken"});
                }
            }
            self.engine("PutItem", &json!({"TableName": table, "Item": row}));
            broken += 1;
        }
        broken
    }

    /// Fails if the output has a canary outside of the announcement, which shows the keys of the world.
    #[track_caller]
    fn assert_silent(&self) {
        let stdout = self.read("stdout");
        let (announced, after) = stdout.split_once("Try: curl ").unwrap();
        assert!(announced.contains(OWNER), "the keys are printed once: {announced}");
        let (_, after) = after.split_once('\n').unwrap();
        for (what, text) in [("stdout", after), ("stderr", &self.read("stderr"))] {
            assert!(!text.contains(CANARY), "{what}: {text}");
        }
        let events = self.program.get("/_local/events?after=0&limit=1000", "").unwrap();
        let events = events["events"].as_array().unwrap();
        assert!(events.len() >= 5, "{} events", events.len());
        for event in events {
            assert!(!event.to_string().contains(CANARY), "{event}");
        }
    }
}

fn declared(password: &str) -> Value {
    json!({"Consumer": {"metadata": {"a": "hunter-metadata-of-the-team"}, "App": {
        "metadata": {"a": "hunter-metadata"},
        "services": {"VM": [{"name": "one", "password": password}]}}}})
}

/// Runs the life of an item with a canary in every field.
fn live(cage: &Cage) -> (u64, u64) {
    let submit = "/consumer/submissions/submit/";
    let key = "idempotency-key: hunter-idempotency\r\n";
    let (status, reply) = cage.call("POST", submit, CONSUMER, key, &declared("hunter-declaration"));
    assert_eq!(status, 201, "{reply}");
    let change = &reply["change_instances"][0];
    let path = format!("/serviceowner/change_instances/{}/", change["id"]);
    let approved = json!({"state": "APPROVED", "log": "hunter-log"});
    assert_eq!(cage.call("PATCH", &path, OWNER, "", &approved).0, 200);
    let completed =
        json!({"state": "COMPLETED", "deployed_item": {"root": "hunter-deployed"}, "log": "hunter-log"});
    assert_eq!(cage.call("PATCH", &path, OWNER, "", &completed).0, 200);
    (change["id"].as_u64().unwrap(), change["service_item"]["id"].as_u64().unwrap())
}

/// Sends requests that are rejected, with a canary in each.
fn refused(cage: &Cage, change: u64) {
    let submit = "/consumer/submissions/submit/";
    let path = format!("/serviceowner/change_instances/{change}/");
    let packed = "content-encoding: gzip\r\n";
    let long = declared(&"hunter".repeat(10));
    for (method, path, key, headers, body, expected) in [
        ("POST", submit, CONSUMER, "", long, 400),
        ("POST", submit, CONSUMER, "", json!({"hunter-team": {}}), 400),
        ("POST", submit, CONSUMER, "", json!("hunter-text"), 400),
        ("POST", submit, CONSUMER, packed, declared("hunter-unpacked"), 400),
        ("POST", submit, CONSUMER, "idempotency-key: hunter-idempotency\r\n", declared("hunter-other"), 422),
        ("POST", submit, "hunter-unknown-key", "", declared("hunter-unknown"), 401),
        ("PATCH", &path, OWNER, "", json!({"state": "hunter-state", "log": "hunter-log"}), 400),
        ("PATCH", &path, OWNER, "", json!({"deployed_item": ["hunter-deployed"]}), 400),
        ("GET", "/consumer/service_items/?hunter=hunter-filter", CONSUMER, "", Value::Null, 400),
        ("GET", "/consumer/service_items/?cursor=hunter-cursor", CONSUMER, "", Value::Null, 400),
        ("GET", "/consumer/hunter-path/", CONSUMER, "", Value::Null, 404),
        ("POST", "/serviceowner/services/", OWNER, "", json!({"title": "hunter-title"}), 400),
    ] {
        let (status, reply) = cage.call(method, path, key, headers, &body);
        assert_eq!(status, expected, "{method} {path}: {reply}");
    }
}

#[test]
fn no_content_reaches_a_log_in_success_or_failure() {
    let cage = Cage::new();
    let (change, item) = live(&cage);
    refused(&cage, change);
    cage.program.assert_sound();
    cage.assert_silent();
    assert_eq!(cage.read("stderr"), "", "refusals are the caller's own business");

    assert!(cage.break_records(&["ITEM", "CHANGE", "DEPLOYED", "SUBMISSION"]) >= 4);
    for path in [
        format!("/consumer/service_items/{item}/"),
        format!("/serviceowner/change_instances/{change}/"),
        format!("/serviceowner/change_instances/{change}/history/"),
        "/consumer/submissions/".to_owned(),
    ] {
        let key = if path.starts_with("/consumer") { CONSUMER } else { OWNER };
        let (status, reply) = cage.call("GET", &path, key, "", &Value::Null);
        assert_eq!(status, 500, "{path}: {reply}");
        assert!(!reply.to_string().contains(CANARY), "{reply}");
    }
    // The stream delivers broken records too, which the log shows after some time.
    let began = Instant::now();
    while !cage.read("stderr").contains("stream record") {
        assert!(began.elapsed() < REPORT_TIMEOUT, "the stream has no reader");
        cage.program.get("/_local/failures", "").unwrap();
    }
    let errors = cage.read("stderr");
    assert!(errors.lines().count() >= 5, "the failure is reported: {errors}");
    cage.assert_silent();
}
