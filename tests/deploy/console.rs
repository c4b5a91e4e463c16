//! The web console of a deployed stack: its files and settings, and its use in a browser.

use dovetail_daemon::world;
use dovetail_table::ACTIONS_MAX;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use support::{ApiRequest, Site as _, Stack};

const OWNER: &str = "vm-owner-key";

#[test]
#[ignore = "runs on deployed stacks: tests/deploy/run"]
fn people_plan_apply_and_decide_in_the_console_of_a_stack() {
    let console = Path::new(env!("CARGO_MANIFEST_DIR")).join("../console");
    // The browser test also is the issuer, so it starts before the stack.
    let mut browser = Command::new("node");
    browser.current_dir(console).arg("tests/deployed.mjs").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut browser = browser.spawn().unwrap();
    let mut parameters = String::new();
    BufReader::new(browser.stdout.take().unwrap()).read_line(&mut parameters).unwrap();
    let parameters: Value = serde_json::from_str(&parameters).unwrap();

    let stack = Stack::deploy_with(&serde_json::from_str(world::DEMO).unwrap(), ACTIONS_MAX, &parameters);
    let anyone = |path: &str| stack.send(&ApiRequest { method: "GET", path, ..ApiRequest::default() });
    let settings = json!({"issuer": parameters["Issuer"], "client_id": parameters["ConsoleClientId"],
        "audience": parameters["Audience"]});
    assert_eq!(anyone("/v1/console.json").body, settings);
    let page = anyone("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(anyone("/no-such-file").at("/code"), "no_such_route");

    let member = json!({"subject": "jane", "name": "Jane Doe", "role": "GENERAL"});
    assert_eq!(stack.call("POST", "/v1/account/members/", OWNER, &member).status, 201);
    browser.stdin.take().unwrap().write_all(format!("{}\n", stack.base()).as_bytes()).unwrap();
    assert!(browser.wait().unwrap().success(), "the browser test failed");
    let approved = stack.get("/v1/orcabase/serviceowner/change_instances/?state=APPROVED", OWNER);
    let approved = approved.at("/results").as_array().unwrap();
    let mut names: Vec<_> =
        approved.iter().map(|change| change["service_item"]["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["vm1", "vm2"]);
    stack.wait_idle(false);
    stack.assert_sound();
}
