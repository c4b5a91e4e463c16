//! The command `pull`: the stored declaration, in the form of a submission.

use crate::{
    api::{
        client::{Api, ORCABASE},
        filter,
    },
    base::{
        failure::{Done, Failure},
        text::Column,
    },
    document::{
        directory::{self, File},
        write,
    },
    output::Output,
};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The columns of the written files.
const FILES: [Column; 2] = [("FILE", &["/file"]), ("RESULT", &["/result"])];

/// Writes the declaration of your team as files, to plan and apply
///
/// Until the next submission, the plan of the result has no changes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Pull {
    /// Only this application; may be repeated
    #[arg(long = "application", value_name = "NAME")]
    applications: Vec<String>,
    /// State at a time, such as `2026-01-31T12:00:00Z`, or after the submission with this id
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Write a file for each application into this directory; without it, print one document
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Replace files that declare something else
    #[arg(long, requires = "directory")]
    force: bool,
}

/// Executes `pull`.
pub(crate) fn pull(api: &Api, command: &Pull, out: &mut Output) -> Result<Done, Failure> {
    let declaration = declaration(api, command)?;
    if let Some(directory) = &command.directory {
        let files = directory::save(directory, &declaration, command.force)?;
        let row =
            |file: &File| json!({"file": file.path.display().to_string(), "result": file.outcome.name()});
        out.list(&files.iter().map(row).collect::<Vec<_>>(), &FILES)?;
    } else if !out.json(&declaration)? {
        out.text(&write::document(&declaration))?;
    }
    Ok(Done::Success)
}

/// Reads the declaration, page by page.
fn declaration(api: &Api, command: &Pull) -> Result<Value, Failure> {
    let names = &command.applications;
    let mut filters = Vec::new();
    // In a filter, a comma separates names.
    if !names.is_empty() && !names.iter().any(|name| name.contains(',')) {
        filters.push(("application_name".to_owned(), names.join(",")));
    }
    filters.extend(command.as_of.iter().map(|time| ("as_of".to_owned(), time.clone())));
    let mut whole = Value::Object(Map::new());
    api.pages(format!("{ORCABASE}/consumer/declaration/{}", filter::query(&filters)), |mut page| {
        merge(&mut whole, page.pointer_mut("/declaration").map(Value::take).unwrap_or_default());
    })?;
    choose(&mut whole, names)?;
    Ok(whole)
}

/// Adds a page: members of objects are merged, and elements of lists follow those of earlier pages.
fn merge(whole: &mut Value, page: Value) {
    // TEAM, APPLICATION, `services`, SERVICE: deeper values are complete on their page.
    fn below(whole: &mut Value, page: Value, levels: usize) {
        match (whole, page) {
            (Value::Object(whole), Value::Object(page)) if levels > 0 => {
                for (name, value) in page {
                    let is_metadata = name == "metadata" && (2..4).contains(&levels);
                    match whole.get_mut(&name) {
                        Some(known) if !is_metadata => below(known, value, levels - 1),
                        _ => drop(whole.insert(name, value)),
                    }
                }
            }
            (Value::Array(whole), Value::Array(page)) => whole.extend(page),
            (whole, page) => *whole = page,
        }
    }
    below(whole, page, 4);
}

/// Keeps the chosen applications; all without a choice.
fn choose(declaration: &mut Value, names: &[String]) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    let Some(team) = declaration.as_object_mut().and_then(|teams| teams.values_mut().next()) else {
        return Ok(());
    };
    if let Some(missing) = names.iter().find(|name| team.get(name.as_str()).is_none()) {
        return Err(Failure::Failed(format!("the team declares no application `{missing}`")));
    }
    if let Value::Object(applications) = team {
        // Metadata of the team belong to no application.
        applications.retain(|name, _| names.contains(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_one_declaration() {
        let mut whole = json!({});
        for page in [
            json!({"T": {"metadata": {"a": 1}, "A": {"metadata": {"b": [1]}, "services": {"VM": [{"name": "1", "x": [1]}]}}}}),
            json!({"T": {"metadata": {"a": 1}, "A": {"metadata": {"b": [1]}, "services": {"VM": [{"name": "2"}], "LB": [{"name": "3"}]}}}}),
            json!({"T": {"metadata": {"a": 1}, "B": {"metadata": {}, "services": {"VM": [{"name": "1"}]}}}}),
        ] {
            merge(&mut whole, page);
        }
        let expected = json!({"T": {"metadata": {"a": 1},
            "A": {"metadata": {"b": [1]}, "services": {
                "VM": [{"name": "1", "x": [1]}, {"name": "2"}], "LB": [{"name": "3"}]}},
            "B": {"metadata": {}, "services": {"VM": [{"name": "1"}]}}}});
        assert_eq!(whole, expected);
        choose(&mut whole, &["B".to_owned()]).unwrap();
        assert_eq!(whole, json!({"T": {"B": {"metadata": {}, "services": {"VM": [{"name": "1"}]}}}}));
        assert!(choose(&mut whole, &["C".to_owned()]).is_err());
    }
}
