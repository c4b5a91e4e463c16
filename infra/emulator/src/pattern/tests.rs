//! Tests of each operator; rejected patterns and two random properties are in submodules.

mod properties;
mod refused;

use super::*;
use serde_json::json;

fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn pattern(pattern: &Value) -> Pattern {
    Pattern::parse(pattern).unwrap_or_else(|problems| panic!("{pattern}: {problems}"))
}

/// Checks rows of a pattern, an event, and whether they match.
fn assert_rows(rows: &[(&str, &str, bool)]) {
    for (given, event, expected) in rows {
        assert_eq!(pattern(&read(given)).matches(&read(event)), *expected, "{given} on {event}");
    }
}

/// Checks rows of the tests of one field, its value, and whether they match.
fn assert_field_rows(rows: &[(&str, &str, bool)]) {
    for (can_be, is, expected) in rows {
        let (pattern, event) = (pattern(&json!({"a": read(can_be)})), json!({"a": read(is)}));
        assert_eq!(pattern.matches(&event), *expected, "{can_be} on {is}");
    }
}

#[test]
fn values_are_equal_in_type_and_value() {
    assert_field_rows(&[
        (r#"["x"]"#, r#""x""#, true),
        (r#"["x"]"#, r#""X""#, false),
        (r#"["x"]"#, r#""xy""#, false),
        (r#"[""]"#, r#""""#, true),
        (r#"[""]"#, r#"" ""#, false),
        (r#"[""]"#, "null", false),
        ("[null]", "null", true),
        ("[null]", r#""""#, false),
        ("[null]", r#""null""#, false),
        ("[null]", "0", false),
        ("[true]", "true", true),
        ("[true]", "false", false),
        ("[true]", r#""true""#, false),
        ("[true]", "1", false),
        ("[1]", "1", true),
        ("[1]", "1.0", true),
        ("[301.8]", "3.018e2", true),
        ("[0]", "-0.0", true),
        ("[1]", "1.5", false),
        ("[1]", r#""1""#, false),
        (r#"["1"]"#, "1", false),
        ("[9007199254740993]", "9007199254740993", true),
        ("[9007199254740993]", "9007199254740992", false),
        ("[18446744073709551615]", "18446744073709551615", true),
        (r#"["x"]"#, r#"{"x": "x"}"#, false),
    ]);
}

#[test]
fn one_of_a_fields_alternatives_is_enough_and_every_field_counts() {
    assert_rows(&[
        (r#"{"a": ["x", "y"]}"#, r#"{"a": "y"}"#, true),
        (r#"{"a": ["x", "y"]}"#, r#"{"a": "z"}"#, false),
        (r#"{"a": ["x", null, 3, {"prefix": "p"}]}"#, r#"{"a": "pq"}"#, true),
        (r#"{"a": ["x", null, 3, {"prefix": "p"}]}"#, r#"{"a": null}"#, true),
        (r#"{"a": ["x"], "b": ["y"]}"#, r#"{"a": "x", "b": "y", "c": "z"}"#, true),
        (r#"{"a": ["x"], "b": ["y"]}"#, r#"{"a": "x", "b": "z"}"#, false),
        (r#"{"a": ["x"], "b": ["y"]}"#, r#"{"a": "x"}"#, false),
        (r#"{"a": {"b": ["x"], "c": {"d": [1]}}}"#, r#"{"a": {"b": "x", "c": {"d": 1}}}"#, true),
        (r#"{"a": {"b": ["x"], "c": {"d": [1]}}}"#, r#"{"a": {"b": "x", "c": {"d": 2}}}"#, false),
        (r#"{"a": {"b": ["x"]}}"#, r#"{"a": "x"}"#, false),
        (r#"{"a": {"b": ["x"]}}"#, r#"{"a.b": "x"}"#, false),
        (r#"{"a.b": ["x"]}"#, r#"{"a.b": "x"}"#, true),
        (r#"{"a": [{"exists": false}]}"#, "null", false),
        (r#"{"a": ["x"]}"#, r#"[{"a": "x"}]"#, false),
    ]);
}

#[test]
fn any_element_of_an_array_is_enough() {
    assert_rows(&[
        (r#"{"a": ["x"]}"#, r#"{"a": ["w", "x"]}"#, true),
        (r#"{"a": ["x"]}"#, r#"{"a": ["w", "y"]}"#, false),
        (r#"{"a": ["x"]}"#, r#"{"a": []}"#, false),
        (r#"{"a": ["x", "y"]}"#, r#"{"a": ["y", "z"]}"#, true),
        (r#"{"a": ["x"]}"#, r#"{"a": [["w"], ["x"]]}"#, true),
        (r#"{"a": [{"anything-but": "x"}]}"#, r#"{"a": ["x", "y"]}"#, true),
        (r#"{"a": [{"anything-but": "x"}]}"#, r#"{"a": ["x", "x"]}"#, false),
        (r#"{"a": [{"anything-but": "x"}]}"#, r#"{"a": []}"#, false),
        (r#"{"a": {"b": ["x"]}}"#, r#"{"a": [{"b": "w"}, {"b": "x"}]}"#, true),
        (r#"{"a": {"b": ["x"]}}"#, r#"{"a": [[{"b": "w"}], [{"b": "v"}, {"b": "x"}]]}"#, true),
        (r#"{"a": {"b": ["x"]}}"#, r#"{"a": ["x", null, {"c": "x"}]}"#, false),
    ]);
}

#[test]
fn fields_hold_within_the_same_element_of_an_array() {
    let anna_smith = r#"{"staff": {"first": ["Anna"], "last": ["Smith"]}}"#;
    let rooms = r#"{"floors": {"level": [2], "rooms": {"desks": [4], "free": [true]}}}"#;
    assert_rows(&[
        (anna_smith, r#"{"staff": [{"first": "John"}, {"first": "Anna", "last": "Smith"}]}"#, true),
        (anna_smith, r#"{"staff": [{"first": "Anna", "last": "Doe"}, {"last": "Smith"}]}"#, false),
        (anna_smith, r#"{"staff": [[{"first": "Anna"}, {"last": "Smith"}]]}"#, false),
        (anna_smith, r#"{"staff": {"first": ["Eve", "Anna"], "last": ["Jones", "Smith"]}}"#, true),
        (rooms, r#"{"floors": [{"level": 2, "rooms": [{"desks": 4, "free": true}]}]}"#, true),
        (rooms, r#"{"floors": [{"level": 2, "rooms": [{"desks": 4}, {"free": true}]}]}"#, false),
        (rooms, r#"{"floors": [{"level": 1, "rooms": [{"desks": 4, "free": true}]}, {"level": 2}]}"#, false),
        (
            rooms,
            r#"{"floors": [{"level": 2, "rooms": []}, {"level": 2, "rooms": [{"desks": 4, "free": true}]}]}"#,
            true,
        ),
        // Choices in two arrays are independent, and a choice that fails later is withdrawn.
        (
            r#"{"a": {"x": [1], "y": [2]}, "b": {"x": [1], "y": [2]}}"#,
            r#"{"a": [{"x": 1}, {"x": 1, "y": 2}], "b": [{"x": 1, "y": 2}, {"x": 1}]}"#,
            true,
        ),
        // In `["x"]`, "x" belongs to the array like an object in it. `[["x"]]` has a separate element for it.
        (r#"{"a": ["x"], "$or": [{"a": {"b": [1]}}, {"a": {"b": [2]}}]}"#, r#"{"a": ["x", {"b": 1}]}"#, true),
        (
            r#"{"a": ["x"], "$or": [{"a": {"b": [1]}}, {"a": {"b": [2]}}]}"#,
            r#"{"a": [["x"], [{"b": 1}]]}"#,
            false,
        ),
        // A branch of `$or` is bound to the same elements as the fields next to it.
        (
            r#"{"a": {"x": [1]}, "$or": [{"a": {"y": [2]}}, {"a": {"y": [3]}}]}"#,
            r#"{"a": [{"x": 1}, {"y": 2}, {"y": 3}]}"#,
            false,
        ),
        (
            r#"{"a": {"x": [1]}, "$or": [{"a": {"y": [2]}}, {"a": {"y": [3]}}]}"#,
            r#"{"a": [{"x": 2, "y": 2}, {"x": 1, "y": 3}]}"#,
            true,
        ),
    ]);
}

#[test]
fn prefix_and_suffix() {
    assert_field_rows(&[
        (r#"[{"prefix": "us-"}]"#, r#""us-east-1""#, true),
        (r#"[{"prefix": "us-"}]"#, r#""us-""#, true),
        (r#"[{"prefix": "us-"}]"#, r#""US-east-1""#, false),
        (r#"[{"prefix": "us-"}]"#, r#""eu-us-""#, false),
        (r#"[{"prefix": ""}]"#, r#""""#, true),
        (r#"[{"prefix": ""}]"#, "5", false),
        (r#"[{"prefix": "5"}]"#, "5", false),
        (r#"[{"prefix": {"equals-ignore-case": "EventB"}}]"#, r#""eVENTbridge""#, true),
        (r#"[{"prefix": {"equals-ignore-case": "EventB"}}]"#, r#""event""#, false),
        (r#"[{"prefix": {"equals-ignore-case": "ΟΔΟΣ"}}]"#, r#""οδοσα""#, true),
        (r#"[{"suffix": ".png"}]"#, r#""a.png""#, true),
        (r#"[{"suffix": ".png"}]"#, r#""a.PNG""#, false),
        (r#"[{"suffix": ".png"}]"#, r#""a.png.gz""#, false),
        (r#"[{"suffix": ""}]"#, "null", false),
        (r#"[{"suffix": {"equals-ignore-case": ".png"}}]"#, r#""a.PnG""#, true),
        (r#"[{"suffix": {"equals-ignore-case": ".png"}}]"#, r#""png""#, false),
    ]);
}

#[test]
fn equals_ignore_case() {
    assert_field_rows(&[
        (r#"[{"equals-ignore-case": "Alice"}]"#, r#""aLICE""#, true),
        (r#"[{"equals-ignore-case": "Alice"}]"#, r#""alic""#, false),
        (r#"[{"equals-ignore-case": "ÄÖ"}]"#, r#""äö""#, true),
        (r#"[{"equals-ignore-case": ""}]"#, r#""""#, true),
        (r#"[{"equals-ignore-case": "true"}]"#, "true", false),
    ]);
}

#[test]
fn wildcard() {
    assert_field_rows(&[
        (r#"[{"wildcard": "dir/*.png"}]"#, r#""dir/a.png""#, true),
        (r#"[{"wildcard": "dir/*.png"}]"#, r#""dir/.png""#, true),
        (r#"[{"wildcard": "dir/*.png"}]"#, r#""dir/a.png.gz""#, false),
        (r#"[{"wildcard": "*"}]"#, r#""""#, true),
        (r#"[{"wildcard": "*"}]"#, "5", false),
        (r#"[{"wildcard": ""}]"#, r#""""#, true),
        (r#"[{"wildcard": "none"}]"#, r#""none""#, true),
        (r#"[{"wildcard": "none"}]"#, r#""nonesuch""#, false),
        (r#"[{"wildcard": "a*a"}]"#, r#""a""#, false),
        (r#"[{"wildcard": "a*a"}]"#, r#""aa""#, true),
        (r#"[{"wildcard": "*ab*ab*"}]"#, r#""abab""#, true),
        (r#"[{"wildcard": "*ab*ab*"}]"#, r#""abb""#, false),
        (r#"[{"wildcard": "*ä*"}]"#, r#""xäy""#, true),
        (r#"[{"wildcard": "a\\*b"}]"#, r#""a*b""#, true),
        (r#"[{"wildcard": "a\\*b"}]"#, r#""axb""#, false),
        (r#"[{"wildcard": "*\\**"}]"#, r#""a*b""#, true),
        (r#"[{"wildcard": "a\\\\*"}]"#, r#""a\\b""#, true),
        (r#"[{"wildcard": "a\\\\*"}]"#, r#""a*""#, false),
    ]);
}

#[test]
fn anything_but() {
    assert_field_rows(&[
        (r#"[{"anything-but": "x"}]"#, r#""y""#, true),
        (r#"[{"anything-but": "x"}]"#, r#""x""#, false),
        (r#"[{"anything-but": "x"}]"#, "5", true),
        (r#"[{"anything-but": "x"}]"#, "null", true),
        (r#"[{"anything-but": "x"}]"#, r#"{"b": "y"}"#, false),
        (r#"[{"anything-but": "5"}]"#, "5", true),
        (r#"[{"anything-but": ""}]"#, r#""""#, false),
        (r#"[{"anything-but": 5}]"#, "5.0", false),
        (r#"[{"anything-but": 5}]"#, r#""5""#, true),
        (r#"[{"anything-but": ["x", "y"]}]"#, r#""y""#, false),
        (r#"[{"anything-but": ["x", "y"]}]"#, r#""z""#, true),
        (r#"[{"anything-but": [1, 2]}]"#, "2", false),
        (r#"[{"anything-but": [1, 2]}]"#, "3", true),
        (r#"[{"anything-but": {"prefix": "x"}}]"#, r#""xy""#, false),
        (r#"[{"anything-but": {"prefix": "x"}}]"#, r#""yx""#, true),
        (r#"[{"anything-but": {"prefix": "x"}}]"#, "null", true),
        (r#"[{"anything-but": {"prefix": ["x", "y"]}}]"#, r#""yx""#, false),
        (r#"[{"anything-but": {"suffix": ".png"}}]"#, r#""a.png""#, false),
        (r#"[{"anything-but": {"suffix": [".png", ".jpg"]}}]"#, r#""a.gif""#, true),
        (r#"[{"anything-but": {"equals-ignore-case": "x"}}]"#, r#""X""#, false),
        (r#"[{"anything-but": {"equals-ignore-case": ["x", ""]}}]"#, r#""y""#, true),
        (r#"[{"anything-but": {"wildcard": "*/lib/*"}}]"#, r#""a/lib/b""#, false),
        (r#"[{"anything-but": {"wildcard": ["*/lib/*", "*.rs"]}}]"#, r#""a/b.py""#, true),
        // The tests of a field are alternatives, so this pattern matches everything.
        (r#"[{"anything-but": "x"}, {"anything-but": "y"}]"#, r#""x""#, true),
    ]);
    assert_rows(&[(r#"{"a": [{"anything-but": "x"}]}"#, "{}", false)]);
}

#[test]
fn numeric() {
    assert_field_rows(&[
        (r#"[{"numeric": ["=", 5]}]"#, "5.0", true),
        (r#"[{"numeric": ["=", 5]}]"#, "5.1", false),
        (r#"[{"numeric": ["=", 5]}]"#, r#""5""#, false),
        (r#"[{"numeric": ["=", 5]}]"#, "null", false),
        (r#"[{"numeric": [">", 0]}]"#, "0", false),
        (r#"[{"numeric": [">", 0]}]"#, "0.001", true),
        (r#"[{"numeric": [">=", 0]}]"#, "0", true),
        (r#"[{"numeric": ["<", -1.5]}]"#, "-1.5", false),
        (r#"[{"numeric": ["<", -1.5]}]"#, "-2", true),
        (r#"[{"numeric": ["<=", -1.5]}]"#, "-1.5", true),
        (r#"[{"numeric": [">", 0, "<=", 5]}]"#, "0", false),
        (r#"[{"numeric": [">", 0, "<=", 5]}]"#, "5", true),
        (r#"[{"numeric": [">=", 0, "<", 5]}]"#, "0", true),
        (r#"[{"numeric": [">=", 0, "<", 5]}]"#, "5", false),
        (r#"[{"numeric": [">=", 0, "<", 5]}]"#, "[-1, 6]", false),
    ]);
}

#[test]
fn exists_matches_a_leaf() {
    assert_rows(&[
        (r#"{"a": [{"exists": true}]}"#, r#"{"a": null}"#, true),
        (r#"{"a": [{"exists": true}]}"#, r#"{"a": ["x"]}"#, true),
        (r#"{"a": [{"exists": true}]}"#, r#"{"b": 1}"#, false),
        (r#"{"a": [{"exists": true}]}"#, r#"{"a": {"b": 1}}"#, false),
        (r#"{"a": [{"exists": true}]}"#, r#"{"a": []}"#, false),
        (r#"{"a": [{"exists": true}]}"#, r#"{"a": {}}"#, false),
        (r#"{"a": [{"exists": false}]}"#, r#"{"b": 1}"#, true),
        (r#"{"a": [{"exists": false}]}"#, r#"{"a": null}"#, false),
        (r#"{"a": [{"exists": false}]}"#, r#"{"a": ""}"#, false),
        (r#"{"a": [{"exists": false}]}"#, r#"{"a": {"b": 1}}"#, true),
        (r#"{"a": [{"exists": false}]}"#, r#"{"a": []}"#, true),
        (r#"{"a": {"b": [{"exists": false}]}}"#, "{}", true),
        (r#"{"a": {"b": [{"exists": false}]}}"#, r#"{"a": "x"}"#, true),
        (r#"{"a": ["x", {"exists": false}]}"#, r#"{"a": "x"}"#, true),
        (r#"{"a": ["x", {"exists": false}]}"#, "{}", true),
        (r#"{"a": ["x", {"exists": false}]}"#, r#"{"a": "y"}"#, false),
    ]);
}

#[test]
fn a_field_is_absent_from_the_chosen_element_or_from_all() {
    assert_rows(&[
        (r#"{"a": {"b": [{"exists": false}]}}"#, r#"{"a": [{"b": 1}, {"c": 2}]}"#, false),
        (r#"{"a": {"b": [{"exists": false}]}}"#, r#"{"a": [{"c": 1}, {"c": 2}]}"#, true),
        // `b` chooses an element before `c` must be absent from it.
        (r#"{"a": {"b": [1], "c": [{"exists": false}]}}"#, r#"{"a": [{"b": 1}, {"c": 2}]}"#, true),
        (r#"{"a": {"b": [1], "c": [{"exists": false}]}}"#, r#"{"a": [{"b": 1, "c": 2}, {}]}"#, false),
        // `b` must be absent before `c` chooses an element.
        (r#"{"a": {"b": [{"exists": false}], "c": [2]}}"#, r#"{"a": [{"b": 1}, {"c": 2}]}"#, false),
        (r#"{"a": {"b": [{"exists": false}], "c": [2]}}"#, r#"{"a": [{"d": 1}, {"c": 2}]}"#, true),
        // The choice survives an absent field, and ends with the array.
        (r#"{"a": {"b": [1], "c": [{"exists": false}], "d": [3]}}"#, r#"{"a": [{"b": 1}, {"d": 3}]}"#, false),
        (
            r#"{"a": {"b": [1]}, "c": {"b": [{"exists": false}]}}"#,
            r#"{"a": [{"b": 0}, {"b": 1}], "c": [{"b": 2}]}"#,
            false,
        ),
    ]);
}

#[test]
fn cidr() {
    assert_field_rows(&[
        (r#"[{"cidr": "10.0.0.0/24"}]"#, r#""10.0.0.255""#, true),
        (r#"[{"cidr": "10.0.0.0/24"}]"#, r#""10.0.1.0""#, false),
        (r#"[{"cidr": "10.0.0.0/24"}]"#, r#""10.0.0.0/24""#, false),
        (r#"[{"cidr": "10.0.0.0/24"}]"#, "167772161", false),
        (r#"[{"cidr": "10.0.0.7/24"}]"#, r#""10.0.0.1""#, true),
        (r#"[{"cidr": "10.0.0.0/31"}]"#, r#""10.0.0.2""#, false),
        (r#"[{"cidr": "0.0.0.0/0"}]"#, r#""255.255.255.255""#, true),
        (r#"[{"cidr": "0.0.0.0/0"}]"#, r#""::1""#, false),
        (r#"[{"cidr": "2001:db8::/32"}]"#, r#""2001:0DB8:ffff::1""#, true),
        (r#"[{"cidr": "2001:db8::/32"}]"#, r#""2001:db9::""#, false),
        (r#"[{"cidr": "::/0"}]"#, r#""ffff::1""#, true),
        (r#"[{"cidr": "::/0"}]"#, r#""10.0.0.1""#, false),
        (r#"[{"cidr": "::/127"}]"#, r#""::2""#, false),
    ]);
}

#[test]
fn or_needs_one_of_its_branches_and_every_other_field() {
    let sibling = r#"{"source": ["s"], "$or": [{"a": [1]}, {"b": [2], "c": [3]}]}"#;
    let below = r#"{"detail": {"$or": [{"a": [1]}, {"b": {"$or": [{"c": [2]}, {"d": [3]}]}}]}}"#;
    let twice = r#"{"$or": [{"a": [1]}, {"b": [1]}], "d": {"$or": [{"a": [1]}, {"b": [1]}]}}"#;
    assert_rows(&[
        (sibling, r#"{"source": "s", "a": 1}"#, true),
        (sibling, r#"{"source": "s", "b": 2, "c": 3}"#, true),
        (sibling, r#"{"source": "s", "b": 2}"#, false),
        (sibling, r#"{"source": "s"}"#, false),
        (sibling, r#"{"source": "t", "a": 1}"#, false),
        (below, r#"{"detail": {"a": 1}}"#, true),
        (below, r#"{"detail": {"b": {"d": 3}}}"#, true),
        (below, r#"{"detail": {"b": {"d": 2}}}"#, false),
        (below, r#"{"a": 1}"#, false),
        (twice, r#"{"b": 1, "d": {"a": 1}}"#, true),
        (twice, r#"{"b": 1}"#, false),
        (r#"{"$or": [{"a": [1]}, {"a": [{"exists": false}]}]}"#, "{}", true),
        (r#"{"prefix": ["x"]}"#, r#"{"prefix": "x"}"#, true),
    ]);
}
