//! Plays the page about the client: every command, with every output that it shows.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::{finish, program};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use support::Running;

const PAGE: &str = include_str!("../../docs/how-to/client.md");
/// URL on the page, in place of that of the test.
const URL: &str = "http://127.0.0.1:9000";

/// Files that the page mentions and does not show.
const FILES: [(&str, &str); 6] = [
    ("awesome.key", "awesome-key\n"),
    ("vm.key", "vm-owner-key\n"),
    ("web1.json", r#"{"ip": "10.0.0.1"}"#),
    (
        "submitted.json",
        r#"{"AwesomeConsumer": {"NewApp1": {"services": {"VM": [
            {"name": "CoreVM1", "cpu": 8, "memory": 2}, {"name": "CoreVM2"}, {"name": "CoreVM4"}]}}}}"#,
    ),
    (
        "wanted.json",
        r#"{"AwesomeConsumer": {"NewApp1": {"services": {"VM": [
            {"name": "CoreVM1", "cpu": 16, "memory": 8}, {"name": "CoreVM3"}, {"name": "CoreVM4"}]}}}}"#,
    ),
    (
        "host.json",
        r#"{"title": "Host", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}"#,
    ),
];

/// A case that holds three times.
const CASE: &str = r#"{"id": "a name stays", "kind": "proposed", "prior": null, "declared": {"name": "h"},
    "expect": {"proposed": {"name": "h"}}}"#;

/// Returns the blocks of the page: their languages and their texts.
fn blocks() -> Vec<(&'static str, String)> {
    let parts = PAGE.split("\n```").skip(1).step_by(2);
    let block = |part: &'static str| {
        let (language, text) = part.split_once('\n').unwrap();
        (language, format!("{text}\n"))
    };
    parts.map(block).collect()
}

/// Executes the commands of a block in a shell. Returns their output.
fn shell(commands: &str, system: &Running, directory: &Path) -> String {
    let known = program(&[], directory);
    let mut command = Command::new("bash");
    // Without a terminal, `apply` cannot ask.
    let commands = commands.replace("dovetail apply shop.yaml", "dovetail apply shop.yaml --auto-approve");
    command.arg("-c").arg(commands.replace(URL, &system.base)).current_dir(directory);
    for (name, value) in known.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let own = Path::new(env!("CARGO_BIN_EXE_dovetail")).parent().unwrap().display();
    command
        .env("PATH", format!("{own}:{}", std::env::var("PATH").unwrap()))
        .env("DOVETAIL_URL", &system.base);
    let (_, out, error) = finish(command, "");
    system.wait_idle();
    format!("{out}{error}").replace(&system.base, URL)
}

#[test]
fn the_page_gives_the_output_that_it_shows() {
    let (system, directory) = (Running::demo(), tempfile::tempdir().unwrap());
    for (name, text) in FILES {
        fs::write(directory.path().join(name), text).unwrap();
    }
    fs::write(directory.path().join("cases.json"), format!("[{CASE}, {CASE}, {CASE}]")).unwrap();
    let (mut output, mut shown) = (String::new(), 0);
    for (language, text) in blocks() {
        match language {
            "yaml" => {
                let name = text.lines().next().unwrap().trim_start_matches("# ");
                fs::write(directory.path().join(name), &text).unwrap();
            }
            "sh" => output = shell(&text, &system, directory.path()),
            "text" => {
                assert_eq!(output, text);
                shown += 1;
            }
            // The page shows it on several lines.
            "json" => {
                let command = "dovetail plan --old submitted.json --new wanted.json -o json";
                let values = [shell(command, &system, directory.path()), text]
                    .map(|text| serde_json::from_str::<Value>(&text).unwrap());
                assert_eq!(values[0], values[1]);
                shown += 1;
            }
            other => assert_eq!(other, "sh"),
        }
    }
    assert!(shown >= 8, "{shown}");
    system.assert_sound();
}
