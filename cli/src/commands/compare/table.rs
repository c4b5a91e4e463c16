//! Prints the plan as a table: a line for each item, and one for each changed field.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use domain::base::state::ChangeType;
use domain::views::compare::{Differences, Field};
use serde_json::Value;

use crate::base::colour;
use dovetail_terminal::{cell, coloured, columns_within};

const HEADINGS: [&str; 7] = ["CHANGE", "APPLICATION", "SERVICE", "ITEM", "FIELD", "OLD", "NEW"];

type Row<'a> = [Cow<'a, str>; HEADINGS.len()];

/// Prints the differences and their counts.
///
/// In a terminal of this width, long texts end with `…`.
pub(super) fn print(
    differences: &Differences<'_>,
    width: Option<u16>,
    out: &mut impl Write,
) -> io::Result<()> {
    if differences.is_empty() {
        return writeln!(out, "No changes.");
    }
    let is_uncut = HEADINGS.map(|heading| heading == "CHANGE");
    writeln!(out, "{}\n", columns_within(width, is_uncut, HEADINGS, rows(differences)))?;
    if !differences.metadata.is_empty() {
        writeln!(out, "Changed metadata causes no change instance.")?;
    }
    let count = |change_type| differences.count(change_type);
    writeln!(
        out,
        "Plan: {} to create, {} to modify, {} to delete, {} unchanged.",
        count(ChangeType::Create),
        count(ChangeType::Modify),
        count(ChangeType::Delete),
        differences.unchanged
    )
}

fn rows<'a>(differences: &'a Differences<'_>) -> impl Iterator<Item = Row<'a>> {
    let metadata = differences
        .metadata
        .iter()
        .flat_map(|change| fields(["METADATA", &change.application, "", ""], &change.fields));
    let items = differences.changes.iter().flat_map(|change| {
        let key = &change.key;
        fields([change.change_type.name(), &key.application, &key.service, &key.item], &change.fields)
    });
    metadata.chain(items)
}

/// Returns the lines of one change; only the first line names the item.
fn fields<'a>(what: [&'a str; 4], fields: &'a [Field]) -> impl Iterator<Item = Row<'a>> {
    let first = fields.first().map(cells).unwrap_or_default();
    let further = fields.iter().skip(1).map(|field| ([""; 4], cells(field)));
    std::iter::once((what, first)).chain(further).map(|(what, [field, old, new])| {
        let [change, application, service, item] = what.map(Cow::Borrowed);
        let change = Cow::Owned(coloured(&change, colour::of(&change)));
        [change, application, service, item, field, old, new]
    })
}

fn cells(field: &Field) -> [Cow<'static, str>; 3] {
    let value = |value: &Option<Value>| cell(&value.as_ref().map(Value::to_string).unwrap_or_default());
    [cell(&field.pointer), value(&field.old), value(&field.new)]
}
