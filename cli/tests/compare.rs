//! Tests of the command `dovetail plan`: output and exit code.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::{program, run};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;

const OLD: &str = r#"{"AwesomeConsumer": {
  "metadata": {"budget_code": 1},
  "NewApp1": {"metadata": {"env": "dev"}, "services": {
    "VM": [{"name": "CoreVM1", "cpu": 8, "memory": 2, "tags": ["a", "b"]}, {"name": "CoreVM2", "cpu": 16},
           {"name": "CoreVM3", "cpu": 1.0}],
    "LoadBalancer": [{"name": "CoreLB1", "related_vms": ["CoreVM1"]}]}}}}"#;

const NEW: &str = r#"{"AwesomeConsumer": {
  "metadata": {"budget_code": 1},
  "NewApp1": {"metadata": {"env": "prod"}, "services": {
    "VM": [{"name": "CoreVM1", "cpu": 12, "tags": ["a"], "note": "a text that is longer than what a column has room for"},
           {"name": "CoreVM3", "cpu": 1}, {"name": "CoreVM4", "cpu": 4}],
    "LoadBalancer": [{"name": "CoreLB1", "related_vms": ["CoreVM1"]}]}}}}"#;

const TABLE: &str = "\
CHANGE    APPLICATION  SERVICE  ITEM     FIELD    OLD    NEW
METADATA  NewApp1                        /env     \"dev\"  \"prod\"
MODIFY    NewApp1      VM       CoreVM1  /cpu     8      12
                                         /memory  2
                                         /tags/1  \"b\"
                                         /note           \"a text that is longer than what a colu…
DELETE    NewApp1      VM       CoreVM2
CREATE    NewApp1      VM       CoreVM4

Changed metadata causes no change instance.
Plan: 1 to create, 1 to modify, 1 to delete, 2 unchanged.
";

const JSON: &str = concat!(
    r#"{"changes":[{"change_type":"MODIFY","application":"NewApp1","service":"VM","item":"CoreVM1","fields":["#,
    r#"{"pointer":"/cpu","old":8,"new":12},{"pointer":"/memory","old":2},{"pointer":"/tags/1","old":"b"},"#,
    r#"{"pointer":"/note","new":"a text that is longer than what a column has room for"}]},"#,
    r#"{"change_type":"DELETE","application":"NewApp1","service":"VM","item":"CoreVM2","fields":[]},"#,
    r#"{"change_type":"CREATE","application":"NewApp1","service":"VM","item":"CoreVM4","fields":[]}],"#,
    r#""metadata":[{"application":"NewApp1","fields":[{"pointer":"/env","old":"dev","new":"prod"}]}],"#,
    r#""counts":{"create":1,"modify":1,"delete":1,"metadata":1,"unchanged":2}}"#,
    "\n"
);

/// Exit code, standard output and standard error of the program.
type Ended = (i32, String, String);

/// Runs a plan of two texts, in a directory where the files have the names `old.json` and `new.json`.
fn plan(old: &str, new: &str, more: &[&str]) -> Ended {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("old.json"), old).unwrap();
    fs::write(directory.path().join("new.json"), new).unwrap();
    let ended = run(&[&["plan", "--old", "old.json", "--new", "new.json"], more].concat(), directory.path());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "nothing but the two files");
    ended
}

fn printed(status: i32, text: &str) -> Ended {
    (status, text.to_owned(), String::new())
}

fn failed(text: &str) -> Ended {
    (1, String::new(), text.to_owned())
}

#[test]
fn changes_are_printed_as_a_table_and_as_json() {
    assert_eq!(plan(OLD, NEW, &[]), printed(2, TABLE));
    assert_eq!(plan(OLD, NEW, &["-o", "json"]), printed(2, JSON));
}

#[test]
fn an_empty_plan_is_printed() {
    assert_eq!(plan(OLD, OLD, &[]), printed(0, "No changes.\n"));
    let counts = r#"{"create":0,"modify":0,"delete":0,"metadata":0,"unchanged":4}"#;
    let nothing = format!("{{\"changes\":[],\"metadata\":[],\"counts\":{counts}}}\n");
    assert_eq!(plan(OLD, OLD, &["-o", "json"]), printed(0, &nothing));
}

#[test]
fn lists_of_items_have_no_applications() {
    let old = r#"{"items": {"one": {"cpu": 1}, "two": {}, "three": {"a/b": "\u009b"}}}"#;
    let new = r#"{"items": {"three": {"a/b": null}, "four": {}, "two": {}}}"#;
    let table = "\
CHANGE  ITEM   FIELD  OLD  NEW
CREATE  four
DELETE  one
MODIFY  three  /a~1b  \"\u{fffd}\"  null

Plan: 1 to create, 1 to modify, 1 to delete, 1 unchanged.
";
    assert_eq!(plan(old, new, &[]), printed(2, table));
    let json = concat!(
        r#"{"changes":[{"change_type":"CREATE","item":"four","fields":[]},"#,
        r#"{"change_type":"DELETE","item":"one","fields":[]},"#,
        r#"{"change_type":"MODIFY","item":"three","fields":[{"pointer":"/a~1b","old":""#,
        "\u{9b}",
        r#"","new":null}]}],"metadata":[],"#,
        r#""counts":{"create":1,"modify":1,"delete":1,"metadata":0,"unchanged":1}}"#,
        "\n"
    );
    assert_eq!(plan(old, new, &["-o", "json"]), printed(2, json));
}

#[test]
fn every_problem_is_printed_with_its_file_pointer_and_rule() {
    let old = r#"{"T": {"A": {"VM": [], "services": {"VM": [{"cpu": 1}]}}}}"#;
    let expected = "\
dovetail: the files could not be compared
old.json: \"/T/A/VM\": must be absent: an application has only `metadata` and `services` (unknown_key)
old.json: \"/T/A/services/VM/0/name\": must be present: each service item needs a name (missing_name)
new.json: \"\": must be valid JSON: unexpected end of the document at line 1, column 1 (invalid_json)
";
    assert_eq!(plan(old, "{", &[]), failed(expected));
    let expected = "\
dovetail: the files could not be compared
new.json: \"/items/i\": must be an object (wrong_type)
";
    assert_eq!(plan(r#"{"items": {}}"#, r#"{"items": {"i": 1}}"#, &["-o", "json"]), failed(expected));
    let expected = "\
dovetail: the files could not be compared
new.json: \"\": must both be declarations, or both be lists of items (other_form)
";
    assert_eq!(plan(OLD, r#"{"items": {}}"#, &[]), failed(expected));
}

#[test]
fn an_unreadable_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let (status, out, error) = run(&["plan", "--old", "missing.json", "--new", "new.json"], directory.path());
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(error.starts_with("dovetail: missing.json: No such file"), "{error}");
}

#[test]
fn help_names_the_limits_of_two_files() {
    let (status, out, error) = run(&["plan", "--help"], Path::new("."));
    assert_eq!((status, error.as_str()), (0, ""));
    for word in ["--old <FILE>", "does not consider"] {
        assert!(out.contains(word), "{word}");
    }
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    let items: Vec<String> = (0..10_000).map(|n| format!("\"item{n}\":{{\"a\":{n}}}")).collect();
    fs::write(directory.path().join("old.json"), r#"{"items":{}}"#).unwrap();
    fs::write(directory.path().join("new.json"), format!("{{\"items\":{{{}}}}}", items.join(","))).unwrap();
    for more in [&[][..], &["-o", "json"]] {
        let args = [&["plan", "--old", "old.json", "--new", "new.json"], more].concat();
        let mut child =
            program(&args, directory.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!((child.wait().unwrap().code(), error.as_str()), (Some(2), ""));
    }
}
