//! Runs the commands of a page of the documentation.

use crate::running::Running;
use std::process::Command;

/// Runs the first shell block of a page against a system, and returns its output.
#[track_caller]
pub fn first_commands(page: &str, system: &Running) -> Vec<u8> {
    commands(page, 1, system)
}

/// Runs the shell block of a page with this number, from 1, against a system, and returns its output.
#[track_caller]
pub fn commands(page: &str, number: usize, system: &Running) -> Vec<u8> {
    let block = page.split("```sh\n").nth(number).unwrap().split("```").next().unwrap();
    let commands = block.replace("http://127.0.0.1:9000", &system.base);
    assert_ne!(commands, block, "the block calls the system");
    let ended = Command::new("bash").args(["-euc", &commands]).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    ended.stdout
}
