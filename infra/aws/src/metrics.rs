//! Metrics, as a log line that CloudWatch reads (its embedded metric format).

use crate::now;
use serde_json::{Map, Value, json};
use std::io::Write as _;

/// A line with these metrics, kept apart by the values of `dimensions` and, where `DOVETAIL_STACK` names one, by stack:
/// several may share an account.
pub fn metrics(dimensions: &[(&str, &str)], figures: &[(&str, Value)]) -> Map<String, Value> {
    let stack = std::env::var("DOVETAIL_STACK").ok();
    let stack = stack.iter().map(|stack| ("Stack", stack.as_str()));
    line(&stack.chain(dimensions.iter().copied()).collect::<Vec<_>>(), figures)
}

fn line(dimensions: &[(&str, &str)], figures: &[(&str, Value)]) -> Map<String, Value> {
    // What is counted and what is measured in seconds the names tell.
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

/// Tells a line on standard output, which is a deployed function's log.
pub fn tell(line: Map<String, Value>) {
    // Where even stdout is gone there is nobody to tell.
    let _unheard = writeln!(std::io::stdout(), "{}", Value::Object(line));
}
