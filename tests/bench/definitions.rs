//! Time of the compilation of a definition with words, and of the check of a large item.
#![expect(clippy::unwrap_used, reason = "benchmark")]

use divan::Bencher;
use domain::catalog::schema::{self, DecisionForms, Phase, SCHEMA_BYTES_MAX, Words};
use domain::model::deployed::DEPLOYED_BYTES_MAX;
use serde_json::{Map, Value, json};

fn main() {
    divan::main();
}

/// Number of words in the definition.
const WORDS: usize = 1_000;

/// Returns a definition of almost the maximum size with [`WORDS`] words.
fn definition() -> String {
    let property = |number: usize| {
        let schema = json!({"type": "string", "maxLength": 1_000, "readOnly": true});
        (format!("p{number}"), schema)
    };
    let mut properties: Map<String, Value> = (1..=WORDS).map(property).collect();
    properties.insert("name".to_owned(), json!({"type": "string"}));
    let mut definition = json!({"title": "Large", "type": "object", "required": ["name", "p1"],
        "properties": properties, "description": ""});
    let length = definition.to_string().len();
    *definition.pointer_mut("/description").unwrap() = "d".repeat(SCHEMA_BYTES_MAX - length).into();
    definition.to_string()
}

/// Returns an item of almost the maximum size.
fn item() -> Value {
    let value = "v".repeat(DEPLOYED_BYTES_MAX / WORDS - 16);
    let values = (1..=WORDS).map(|number| (format!("p{number}"), Value::String(value.clone())));
    values.chain([("name".to_owned(), json!("n"))]).collect()
}

#[divan::bench(max_time = 3)]
fn publish(bencher: Bencher<'_, '_>) {
    let definition = definition();
    bencher.bench_local(|| schema::publish(definition.as_bytes()).unwrap());
}

#[divan::bench(max_time = 3)]
fn compile_for_declarations(bencher: Bencher<'_, '_>) {
    let definition = definition();
    bencher.bench_local(|| schema::load(&definition, Words::Apply).unwrap());
}

#[divan::bench(max_time = 3)]
fn compile_for_a_completion(bencher: Bencher<'_, '_>) {
    let (definition, item) = (definition(), json!({}));
    bencher.bench_local(|| DecisionForms::load(&definition).unwrap().violations(Phase::Completed, &item));
}

#[divan::bench(max_time = 3)]
fn check_an_item(bencher: Bencher<'_, '_>) {
    let (forms, item) = (DecisionForms::load(&definition()).unwrap(), item());
    assert_eq!(forms.violations(Phase::Completed, &item), []);
    bencher.bench_local(|| forms.violations(Phase::Completed, &item));
}
