//! Batches that DynamoDB executes only in part.

use super::Cloud;
use crate::load::partition::batch_parts;
use serde_json::{Map, Value};

impl Cloud {
    /// Splits a batch of this kind by chance. Leaves the executed part in the request, and returns the unprocessed rest.
    pub(super) fn split(&self, kind: &str, operation: &str, request: &mut Value) -> Option<Value> {
        let chance = self.faults().partial;
        if operation != kind || !self.befalls("partial batch", chance) {
            return None;
        }
        let mut left = Map::new();
        for (table, wanted) in request["RequestItems"].as_object_mut().unwrap() {
            let parts = batch_parts(wanted).as_array_mut().unwrap();
            let stays = self.draw(|dice| dice.usize(1..=parts.len()));
            let rest = parts.split_off(stays);
            if !rest.is_empty() {
                let mut unprocessed = wanted.clone();
                *batch_parts(&mut unprocessed) = Value::Array(rest);
                left.insert(table.clone(), unprocessed);
            }
        }
        Some(Value::Object(left))
    }
}
