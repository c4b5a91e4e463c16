//! Corruptions for the audit, at least one for each invariant. Each edits a row in the engine, without any fence.

mod course;
mod pointers;

use serde_json::{Value, json};

/// A corruption of one row.
pub(crate) struct Planted {
    /// Number of the violated invariant.
    pub(crate) rule: &'static str,
    /// Description of the row and its change, for messages.
    pub(crate) what: &'static str,
    /// Selects the possible rows. The first one is corrupted.
    pub(crate) to: fn(&Value) -> bool,
    pub(crate) how: How,
    /// Whether a repair can compute the value from other records.
    pub(crate) is_mended: bool,
}

/// The change of a row.
pub(crate) enum How {
    /// Stores the edited row. An edit of the key adds a row.
    Stored(fn(&mut Value)),
    Removed,
}

use How::{Removed, Stored};

/// Ids of the demo world: the consumer of the corrupted records, and the owner of VMs.
const TEAM: &str = "4";
const VM_OWNER: &str = "1";

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name]["S"].as_str().unwrap_or_default()
}

/// Returns whether a row has this type, and belongs to the consumer if its type belongs to consumers.
fn is(row: &Value, ty: &str) -> bool {
    let (_, team) = text(row, "pk").split_once('#').unwrap_or_default();
    text(row, "ty") == ty && (team == TEAM || ty.contains('_') || ty == "SERVICE")
}

fn is_item(row: &Value, name: &str) -> bool {
    is(row, "ITEM") && text(row, "nm") == name
}

fn is_change(row: &Value, name: &str, state: &str) -> bool {
    is(row, "CHANGE") && text(row, "nm") == name && text(row, "st") == state
}

/// Returns whether a row is a change instance of a dependent team.
fn is_of_dependent(row: &Value) -> bool {
    is(row, "CHANGE") && text(row, "kd") == "DEPENDENT"
}

fn number(row: &mut Value, pointer: &str, add: i64) {
    let value = row.pointer_mut(pointer).unwrap();
    *value = json!((value.as_str().unwrap().parse::<i64>().unwrap() + add).to_string());
}

fn main_stack(row: &mut Value) -> &mut Value {
    &mut row["own"]["M"][VM_OWNER]["M"]
}

const fn stored(
    rule: &'static str,
    what: &'static str,
    to: fn(&Value) -> bool,
    edit: fn(&mut Value),
) -> Planted {
    Planted { rule, what, to, how: Stored(edit), is_mended: false }
}

const fn removed(rule: &'static str, what: &'static str, to: fn(&Value) -> bool) -> Planted {
    Planted { rule, what, to, how: Removed, is_mended: false }
}

const fn mended(planted: Planted) -> Planted {
    Planted { is_mended: true, ..planted }
}

/// A valid hash without a stored declaration.
const HASH: &str = "C_R0iWNjUF5epeXWrOjr-xOnYKQJsftGfUKPxxb58oQ";

pub(crate) fn all() -> impl Iterator<Item = &'static Planted> {
    course::PLANTED.iter().chain(pointers::PLANTED)
}
