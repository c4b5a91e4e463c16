//! YAML documents as JSON.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Value, json};

/// Returns the first document of a text as JSON, with `{"!Ref": "Table"}` for `!Ref Table`.
///
/// Fails if the text is not YAML, or has a number with a fraction.
pub fn yaml(text: &str) -> Value {
    value(&Yaml::load_from_str(text).unwrap()[0])
}

fn value(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(boolean)) => json!(boolean),
        Yaml::Value(Scalar::Integer(number)) => json!(number),
        Yaml::Value(Scalar::String(text)) => json!(text),
        Yaml::Sequence(all) => all.iter().map(value).collect(),
        Yaml::Mapping(fields) => {
            fields.iter().map(|(name, field)| (name.as_str().unwrap().to_owned(), value(field))).collect()
        }
        Yaml::Tagged(tag, tagged) => json!({format!("!{}", tag.suffix): value(tagged)}),
        Yaml::Value(Scalar::FloatingPoint(_))
        | Yaml::Representation(..)
        | Yaml::Alias(_)
        | Yaml::BadValue => panic!("the document has {yaml:?}"),
    }
}
