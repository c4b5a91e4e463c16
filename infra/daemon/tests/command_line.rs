//! Tests of the command line of the program: exit codes, help and version.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use about::{COMMIT, CONTRACT_VERSION, VERSION};
use dovetail_daemon::option::EXIT_CODES;
use dovetail_table::RECORD_FORMAT;
use program::run;
use std::path::Path;

/// Asserts the exit code of the program in an empty directory.
fn assert_exit_code(expected: i32, cases: &[&[&str]]) {
    let directory = tempfile::tempdir().unwrap();
    for arguments in cases {
        let (code, out, error) = run(arguments, directory.path());
        assert_eq!(code, expected, "{arguments:?}: {out}{error}");
        // Only a failure and an invalid command line have a message.
        assert_eq!(error.is_empty(), code == 0, "{arguments:?}: {error}");
    }
}

#[test]
fn every_help_exits_with_0() {
    assert_exit_code(0, &[&["--help"], &["audit", "--help"], &["load", "--help"], &["--version"]]);
}

#[test]
fn failures_exit_with_1() {
    assert_exit_code(
        1,
        &[
            &["audit", "--data", "."],
            &["audit", "--export", "."],
            &["load", "--world", "missing.json", "--table", "main"],
            &["--world", "missing.json", "--listen", "127.0.0.1:0"],
        ],
    );
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
            &["--memory", "audit"],
            &["plan"],
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
    for arguments in [&["--help"][..], &["audit", "--help"], &["load", "--help"], &["bury", "--help"]] {
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
        "dovetaild {VERSION}\ncommit {COMMIT}\ncontract {CONTRACT_VERSION}\nrecord format {RECORD_FORMAT}\n"
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
