//! Attributes in DynamoDB JSON.

use crate::record::Attributes;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns attributes in DynamoDB JSON, with sorted names.
pub(super) fn dynamodb_json(attributes: &Attributes) -> Value {
    let sorted: BTreeMap<_, _> = attributes.iter().collect();
    Value::Object(sorted.into_iter().map(|(name, value)| (name.clone(), value_json(value))).collect())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "records use six of the types")]
pub(super) fn value_json(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({"S": text}),
        AttributeValue::N(number) => json!({"N": number}),
        AttributeValue::Bool(truth) => json!({"BOOL": truth}),
        AttributeValue::B(bytes) => json!({"B": STANDARD.encode(bytes)}),
        AttributeValue::L(list) => json!({"L": list.iter().map(value_json).collect::<Vec<_>>()}),
        AttributeValue::M(map) => json!({"M": dynamodb_json(map)}),
        other => panic!("no record holds {other:?}"),
    }
}

fn read_value(value: &Value) -> AttributeValue {
    let (ty, value) = value.as_object().unwrap().iter().next().unwrap();
    let text = || value.as_str().unwrap().to_owned();
    match ty.as_str() {
        "S" => AttributeValue::S(text()),
        "N" => AttributeValue::N(text()),
        "BOOL" => AttributeValue::Bool(value.as_bool().unwrap()),
        "B" => AttributeValue::B(Blob::new(STANDARD.decode(text()).unwrap())),
        "L" => AttributeValue::L(value.as_array().unwrap().iter().map(read_value).collect()),
        "M" => AttributeValue::M(attributes_of(value)),
        other => panic!("no record holds {other}"),
    }
}

pub(super) fn attributes_of(attributes: &Value) -> Attributes {
    attributes.as_object().unwrap().iter().map(|(name, value)| (name.clone(), read_value(value))).collect()
}
