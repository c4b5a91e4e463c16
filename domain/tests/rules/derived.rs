//! Derived values of a definition (R70). The unit tests of `views::derived` show their evaluation.

use domain::catalog::schema::{Budget, DecisionForms, Derivations, Words, publish};
use domain::rules::verify;
use serde_json::json;

#[test]
fn r70_neither_party_sends_a_derived_value() {
    let definition = json!({"title": "Port", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "mac": {"type": "string", "readOnly": true},
        "title": {"type": "string", "readOnly": true, "x-derived": "port {name}"}}});
    let schema = publish(definition.to_string().as_bytes()).unwrap();
    let declared = json!({"name": "p1", "title": "mine"});
    let problems = schema.problems(&declared, &mut Budget::of_request());
    let problems: Vec<_> = problems.iter().map(|problem| (problem.rule, problem.pointer.as_str())).collect();
    assert_eq!(problems, [("read_only", "/title")]);

    let paths = DecisionForms::load(&schema.text).unwrap().paths;
    let refused = verify::derived(&paths, &json!({"mac": "02:00", "title": "mine"}));
    assert_eq!(refused.iter().map(|problem| problem.rule).collect::<Vec<_>>(), ["derived"]);
    assert_eq!(verify::unknown(&paths, &json!({"name": "p1"})), ["/mac"], "the owner owes no derived value");

    let has_title = |words| !Derivations::load(&schema.text, words).unwrap().expressions().is_empty();
    assert!(has_title(Words::Apply) && !has_title(Words::Ignore), "older versions have no words (R46)");
}
