//! The same items as input of `terraform plan`: a `terraform_data` block for each, and a state with the old items.

use crate::process::{OUTPUT_FILE, Taken, taken};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const PROVIDER: &str = r#"provider["terraform.io/builtin/terraform"]"#;

/// Measures `terraform plan` for these items. The old items are in the state. Terraform fetches no provider and takes
/// no lock.
pub fn plan(directory: &Path, old: &Map<String, Value>, new: &Map<String, Value>) -> Taken {
    let resources: Vec<Value> = old.iter().map(|(name, item)| resource(name, item)).collect();
    let state = json!({
        "version": 4, "terraform_version": "1.0.0", "serial": 1, "lineage": "dovetail",
        "outputs": {}, "resources": resources, "check_results": null,
    });
    fs::write(directory.join("terraform.tfstate"), state.to_string()).unwrap();
    let mut blocks = String::new();
    for (name, item) in new {
        writeln!(blocks, "resource \"terraform_data\" \"{name}\" {{\n  input = {item}\n}}").unwrap();
    }
    fs::write(directory.join("main.tf"), blocks).unwrap();
    // The check for a newer version would need the network.
    let variables = ["env", "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "terraform"];
    taken(1, directory, &[&variables[..], &["init", "-no-color"]].concat());
    let plan = ["plan", "-no-color", "-lock=false", "-input=false"];
    let taken = taken(1, directory, &[&variables[..], &plan].concat());
    let output = fs::read_to_string(directory.join(OUTPUT_FILE)).unwrap();
    let changed = new.iter().filter(|(name, item)| old.get(*name) != Some(item)).count();
    assert!(output.contains(&format!("Plan: 0 to add, {changed} to change, 0 to destroy")), "{output}");
    taken
}

fn resource(name: &str, item: &Value) -> Value {
    let value = json!({"value": item, "type": of_type(item)});
    let attributes = json!({"id": name, "input": value, "output": value, "triggers_replace": null});
    let instance = json!({"schema_version": 0, "attributes": attributes, "sensitive_attributes": []});
    json!({
        "mode": "managed", "type": "terraform_data", "name": name, "provider": PROVIDER, "instances": [instance],
    })
}

/// Returns the type of a value in the notation of a state.
fn of_type(value: &Value) -> Value {
    match value {
        Value::Null => json!("dynamic"),
        Value::Bool(_) => json!("bool"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("string"),
        Value::Array(values) => json!(["tuple", values.iter().map(of_type).collect::<Vec<_>>()]),
        Value::Object(fields) => {
            let fields: Map<_, _> =
                fields.iter().map(|(name, value)| (name.clone(), of_type(value))).collect();
            json!(["object", fields])
        }
    }
}
