//! The plan of two files: the changes that a submission would make, without a running system.

mod json;
mod table;

use std::{fs, path::Path};

use domain::views::compare::{Refused, compare};

use crate::{
    base::failure::Failure,
    document::json::lines,
    output::{Format, Output},
};

/// Prints the changes between two files, and returns whether there are any.
///
/// Both files are declarations, or both are lists of items: `{"items": {NAME: {...}}}`. The plan does not consider
/// - schemas of services and references: the submission may still be rejected;
/// - change instances for dependent teams, and for items that reference a modified item;
/// - that a change to an item that is not in service yet is a CREATE, not a MODIFY;
/// - rejected or failed change instances, and other submissions in the meantime.
pub(crate) fn run(old_file: &Path, new_file: &Path, out: &mut Output) -> Result<bool, Failure> {
    let old = fs::read(old_file).map_err(Failure::file(old_file))?;
    let new = fs::read(new_file).map_err(Failure::file(new_file))?;
    let differences = compare(&old, &new).map_err(|refused| problems(old_file, new_file, &refused))?;
    let mut printed = Vec::new();
    match out.format {
        Format::Table | Format::Name => table::print(&differences, out.width(), &mut printed),
        Format::Json | Format::Ndjson | Format::Yaml => json::print(&differences, &mut printed),
    }
    .map_err(Failure::failed)?;
    if out.converts() {
        let _is_json = out.json(&serde_json::from_slice(&printed).map_err(Failure::failed)?)?;
        return Ok(!differences.is_empty());
    }
    out.text(&String::from_utf8_lossy(&printed))?;
    Ok(!differences.is_empty())
}

/// Returns the problems of both files, one line each.
fn problems(old_file: &Path, new_file: &Path, refused: &Refused) -> Failure {
    let lines = lines(old_file, &refused.old) + &lines(new_file, &refused.new);
    Failure::Failed(format!("the files could not be compared{lines}"))
}
