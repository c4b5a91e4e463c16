//! Hostile bodies over HTTP: each is rejected with its rule and JSON pointer, and changes nothing. The storage calls
//! have a limit.
//!
//! `limits.rs` tests a body for every rule of documents.

mod derived;
mod malformed;
mod upgrades;

use super::{SUBMIT, app, with_cpu};
use dovetail_http::Code;
use serde_json::{Map, Value, json};
use support::{Answer, ApiRequest, Running, Seen, Watched};

const PUBLISH: &str = "/v1/orcabase/serviceowner/services/";
const CPU: &str = "/AwesomeConsumer/App/services/VM/0/cpu";

/// A hostile body with the rule and pointer of an expected problem.
struct Bomb {
    what: &'static str,
    body: Vec<u8>,
    rule: &'static str,
    pointer: String,
}

fn bomb(what: &'static str, body: impl Into<Vec<u8>>, rule: &'static str, pointer: &str) -> Bomb {
    Bomb { what, body: body.into(), rule, pointer: pointer.to_owned() }
}

/// Returns a declaration of one VM with this name.
fn named(name: &str) -> String {
    app(&json!({"VM": [{"name": name}]})).to_string()
}

/// Returns a definition with this property and these `$defs`.
fn with_property(property: &Value, definitions: &Map<String, Value>) -> String {
    let definition = json!({"title": "Bomb", "type": "object", "required": ["name"], "$defs": definitions,
        "properties": {"name": {"type": "string"}, "x": property}});
    definition.to_string()
}

/// Returns a chain of definitions. `link` makes each one refer to the next, and the last one ends the chain.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Map<String, Value> {
    let next = |number: usize| json!({"$ref": format!("#/$defs/d{}", number + 1)});
    let links = (0..length).map(|number| (format!("d{number}"), link(next(number))));
    links.chain([(format!("d{length}"), json!({"type": "string"}))]).collect()
}

/// Sends a request. Fails if it is not rejected, if it writes, or if it needs more than `reads_max` calls.
#[track_caller]
fn refused(watched: &Watched<'_>, request: &ApiRequest<'_>, reads_max: usize, what: &str) -> Answer {
    let (answer, seen) = watched.send(request);
    assert!((400..500).contains(&answer.status), "{what}: {answer:?}");
    let operations: Vec<&str> = seen.iter().map(|seen| seen.operation.as_str()).collect();
    assert!(seen.iter().all(Seen::is_read), "{what} writes: {operations:?}");
    assert!(seen.len() <= reads_max, "{what} reads more than {reads_max} times: {operations:?}");
    answer
}

/// Fails unless each bomb is rejected with its problem within `reads_max` calls, and nothing changes.
#[track_caller]
fn assert_harmless(path: &str, key: &str, code: Code, reads_max: usize, bombs: &[Bomb]) {
    let system = Running::demo();
    let watched = Watched::on(&system);
    let before = system.stored();
    for Bomb { what, body, rule, pointer } in bombs {
        let request = ApiRequest { method: "POST", path, key: Some(key), body: body.clone(), headers: &[] };
        let answer = refused(&watched, &request, reads_max, what);
        assert_eq!((answer.status, answer.at("/code")), (code.status(), &json!(code.name())), "{what}");
        let problems = answer.at("/problems").as_array().unwrap();
        let reported = problems.iter().map(|problem| (problem.get("rule"), problem.get("pointer")));
        let is_reported =
            reported.clone().any(|problem| problem == (Some(&json!(rule)), Some(&json!(pointer))));
        let first: Vec<_> = reported.take(3).collect();
        assert!(is_reported, "{what}: {rule} at {pointer:?} expected: {first:?}");
        assert!(answer.body.to_string().len() < 200_000, "{what}: the reply is short");
    }
    assert_eq!(before, system.stored(), "a refused request changes nothing");
    assert_eq!(system.get(PUBLISH, "vm-owner-key").at("/count"), 2, "no bomb is published");
}

#[test]
fn an_exploding_text_is_refused_before_any_read() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let at_the_end = format!("{CPU}{}", "/0".repeat(26));
    let digits = "7".repeat(4_000);
    let many_keys: String = (0..100_000).map(|number| format!("\"k{number}\":0,")).collect();
    let none = format!("{{\"AwesomeConsumer\":{{{many_keys}\"k\":0}}}}");
    let duplicates = "\"cpu\":1,".repeat(100_000);
    let one = named("one");
    let utf_16 = one.encode_utf16().flat_map(u16::to_be_bytes);
    let bombs = [
        bomb("nesting without end", with_cpu(&deep), "too_deep", &at_the_end),
        bomb("nesting that is not closed", "{\"a\":".repeat(100_000), "invalid_json", ""),
        bomb("a number beyond every float", with_cpu("1e400"), "invalid_json", ""),
        bomb("a number of 4,000 digits", with_cpu(&digits), "invalid_json", ""),
        bomb("an exponent of 4,000 digits", with_cpu(&format!("1e{digits}")), "invalid_json", ""),
        bomb("a number that readers round", with_cpu("9007199254740993"), "number_out_of_range", CPU),
        bomb("no number", with_cpu("NaN"), "invalid_json", ""),
        bomb("half a character", with_cpu(r#""\ud83d""#), "invalid_json", ""),
        bomb("the halves of a character the wrong way", with_cpu(r#""\ude00\ud83d""#), "invalid_json", ""),
        bomb("a mark of the order of bytes", format!("\u{feff}{}", named("one")), "invalid_json", ""),
        bomb("UTF-16", utf_16.collect::<Vec<_>>(), "invalid_json", ""),
        bomb("a key 100,000 times", with_cpu(&format!("1,{duplicates}\"cpu\":2")), "duplicate_key", CPU),
        bomb("100,000 applications that are none", none, "wrong_type", "/AwesomeConsumer/k0"),
        bomb("100,000 teams", format!("{{{many_keys}\"k\":0}}"), "one_team", ""),
        bomb("a byte too much", vec![b' '; 5 * 1024 * 1024 + 1], "too_large", ""),
    ];
    assert_harmless(SUBMIT, "awesome-key", Code::InvalidDeclaration, 0, &bombs);
}

#[test]
fn a_misleading_name_is_refused_or_stays_separate() {
    let name = "/AwesomeConsumer/App/services/VM/0/name";
    let bad = [
        "a\0b",
        "\u{0}",
        "a\u{1b}[2J",
        "e\u{301}",
        "\u{1100}\u{1161}",
        "\u{2126}",
        "a\r\nb",
        "a\u{2028} ",
        "ad\u{200b}min",
        "admin\u{202e}",
        "\u{2066}admin",
    ];
    let bombs = bad.map(|bad| bomb("a name", named(bad), "invalid_name", name));
    assert_harmless(SUBMIT, "awesome-key", Code::InvalidDeclaration, 0, &bombs);

    let system = Running::demo();
    let alike = ["admin", "аdmin", "ADMIN", "../admin", "admin#1", "%61dmin"];
    let items: Vec<Value> = alike.iter().map(|name| json!({"name": name})).collect();
    let body = app(&json!({"VM": items}));
    assert_eq!(system.call("POST", SUBMIT, "awesome-key", &body).status, 201);
    for name in alike {
        let encoded: String = name.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let path = format!("/v1/orcabase/consumer/service_items/?name={encoded}");
        let actual = system.get(&path, "awesome-key");
        assert_eq!((actual.at("/count"), actual.at("/results/0/name")), (&json!(1), &json!(name)));
    }
    system.assert_sound();
}

#[test]
fn an_exploding_definition_is_refused_before_compilation_and_reads() {
    let none = Map::new();
    let d0 = json!({"$ref": "#/$defs/d0"});
    let property = |property: Value| with_property(&property, &none);
    let twice = |keyword: &str| with_property(&d0, &chain(40, |next| json!({keyword: [next, next]})));
    let keywords: Map<String, Value> = (0..100_000).map(|number| (format!("k{number}"), json!(0))).collect();
    let patterns: Map<String, Value> =
        (0..65).map(|number| (format!("^a{{1,99}}{number}"), json!({}))).collect();
    let mut bombs = vec![
        bomb("2^40 ways by anyOf", twice("anyOf"), "too_complex", ""),
        bomb("2^40 ways by allOf", twice("allOf"), "too_complex", ""),
        bomb("2^40 ways by oneOf", twice("oneOf"), "too_complex", ""),
        bomb("200 references in a row", with_property(&d0, &chain(200, |next| next)), "too_complex", ""),
        bomb("100,000 keywords", with_property(&Value::Object(keywords), &none), "too_large", ""),
        bomb("many subschemas", property(json!({"allOf": vec![json!({}); 10_000]})), "too_complex", ""),
        bomb("many patterns", property(json!({"patternProperties": patterns})), "too_complex", ""),
        bomb(
            "a number beyond every float",
            property(json!({"maximum": 0})).replace(":0", ":1e400"),
            "invalid_json",
            "",
        ),
    ];
    let itself = json!({"$ref": "#/properties/x"});
    for (what, hostile, rule, below) in [
        ("the same value", json!({"not": {"allOf": [itself]}}), "recursive_reference", "/not/allOf/0/$ref"),
        ("a reference to itself", itself, "recursive_reference", "/$ref"),
        ("a file", json!({"$ref": "file:///etc/passwd"}), "remote_reference", "/$ref"),
        ("a page", json!({"$ref": "http://169.254.169.254/latest/"}), "remote_reference", "/$ref"),
        ("a network path", json!({"$ref": "//127.0.0.1/x#/a"}), "remote_reference", "/$ref"),
        ("another base", json!({"$id": "file:///etc/", "$ref": "passwd"}), "unsupported_keyword", "/$id"),
        ("a dynamic reference", json!({"$dynamicRef": "#x"}), "unsupported_keyword", "/$dynamicRef"),
        ("a meta-schema", json!({"$vocabulary": {"http://x/": true}}), "unsupported_keyword", "/$vocabulary"),
        ("a large pattern", json!({"pattern": "((a{1,500}){1,500}){1,500}"}), "invalid_pattern", "/pattern"),
        ("a pattern with lookahead", json!({"pattern": "^(?=(a+)+$)"}), "invalid_pattern", "/pattern"),
    ] {
        bombs.push(bomb(what, property(hostile), rule, &format!("/properties/x{below}")));
    }
    assert_harmless(PUBLISH, "vm-owner-key", Code::InvalidSchema, 0, &bombs);
}

/// Path, API key, headers and expected status.
type Case<'a> = (&'a str, Option<&'a str>, &'a [(&'a str, &'a str)], u16);

#[test]
fn headers_and_query_have_limits() {
    let system = Running::demo();
    let watched = Watched::on(&system);
    let before = system.stored();
    let body = named("one").into_bytes();
    let long = "k".repeat(8_000);
    let unknown = format!("{SUBMIT}?{}", "a=1&".repeat(1_000));
    let cases: [Case<'_>; 7] = [
        (SUBMIT, Some("awesome-key"), &[("idempotency-key", &long)], 400),
        (SUBMIT, Some("awesome-key"), &[("content-encoding", &long)], 400),
        (SUBMIT, Some("awesome-key"), &[("content-encoding", "gzip, gzip")], 400),
        (SUBMIT, Some(&long), &[], 401),
        (SUBMIT, None, &[("authorization", "Api-Key\tawesome-key")], 401),
        (&unknown, Some("awesome-key"), &[], 400),
        (&format!("/v1/orcabase/consumer/{}", "submissions/".repeat(500)), Some("awesome-key"), &[], 404),
    ];
    for (path, key, headers, status) in cases {
        let request = ApiRequest { method: "POST", path, key, headers, body: body.clone() };
        let answer = refused(&watched, &request, 0, &path.chars().take(60).collect::<String>());
        assert_eq!(answer.status, status, "{answer:?}");
    }
    assert_eq!(before, system.stored(), "a refused request changes nothing");
}

#[test]
fn a_rejected_slow_item_gets_a_bounded_response() {
    let system = Running::demo();
    let property =
        json!({"type": "array", "items": {"anyOf": [{"pattern": "^(a|a)*$"}, {"pattern": "^(a*)*$"}]}});
    let definition: Value = serde_json::from_str(&with_property(&property, &Map::new())).unwrap();
    assert_eq!(system.call("POST", PUBLISH, "vm-owner-key", &definition).status, 201);
    let entry = format!("{}!", "a".repeat(500));
    let item = json!({"name": "one", "x": vec![entry; 200]});
    let body = app(&json!({"Bomb": [item]})).to_string().into_bytes();
    let watched = Watched::on(&system);
    let before = system.stored();
    let request = ApiRequest { method: "POST", path: SUBMIT, key: Some("awesome-key"), body, headers: &[] };
    // Calls for the team, and for the service with its definition.
    let answer = refused(&watched, &request, 4, "a slow item");
    assert_eq!(answer.at("/code"), Code::InvalidDeclaration.name());
    let problems = answer.at("/problems").as_array().unwrap();
    assert_eq!(problems.len(), domain::catalog::schema::ITEM_PROBLEMS_MAX);
    assert_eq!(problems[0]["pointer"], "/AwesomeConsumer/App/services/Bomb/0/x/0");
    assert_eq!(before, system.stored(), "a refused request changes nothing");
}
