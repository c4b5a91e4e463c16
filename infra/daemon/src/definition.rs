//! The command `dovetail definition check`: checks a service definition and its cases, and needs no running system.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use domain::{
    base::problem::Problem,
    catalog::schema,
    rules::verify::cases::{self, CaseResult},
};

use crate::{
    error::{Error, printed},
    option::EXIT_CODES,
};

/// Works with service definitions
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = EXIT_CODES)]
pub struct Settings {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do with a definition.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    Check(Check),
}

/// Checks a definition as `POST .../services/validate/` does, and runs its cases
///
/// A case states what a declaration and an owner's item lead to:
///
///   {"id": "A1", "kind": "proposed", "prior": null, "declared": {...}, "expect": {"proposed": {...}}}
///   {"id": "B1", "kind": "filled", "base": {...}, "sent": {...}, "expect": {"filled": {...}}}
///   {"id": "C1", "kind": "holds", "prior": null, "declared": {...}, "item": {...}, "expect": {"problems": []}}
///   {"id": "D1", "kind": "agrees", "planned": {...}, "later": {...}, "expect": {"problems": []}}
///
/// A case may have another `schema`. An expected problem has `pointer` and `rule`.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(verbatim_doc_comment, after_help = EXIT_CODES)]
pub struct Check {
    /// The service definition
    #[arg(value_name = "FILE")]
    pub definition: PathBuf,
    /// A list of cases, or an object with the list in `cases`
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
}

/// Checks the definition and its cases, and prints the result.
pub fn run(settings: &Settings, out: &mut impl Write) -> Result<(), Error> {
    let Command::Check(check) = &settings.command;
    let definition = read(&check.definition)?;
    let file = check.definition.display();
    let schema = schema::publish(&definition)
        .map_err(|problems| Error::Definition(lines(&check.definition, &problems)))?;
    for warning in schema::warnings(&schema) {
        printed(writeln!(out, "{file}: warning: {warning}"))?;
    }
    printed(writeln!(out, "{file}: valid definition of service {}", schema.title))?;
    let Some(cases) = &check.cases else { return Ok(()) };
    let paths = schema::paths(&definition).ok();
    let results = cases::run(&read(cases)?, paths.as_ref());
    let results = results.map_err(|problems| Error::Definition(lines(cases, &problems)))?;
    let holding = results.iter().filter(|result| result.differences.is_empty()).count();
    printed(writeln!(out, "{}: {holding} of {} cases hold", cases.display(), results.len()))?;
    let differences = results.iter().flat_map(|CaseResult { id, differences }| {
        differences.iter().map(move |difference| format!("{}: {difference}", id.escape_debug()))
    });
    let differences: Vec<String> = differences.collect();
    if differences.is_empty() { Ok(()) } else { Err(Error::Cases(differences.join("\n"))) }
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    fs::read(file).map_err(Error::io(file.display().to_string()))
}

/// Returns the problems of a file, one line each.
fn lines(file: &Path, problems: &[Problem]) -> String {
    let line = |Problem { pointer, rule, message, .. }: &Problem| {
        format!("{}: \"{}\": {message} ({rule})", file.display(), pointer.escape_debug())
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}
