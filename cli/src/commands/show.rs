//! The command `show`: one object, for people. `get` has the same object as JSON.

use crate::{
    api::{
        client::{Api, ORCABASE},
        kinds::{ITEM, Kind, NAME_OF_ITEM},
        object::{self, Found},
    },
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::joined,
    },
    output::{Format, Output, sections::Sections},
};
use clap::Args;
use serde_json::{Map, Value, json};

/// Maximum number of related objects.
const RELATED_MAX: usize = 100;
/// The states of changes without a final result.
const OPEN: &str = "PENDING,APPROVED,REJECTED,ERRORED";

/// Shows one object with its details
///
/// An item has its declaration, its deployed item, derived values, drift and open changes. `get` prints the object of
/// the API.
#[derive(Args, Clone, Debug)]
pub(crate) struct Show {
    /// What to show
    #[arg(value_enum)]
    kind: Kind,
    /// Its id, or its name: APPLICATION/SERVICE/ITEM of an item or its newest change
    #[arg(value_name = "ID_OR_NAME")]
    object: String,
    /// State at a time, such as `2026-01-31T12:00:00Z`, or after the submission with this id
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
}

/// Executes `show`.
pub(crate) fn show(api: &Api, command: &Show, out: &mut Output) -> Result<Done, Failure> {
    let Show { kind, object, as_of } = command;
    let Found { side, mut value } = object::read(api, *kind, object, as_of.as_deref())?;
    if out.format == Format::Name {
        out.text(&format!("{}\n", value.at("/id")))?;
        return Ok(Done::Success);
    }
    // What is open now says nothing about an earlier time.
    if as_of.is_none() {
        let more = related(api, *kind, side, &value.text_at("/id"))?;
        if let Value::Object(members) = &mut value {
            members.extend(more);
        }
    }
    if !out.json(&value)? {
        out.text(&text(*kind, &value, as_of.as_deref()))?;
    }
    Ok(Done::Success)
}

/// Reads the related objects, by the name of their member in the output.
fn related(api: &Api, kind: Kind, side: &str, id: &str) -> Result<Map<String, Value>, Failure> {
    let changes = |filter: &str| {
        ("open_changes", format!("{ORCABASE}/{side}/change_instances/?{filter}={id}&state={OPEN}"))
    };
    let lists = match kind {
        Kind::Items => vec![changes("service_item_id")],
        Kind::Applications => vec![
            ("service_items", format!("{ORCABASE}/{side}/service_items/?application_id={id}&gone=false")),
            changes("application_id"),
        ],
        Kind::Changes => vec![("history", format!("{ORCABASE}/{side}/change_instances/{id}/history/"))],
        Kind::Services | Kind::Submissions => Vec::new(),
    };
    let read =
        |(name, path): (&str, String)| Ok((name.to_owned(), Value::from(api.list(&path, RELATED_MAX)?)));
    lists.into_iter().map(read).collect()
}

fn text(kind: Kind, value: &Value, as_of: Option<&str>) -> String {
    let name = match kind {
        Kind::Items => joined(value, NAME_OF_ITEM),
        Kind::Changes => joined(value, ITEM),
        Kind::Applications | Kind::Services => value.text_at("/name"),
        Kind::Submissions => String::new(),
    };
    let mut sections = Sections::new(kind.word(), &name, &value.text_at("/id"));
    sections.field("As of", as_of.unwrap_or_default());
    match kind {
        Kind::Items => item(&mut sections, value),
        Kind::Changes => change(&mut sections, value),
        Kind::Applications => application(&mut sections, value),
        Kind::Services => service(&mut sections, value),
        Kind::Submissions => submission(&mut sections, value),
    }
    sections.finish()
}

fn item(sections: &mut Sections, value: &Value) {
    let gone = if value.is_at("/gone") { "gone" } else { "" };
    sections.fields(
        value,
        &[
            ("State", &["/runtime_state", "/change_state"]),
            ("Owner", &["/service_owner_team/name"]),
            ("Consumer", &["/consumer_team/name"]),
            ("Health", &["/healthcheck_status", "/healthcheck_reason", "/healthcheck_at"]),
            ("Created", &["/created"]),
            ("Modified", &["/modified"]),
        ],
    );
    sections.field("Removal", gone);
    let uses = match value.at("/uses").as_u64() {
        None => String::new(),
        Some(1) => "1 item of another application or team".to_owned(),
        Some(count) => format!("{count} items of other applications or teams"),
    };
    sections.field("In use by", &uses);
    sections.document(&versioned("Declaration", value.at("/declaration_version")), value.at("/declaration"));
    let deployed = value.at("/deployed_item");
    sections.document(&versioned("Deployed item", deployed.at("/version")), deployed.at("/data"));
    // The declaration and the deployed item have no derived values.
    if value.get("document_problems").is_some() {
        sections.document("Document", value.at("/document"));
    }
    sections.lines("Absent derived values", value.list_at("/document_problems"), |problem| {
        format!("{}: {}", problem.text_at("/pointer"), problem.text_at("/detail"))
    });
    references(sections, value);
    if value.is_at("/is_drifted") {
        let since = value.text_at("/drift/since");
        sections.differences(&format!("Drift since {since}"), value.list_at("/drift/differences"));
    }
    sections.changes("Open changes", value.list_at("/open_changes"));
}

/// Adds the references, and the values that the owners of the referenced items show.
fn references(sections: &mut Sections, value: &Value) {
    let references = value.list_at("/references");
    sections.lines("References", references, reference);
    for reference in references {
        let name = reference.text_at("/name");
        let deployed = reference.at("/deployed_item");
        let title = versioned(&format!("Deployed item of '{name}'"), deployed.at("/version"));
        sections.document(&title, deployed.at("/data"));
        sections.document(&format!("Document of '{name}'"), reference.at("/document"));
    }
}

/// Returns the line of a reference: its pointer, and the item with its states.
fn reference(reference: &Value) -> String {
    let place = reference.text_at("/pointer");
    let [team, application, service, name] =
        ["/team", "/application", "/service", "/name"].map(|member| reference.text_at(member));
    if name.is_empty() {
        return format!("{place}: item {} is gone", reference.text_at("/service_item"));
    }
    let declared = match (reference.is_at("/declared"), reference.is_at("/in_place")) {
        (false, _) => ", not declared any more",
        (true, false) => ", not in place yet",
        (true, true) => "",
    };
    let [runtime, change] = ["/runtime_state", "/change_state"].map(|member| reference.text_at(member));
    format!("{place}: {team}/{application} {service} '{name}'  {runtime}, {change}{declared}")
}

/// Returns the line of something that has to happen first: the item, its owner, and since when it has the work.
fn wait(wait: &Value) -> String {
    let [service, name, owner, state, since] =
        ["/service", "/name", "/owner/name", "/change_state", "/since"].map(|member| wait.text_at(member));
    let since = if since.is_empty() { since } else { format!(" since {since}") };
    format!("{service} '{name}' of {owner}  {state}{since}")
}

/// Returns the line of a change that a REFERENCED one follows: the item, and the pointers that differ.
fn cause(cause: &Value) -> String {
    let [service, name, id] = ["/service", "/name", "/change_instance"].map(|member| cause.text_at(member));
    let pointers: Vec<String> =
        cause.list_at("/pointers").iter().map(|pointer| pointer.text_at("")).collect();
    format!("{service} '{name}' at {}  ({id})", pointers.join(", "))
}

fn change(sections: &mut Sections, value: &Value) {
    sections.fields(
        value,
        &[
            ("Type", &["/change_type", "/kind"]),
            ("State", &["/state"]),
            ("Attempt", &["/attempt"]),
            ("Owner", &["/owner/name"]),
            ("Consumer", &["/consumer_team/name"]),
            ("Submission", &["/submission/id", "/submission/commit_id", "/submission/message"]),
            ("Log", &["/log"]),
            ("Created", &["/created"]),
        ],
    );
    let [old, new] = ["/old_declaration", "/new_declaration"].map(|side| value.at(side).at("/declaration"));
    if old.is_null() || new.is_null() {
        sections.document("Declaration", if new.is_null() { old } else { new });
    } else {
        sections.differences("Differences", &differences(old, new));
    }
    sections.lines("Waits for", value.list_at("/waits_for"), wait);
    let causes = value.list_at("/causes");
    let title = match value.at("/causes_count").as_u64() {
        Some(all) if usize::try_from(all).is_ok_and(|all| all > causes.len()) => {
            format!("Follows {all} changes, among them those of")
        }
        Some(_) | None => "Follows the changes of".to_owned(),
    };
    sections.lines(&title, causes, cause);
    references(sections, value);
    sections.document("Proposed item", value.at("/proposed_item"));
    sections.lines("Filled by the owner", value.list_at("/unknown"), |pointer| pointer.text_at(""));
    sections.lines("History", value.list_at("/history"), |entry| {
        let texts =
            ["/modified", "/state", "/changed_by", "/log", "/message"].map(|name| entry.text_at(name));
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("  ")
    });
}

/// Returns the changed fields between two declarations, in the form of a preview.
fn differences(old: &Value, new: &Value) -> Vec<Value> {
    let [old, new] = [old, new].map(|item| json!({"items": {"item": item}}).to_string());
    let Ok(found) = domain::views::compare::compare(old.as_bytes(), new.as_bytes()) else {
        return Vec::new();
    };
    let field = |field: &domain::views::compare::Field| {
        let sides = [("old", &field.old), ("new", &field.new)];
        let sides = sides.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
        sides.chain([("pointer".to_owned(), field.pointer.as_str().into())]).collect()
    };
    found.changes.iter().flat_map(|change| change.fields.iter().map(field)).collect()
}

fn application(sections: &mut Sections, value: &Value) {
    sections.fields(
        value,
        &[
            ("State", &["/state"]),
            ("Team", &["/owner/name"]),
            ("Created", &["/created"]),
            ("Modified", &["/modified"]),
        ],
    );
    sections.document("Metadata", value.at("/metadata"));
    sections.lines("Items", value.list_at("/service_items"), |item| {
        let [id, runtime, changes] =
            ["/id", "/runtime_state", "/change_state"].map(|name| item.text_at(name));
        format!("{id}  {}/{}  {runtime}, {changes}", item.text_at("/service/name"), item.text_at("/name"))
    });
    sections.changes("Open changes", value.list_at("/open_changes"));
}

fn service(sections: &mut Sections, value: &Value) {
    let names = |pointer: &str| {
        let one = |one: &Value| if one.is_string() { one.text_at("") } else { one.text_at("/name") };
        value.list_at(pointer).iter().map(one).collect::<Vec<_>>().join(", ")
    };
    sections.fields(value, &[("Owner", &["/owner/name"]), ("State", &["/state"])]);
    sections.field("Approval", if value.is_at("/approval_required") { "required" } else { "not required" });
    sections.fields(value, &[("Version", &["/schema/version"]), ("Minimum version", &["/minimum_version"])]);
    sections.field("Tags", &names("/tags"));
    sections.field("Allowed teams", &names("/allowed_teams"));
    sections.field("Dependent teams", &names("/dependant_teams"));
    sections.field("Documentation", if value.is_at("/has_md") { "`dovetail docs`" } else { "" });
    let schema = value.at("/schema/schema");
    sections.field("Description", &schema.text_at("/description"));
    let required = schema.list_at("/required");
    let property = |(name, property): (&String, &Value)| {
        let is_required = required.iter().any(|required| required == name);
        let sign = if is_required { " (required)" } else { "" };
        let description = property.text_at("/description");
        let colon = if description.is_empty() { "" } else { ": " };
        Value::from(format!("{name}  {}{sign}{colon}{description}", property.text_at("/type")))
    };
    let properties: Vec<Value> =
        schema.at("/properties").as_object().into_iter().flatten().map(property).collect();
    sections.lines("Properties", &properties, |line| line.text_at(""));
}

fn submission(sections: &mut Sections, value: &Value) {
    sections.fields(
        value,
        &[
            ("State", &["/outcome"]),
            ("Open", &["/counts/open"]),
            ("Completed", &["/counts/completed"]),
            ("Closed", &["/counts/closed"]),
            ("Failed", &["/counts/failed"]),
            ("Team", &["/team/name"]),
            ("By", &["/submitted_by"]),
            ("Commit", &["/commit_id"]),
            ("Message", &["/message"]),
            ("Created", &["/created"]),
        ],
    );
    sections.changes("Changes", value.list_at("/change_instances"));
}

fn versioned(title: &str, version: &Value) -> String {
    if version.is_null() { title.to_owned() } else { format!("{title}, version {version}") }
}
