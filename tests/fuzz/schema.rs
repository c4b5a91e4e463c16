//! Target `schema`: a service definition and an item, with a NUL between them.
//!
//! A published definition loads unchanged. An item gets problems with valid pointers, within the steps of a request.

use crate::input::Input;
use crate::problems::{assert_pointers_lead, assert_problems};
use domain::base::json;
use domain::catalog::schema::{Budget, ITEM_PROBLEMS_MAX, STEPS_MAX, Schema, Words, load, publish};
use domain::model::declaration::DEPTH_MAX;
use serde_json::Value;

const RULES: &str = "wrong_type missing_title invalid_name unsupported_draft invalid_reference \
    missing_name_property too_complex unsupported_keyword remote_reference dangling_reference \
    recursive_reference invalid_pattern invalid_schema invalid_keyword misplaced_keyword unknown_definition";

/// Rules about missing parts. The type of the definition is one of them.
const MISSING: &str = "missing_title missing_name_property wrong_type";

pub(crate) fn published(bytes: &[u8]) {
    let (definition, item) = Input::halves(bytes);
    match publish(definition) {
        Ok(schema) => {
            let loaded = load(&schema.text, Words::Apply).unwrap();
            assert_eq!((&loaded.title, &loaded.text), (&schema.title, &schema.text));
            assert_eq!(loaded.references, schema.references);
            if let Ok(item) = json::parse(item, DEPTH_MAX) {
                checked(&schema, &loaded, &item);
            }
        }
        Err(problems) => {
            assert_problems(&problems, RULES);
            if let Ok(document) = serde_json::from_slice(definition) {
                assert_pointers_lead(&document, &problems, MISSING);
            }
        }
    }
}

fn checked(schema: &Schema, loaded: &Schema, item: &Value) {
    let mut budget = Budget::of_request();
    let problems = schema.problems(item, &mut budget);
    assert!(budget.taken() <= STEPS_MAX, "{} steps", budget.taken());
    assert!(problems.len() <= ITEM_PROBLEMS_MAX, "{} problems", problems.len());
    if !problems.is_empty() {
        assert_problems(&problems, "schema too_complex read_only repeated_name");
        assert_pointers_lead(item, &problems, "schema");
    }
    let references = schema.references_of(item);
    assert!(references.array_windows().all(|[one, next]| one < next), "sorted, and each once");
    // An expensive item is checked once. So an input takes no longer than a request.
    if budget.taken() > STEPS_MAX / 16 {
        return;
    }
    let problems_of = |schema: &Schema, item| schema.problems(item, &mut Budget::of_request());
    assert_eq!(problems, problems_of(loaded, item), "what is loaded says what was published");
    let canonical = json::parse(json::canonical(item).as_bytes(), DEPTH_MAX).unwrap();
    assert_eq!(problems.is_empty(), problems_of(schema, &canonical).is_empty(), "whatever its spelling");
}
