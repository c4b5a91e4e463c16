//! The command `publish`: a new version of a service definition.

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
use clap::Args;
use domain::catalog::schema;
use dovetail_terminal::plain;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The columns of items that break a definition.
const BROKEN: [Column; 5] = [
    ("TEAM", &["/team"]),
    ("APPLICATION", &["/application"]),
    ("ITEM", &["/item"]),
    ("POINTER", &["/pointer"]),
    ("PROBLEM", &["/problem"]),
];

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
    // Only the system has the definitions whose parts a definition with blocks names.
    if schema::named_definitions(&text).is_empty() {
        schema::publish(&text).map_err(|problems| json::invalid(&command.definition, &problems))?;
    }
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
            next = api.next_page(&page, "/dry_run/next");
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
