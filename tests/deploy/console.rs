//! The web console of a deployed stack: its files, its settings, and a decision in a browser.

use dovetail_daemon::world;
use dovetail_table::ACTIONS_MAX;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use support::issuer::{AUDIENCE, Issuer};
use support::{ApiRequest, Site as _, Stack};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";

#[test]
fn an_owner_decides_in_the_console_of_a_stack() {
    let issuer = Issuer::start();
    let parameters = json!({"Issuer": issuer.url, "Audience": AUDIENCE, "ConsoleClientId": "console"});
    let stack = Stack::deploy_with(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX, &parameters);
    let anyone = |path: &str| stack.send(&ApiRequest { method: "GET", path, ..ApiRequest::default() });
    let settings = json!({"issuer": issuer.url, "client_id": "console", "audience": AUDIENCE});
    assert_eq!(anyone("/v1/console.json").body, settings);
    let page = anyone("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(anyone("/no-such-file").at("/code"), "no_such_route");

    let machine = json!({"name": "vm1", "cpu": 1, "memory": 2});
    let declared = json!({"AwesomeConsumer": {"App": {"services": {"VM": [machine]}}}});
    assert_eq!(stack.call("POST", SUBMIT, "awesome-key", &declared).status, 201);
    in_browser(&stack);
    let changes = stack.get("/v1/orcabase/serviceowner/change_instances/", "vm-owner-key");
    assert_eq!(changes.at("/results/0/state"), &Value::from("APPROVED"));
    stack.assert_sound();
}

/// Runs the browser test of a deployed console.
fn in_browser(stack: &Stack) {
    let console = Path::new(env!("CARGO_MANIFEST_DIR")).join("../console");
    let mut browser = Command::new("node");
    browser.current_dir(console).args(["tests/deployed.mjs", stack.base()]);
    let output = browser.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
