//! Tests of the command line of the program: exit codes, help and version.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use about::{COMMIT, CONTRACT_VERSION, VERSION};
use dovetail_daemon::option::EXIT_CODES;
use dovetail_table::RECORD_FORMAT;
use program::run;
use std::fs;
use std::path::Path;

/// Asserts the exit code of the program in a directory with two lists of items.
fn assert_exit_code(expected: i32, cases: &[&[&str]]) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("old.json"), r#"{"items": {}}"#).unwrap();
    fs::write(directory.path().join("new.json"), r#"{"items": {"one": {}}}"#).unwrap();
    for arguments in cases {
        let (code, out, error) = run(arguments, directory.path());
        assert_eq!(code, expected, "{arguments:?}: {out}{error}");
        // Only a failure and an invalid command line have a message.
        assert_eq!(error.is_empty(), [0, 2].contains(&code), "{arguments:?}: {error}");
    }
}

#[test]
fn no_change_and_every_help_exit_with_0() {
    assert_exit_code(
        0,
        &[
            &["plan", "--old", "new.json", "--new", "new.json"],
            &["--help"],
            &["plan", "-h"],
            &["definition", "check", "--help"],
            &["audit", "--help"],
            &["load", "--help"],
            &["--version"],
        ],
    );
}

#[test]
fn failures_exit_with_1() {
    assert_exit_code(
        1,
        &[
            &["plan", "--old", "missing.json", "--new", "new.json"],
            &["definition", "check", "missing.json"],
            &["definition", "check", "old.json"],
            &["audit", "--data", "."],
            &["audit", "--export", "."],
            &["load", "--world", "missing.json", "--table", "main"],
            &["--world", "missing.json", "--listen", "127.0.0.1:0"],
        ],
    );
}

#[test]
fn a_plan_with_changes_exits_with_2() {
    assert_exit_code(2, &[&["plan", "--old", "old.json", "--new", "new.json"]]);
}

#[test]
fn invalid_command_lines_exit_with_64() {
    assert_exit_code(
        64,
        &[
            &["--port", "1"],
            &["--listen", "9000"],
            &["--issuer", "http://id.example", "--audience", "a"],
            &["serve"],
            &["--memory", "plan"],
            &["plan", "--old", "old.json"],
            &["definition"],
            &["definition", "check"],
            &["audit"],
            &["audit", "--table", "?"],
            &["load", "--world", "world.json"],
            &["bury"],
            &["bury", "--table", "dovetail", "--team", "0"],
        ],
    );
}

#[test]
fn every_help_text_has_the_exit_codes() {
    for arguments in
        [&["--help"][..], &["plan", "--help"], &["audit", "--help"], &["load", "--help"], &["bury", "--help"]]
    {
        let (_, out, _) = run(arguments, Path::new("."));
        assert!(out.trim_end().ends_with(EXIT_CODES), "{out}");
        assert!(out.lines().all(|line| line.len() <= 100), "{out}");
    }
}

#[test]
fn the_version_has_commit_contract_and_record_format() {
    let is_commit = COMMIT.len() >= 40 && COMMIT.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_commit || COMMIT == "unknown", "{COMMIT}");
    let expected = format!(
        "dovetail {VERSION}\ncommit {COMMIT}\ncontract {CONTRACT_VERSION}\nrecord format {RECORD_FORMAT}\n"
    );
    for argument in ["--version", "-V"] {
        assert_eq!(run(&[argument], Path::new(".")), (0, expected.clone(), String::new()));
    }
}

#[test]
fn a_misspelled_option_gets_a_suggestion() {
    let (_, _, error) = run(&["--memori"], Path::new("."));
    assert!(error.contains("a similar argument exists: '--memory'"), "{error}");
}
