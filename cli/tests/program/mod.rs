//! The program in a process of its own.
#![allow(dead_code, clippy::allow_attributes, reason = "each test uses what it needs")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Variables of the program.
const VARIABLES: [&str; 8] = [
    "DOVETAIL_PROFILE",
    "DOVETAIL_API_KEY",
    "DOVETAIL_URL",
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "GITHUB_ACTIONS",
    "GITHUB_WORKSPACE",
    "CI_PROJECT_DIR",
];

/// Returns the program in a directory, without settings of the user who runs the tests.
pub(crate) fn program(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dovetail"));
    command.args(arguments).current_dir(directory);
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.env("DOVETAIL_CONFIG", directory.join("profiles.json"));
    // A build with the feature `keyring` must not use the keyring of the user.
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    command
}

/// Runs the program in a directory. Returns exit code, standard output and standard error.
pub(crate) fn run(arguments: &[&str], directory: &Path) -> (i32, String, String) {
    finish(program(arguments, directory), "")
}

/// Runs a command with this standard input. Returns exit code, standard output and standard error.
pub(crate) fn finish(mut command: Command, input: &str) -> (i32, String, String) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that reads no input closes the pipe.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
