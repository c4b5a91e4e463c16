//! Speaks with `dovetail mcp` in JSON-RPC, a message in each line.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

mod program;

use program::program;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use support::Running;
use tempfile::TempDir;

/// The tools that only read.
const READ: &[&str] =
    &["catalogue", "definition", "validate", "plan", "changes", "explain_change", "queue", "history", "diff"];

/// A session of an assistant.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
    _directory: TempDir,
}

impl Session {
    /// Starts the server as a team and initializes the session.
    fn start(system: &Running, key: &str, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = program(&[&["mcp"], arguments].concat(), directory.path());
        command.env("DOVETAIL_URL", &system.base).env("DOVETAIL_API_KEY", key);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut session = Self { child, input, output, id: 0, _directory: directory };
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let hello = session.request("initialize", &hello);
        assert_eq!(hello["result"]["serverInfo"]["name"], "dovetail", "{hello}");
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18", "{hello}");
        session.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and returns its response.
    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let response: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// Returns the names of the tools.
    fn tools(&mut self) -> Vec<String> {
        let tools = self.request("tools/list", &json!({}));
        let tools = tools["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Calls a tool. Returns whether it failed, and its result.
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, Value) {
        let response = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &response["result"];
        assert!(result.is_object(), "{response}");
        (result["isError"] == true, result["structuredContent"].clone())
    }

    /// Calls a tool that must succeed.
    #[track_caller]
    fn done(&mut self, tool: &str, arguments: &Value) -> Value {
        let (is_error, result) = self.call(tool, arguments);
        assert!(!is_error, "{result}");
        result
    }

    /// Calls a tool that must fail. Returns its error and its problems.
    #[track_caller]
    fn failed(&mut self, tool: &str, arguments: &Value) -> (String, Value) {
        let (is_error, result) = self.call(tool, arguments);
        assert!(is_error, "{result}");
        (result["error"].as_str().unwrap().to_owned(), result["problems"].clone())
    }

    /// Ends standard input. The server must end without an error.
    fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

fn shop(cpu: &Value) -> Value {
    json!({"Shop": {"services": {"VM": [{"name": "web1", "cpu": cpu}]}}})
}

#[test]
fn an_assistant_plans_and_applies_and_the_owner_decides() {
    let system = Running::demo();
    let mut consumer = Session::start(&system, "awesome-key", &["--allow", "apply"]);
    let mut owner = Session::start(&system, "vm-owner-key", &["--allow", "apply,decide"]);
    assert_eq!(consumer.tools(), [READ, &["apply"]].concat());
    assert_eq!(owner.tools(), [READ, &["apply", "decide"]].concat());

    let services = consumer.done("catalogue", &json!({}));
    assert_eq!(services["services"][0]["service"], "VM");
    assert_eq!(services["services"][0]["owner"], "VMOwnerTeam");
    let definition = consumer.done("definition", &json!({"service": "VM"}));
    assert_eq!(definition["definition"]["properties"]["cpu"], json!({"type": "integer"}));

    // Problems of the server arrive as data.
    let (error, problems) = consumer.failed("validate", &json!({"applications": shop(&json!("many"))}));
    assert!(error.contains("is not of type"), "{error}");
    let expected = json!([{
        "pointer": "/AwesomeConsumer/Shop/services/VM/0/cpu",
        "rule": "schema",
        "detail": "\"many\" is not of type \"integer\"",
    }]);
    assert_eq!(problems, expected);

    let valid = json!({"applications": shop(&json!(4))});
    assert_eq!(consumer.done("validate", &valid)["is_valid"], true);
    let plan = consumer.done("plan", &valid);
    assert_eq!(plan["summary"], "Plan: 1 to create, 0 to modify, 0 to delete.");
    assert_eq!(plan["changes"][0]["item"], "web1");

    // Only a plan can be applied, and only while it holds.
    let (error, _) = consumer.failed("apply", &valid);
    assert_eq!(error, "/plan: must be present");
    let other = json!({"applications": shop(&json!(8)), "plan": plan["plan"]});
    let (error, _) = consumer.failed("apply", &other);
    assert_eq!(error, "the plan has changed since it was shown: plan again");
    let applied = consumer
        .done("apply", &json!({"applications": shop(&json!(4)), "plan": plan["plan"], "commit": "4f2c1aa"}));
    let change = applied["changes"][0]["id"].clone();
    system.wait_idle();

    let queue = owner.done("queue", &json!({"service": "VM"}));
    assert_eq!(queue["changes"][0]["id"], change);
    let explained = consumer.done("explain_change", &json!({"change": change}));
    assert_eq!(explained["next"], "VMOwnerTeam approves or rejects the change");
    assert_eq!(explained["declaration"], json!({"name": "web1", "cpu": 4}));
    let rejected = json!({"change": change, "action": "reject", "log": "at most 2 CPUs"});
    assert_eq!(owner.done("decide", &rejected)["state"], "REJECTED");
    system.wait_idle();
    let explained = consumer.done("explain_change", &json!({"change": change}));
    assert!(explained["next"].as_str().unwrap().starts_with("AwesomeConsumer declares another value"));
    assert_eq!(explained["history"].as_array().unwrap().len(), 2, "{explained}");
    assert_eq!(
        consumer.done("changes", &json!({"state": "REJECTED"}))["changes"][0]["log"],
        "at most 2 CPUs"
    );

    // The answer is another submission, and the two can be compared.
    let answer = json!({"applications": shop(&json!(2))});
    let plan = consumer.done("plan", &answer);
    let answer = json!({"applications": shop(&json!(2)), "plan": plan["plan"]});
    let second = consumer.done("apply", &answer)["submission"].clone();
    system.wait_idle();
    let history = consumer.done("history", &json!({"limit": 1}));
    assert_eq!(history["submissions"][0]["id"], second);
    let diff = consumer.done("diff", &json!({"from": applied["submission"], "to": second}));
    let expected = json!([{"pointer": "/cpu", "old": 4, "new": 2}]);
    assert_eq!(diff["service_items"][0]["differences"], expected);
    consumer.end();
    owner.end();
    system.assert_sound();
}

#[test]
fn tools_that_write_need_a_permission() {
    let system = Running::demo();
    let mut session = Session::start(&system, "awesome-key", &[]);
    assert_eq!(session.tools(), READ);
    for tool in ["apply", "decide", "unknown"] {
        let response = session.request("tools/call", &json!({"name": tool, "arguments": {}}));
        assert_eq!(response["error"]["message"], "no tool has this name", "{response}");
    }
    session.end();
}

#[test]
fn every_invalid_argument_is_an_error_of_the_tool() {
    let system = Running::demo();
    let mut session = Session::start(&system, "awesome-key", &["--allow", "decide"]);
    for (tool, arguments, expected) in [
        ("definition", json!({}), "/service: must be present"),
        ("definition", json!({"service": "Vm"}), "no service has the name `Vm`, did you mean `VM`?"),
        ("plan", json!({"applications": []}), "/applications: must be an object"),
        (
            "decide",
            json!({"change": 0, "action": "aprove", "logs": ""}),
            "/change: must be a positive integer\n\
             /action: must be one of approve, reject, complete, fail, close, retry\n\
             /logs: must be an argument, did you mean `log`?",
        ),
        (
            "decide",
            json!({"change": 1, "action": "reject", "deployed_item": {}}),
            "/deployed_item: must come with the action `complete`",
        ),
        (
            "decide",
            json!({"change": 1, "action": "approve", "claim": 1}),
            "/claim: must come with the action `complete`, `fail` or `reject`",
        ),
        ("explain_change", json!({"change": 7}), "the object does not exist for this team (not_found)"),
    ] {
        assert_eq!(session.failed(tool, &arguments).0, expected);
    }
    session.end();
}

#[test]
fn a_server_that_does_not_answer_is_an_error_of_the_tool() {
    let system = Running::demo();
    let mut session = Session::start(&system, "awesome-key", &[]);
    drop(system);
    let (error, _) = session.failed("catalogue", &json!({}));
    assert!(error.starts_with("http://127.0.0.1:"), "{error}");
    session.end();
}

#[test]
fn the_page_has_every_tool() {
    const PAGE: &str = include_str!("../../docs/reference/client.md");
    for tool in [READ, &["apply", "decide"]].concat() {
        assert!(PAGE.contains(&format!("| `{tool}` | ")), "{tool}");
    }
}
