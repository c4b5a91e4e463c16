//! The shapes of one request and its answer: everything that an engine has to understand, without keys and values.

use super::answer::Answer;
use super::expression::plain;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Fields of a request whose values belong to the shape.
const FLAGS: &str = "ConsistentRead IndexName ReturnValues ReturnValuesOnConditionCheckFailure ScanIndexForward Select \
    ShardIteratorType TotalSegments";
/// Fields of a request that do not belong to the shape.
const VALUES: &str = "AttributeDefinitions BillingMode ExpressionAttributeNames ExpressionAttributeValues Item Key \
    KeySchema Keys RequestItems ReturnConsumedCapacity Segment SequenceNumber ShardId ShardIterator StreamArn \
    TableName TransactItems";

/// Returns the shapes of a request: its own, and those of the actions of a transaction.
pub(super) fn shapes(operation: &str, request: &[u8], answer: &[u8]) -> BTreeSet<String> {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    let answer = Answer::read(answer);
    let mut shapes = BTreeSet::new();
    for (number, action) in request["TransactItems"].as_array().into_iter().flatten().enumerate() {
        for (kind, action) in action.as_object().into_iter().flatten() {
            if let Some(outcome) = answer.outcome_of(number) {
                shapes.insert(format!("{operation} {kind}{} -> {outcome}", described(action)));
            }
        }
    }
    // Each engine distributes rows over segments in its own way.
    let outcome = answer.outcome(request["TotalSegments"].is_null());
    shapes.insert(format!("{operation}{} -> {outcome}", described(&request)));
    shapes
}

/// Returns table, flags and expressions of a request or an action, each after a space.
fn described(request: &Value) -> String {
    let mut text = String::new();
    describe(request, &mut text);
    for (table, request) in objects(&request["RequestItems"]) {
        write!(text, " {}", kind(table)).unwrap();
        // `BatchWriteItem` has a list of puts and deletes here.
        describe(request, &mut text);
    }
    text
}

fn describe(request: &Value, text: &mut String) {
    if let Some(table) = request["TableName"].as_str() {
        write!(text, " {}", kind(table)).unwrap();
    }
    let names = request["ExpressionAttributeNames"].as_object();
    let is_in = |names: &str, field: &str| names.split(' ').any(|name| name == field);
    for (field, value) in objects(request) {
        if let ("Item", Some(kind)) = (field.as_str(), value["ty"]["S"].as_str()) {
            write!(text, " of {kind}").unwrap();
        } else if let (true, Some(expression)) = (field.ends_with("Expression"), value.as_str()) {
            let field = field.trim_end_matches("Expression");
            write!(text, " {field}({})", plain(expression, names)).unwrap();
        } else if is_in(FLAGS, field) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            write!(text, " {field}={value}").unwrap();
        } else if !is_in(VALUES, field) {
            write!(text, " {field}").unwrap();
        }
    }
}

fn objects(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// Returns the table without its generated name.
fn kind(table: &str) -> &'static str {
    if table.ends_with("-keys") { "keys" } else { "table" }
}
