//! Steps and bytes, instead of seconds, for definitions and items of untrusted callers.
//!
//! The tests are a separate binary, because their allocator counts.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

use domain::base::json;
use domain::base::problem::Problem;
use domain::catalog::schema::{Budget, ITEM_PROBLEMS_MAX, STEPS_MAX, Schema, Words, load, publish};
use peak_alloc::PeakAlloc;
use serde_json::{Map, Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Maximum memory of a request for definitions and items, in bytes.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Runs one test at a time, because all share the allocator.
///
/// The function first loads the library's shared data, so that no test counts them.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for draft in ["http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2020-12/schema"] {
        let mut definition = with_property(&json!({"format": "regex"}));
        definition["$schema"] = json!(draft);
        assert!(publish(definition.to_string().as_bytes()).is_ok());
    }
    alone
}

/// Returns the result of a call, its peak memory and the memory that it keeps.
fn measured<T>(call: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let returned = call();
    let (most, retained) = (ALLOCATOR.peak_usage(), ALLOCATOR.current_usage());
    (returned, most.saturating_sub(before), retained.saturating_sub(before))
}

fn with_property(property: &Value) -> Value {
    json!({"title": "VM", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "x": property}})
}

fn item(value: &Value) -> Value {
    json!({"name": "n", "x": value})
}

/// Fails unless publication takes little memory and refuses the definition at this pointer.
fn assert_refused(definition: &Value, pointer: &str) {
    let (published, bytes, _) = measured(|| publish(definition.to_string().as_bytes()));
    let problems: Vec<_> = published.err().into_iter().flatten().map(|p| (p.rule, p.pointer)).collect();
    assert_eq!(problems, [("too_complex", pointer.to_owned())]);
    assert!(bytes <= BYTES_MAX, "{bytes} bytes");
}

/// Loads a definition as if it was published before the limits existed.
fn stored(definition: &Value) -> Schema {
    let (loaded, bytes, _) = measured(|| load(&json::canonical(definition), Words::Apply).unwrap());
    assert!(bytes <= BYTES_MAX, "{bytes} bytes");
    loaded
}

/// Returns the problems of an item; fails if the check takes too much.
fn checked(schema: &Schema, item: &Value) -> Vec<Problem> {
    let mut budget = Budget::of_request();
    let (problems, bytes, _) = measured(|| schema.problems(item, &mut budget));
    assert!(budget.taken() <= STEPS_MAX);
    assert!(bytes <= BYTES_MAX, "{bytes} bytes");
    problems
}

fn assert_beyond(schema: &Schema, item: &Value) {
    let problems = checked(schema, item);
    assert_eq!(
        problems.iter().map(|p| (p.rule, p.pointer.as_str())).collect::<Vec<_>>(),
        [("too_complex", "")]
    );
}

/// Returns `d0` with two references to `d1` below `keyword`, `d1` with two to `d2`, and so on to `last`.
fn doubling(depth: usize, keyword: &str, last: &Value) -> Map<String, Value> {
    let level = |level: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        (format!("d{level}"), json!({keyword: [next, next]}))
    };
    (0..depth).map(level).chain([(format!("d{depth}"), last.clone())]).collect()
}

#[test]
fn choices_that_double_take_no_memory() {
    let _alone = alone();
    let bomb = |depth: usize| {
        let mut bomb = with_property(&json!({"items": {"$ref": "#/$defs/d0"}}));
        bomb["$defs"] = doubling(depth, "anyOf", &json!({"type": "string"})).into();
        bomb
    };
    // Under 2 KB.
    let ones = item(&json!(vec![1; 1_000]));
    let worst = bomb(12);
    assert!(worst.to_string().len() < 1_024);
    assert_refused(&worst, "");
    assert_beyond(&stored(&worst), &ones);
    // A published definition reports the mismatch, and its position if that takes little.
    for depth in 1..=8 {
        let schema = publish(bomb(depth).to_string().as_bytes()).unwrap();
        assert!(checked(&schema, &ones).iter().all(|problem| problem.rule == "schema"), "{depth}");
        assert_eq!(checked(&schema, &item(&json!([1])))[0].pointer, "/x/0", "{depth}");
        assert_eq!(checked(&schema, &item(&json!(["a"]))), []);
    }
}

#[test]
fn a_pattern_of_thousands_of_states_is_not_run_on_a_long_text() {
    let _alone = alone();
    let pattern = json!({"pattern": "[ab]*a[ab]{6990}[ab][^ab]"});
    let text = item(&json!("abbab".repeat(26_000)));
    let alone = with_property(&pattern);
    assert_refused(&alone, "/properties/x");
    assert_beyond(&stored(&alone), &text);
    // A smaller pattern is applied more often.
    let mut doubled = with_property(&json!({"$ref": "#/$defs/d0"}));
    doubled["$defs"] = doubling(10, "allOf", &json!({"pattern": "[ab]*a[ab]{100}[ab][^ab]"})).into();
    assert_refused(&doubled, "/$defs/d5");
    assert_beyond(&stored(&doubled), &text);
    // Common patterns run on the longest text.
    for usual in ["^[a-z0-9-]{1,63}$", "^.{0,255}$", r"^\S+@\S+$", "(a+)+$"] {
        let schema = publish(with_property(&json!({"pattern": usual})).to_string().as_bytes()).unwrap();
        assert_eq!(checked(&schema, &text)[0].rule, "schema", "{usual}");
    }
}

#[test]
fn thousands_of_constants_are_not_compared_with_each_element() {
    let _alone = alone();
    let constants: Vec<_> = (0..4_000).map(|n| json!({"const": n})).collect();
    let choice = with_property(&json!({"items": {"anyOf": constants}}));
    assert_refused(&choice, "/properties/x/items");
    let all = item(&json!(vec![3_999; 20_000]));
    assert_beyond(&stored(&choice), &all);
    // As one list it can be published, and the check refuses a large array.
    let list = with_property(&json!({"items": {"enum": (0..4_000).collect::<Vec<_>>()}}));
    let schema = publish(list.to_string().as_bytes()).unwrap();
    assert_beyond(&schema, &all);
    assert_eq!(checked(&schema, &item(&json!(vec![3_999; 1_000]))), []);
}

#[test]
fn the_errors_of_an_item_take_bounded_memory() {
    let _alone = alone();
    let names: Vec<_> = (0..100).map(|n| format!("p{n}")).collect();
    for (property, value) in [
        (json!({"items": {"type": "string"}}), json!(vec![1; 60_000])),
        (json!({"items": {"required": names}}), json!(vec![json!({}); 10_000])),
        (json!({"items": {"allOf": vec![json!({"type": "string"}); 100]}}), json!(vec![1; 10_000])),
        (json!({"items": {"additionalProperties": false}}), json!(vec![json!({"abc": 1, "d": 1}); 8_000])),
        (json!({"propertyNames": {"maxLength": 1}}), (0..9_000).map(|n| (n.to_string(), json!(n))).collect()),
        (
            json!({"additionalProperties": {"items": {"type": "null"}}}),
            json!({("k".repeat(9_000)): vec![1; 30_000]}),
        ),
    ] {
        let schema = publish(with_property(&property).to_string().as_bytes()).unwrap();
        let problems = checked(&schema, &item(&value));
        assert!((1..=ITEM_PROBLEMS_MAX).contains(&problems.len()), "{property}");
        assert!(problems.iter().all(|problem| problem.rule == "schema"), "{property}");
    }
}

#[test]
fn publishing_takes_bounded_memory() {
    let _alone = alone();
    let deep = (0..9).fold(
        json!({"allOf": vec![json!({}); 8_000]}),
        |below, _| json!({"properties": {("x".repeat(100)): below}}),
    );
    for property in [
        json!({"allOf": vec![1; 30_000]}),
        json!({"allOf": vec![json!({"type": 1}); 5_000]}),
        json!({"allOf": vec![true; 9_000]}),
        json!({"type": vec!["x"; 12_000]}),
        json!({"properties": {("x".repeat(30_000)): {"allOf": vec![json!({}); 10_000]}}}),
        deep,
        json!({"allOf": (0..64).map(|n| json!({"pattern": format!("[ab]*a[ab]{{500}}{n}")})).collect::<Vec<_>>()}),
        json!({"enum": (0..12_000).collect::<Vec<_>>()}),
    ] {
        let text = with_property(&property).to_string();
        let (published, bytes, _) = measured(|| publish(text.as_bytes()));
        assert!(bytes <= BYTES_MAX, "{bytes} bytes for {text:.60}");
        drop(published);
    }
}

#[test]
fn the_stated_cost_of_a_definition_is_an_upper_bound() {
    let _alone = alone();
    let many = |of: &dyn Fn(usize) -> Value, count: usize| (0..count).map(of).collect::<Vec<_>>();
    let text = item(&json!("abbab".repeat(20_000)));
    for property in [
        json!({}),
        json!({"properties": (0..800).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect::<Map<_, _>>()}),
        json!({"allOf": many(&|_| json!(true), 9_000)}),
        json!({"allOf": many(&|_| json!({}), 9_000)}),
        json!({"anyOf": many(&|n| json!({"const": n}), 4_000)}),
        json!({"enum": many(&|n| json!(n), 8_000)}),
        json!({"const": "x".repeat(60_000)}),
        json!({"properties": {("x".repeat(400)): {"allOf": vec![json!({}); 2_000]}}}),
        json!({"allOf": many(&|n| json!({"pattern": format!("^[a-z0-9-]{{1,63}}{n}$")}), 60)}),
        json!({"pattern": "^.{0,255}$"}),
        json!({"pattern": "[ab]*a[ab]{200}[ab][^ab]"}),
        json!({"pattern": "^[a-c]{1,1500}"}),
        json!({"patternProperties": {"^[a-z]{1,100}$": {"items": {"uniqueItems": true}}}}),
    ] {
        let definition = with_property(&property).to_string();
        let (schema, _, retained) = measured(|| {
            let schema = publish(definition.as_bytes()).unwrap();
            schema.problems(&text, &mut Budget::of_request());
            schema
        });
        assert!(retained <= schema.bytes, "{retained} of {} bytes: {definition:.80}", schema.bytes);
    }
}

#[test]
fn the_paths_of_a_definition_take_no_more_than_the_estimate() {
    let _alone = alone();
    // Each schema has two members of the next schema, so the number of paths doubles.
    let doubled = |depth: usize| {
        let level = |level: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            (format!("d{level}"), json!({"type": "object", "properties": {"a": next, "b": next}}))
        };
        let last = [(format!("d{depth}"), json!({"type": "string", "readOnly": true}))];
        let mut definition = with_property(&json!({"$ref": "#/$defs/d0"}));
        definition["$defs"] = (0..depth).map(level).chain(last).collect::<Map<_, _>>().into();
        definition
    };
    for depth in [11, 13] {
        assert_refused(&doubled(depth), "");
    }
    for depth in [1, 6, 10] {
        let text = json::canonical(&doubled(depth));
        let published = publish(text.as_bytes()).unwrap();
        assert!(published.has_words);
        let (schema, _, retained) = measured(|| load(&text, Words::Apply).unwrap());
        assert!(retained <= schema.bytes, "{depth}: {retained} bytes, {} by estimate", schema.bytes);
        assert_eq!(checked(&schema, &item(&json!({"a": {}}))).len(), usize::from(depth == 1));
    }
}
