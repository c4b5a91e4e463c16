//! Corruptions for the audit, at least one for each invariant. Each edits a row in the engine, without any fence.
//!
//! ```text
//! # A comment.
//! I2 ITEM nm=CoreVM4: a slot is empty
//!   remove /own/M/1/M/p
//! ```
//!
//! The first line has the violated invariant, the row and a description for messages. The row has a type or values of
//! text attributes, and the first such row is corrupted. `repairable` in front means that a repair can compute the
//! value from other records. An indented line is an edit; an edit of the key adds a row.
//!
//! | Edit | Meaning |
//! |---|---|
//! | `/st = {"S": "CLOSED"}` | sets the value at a path |
//! | `remove /own/M/1/M/p` | removes the value at a path |
//! | `add -1 to /n/N` | adds to the number at a path |
//! | `replace ITEM with GONE in /pk/S` | replaces a part of the text at a path |
//! | `remove the row` | is the only edit of its corruption |
//!
//! | Part of a value | Meaning |
//! |---|---|
//! | `</ver/M/dh>` | the value at a path of the row |
//! | `</id/N:16>` | the number at a path, with 16 digits |
//! | `<x*1025>` | a text of 1,025 letters |
//! | `<1..101>` | the numbers from 1 to 101 |

use serde_json::{Value, json};

/// Corruptions of states, histories, numbers, sums, work and charges.
pub(crate) const HISTORIES: &str = include_str!("planted/histories.txt");
/// Corruptions of versions, names, pointers, indexes, limits and formats, and of items of a verified service.
pub(crate) const POINTERS: &str = include_str!("planted/pointers.txt");

/// Corruptions of references between applications and teams.
pub(crate) const USES: &str = include_str!("planted/uses.txt");

/// The consumer of the corrupted records.
const CONSUMER: &str = "4";
/// Types of records that belong to no consumer, besides those with `_` in their names.
const SHARED: [&str; 4] = ["SERVICE", "SCHEMA", "MANDATORY", "MESSAGES"];

/// A corruption of one row.
pub(crate) struct Corruption {
    /// Number of the violated invariant.
    pub(crate) rule: &'static str,
    /// Description of the row and its change, for messages.
    pub(crate) what: &'static str,
    pub(crate) is_repairable: bool,
    /// Type and text attributes of the possible rows.
    row: &'static str,
    edits: Vec<&'static str>,
}

/// Returns the corruptions of a file.
pub(crate) fn corruptions(file: &'static str) -> Vec<Corruption> {
    let mut corruptions: Vec<Corruption> = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(edit) = line.strip_prefix("  ") {
            corruptions.last_mut().unwrap().edits.push(edit);
        } else {
            let repairable = line.strip_prefix("repairable ");
            let (subject, what) = repairable.unwrap_or(line).split_once(": ").unwrap();
            let (rule, row) = subject.split_once(' ').unwrap();
            let is_repairable = repairable.is_some();
            corruptions.push(Corruption { rule, what, is_repairable, row, edits: Vec::new() });
        }
    }
    corruptions
}

impl Corruption {
    /// Returns whether the corruption can be of this row. A consumer's record must be one of the corrupted consumer.
    pub(crate) fn is_of(&self, row: &Value) -> bool {
        let text = |name: &str| row[name]["S"].as_str().unwrap_or_default();
        let (_, team) = text("pk").split_once('#').unwrap_or_default();
        self.row.split(' ').all(|word| match word.split_once('=') {
            Some((name, value)) => text(name) == value,
            None => {
                let is_shared = word.contains('_') || SHARED.contains(&word);
                text("ty") == word && (is_shared || team == CONSUMER)
            }
        })
    }

    /// Returns the corrupt row. Returns `None` if the corruption removes it.
    pub(crate) fn corrupt(&self, row: &Value) -> Option<Value> {
        if self.edits == ["remove the row"] {
            return None;
        }
        let mut corrupt = row.clone();
        for line in &self.edits {
            edit(&mut corrupt, line);
        }
        assert_ne!(corrupt, *row, "{}: the edits change the row", self.what);
        Some(corrupt)
    }
}

fn edit(row: &mut Value, line: &str) {
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        [path, "=", ..] => {
            let (_, value) = line.split_once(" = ").unwrap();
            let value = value_of(value, row);
            *at(row, path) = value;
        }
        ["remove", path] => {
            let (parent, name) = path.rsplit_once('/').unwrap();
            let parent = at(row, parent);
            if let Some(list) = parent.as_array_mut() {
                list.remove(name.parse().unwrap());
            } else {
                parent.as_object_mut().unwrap().remove(name);
            }
        }
        ["add", number, "to", path] => {
            let sum =
                at(row, path).as_str().unwrap().parse::<i64>().unwrap() + number.parse::<i64>().unwrap();
            *at(row, path) = json!(sum.to_string());
        }
        ["replace", old, "with", new, "in", path] => {
            let text = at(row, path).as_str().unwrap().to_owned();
            assert!(text.contains(*old), "`{line}` changes the row: {text}");
            *at(row, path) = json!(text.replace(*old, new));
        }
        _ => panic!("`{line}` must be an edit"),
    }
}

/// Returns the value at a path. A missing member becomes null.
fn at<'a>(row: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('/').skip(1).fold(row, |value, name| {
        if value.is_array() { &mut value[name.parse::<usize>().unwrap()] } else { &mut value[name] }
    })
}

/// Parses a value. Its parts in `<` and `>` depend on the row.
fn value_of(text: &str, row: &Value) -> Value {
    let parts = text.split(['<', '>']).enumerate();
    let json: String =
        parts.map(|(n, part)| if n % 2 == 0 { part.to_owned() } else { expanded(part, row) }).collect();
    serde_json::from_str(&json).unwrap()
}

fn expanded(part: &str, row: &Value) -> String {
    let value = |path: &str| row.pointer(path).unwrap();
    if let Some(count) = part.strip_prefix("x*") {
        "x".repeat(count.parse().unwrap())
    } else if let Some(last) = part.strip_prefix("1..") {
        let numbers = (1..=last.parse::<u64>().unwrap()).map(|n| json!({"N": n.to_string()}).to_string());
        numbers.collect::<Vec<_>>().join(",")
    } else if let Some((path, digits)) = part.split_once(':') {
        let (number, digits) = (value(path).as_str().unwrap(), digits.parse::<usize>().unwrap());
        format!("{number:0>digits$}")
    } else {
        value(part).to_string()
    }
}
