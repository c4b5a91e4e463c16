//! Batches that DynamoDB executes only in part.

use super::Cloud;
use serde_json::{Map, Value};

impl Cloud {
    /// Splits a write batch by chance. Returns the executed part and the unprocessed rest.
    pub(super) fn divided(&self, operation: &str, mut taken: Value) -> (Value, Option<Value>) {
        let chance = self.faults().partial;
        if operation != "BatchWriteItem" || !self.befalls("partial batch", chance) {
            return (taken, None);
        }
        let mut left = Map::new();
        for (table, writes) in taken["RequestItems"].as_object_mut().unwrap() {
            let writes = writes.as_array_mut().unwrap();
            let stays = self.draw(|dice| dice.usize(1..=writes.len()));
            let rest = writes.split_off(stays);
            if !rest.is_empty() {
                left.insert(table.clone(), Value::Array(rest));
            }
        }
        (taken, Some(Value::Object(left)))
    }

    /// Splits a read batch by chance. Leaves the executed part in the request, and returns the unprocessed rest.
    pub(super) fn unread(&self, operation: &str, request: &mut Value) -> Option<Value> {
        let chance = self.faults().partial;
        if operation != "BatchGetItem" || !self.befalls("partial batch", chance) {
            return None;
        }
        let mut left = Map::new();
        for (table, wanted) in request["RequestItems"].as_object_mut().unwrap() {
            let keys = wanted["Keys"].as_array_mut().unwrap();
            let stays = self.draw(|dice| dice.usize(1..=keys.len()));
            let rest = keys.split_off(stays);
            if !rest.is_empty() {
                let mut unread = wanted.clone();
                unread["Keys"] = Value::Array(rest);
                left.insert(table.clone(), unread);
            }
        }
        Some(Value::Object(left))
    }
}
