//! Converts the OpenAPI document to JSON at build time.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

const DOCUMENT: &str = "../../infra/openapi.yaml";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DOCUMENT}");
    let text = fs::read_to_string(DOCUMENT)?;
    let documents = Yaml::load_from_str(&text)?;
    let document = documents.first().ok_or("must not be empty")?;
    let out = env::var_os("OUT_DIR").ok_or("cargo must set OUT_DIR")?;
    fs::write(Path::new(&out).join("openapi.json"), value(document)?.to_string())?;
    Ok(())
}

fn value(yaml: &Yaml<'_>) -> Result<Value, String> {
    match yaml {
        Yaml::Value(Scalar::Null) => Ok(Value::Null),
        Yaml::Value(Scalar::Boolean(boolean)) => Ok(json!(boolean)),
        Yaml::Value(Scalar::Integer(number)) => Ok(json!(number)),
        Yaml::Value(Scalar::String(text)) => Ok(json!(text)),
        Yaml::Sequence(all) => all.iter().map(value).collect(),
        Yaml::Mapping(fields) => {
            let mut object = Map::new();
            for (name, field) in fields {
                let name = name.as_str().ok_or_else(|| format!("{name:?} must be a name"))?;
                object.insert(name.to_owned(), value(field)?);
            }
            Ok(Value::Object(object))
        }
        // The document has none of these forms, so their occurrence is a mistake in it.
        Yaml::Value(Scalar::FloatingPoint(_))
        | Yaml::Tagged(..)
        | Yaml::Representation(..)
        | Yaml::Alias(_)
        | Yaml::BadValue => Err(format!("{yaml:?} is not supported")),
    }
}
