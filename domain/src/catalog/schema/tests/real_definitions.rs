//! What definitions of generators and other systems need.

use super::*;

#[test]
fn a_refused_pattern_says_why() {
    for (pattern, reason) in [
        (
            "^.{1,1024}$",
            "must be smaller: for a bounded length such as `.{1,1024}`, use `minLength` and `maxLength`",
        ),
        ("^(?=a)", "must be a regular expression without look-around and back-references"),
        (r"^(a)\1$", "must be a regular expression without look-around and back-references"),
    ] {
        let problems =
            publish(with_property(&json!({"pattern": pattern})).to_string().as_bytes()).unwrap_err();
        let found: Vec<_> = problems.iter().map(|problem| (problem.rule, problem.message.as_str())).collect();
        assert_eq!(found, [("invalid_pattern", reason)], "{pattern}");
    }
}

#[test]
fn a_reference_is_percent_encoded() {
    for (reference, word) in [
        ("#/$defs/Partial%3CPort%3E", None),
        ("#/$defs/Parti%61l%3cPort%3E", None),
        // A path refers to a copy of the schema.
        ("#/$defs/Partial%3CPort%3E", Some("writeOnly")),
    ] {
        let mut definition = with_property(&json!({"$ref": reference}));
        let mut port = json!({"type": "integer", "maximum": 3});
        port.as_object_mut().unwrap().extend(word.map(|word| (word.to_owned(), json!(true))));
        definition["$defs"] = json!({"Partial<Port>": port});
        let schema = published(&definition);
        assert_eq!(schema.judged(&json!({"name": "n", "x": 3})), [], "{reference}");
        assert_eq!(schema.judged(&json!({"name": "n", "x": 4})).len(), 1, "{reference}");
    }
}

#[test]
fn bounds_and_examples_may_have_64_bits() {
    let bounds = json!({"type": "integer", "minimum": i64::MIN, "maximum": u64::MAX, "default": i64::MAX,
        "examples": [i64::MAX], "not": {"enum": [{"a": i64::MAX}, u64::MAX]}});
    let schema = published(&with_property(&bounds));
    assert_eq!(schema.judged(&json!({"name": "n", "x": 3})), []);
    assert_eq!(schema.judged(&json!({"name": "n", "x": "3"})).len(), 1);
    // The stored text reads back.
    assert!(load(&schema.text, Words::Apply).is_ok());
    for (keyword, value) in
        [("multipleOf", json!(u64::MAX)), ("maximum", json!(1e20)), ("maxLength", json!(i64::MAX))]
    {
        let at = format!("/properties/x/{keyword}");
        let rules = problems_of(&with_property(&json!({keyword: value})));
        assert!(rules.contains(&("number_out_of_range", at.clone())), "{rules:?}");
    }
}
