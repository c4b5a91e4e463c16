//! A corruption of one row, and the parts of corruptions.

use serde_json::{Value, json};

/// A corruption of one row.
pub(crate) struct Corruption {
    /// Number of the violated invariant.
    pub(crate) rule: &'static str,
    /// Description of the row and its change, for messages.
    pub(crate) what: &'static str,
    /// Selects the possible rows. The first one is corrupted.
    pub(crate) to: fn(&Value) -> bool,
    pub(crate) how: How,
    /// Whether a repair can compute the value from other records.
    pub(crate) is_repairable: bool,
}

/// The change of a row.
pub(crate) enum How {
    /// Stores the edited row. An edit of the key adds a row.
    Stored(fn(&mut Value)),
    Removed,
}

/// Ids of the demo world: the consumer of the corrupted records, and the owner of VMs.
const TEAM: &str = "4";
pub(super) const VM_OWNER: &str = "1";

pub(super) fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name]["S"].as_str().unwrap_or_default()
}

/// Returns whether a row has this type, and belongs to the consumer if its type belongs to consumers.
pub(super) fn is(row: &Value, ty: &str) -> bool {
    let (_, team) = text(row, "pk").split_once('#').unwrap_or_default();
    text(row, "ty") == ty && (team == TEAM || ty.contains('_') || ty == "SERVICE")
}

pub(super) fn is_item(row: &Value, name: &str) -> bool {
    is(row, "ITEM") && text(row, "nm") == name
}

pub(super) fn is_change(row: &Value, name: &str, state: &str) -> bool {
    is(row, "CHANGE") && text(row, "nm") == name && text(row, "st") == state
}

/// Returns whether a row is a change instance of a dependent team.
pub(super) fn is_of_dependent(row: &Value) -> bool {
    is(row, "CHANGE") && text(row, "kd") == "DEPENDENT"
}

pub(super) fn number(row: &mut Value, pointer: &str, add: i64) {
    let value = row.pointer_mut(pointer).unwrap();
    *value = json!((value.as_str().unwrap().parse::<i64>().unwrap() + add).to_string());
}

pub(super) fn main_stack(row: &mut Value) -> &mut Value {
    &mut row["own"]["M"][VM_OWNER]["M"]
}

pub(super) const fn stored(
    rule: &'static str,
    what: &'static str,
    to: fn(&Value) -> bool,
    edit: fn(&mut Value),
) -> Corruption {
    Corruption { rule, what, to, how: How::Stored(edit), is_repairable: false }
}

pub(super) const fn removed(rule: &'static str, what: &'static str, to: fn(&Value) -> bool) -> Corruption {
    Corruption { rule, what, to, how: How::Removed, is_repairable: false }
}

pub(super) const fn repairable(planted: Corruption) -> Corruption {
    Corruption { is_repairable: true, ..planted }
}

/// A valid hash without a stored declaration.
pub(super) const HASH: &str = "C_R0iWNjUF5epeXWrOjr-xOnYKQJsftGfUKPxxb58oQ";
