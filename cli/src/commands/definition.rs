//! The command `definition check`, which needs no server.

use crate::{
    base::failure::{Done, Failure},
    document::json,
    output::Output,
};
use clap::{Args, Subcommand};
use domain::{
    catalog::schema::{self, DecisionForms},
    rules::verify::cases::{self, CaseResult},
};
use std::path::PathBuf;

/// Works with service definitions
#[derive(Args, Clone, Debug)]
pub(crate) struct Definition {
    #[command(subcommand)]
    command: Command,
}

/// What to do with a definition.
#[derive(Clone, Debug, Subcommand)]
enum Command {
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
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
struct Check {
    /// The service definition: a JSON Schema, as JSON or YAML
    #[arg(value_name = "FILE")]
    definition: PathBuf,
    /// A list of cases, or an object with the list in `cases`
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
}

/// Executes `definition`: checks the definition and its cases.
pub(crate) fn definition(settings: &Definition, out: &mut Output) -> Result<Done, Failure> {
    let Command::Check(check) = &settings.command;
    let definition = json::read(&check.definition)?;
    let file = check.definition.display();
    if !schema::named_definitions(&definition).is_empty() {
        return Err(Failure::failed(format!(
            "{file} copies parts of other definitions, so only a system can check it: dovetail publish --dry-run {file}"
        )));
    }
    let schema =
        schema::publish(&definition).map_err(|problems| json::invalid(&check.definition, &problems))?;
    for warning in schema::warnings(&schema) {
        out.text(&format!("{file}: warning: {warning}\n"))?;
    }
    out.text(&format!("{file}: valid definition of service {}\n", schema.title))?;
    let Some(cases) = &check.cases else { return Ok(Done::Success) };
    let forms =
        DecisionForms::load(&schema.text).map_err(|problems| json::invalid(&check.definition, &problems))?;
    let results =
        cases::run(&json::read(cases)?, Some(&forms)).map_err(|problems| json::invalid(cases, &problems))?;
    let holding = results.iter().filter(|result| result.differences.is_empty()).count();
    out.text(&format!("{}: {holding} of {} cases hold\n", cases.display(), results.len()))?;
    let differences = results.iter().flat_map(|CaseResult { id, differences }| {
        differences.iter().map(move |difference| format!("\n{}: {difference}", id.escape_debug()))
    });
    let differences: String = differences.collect();
    if differences.is_empty() {
        Ok(Done::Success)
    } else {
        Err(Failure::Failed(format!("cases differ{differences}")))
    }
}
