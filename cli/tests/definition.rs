//! Tests of the command `dovetail definition check`: output and exit code.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::run;
use std::fs;

const HOST: &str = r#"{"title": "Host", "type": "object", "required": ["name", "ip"], "x-team": "core",
  "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"}, "ip": {"type": "string", "readOnly": true}}}"#;

const CASES: &str = r#"{"cases": [
  {"id": "an address stays", "kind": "proposed", "prior": {"name": "h", "ip": "10.0.0.1"}, "declared": {"name": "h"},
   "expect": {"proposed": {"name": "h", "ip": "10.0.0.1"}}},
  {"id": "other cpu", "kind": "holds", "prior": null, "declared": {"name": "h", "cpu": 8}, "item": {"name": "h", "cpu": 9},
   "expect": {"problems": [{"pointer": "/cpu", "rule": "declared"}]}},
  {"id": "known address", "kind": "agrees", "planned": {"name": "h"}, "later": {"name": "h", "ip": "10.0.0.1"},
   "expect": {"problems": []}}]}"#;

/// Checks a definition with cases, in a directory with the files `host.json` and `cases.json`.
fn check(definition: &str, cases: &str) -> (i32, String, String) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("host.json"), definition).unwrap();
    fs::write(directory.path().join("cases.json"), cases).unwrap();
    run(&["definition", "check", "host.json", "--cases", "cases.json"], directory.path())
}

#[test]
fn a_valid_definition_whose_cases_hold_exits_with_0() {
    let out = "host.json: warning: /x-team has no meaning for Dovetail\n\
        host.json: valid definition of service Host\n\
        cases.json: 3 of 3 cases hold\n";
    assert_eq!(check(HOST, CASES), (0, out.to_owned(), String::new()));
}

#[test]
fn an_invalid_definition_has_all_its_problems_on_standard_error() {
    let wrong = HOST.replace(r#""cpu": {"type": "integer"}"#, r#""cpu": {"x-on-change": "maybe"}"#);
    let wrong = wrong.replace(r#""required": ["name", "ip"]"#, r#""required": []"#);
    let error = "dovetail: the file is invalid\n\
        host.json: \"/required\": must contain `name` (missing_name_property)\n\
        host.json: \"/properties/cpu/x-on-change\": \"maybe\" is not one of \"refuse\", \"replace\" (invalid_keyword)\n\
        host.json: \"/properties/cpu/x-on-change\": must be at a property of the type `string`, `integer` or \
        `boolean` (misplaced_keyword)\n";
    assert_eq!(check(&wrong, CASES), (3, String::new(), error.to_owned()));
}

#[test]
fn cases_that_differ_are_listed_and_exit_with_1() {
    let other = CASES.replace(r#""rule": "declared""#, r#""rule": "count""#);
    let (code, out, error) = check(HOST, &other);
    assert_eq!(code, 1);
    assert!(out.ends_with("cases.json: 2 of 3 cases hold\n"), "{out}");
    let expected = "dovetail: cases differ\n\
        other cpu: must have a problem at \"/cpu\" with the rule count\n\
        other cpu: must have no problem at \"/cpu\" with the rule declared: must be 8 as declared, not 9\n";
    assert_eq!(error, expected);
    let (code, _, error) = check(HOST, "{}");
    assert_eq!(
        (code, error.as_str()),
        (
            3,
            "dovetail: the file is invalid\ncases.json: \"/cases\": must be a list of cases (invalid_case)\n"
        )
    );
}
