//! Lists of change instances. A half of a replacement has a type of its own in their tables.

use crate::{
    base::{
        failure::Failure,
        json::At as _,
        text::{Column, HALVES},
    },
    output::{Format, Output, plan::REPLACEMENT},
};
use serde_json::Value;

/// Prints change instances.
pub(crate) fn list<const N: usize>(
    changes: &[Value],
    shown: &[Column; N],
    out: &mut Output,
) -> Result<(), Failure> {
    // Other forms are those of the API.
    if out.format != Format::Table {
        return out.list(changes, shown);
    }
    out.list(&changes.iter().map(row).collect::<Vec<_>>(), shown)
}

/// Returns a change instance with the word for its half of a replacement as its type.
fn row(change: &Value) -> Value {
    let mut row = change.clone();
    if let (Some(half), Some(change_type)) = (half(change), row.pointer_mut("/change_type")) {
        *change_type = half.into();
    }
    row
}

/// Returns the word for a half of a replacement; none for another change instance.
fn half(change: &Value) -> Option<&'static str> {
    let [first, second] = HALVES;
    match change.text_at("/change_type").as_str() {
        "DELETE" if change.is_at(REPLACEMENT) => Some(first),
        "CREATE" if change.text_at("/kind") == "REPLACEMENT" => Some(second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_half_of_a_replacement_has_its_own_word() {
        for (change_type, kind, replacement, expected) in [
            ("DELETE", "DIRECT", true, "-/+ remove (1 of 2)"),
            ("CREATE", "REPLACEMENT", false, "-/+ create (2 of 2)"),
            ("DELETE", "DIRECT", false, "DELETE"),
            ("CREATE", "DIRECT", false, "CREATE"),
            ("MODIFY", "REFERENCED", false, "MODIFY"),
        ] {
            let change = json!({"change_type": change_type, "kind": kind, "replacement": replacement});
            assert_eq!(row(&change).text_at("/change_type"), expected);
        }
    }
}
