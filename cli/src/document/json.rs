//! A file of JSON or YAML as JSON. A problem has its position in the text.

use crate::{
    base::{
        failure::Failure,
        location::{Located, Position},
        problem::Problem,
        text,
    },
    document::{file, yaml},
};
use domain::{base::problem::Problem as Broken, model::declaration::DEPTH_MAX};
use serde_json::Value;
use std::path::Path;

/// Reads a file. Returns JSON; that of a JSON file is as it was written.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let text = file::read(path)?;
    // Standard input has no name that says its form.
    let is_flow = text.trim_start().starts_with(['{', '[']);
    let is_yaml = is_yaml(path) || file::is_standard_input(path) && !is_flow;
    if is_yaml { Ok(value(path, &text)?.to_string().into()) } else { Ok(text.into()) }
}

/// Converts a text of JSON or YAML, by the name of its file.
pub(crate) fn value(path: &Path, text: &str) -> Result<Value, Failure> {
    if is_json(path) {
        return domain::base::json::parse(text.as_bytes(), DEPTH_MAX).map_err(|problems| {
            let located = |problem: &Broken| {
                let position = position_in_json(text, &problem.pointer);
                syntax(path, Some((position, text)), &problem.pointer, problem.message.clone())
            };
            Failure::Unreadable(problems.iter().map(located).collect())
        });
    }
    let node = yaml::parse(text)
        .map_err(|invalid| unreadable(path, Some((invalid.position, text)), invalid.message))?;
    Ok(node.value())
}

/// Returns the failure of a file that breaks rules, with a line for each problem.
pub(crate) fn invalid(file: &Path, problems: &[Broken]) -> Failure {
    Failure::Problems(format!("the file is invalid{}", lines(file, problems)))
}

/// Returns the problems of a file, each after a line end.
pub(crate) fn lines(file: &Path, problems: &[Broken]) -> String {
    let line = |Broken { pointer, rule, message, .. }: &Broken| {
        format!("\n{}: \"{}\": {message} ({rule})", file.display(), pointer.escape_debug())
    };
    problems.iter().map(line).collect()
}

/// Returns the position of a problem in a text that the reader of JSON refuses.
fn position_in_json(text: &str, pointer: &str) -> Position {
    match serde_json::from_str::<Value>(text) {
        Err(error) => Position { line: error.line(), column: error.column().max(1) },
        Ok(_) => match yaml::parse(text) {
            Ok(node) => node.position(&text::parts(pointer)),
            Err(invalid) => invalid.position,
        },
    }
}

/// Returns the failure of a file that is not YAML or JSON, or not a declaration.
pub(super) fn unreadable(path: &Path, place: Option<(Position, &str)>, message: String) -> Failure {
    Failure::Unreadable(vec![syntax(path, place, "", message)])
}

/// Returns a problem of a file, at a position of its text.
fn syntax(path: &Path, place: Option<(Position, &str)>, pointer: &str, detail: String) -> Located {
    let problem = Problem { pointer: pointer.to_owned(), rule: Problem::SYNTAX.to_owned(), detail };
    let (position, source) = place.map(|(position, text)| (position, text.to_owned())).unzip();
    Located { file: Some(path.to_owned()), position, problem, source }
}

/// Returns whether the name of a file says that it is YAML or JSON.
pub(crate) fn is_data(path: &Path) -> bool {
    is_yaml(path) || is_json(path)
}

/// Returns whether the name of a file says that it is YAML.
pub(crate) fn is_yaml(path: &Path) -> bool {
    has_extension(path, "yaml") || has_extension(path, "yml")
}

/// Returns whether the name of a file says that it is JSON.
pub(crate) fn is_json(path: &Path) -> bool {
    has_extension(path, "json")
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}
