//! Prints the plan as one JSON object.

use std::io::{self, Write};

use domain::base::state::ChangeType;
use domain::views::compare::{Differences, Field, ItemChange, MetadataChange};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct Plan<'a> {
    changes: Vec<Change<'a>>,
    metadata: Vec<Metadata<'a>>,
    counts: Counts,
}

#[derive(Serialize)]
struct Change<'a> {
    change_type: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    application: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    service: &'a str,
    item: &'a str,
    fields: Vec<Difference<'a>>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    application: &'a str,
    fields: Vec<Difference<'a>>,
}

#[derive(Serialize)]
struct Difference<'a> {
    pointer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a Value>,
}

#[derive(Serialize)]
struct Counts {
    create: usize,
    modify: usize,
    delete: usize,
    metadata: usize,
    unchanged: usize,
}

/// Prints the differences as one line of JSON.
pub(super) fn print(differences: &Differences<'_>, out: &mut impl Write) -> io::Result<()> {
    let plan = Plan {
        changes: differences.changes.iter().map(change).collect(),
        metadata: differences.metadata.iter().map(metadata).collect(),
        counts: Counts {
            create: differences.count(ChangeType::Create),
            modify: differences.count(ChangeType::Modify),
            delete: differences.count(ChangeType::Delete),
            metadata: differences.metadata.len(),
            unchanged: differences.unchanged,
        },
    };
    serde_json::to_writer(&mut *out, &plan)?;
    writeln!(out)
}

fn change<'a>(change: &'a ItemChange<'_>) -> Change<'a> {
    Change {
        change_type: change.change_type.name(),
        application: &change.key.application,
        service: &change.key.service,
        item: &change.key.item,
        fields: change.fields.iter().map(difference).collect(),
    }
}

fn metadata<'a>(change: &'a MetadataChange<'_>) -> Metadata<'a> {
    Metadata { application: &change.application, fields: change.fields.iter().map(difference).collect() }
}

fn difference(field: &Field) -> Difference<'_> {
    Difference { pointer: &field.pointer, old: field.old.as_ref(), new: field.new.as_ref() }
}
