//! Properties of the merge and of the comparisons along the paths of a definition, on random definitions and values.
//!
//! `CASES=1000000 cargo test -p tests definitions::` runs more cases. `SEED` repeats a run.

use domain::catalog::schema;
use domain::catalog::schema::Part;
use domain::rules::verify::{agrees, filled, holds, proposed};
use serde_json::{Value, json};
use support::Random;

/// The cases of an ordinary run.
const CASES: u64 = 20_000;
/// The cases with one definition: the check of a definition takes most of the time.
const OF_ONE: u64 = 50;
const NAMES: [&str; 4] = ["name", "a", "b", "c"];

/// Returns the number of cases.
fn cases() -> u64 {
    std::env::var("CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES)
}

/// Runs a property on random definitions.
fn with_definitions(property: impl Fn(&Part, &Value, &mut Random)) {
    let mut random = Random::seeded();
    for _ in 0..cases().div_ceil(OF_ONE) {
        let mut definition = json!({"type": "object", "properties": properties(&mut random, 3, false)});
        // The name of the item has no words.
        definition["properties"]["name"] = json!({"type": "string"});
        let root = schema::decision_forms(definition.to_string().as_bytes()).unwrap().paths;
        (0..OF_ONE).for_each(|_| property(&root, &definition, &mut random));
    }
}

/// Returns one of these values.
fn one_of<T: Clone>(random: &mut Random, values: &[T]) -> T {
    values[random.index(values.len())].clone()
}

/// Returns some names of members.
fn names(random: &mut Random) -> Vec<&'static str> {
    NAMES.into_iter().filter(|_| random.below(2) == 0).collect()
}

/// Returns the schemas of some members.
fn properties(random: &mut Random, depth: usize, is_below: bool) -> Value {
    names(random).into_iter().map(|name| (name.to_owned(), part(random, depth, is_below))).collect()
}

/// Returns a schema of some type with at most one word. Below `readOnly` and `writeOnly` it has none.
fn part(random: &mut Random, depth: usize, is_below: bool) -> Value {
    let mut words = vec![None, None, None];
    if !is_below {
        words.extend(["readOnly", "x-computed", "writeOnly"].map(Some));
    }
    let word = one_of(random, &words);
    let is_below = is_below || matches!(word, Some("readOnly" | "writeOnly"));
    let mut schema = match random.below(if depth == 0 { 3 } else { 7 }) {
        0 => json!({"type": "string"}),
        1 => json!({"type": ["integer", "null"]}),
        2 => json!({}),
        3 | 4 => json!({"type": "object", "properties": properties(random, depth - 1, is_below)}),
        5 => json!({"type": "object", "additionalProperties": part(random, depth - 1, is_below)}),
        _ => json!({"type": "array", "items": part(random, depth - 1, is_below)}),
    };
    if let Some(word) = word {
        schema[word] = json!(true);
    }
    schema
}

/// Returns a value for a schema, now and then of another type.
fn value(random: &mut Random, schema: &Value) -> Value {
    let members = |random: &mut Random, schema_of: &dyn Fn(&str) -> Value| -> Value {
        names(random).into_iter().map(|name| (name.to_owned(), value(random, &schema_of(name)))).collect()
    };
    if random.below(12) == 0 {
        return one_of(random, &[json!(null), json!("b"), json!([]), json!({}), json!({"name": "a"})]);
    }
    if let Some(properties) = schema.get("properties") {
        return members(random, &|name| properties.get(name).cloned().unwrap_or_default());
    }
    if let Some(others) = schema.get("additionalProperties") {
        return members(random, &|_| others.clone());
    }
    if let Some(items) = schema.get("items") {
        let count = random.below(4);
        return (0..count).map(|_| value(random, items)).collect();
    }
    match schema.get("type") {
        Some(Value::String(_)) => json!(one_of(random, &["a", "b", "c"])),
        _ => json!(random.below(3)),
    }
}

/// Returns a value with all its arrays in reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().rev().map(reversed).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), reversed(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[test]
fn the_proposed_item_holds_the_declaration() {
    with_definitions(|root, definition, random| {
        let prior = (random.below(2) == 0).then(|| value(random, definition));
        let declared = value(random, definition);
        let proposed = proposed(root, prior.as_ref(), &declared).unwrap();
        let problems = holds(root, prior.as_ref(), &declared, &proposed);
        assert_eq!(problems, [], "{definition} {prior:?} {declared}");
    });
}

#[test]
fn what_an_owner_sends_twice_changes_nothing() {
    with_definitions(|root, definition, random| {
        let (sent, base) = (value(random, definition), value(random, definition));
        let once = filled(root, &sent, &base).unwrap();
        assert_eq!(filled(root, &sent, &once).unwrap(), once, "{definition} {sent} {base}");
    });
}

#[test]
fn a_later_plan_that_agrees_with_the_second_agrees_with_the_first() {
    let agreeing = std::cell::Cell::new(0_u64);
    with_definitions(|root, definition, random| {
        let first = value(random, definition);
        let mut next = |before: &Value| {
            let after = filled(root, &value(random, definition), before).unwrap();
            if random.below(4) == 0 { reversed(&after) } else { after.into_value() }
        };
        let second = next(&first);
        let third = next(&second);
        if agrees(root, &first, &second).is_empty() && agrees(root, &second, &third).is_empty() {
            agreeing.set(agreeing.get() + 1);
            assert_eq!(agrees(root, &first, &third), [], "{definition} {first} {second} {third}");
        }
    });
    let agreeing = agreeing.get();
    assert!(agreeing * 50 >= cases(), "too few cases agree: {agreeing}");
}
