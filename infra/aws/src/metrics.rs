//! Metrics as log lines in CloudWatch's embedded metric format (decision record 18).

use crate::now;
use serde_json::{Map, Value, json};
use std::io::Write as _;

/// Returns a line with these metrics and dimensions.
///
/// `DOVETAIL_STACK` adds a dimension, because several stacks may share an account.
pub fn metrics(dimensions: &[(&str, &str)], figures: &[(&str, Value)]) -> Map<String, Value> {
    let stack = std::env::var("DOVETAIL_STACK").ok();
    let stack = stack.iter().map(|stack| ("Stack", stack.as_str()));
    line(&stack.chain(dimensions.iter().copied()).collect::<Vec<_>>(), figures)
}

fn line(dimensions: &[(&str, &str)], figures: &[(&str, Value)]) -> Map<String, Value> {
    // Units are left out: the names of the metrics contain them.
    let definitions: Vec<Value> = figures.iter().map(|(name, _)| json!({"Name": name})).collect();
    let names: Vec<&str> = dimensions.iter().map(|(name, _)| *name).collect();
    let directive = json!({"Namespace": "Dovetail", "Dimensions": [names], "Metrics": definitions});
    let mut line = Map::new();
    line.insert(
        "_aws".to_owned(),
        json!({"Timestamp": now().micros() / 1_000, "CloudWatchMetrics": [directive]}),
    );
    line.extend(dimensions.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    line.extend(figures.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    line
}

/// Writes a line to standard output, which is the log of a deployed function.
pub fn emit(line: Map<String, Value>) {
    // A closed stdout leaves no other channel for a report.
    let _ignored = writeln!(std::io::stdout(), "{}", Value::Object(line));
}
