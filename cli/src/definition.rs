//! The commands `definition check`, which needs no server, and `publish`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use domain::{
    base::problem::Problem,
    catalog::schema::{self, DecisionForms},
    rules::verify::cases::{self, CaseResult},
};
use dovetail_terminal::plain;
use serde_json::{Value, json};

use crate::{
    api::client::{Api, Call, ORCABASE},
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::Column,
    },
    document::json,
    output::{Format, Output},
};

/// The columns of items that break a definition.
const BROKEN: [Column; 5] = [
    ("TEAM", &["/team"]),
    ("APPLICATION", &["/application"]),
    ("ITEM", &["/item"]),
    ("POINTER", &["/pointer"]),
    ("PROBLEM", &["/problem"]),
];

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

/// Publishes a service definition
///
/// It becomes a new service, or the next version of a service of your team.
#[derive(Args, Clone, Debug)]
pub(crate) struct Publish {
    /// The definition: a JSON Schema, as JSON or YAML
    #[arg(value_name = "FILE")]
    definition: PathBuf,
    /// Change nothing: list the stored items that would break the definition
    #[arg(long)]
    dry_run: bool,
}

/// Executes `publish`.
pub(crate) fn publish(api: &Api, command: &Publish, out: &mut Output) -> Result<Done, Failure> {
    let text = json::read(&command.definition)?;
    schema::publish(&text).map_err(|problems| invalid(&command.definition, &problems))?;
    let definition = serde_json::from_slice(&text).map_err(Failure::failed)?;
    let Stored { broken, checked } = Stored::checked(api, &definition)?;
    if command.dry_run {
        return dry_run(&broken, checked, out);
    }
    let path = format!("{ORCABASE}/serviceowner/services/");
    let service = api.send(&Call { method: "POST", path: &path, headers: &[], body: &definition })?;
    if out.json(&service)? {
        return Ok(Done::Success);
    }
    let file = command.definition.display();
    for warning in service.list_at("/warnings") {
        out.text(&format!("{file}: warning: {}\n", plain(warning.as_str().unwrap_or_default())))?;
    }
    let name = plain(&service.text_at("/name"));
    out.text(&format!("{name} has version {} of its definition.\n", service.at("/schema/version")))?;
    if !broken.is_empty() {
        let count = broken.len();
        let list = "list them with `--dry-run`";
        out.text(&format!("Problems of stored items with this version: {count} ({list}).\n"))?;
    }
    Ok(Done::Success)
}

/// The stored items of a service, compared with a definition.
struct Stored {
    /// The problems of these items, one row each.
    broken: Vec<Value>,
    /// The number of items.
    checked: u64,
}

impl Stored {
    /// Compares all stored items.
    fn checked(api: &Api, definition: &Value) -> Result<Self, Failure> {
        let mut next = Some(format!("{ORCABASE}/serviceowner/services/validate/?dry_run=true"));
        let (mut broken, mut checked) = (Vec::new(), 0);
        while let Some(path) = next {
            let page = api.send(&Call { method: "POST", path: &path, headers: &[], body: definition })?;
            for team in page.list_at("/dry_run/teams") {
                broken.extend(
                    team.list_at("/items").iter().flat_map(|item| problems(&team.text_at("/name"), item)),
                );
            }
            for item in page.list_at("/dry_run/deployed_items") {
                broken.extend(problems("(deployed item)", item));
            }
            checked += page.at("/dry_run/checked").as_u64().unwrap_or_default();
            next = api.next(&page, "/dry_run/next");
        }
        Ok(Self { broken, checked })
    }
}

/// Lists the stored items that break a definition.
fn dry_run(broken: &[Value], checked: u64, out: &mut Output) -> Result<Done, Failure> {
    out.list(broken, &BROKEN)?;
    if !broken.is_empty() {
        let message = format!("problems: {}, stored items: {checked}", broken.len());
        return Err(Failure::Problems(message));
    }
    if out.format == Format::Table {
        out.text(&format!("The definition fits all stored items: {checked}.\n"))?;
    }
    Ok(Done::Success)
}

/// Returns the problems of a stored item, one row each.
fn problems(team: &str, item: &Value) -> Vec<Value> {
    let row = |problem: &Value| {
        json!({
            "team": team,
            "application": item.at("/application/name"),
            "item": item.at("/name"),
            "pointer": problem.at("/pointer"),
            "problem": problem.at("/detail"),
        })
    };
    item.list_at("/problems").iter().map(row).collect()
}

/// Checks the definition and its cases, and prints the result.
pub(crate) fn run(settings: &Definition, out: &mut Output) -> Result<Done, Failure> {
    let Command::Check(check) = &settings.command;
    let definition = json::read(&check.definition)?;
    let file = check.definition.display();
    let schema = schema::publish(&definition).map_err(|problems| invalid(&check.definition, &problems))?;
    for warning in schema::warnings(&schema) {
        out.text(&format!("{file}: warning: {warning}\n"))?;
    }
    out.text(&format!("{file}: valid definition of service {}\n", schema.title))?;
    let Some(cases) = &check.cases else { return Ok(Done::Success) };
    let forms =
        DecisionForms::load(&schema.text).map_err(|problems| invalid(&check.definition, &problems))?;
    let results =
        cases::run(&json::read(cases)?, Some(&forms)).map_err(|problems| invalid(cases, &problems))?;
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

/// Returns the problems of a file, one line each.
fn invalid(file: &Path, problems: &[Problem]) -> Failure {
    let line = |Problem { pointer, rule, message, .. }: &Problem| {
        format!("\n{}: \"{}\": {message} ({rule})", file.display(), pointer.escape_debug())
    };
    let lines: String = problems.iter().map(line).collect();
    Failure::Problems(format!("the file is invalid{lines}"))
}
