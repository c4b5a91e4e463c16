//! The derived values of an item, as a response shows them (R70).

use crate::base::problem::Problem;
use serde_json::Value;
use std::collections::BTreeMap;

/// The derived values of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// The values by name of the property.
    pub values: BTreeMap<String, String>,
    /// The reasons for the absent values, with pointers into the document.
    pub problems: Vec<Problem>,
}

impl Derived {
    /// Returns a document with the derived values, and without stored values in their place.
    pub fn apply(&self, mut document: Value) -> Value {
        if let Some(members) = document.as_object_mut() {
            let absent = self.problems.iter().filter_map(|problem| problem.path.first());
            absent.for_each(|name| drop(members.remove(name)));
            let values = self.values.iter();
            members.extend(values.map(|(name, value)| (name.clone(), Value::String(value.clone()))));
        }
        document
    }
}
