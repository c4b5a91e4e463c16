//! What each operator matches, what is refused, and two properties of patterns made at random.

use super::*;
use serde_json::json;

fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn pattern(pattern: &Value) -> Pattern {
    Pattern::parse(pattern).unwrap_or_else(|problems| panic!("{pattern}: {problems}"))
}

/// Rows of a pattern, an event, and whether they match.
fn assert_rows(rows: &[(&str, &str, bool)]) {
    for (given, event, expected) in rows {
        assert_eq!(pattern(&read(given)).matches(&read(event)), *expected, "{given} on {event}");
    }
}

/// Rows of what a field can be, what it is, and whether that matches.
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
        // Two arrays are chosen from independently, and a choice that fails later is taken back.
        (
            r#"{"a": {"x": [1], "y": [2]}, "b": {"x": [1], "y": [2]}}"#,
            r#"{"a": [{"x": 1}, {"x": 1, "y": 2}], "b": [{"x": 1, "y": 2}, {"x": 1}]}"#,
            true,
        ),
        // Of `["x"]`, "x" is in the array like an object beside it; `[["x"]]` has an element for it alone.
        (r#"{"a": ["x"], "$or": [{"a": {"b": [1]}}, {"a": {"b": [2]}}]}"#, r#"{"a": ["x", {"b": 1}]}"#, true),
        (
            r#"{"a": ["x"], "$or": [{"a": {"b": [1]}}, {"a": {"b": [2]}}]}"#,
            r#"{"a": [["x"], [{"b": 1}]]}"#,
            false,
        ),
        // A branch of `$or` is bound to the elements the fields beside it hold in.
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
        // Alternatives stay alternatives, so that this one lets everything through.
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
fn exists_asks_for_a_leaf() {
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
        // `b` has chosen an element by the time `c` has to be absent from it.
        (r#"{"a": {"b": [1], "c": [{"exists": false}]}}"#, r#"{"a": [{"b": 1}, {"c": 2}]}"#, true),
        (r#"{"a": {"b": [1], "c": [{"exists": false}]}}"#, r#"{"a": [{"b": 1, "c": 2}, {}]}"#, false),
        // `b` has to be absent before `c` chooses an element.
        (r#"{"a": {"b": [{"exists": false}], "c": [2]}}"#, r#"{"a": [{"b": 1}, {"c": 2}]}"#, false),
        (r#"{"a": {"b": [{"exists": false}], "c": [2]}}"#, r#"{"a": [{"d": 1}, {"c": 2}]}"#, true),
        // The choice outlasts a field that is absent, and ends with the array.
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
fn or_needs_one_of_its_branches_and_every_field_beside_it() {
    let beside = r#"{"source": ["s"], "$or": [{"a": [1]}, {"b": [2], "c": [3]}]}"#;
    let below = r#"{"detail": {"$or": [{"a": [1]}, {"b": {"$or": [{"c": [2]}, {"d": [3]}]}}]}}"#;
    let twice = r#"{"$or": [{"a": [1]}, {"b": [1]}], "d": {"$or": [{"a": [1]}, {"b": [1]}]}}"#;
    assert_rows(&[
        (beside, r#"{"source": "s", "a": 1}"#, true),
        (beside, r#"{"source": "s", "b": 2, "c": 3}"#, true),
        (beside, r#"{"source": "s", "b": 2}"#, false),
        (beside, r#"{"source": "s"}"#, false),
        (beside, r#"{"source": "t", "a": 1}"#, false),
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

#[test]
fn what_is_no_pattern_is_refused() {
    let object = "must be an object with at least one field";
    let leaf = "must be an object, or an array of what the field can be";
    let branches = "must be an array of at least two objects";
    let one = "must have exactly one operator";
    let numbers =
        "must be an operator ('=', '<', '<=', '>', '>=') and a number, or a lower and an upper limit";
    let cidr = "must be an address, '/' and a number of bits";
    let escape = r"must have '*' or '\' after every '\'";
    let rows = [
        ("{}", "(root)", object),
        ("[]", "(root)", object),
        ("null", "(root)", object),
        (r#"{"a": {}}"#, "/a", object),
        (r#"{"a": "x"}"#, "/a", leaf),
        (r#"{"a": null}"#, "/a", leaf),
        (r#"{"a": {"b/c~": 5}}"#, "/a/b~1c~0", leaf),
        (r#"{"a": []}"#, "/a", "must not be empty"),
        (r#"{"a": [["x"]]}"#, "/a/0", "must not be an array inside an array"),
        (r#"{"a": [{}]}"#, "/a/0", one),
        (r#"{"a": ["x", {"prefix": "x", "suffix": "y"}]}"#, "/a/1", one),
        (r#"{"a": [{"prefx": "x"}]}"#, "/a/0/prefx", "'prefx' is not an operator"),
        (r#"{"a": [{"prefix": 5}]}"#, "/a/0/prefix", "must be a string"),
        (r#"{"a": [{"prefix": ["x"]}]}"#, "/a/0/prefix", "must be a string"),
        (r#"{"a": [{"prefix": {"suffix": "x"}}]}"#, "/a/0/prefix", "'suffix' cannot be used here"),
        (
            r#"{"a": [{"suffix": {"equals-ignore-case": 5}}]}"#,
            "/a/0/suffix/equals-ignore-case",
            "must be a string",
        ),
        (r#"{"a": [{"suffix": {}}]}"#, "/a/0/suffix", one),
        (r#"{"a": [{"equals-ignore-case": ["x"]}]}"#, "/a/0/equals-ignore-case", "must be a string"),
        (r#"{"a": [{"wildcard": null}]}"#, "/a/0/wildcard", "must be a string"),
        (r#"{"a": [{"wildcard": "x**"}]}"#, "/a/0/wildcard", "must not have two '*' in a row"),
        (r#"{"a": [{"wildcard": "x\\y"}]}"#, "/a/0/wildcard", escape),
        (r#"{"a": [{"wildcard": "x\\"}]}"#, "/a/0/wildcard", escape),
        (r#"{"a": [{"exists": "true"}]}"#, "/a/0/exists", "must be true or false"),
        (r#"{"a": [{"numeric": 5}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": []}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": ["="]}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": ["!=", 5]}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": ["=", "5"]}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": [">", 0, "<"]}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": [">", 0, ">", 1]}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": ["<", 5, ">", 0]}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": ["=", 5, "<", 6]}]}"#, "/a/0/numeric", numbers),
        (r#"{"a": [{"numeric": [">", 0, "<", 5, "<", 6]}]}"#, "/a/0/numeric", numbers),
        (
            r#"{"a": [{"numeric": [">=", 5, "<=", 5]}]}"#,
            "/a/0/numeric",
            "must have its lower limit below its upper limit",
        ),
        (r#"{"a": [{"cidr": 10}]}"#, "/a/0/cidr", cidr),
        (r#"{"a": [{"cidr": "10.0.0.0"}]}"#, "/a/0/cidr", cidr),
        (r#"{"a": [{"cidr": "10.0.0/8"}]}"#, "/a/0/cidr", cidr),
        (r#"{"a": [{"cidr": "10.0.0.0/-1"}]}"#, "/a/0/cidr", cidr),
        (r#"{"a": [{"cidr": "10.0.0.0/8/8"}]}"#, "/a/0/cidr", cidr),
        (
            r#"{"a": [{"cidr": "10.0.0.0/32"}]}"#,
            "/a/0/cidr",
            "must have 0 to 31 bits; a single address is given as it is",
        ),
        (
            r#"{"a": [{"cidr": "::1/128"}]}"#,
            "/a/0/cidr",
            "must have 0 to 127 bits; a single address is given as it is",
        ),
        (r#"{"a": [{"anything-but": []}]}"#, "/a/0/anything-but", "must not be empty"),
        (r#"{"a": [{"anything-but": null}]}"#, "/a/0/anything-but", "must be a string or a number"),
        (r#"{"a": [{"anything-but": ["x", true]}]}"#, "/a/0/anything-but/1", "must be a string or a number"),
        (r#"{"a": [{"anything-but": ["x", 5]}]}"#, "/a/0/anything-but", "must not mix strings and numbers"),
        (r#"{"a": [{"anything-but": {}}]}"#, "/a/0/anything-but", one),
        (
            r#"{"a": [{"anything-but": {"numeric": ["=", 5]}}]}"#,
            "/a/0/anything-but/numeric",
            "'numeric' cannot be used here",
        ),
        (r#"{"a": [{"anything-but": {"prefix": ""}}]}"#, "/a/0/anything-but/prefix", "must not be empty"),
        (
            r#"{"a": [{"anything-but": {"suffix": ["x", ""]}}]}"#,
            "/a/0/anything-but/suffix/1",
            "must not be empty",
        ),
        (r#"{"a": [{"anything-but": {"prefix": []}}]}"#, "/a/0/anything-but/prefix", "must not be empty"),
        (
            r#"{"a": [{"anything-but": {"prefix": {"equals-ignore-case": "x"}}}]}"#,
            "/a/0/anything-but/prefix",
            "must be a string",
        ),
        (
            r#"{"a": [{"anything-but": {"wildcard": ["x*", "y**"]}}]}"#,
            "/a/0/anything-but/wildcard/1",
            "must not have two '*' in a row",
        ),
        (r#"{"$or": {"a": [1]}}"#, "/$or", branches),
        (r#"{"$or": [{"a": [1]}]}"#, "/$or", branches),
        (r#"{"$or": [{"a": [1]}, {}]}"#, "/$or/1", object),
        (r#"{"$or": [{"a": [1]}, "b"]}"#, "/$or/1", object),
        (
            r#"{"$or": [{"a": [1]}, {"prefix": ["b"]}]}"#,
            "/$or/1/prefix",
            "no field inside '$or' can have an operator's name",
        ),
        (
            r#"{"$or": [{"a": [1]}, {"b": {"<": [2]}}]}"#,
            "/$or/1/b/<",
            "no field inside '$or' can have an operator's name",
        ),
        (
            r#"{"$or": [{"a": {"b": [1]}}, {"c": [2]}], "a": {"b": [3]}}"#,
            "/a",
            "'a.b' is given both inside and beside '$or'",
        ),
    ];
    for (given, at, problem) in rows {
        assert_eq!(Pattern::parse(&read(given)), Err(format!("{at}: {problem}")), "{given}");
    }
}

#[test]
fn every_problem_is_told() {
    let given =
        r#"{"a": "x", "b": {"c": [{"prefix": 1}, {"exists": 2}]}, "d": [{"anything-but": [null, true]}]}"#;
    let told = "/a: must be an object, or an array of what the field can be\n\
        /b/c/0/prefix: must be a string\n\
        /b/c/1/exists: must be true or false\n\
        /d/0/anything-but/0: must be a string or a number\n\
        /d/0/anything-but/1: must be a string or a number";
    assert_eq!(Pattern::parse(&read(given)), Err(told.to_owned()));
}

#[test]
fn a_thousand_combinations_are_the_most() {
    let branches = |count: usize| (0..count).map(|index| json!({"x": [index]})).collect::<Vec<_>>();
    let given = |a: usize, b: usize| json!({"a": {"$or": branches(a)}, "b": {"$or": branches(b)}});
    assert!(pattern(&given(10, 100)).matches(&json!({"a": {"x": 9}, "b": {"x": 50}})));
    let told = "/b: more than 1000 combinations of the branches of '$or'";
    assert_eq!(Pattern::parse(&given(7, 143)), Err(told.to_owned()));
}

/// What a wildcard means, said without a care for time.
fn wildcard_meaning(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], _) => text.is_empty(),
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|taken| wildcard_meaning(rest, &text[taken..])),
        ([next, rest @ ..], [first, others @ ..]) => next == first && wildcard_meaning(rest, others),
        (_, []) => false,
    }
}

/// Every text of at most so many of these characters.
fn texts(characters: &str, most: usize) -> Vec<String> {
    let (mut all, mut longest) = (vec![String::new()], vec![String::new()]);
    for _ in 0..most {
        longest = longest
            .iter()
            .flat_map(|text| characters.chars().map(move |next| format!("{text}{next}")))
            .collect();
        all.extend(longest.iter().cloned());
    }
    all
}

#[test]
fn wildcards_mean_what_they_say() {
    let texts_to_match = texts("ab", 6);
    for wildcard in texts("ab*", 5).iter().filter(|wildcard| !wildcard.contains("**")) {
        let pattern = pattern(&json!({"a": [{"wildcard": wildcard}]}));
        for text in &texts_to_match {
            let expected = wildcard_meaning(wildcard.as_bytes(), text.as_bytes());
            assert_eq!(pattern.matches(&json!({"a": text})), expected, "{wildcard} on {text}");
        }
    }
}

/// Going back to every earlier wildcard, or to every earlier array, this would not end.
#[test]
fn what_fails_late_fails_soon() {
    let wildcard = format!("{}b*", "a*".repeat(500));
    let pattern_of_wildcards = pattern(&json!({"a": [{"wildcard": wildcard}]}));
    assert!(!pattern_of_wildcards.matches(&json!({"a": "a".repeat(100_000)})));

    let names: Vec<_> = (0..20).map(|index| format!("f{index:02}")).collect();
    let elements: Vec<_> = (0..50).map(|index| json!({"x": index})).collect();
    let event: Map<_, _> = names.iter().map(|name| (name.clone(), json!(elements))).collect();
    let mut fields: Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({"x": [{"exists": true}]}))).collect();
    fields.insert("z".to_owned(), json!(["missing"]));
    assert!(!pattern(&Value::Object(fields)).matches(&Value::Object(event)));
}

/// Numbers that look random and are the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap() % limit
    }
}

/// An event whose leaves all differ, so that no other leaf can stand in for a flipped one.
struct Events {
    random: Random,
    leaves: u64,
}

impl Events {
    fn object(&mut self, depth: usize) -> Value {
        let size = 1 + self.random.below(4);
        (0..size).map(|index| (format!("f{index}"), self.value(depth))).collect::<Map<_, _>>().into()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.random.below(if depth == 0 { 3 } else { 7 }) {
            0 => json!(format!("text {}", self.unique())),
            1 => json!(self.unique()),
            2 => read(&format!("-{}.5", self.unique())),
            3 | 4 => self.object(depth - 1),
            _ => (0..self.random.below(4)).map(|_| self.value(depth - 1)).collect::<Vec<_>>().into(),
        }
    }

    fn unique(&mut self) -> u64 {
        self.leaves += 1;
        self.leaves
    }

    /// The pattern of a value's leaves, with one element of each array, and where the leaves it took are;
    /// none if there is no leaf.
    fn pattern(&mut self, value: &Value, at: &str, taken: &mut Vec<String>) -> Option<Value> {
        match value {
            Value::Object(fields) => {
                let fields = fields.iter();
                let taking = fields.filter_map(|(name, value)| {
                    Some((name.clone(), self.pattern(value, &below(at, name), taken)?))
                });
                Some(taking.collect::<Map<_, _>>()).filter(|fields| !fields.is_empty()).map(Value::Object)
            }
            Value::Array(items) if items.is_empty() => None,
            Value::Array(items) => {
                let index = self.random.below(items.len());
                self.pattern(&items[index], &below(at, index), taken)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                taken.push(at.to_owned());
                Some(json!([value]))
            }
        }
    }
}

#[test]
fn an_event_matches_its_own_leaves_until_one_is_flipped() {
    let mut flipped = 0;
    for seed in 0..2000 {
        let mut events = Events { random: Random(seed), leaves: 0 };
        let event = events.object(4);
        let mut taken = Vec::new();
        let Some(own) = events.pattern(&event, "", &mut taken) else { continue };
        let pattern = pattern(&own);
        assert!(pattern.matches(&event), "seed {seed}: {own} on {event}");
        for leaf in taken {
            let mut event = event.clone();
            *event.pointer_mut(&leaf).unwrap() = json!("flipped");
            assert!(!pattern.matches(&event), "seed {seed}: {own} on {event}, flipped at {leaf}");
            flipped += 1;
        }
    }
    assert!(flipped > 2000, "only {flipped} leaves");
}
