//! Plays the pages that use the client: every command, with every output that they show.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::program;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use support::page::follow_in;

const CLIENT: &str = include_str!("../../docs/how-to/client.md");
const CONSUMER: &str = include_str!("../../docs/how-to/consumer.md");
const README: &str = include_str!("../../README.md");
const OWNER: &str = include_str!("../../docs/how-to/owner.md");

/// Files that the pages mention and do not show.
const FILES: [(&str, &str); 5] = [
    ("awesome.key", "awesome-key\n"),
    ("vm.key", "vm-owner-key\n"),
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

/// Returns a shell that finds the client, without settings of the user who runs the tests.
fn shell(directory: &Path, url: &str) -> Command {
    for (name, text) in FILES {
        fs::write(directory.join(name), text).unwrap();
    }
    fs::write(directory.join("cases.json"), format!("[{CASE}, {CASE}, {CASE}]")).unwrap();
    let mut command = Command::new("bash");
    for (name, value) in program(&[], directory).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_dovetail")).parent().unwrap().display();
    let path = format!("{programs}:{}", env::var("PATH").unwrap());
    command.env("PATH", path).env("DOVETAIL_URL", url);
    command
}

#[test]
fn the_page_about_the_client_gives_the_output_that_it_shows() {
    follow_in(CLIENT, shell);
}

#[test]
fn the_page_for_consumers_gives_the_output_that_it_shows() {
    follow_in(CONSUMER, shell);
}

#[test]
fn the_page_for_service_owners_gives_the_output_that_it_shows() {
    follow_in(OWNER, shell);
}

#[test]
fn the_readme_gives_the_output_that_it_shows() {
    let (_, section) = README.split_once("\n## Declare, approve, complete\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    follow_in(section, shell);
}
