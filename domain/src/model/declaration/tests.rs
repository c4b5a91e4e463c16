//! Tests of the reading of declarations.

use super::*;
use serde_json::json;

fn read(document: &Value) -> Result<Declaration, Vec<Problem>> {
    parse(document.to_string().as_bytes())
}

/// Returns every problem as `rule pointer path`, with the path joined by `>`.
fn problem_lines(document: &Value) -> Vec<String> {
    let problems = read(document).err().unwrap_or_default();
    problems.iter().map(|p| format!("{} {} {}", p.rule, p.pointer, p.path.join(">"))).collect()
}

fn with_services(services: &Value) -> Value {
    json!({"T": {"A": {"services": services}}})
}

#[test]
fn a_declaration_reads_with_all_its_parts() {
    let document = json!({"AwesomeConsumer": {
        "metadata": {"budget_code": 12345},
        "NewApp1": {"metadata": {"env": "dev"}, "services": {
            "VM": [{"name": "CoreVM1", "memory": 2, "cpu": 8.0}, {"name": "CoreVM2"}],
            "LB": []}},
        "NewApp2": {}}});
    let declaration = read(&document).unwrap();
    assert_eq!(declaration.team, "AwesomeConsumer");
    assert_eq!(declaration.metadata, Some(json!({"budget_code": 12345})));
    let [first, second] = &declaration.applications[..] else { panic!("two applications") };
    assert_eq!((first.name.as_str(), &first.metadata), ("NewApp1", &Some(json!({"env": "dev"}))));
    assert_eq!((second.name.as_str(), &second.metadata, second.items.len()), ("NewApp2", &None, 0));
    let item = &first.items[0];
    assert_eq!((item.service.as_str(), item.name.as_str()), ("VM", "CoreVM1"));
    assert_eq!(item.body, json!({"name": "CoreVM1", "memory": 2, "cpu": 8.0}));
    assert_eq!(item.canonical, r#"{"cpu":8,"memory":2,"name":"CoreVM1"}"#);
    assert_eq!(item.hash, Hash::of(&item.canonical));
    assert_eq!(first.items[1].pointer, "/AwesomeConsumer/NewApp1/services/VM/1");
}

#[test]
fn a_team_may_have_nothing_and_names_may_be_in_any_script() {
    assert_eq!(read(&json!({"T": {}})).unwrap().applications, []);
    let names = ["a", "My App", "a/b~c", "größe", "サービス", "😀", &"x".repeat(NAME_BYTES_MAX)];
    for name in names {
        assert_eq!(name_problem(name), None, "{name}");
        assert!(read(&json!({"T": {name: {"services": {name: [{"name": name}]}}}})).is_ok(), "{name}");
    }
}

#[test]
fn shapes_are_checked_everywhere() {
    let cases = [
        (json!([]), "wrong_type  "),
        (json!({}), "one_team  "),
        (json!({"T": {}, "U": {}}), "one_team  "),
        (json!({"T": []}), "wrong_type /T T"),
        (json!({"T": {"metadata": "x"}}), "wrong_type /T/metadata T>metadata"),
        (json!({"T": {"A": null}}), "wrong_type /T/A T>A"),
        (json!({"T": {"A": {"metadata": 1}}}), "wrong_type /T/A/metadata T>A>metadata"),
        (json!({"T": {"A": {"VM": []}}}), "unknown_key /T/A/VM T>A>VM"),
        (with_services(&json!([])), "wrong_type /T/A/services T>A>services"),
        (with_services(&json!({"VM": {}})), "wrong_type /T/A/services/VM T>A>VM"),
        (with_services(&json!({"VM": ["x"]})), "wrong_type /T/A/services/VM/0 T>A>VM>0"),
        (with_services(&json!({"VM": [{}]})), "missing_name /T/A/services/VM/0/name T>A>VM>0>name"),
        (with_services(&json!({"VM": [{"name": 7}]})), "invalid_name /T/A/services/VM/0/name T>A>VM>0>name"),
    ];
    for (document, expected) in cases {
        assert_eq!(problem_lines(&document), [expected], "{document}");
    }
    assert_eq!(parse(b"").unwrap_err()[0].rule, "one_team");
    assert_eq!(parse(b"{\"T\":").unwrap_err()[0].rule, "invalid_json");
}

#[test]
fn bad_names_are_refused_at_every_level() {
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    let bad = ["", " a", "a\t", "a\u{a0}", "a\nb", "\u{7f}", "\u{85}", "e\u{301}", "\u{212b}", &long];
    let alike = [
        "SYSTEM\u{200b}",
        "ＳＹＳＴＥＭ",
        "a\u{202e}b",
        "a\u{2066}b",
        "\u{feff}a",
        "a\u{3164}b",
        "ﬁle",
        "a\u{2028}b",
    ];
    let bad = [&bad[..], &alike[..]].concat();
    for name in bad {
        assert!(name_problem(name).is_some(), "{name:?}");
        let documents = [
            json!({name: {}}),
            json!({"T": {name: {}}}),
            with_services(&json!({name: []})),
            with_services(&json!({"VM": [{"name": name}]})),
        ];
        for document in documents {
            let problems = read(&document).unwrap_err();
            assert_eq!((problems.len(), problems[0].rule), (1, "invalid_name"), "{document}");
        }
    }
}

#[test]
fn an_item_is_declared_once_per_application_and_service() {
    let twice = json!([{"name": "a"}, {"name": "b"}, {"name": "a", "cpu": 1}, {"name": "a"}]);
    let expected = [
        "duplicate_name /T/A/services/VM/2/name T>A>VM>a>name",
        "duplicate_name /T/A/services/VM/3/name T>A>VM>a>name",
    ];
    assert_eq!(problem_lines(&with_services(&json!({"VM": twice}))), expected);
    let one = json!([{"name": "a"}]);
    let elsewhere = json!({"T": {"A": {"services": {"VM": one, "LB": one}}, "B": {"services": {"VM": one}}}});
    assert_eq!(problem_lines(&elsewhere), [""; 0]);
}

#[test]
fn all_problems_are_listed_at_once() {
    let document = json!({"T": {
        "metadata": [],
        " A": {},
        "B": {"metadata": 1, "extra": 2, "services": {"LB": 3, "VM": [{}, {"name": "x"}, {"name": "x"}, 4]}}}});
    let expected = [
        "invalid_name /T/ A T> A",
        "unknown_key /T/B/extra T>B>extra",
        "wrong_type /T/B/metadata T>B>metadata",
        "wrong_type /T/B/services/LB T>B>LB",
        "missing_name /T/B/services/VM/0/name T>B>VM>0>name",
        "duplicate_name /T/B/services/VM/2/name T>B>VM>x>name",
        "wrong_type /T/B/services/VM/3 T>B>VM>3",
        "wrong_type /T/metadata T>metadata",
    ];
    let mut lines = problem_lines(&document);
    lines.sort_by_key(|line| expected.iter().position(|line_of| line_of == line));
    assert_eq!(lines, expected);
}

#[test]
fn sizes_end_at_their_limits() {
    let item = |bytes: usize| {
        let empty = json!({"name": "x", "a": ""}).to_string().len();
        with_services(&json!({"VM": [{"name": "x", "a": "y".repeat(bytes - empty)}]}))
    };
    assert_eq!(problem_lines(&item(DECLARATION_BYTES_MAX)), [""; 0]);
    assert_eq!(problem_lines(&item(DECLARATION_BYTES_MAX + 1)), ["too_large /T/A/services/VM/0 T>A>VM>x"]);
    let metadata = |bytes: usize| json!({"a": "y".repeat(bytes - 8)});
    let both = |bytes: usize| json!({"T": {"metadata": metadata(bytes), "A": {"metadata": metadata(bytes)}}});
    assert_eq!(problem_lines(&both(METADATA_BYTES_MAX)), [""; 0]);
    let mut large = problem_lines(&both(METADATA_BYTES_MAX + 1));
    large.sort();
    assert_eq!(large, ["too_large /T/A/metadata T>A>metadata", "too_large /T/metadata T>metadata"]);
    let mut body = br#"{"T":{}}"#.to_vec();
    body.resize(BODY_BYTES_MAX, b' ');
    assert!(parse(&body).is_ok());
    body.push(b' ');
    let problem = &parse(&body).unwrap_err()[0];
    assert_eq!((problem.rule, &*problem.message), ("too_large", "must be at most 5242880 bytes"));
}

#[test]
fn what_the_text_has_wrong_is_filed_by_names_too() {
    let problems =
        parse(br#"{"T": {"A": {"services": {"VM": [{"name": "x", "a": 1, "a": 2}]}}}}"#).unwrap_err();
    assert_eq!(problems[0].pointer, "/T/A/services/VM/0/a");
    assert_eq!(problems[0].path[..3], ["T", "A", "VM"]);
    let problems = parse(br#"{"T": {"A": {"metadata": {"a": 1, "a": 2}}}}"#).unwrap_err();
    assert_eq!(problems[0].path[..4], ["T", "A", "metadata", "a"]);
}

#[test]
fn the_number_of_items_ends_at_its_limit() {
    let items =
        |count: usize| -> Vec<Value> { (0..count).map(|n| json!({"name": format!("i{n}")})).collect() };
    let document = |rest: usize| json!({"T": {"A": {"services": {"VM": items(ITEMS_MAX - 1)}}, "B": {"services": {"VM": items(rest)}}}});
    assert_eq!(problem_lines(&document(1)), [""; 0]);
    assert_eq!(problem_lines(&document(2)), ["too_many_items /T T"]);
}

#[test]
fn debug_output_shows_names_and_hash_but_no_content() {
    let document = json!({"T": {"metadata": {"m": "hunter1"}, "A": {"metadata": {"m": "hunter2"},
        "services": {"VM": [{"name": "x", "password": "hunter3"}]}}}});
    let declaration = read(&document).unwrap();
    let debug = format!("{declaration:?}");
    assert!(!debug.contains("hunter") && !debug.contains("password"), "{debug}");
    let hash = declaration.applications[0].items[0].hash.to_string();
    for part in ["\"T\"", "\"A\"", "\"VM\"", "\"x\"", &hash] {
        assert!(debug.contains(part), "{debug}");
    }
}
