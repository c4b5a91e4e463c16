//! Corruptions, at least one for each invariant: how the rows of a sound table are changed past every rule.

mod course;
mod pointers;

use serde_json::{Value, json};

/// A corruption.
pub(crate) struct Planted {
    /// The invariant that it breaks.
    pub(crate) rule: &'static str,
    /// What is done to which row.
    pub(crate) what: &'static str,
    /// The rows that it may be done to; it is done to the first one.
    pub(crate) to: fn(&Value) -> bool,
    /// How the row is changed.
    pub(crate) how: How,
    /// Whether it can be computed again.
    pub(crate) is_mended: bool,
}

/// How a row is changed.
pub(crate) enum How {
    /// It is stored so, under the same key or another one.
    Stored(fn(&mut Value)),
    /// It is removed.
    Removed,
}

use How::{Removed, Stored};

/// The consumer whose records are corrupted, and an owner of its change instances: the demo world's numbers.
const TEAM: &str = "4";
const VM_OWNER: &str = "1";

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name]["S"].as_str().unwrap_or_default()
}

/// Whether a row is of this type, and the consumer's if it is a consumer's.
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

/// Whether it is a dependent team's change instance.
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

/// Another hash than any that is stored.
const HASH: &str = "C_R0iWNjUF5epeXWrOjr-xOnYKQJsftGfUKPxxb58oQ";

/// All corruptions.
pub(crate) fn all() -> impl Iterator<Item = &'static Planted> {
    course::PLANTED.iter().chain(pointers::PLANTED)
}
