//! Tests of rejected patterns and their messages.

use super::*;

#[test]
fn an_invalid_pattern_is_refused() {
    let object = "must be an object with at least one field";
    let leaf = "must be an object, or an array of allowed values";
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
            "must have 0 to 31 bits; write a single address without bits",
        ),
        (
            r#"{"a": [{"cidr": "::1/128"}]}"#,
            "/a/0/cidr",
            "must have 0 to 127 bits; write a single address without bits",
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
            "must not have a field with an operator's name inside '$or'",
        ),
        (
            r#"{"$or": [{"a": [1]}, {"b": {"<": [2]}}]}"#,
            "/$or/1/b/<",
            "must not have a field with an operator's name inside '$or'",
        ),
        (
            r#"{"$or": [{"a": {"b": [1]}}, {"c": [2]}], "a": {"b": [3]}}"#,
            "/a",
            "'a.b' must not be both inside and outside of '$or'",
        ),
    ];
    for (given, at, problem) in rows {
        assert_eq!(Pattern::parse(&read(given)), Err(format!("{at}: {problem}")), "{given}");
    }
}

#[test]
fn every_problem_is_reported() {
    let given =
        r#"{"a": "x", "b": {"c": [{"prefix": 1}, {"exists": 2}]}, "d": [{"anything-but": [null, true]}]}"#;
    let problems = "/a: must be an object, or an array of allowed values\n\
        /b/c/0/prefix: must be a string\n\
        /b/c/1/exists: must be true or false\n\
        /d/0/anything-but/0: must be a string or a number\n\
        /d/0/anything-but/1: must be a string or a number";
    assert_eq!(Pattern::parse(&read(given)), Err(problems.to_owned()));
}

#[test]
fn a_thousand_combinations_are_the_most() {
    let branches = |count: usize| (0..count).map(|index| json!({"x": [index]})).collect::<Vec<_>>();
    let given = |a: usize, b: usize| json!({"a": {"$or": branches(a)}, "b": {"$or": branches(b)}});
    assert!(pattern(&given(10, 100)).matches(&json!({"a": {"x": 9}, "b": {"x": 50}})));
    let problem = "/b: must have at most 1000 combinations of the branches of '$or'";
    assert_eq!(Pattern::parse(&given(7, 143)), Err(problem.to_owned()));
}
