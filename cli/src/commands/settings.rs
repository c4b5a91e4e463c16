//! The command `settings`: the settings of a service or a team.

use crate::{
    api::{
        client::{Api, Call, ORCABASE, TEAMS},
        filter,
        kinds::Kind,
        object,
    },
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::Column,
    },
    output::{Format, Output},
};
use clap::Args;
use domain::base::suggest::did_you_mean;
use domain::catalog::service::SETTINGS;
use dovetail_terminal::plain;
use serde_json::{Map, Value, json};

/// The settings of a service, without the second spelling of the last one.
const OF_SERVICE: &[&str] = match SETTINGS.split_last() {
    Some((_, names)) => names,
    None => &[],
};
/// The settings that are lists. Their texts are separated by commas.
const LISTS: [&str; 3] = ["tags", "allowed_teams", "dependant_teams"];
/// The settings of a team.
const OF_TEAM: [&str; 1] = ["confirm_removals"];
const COLUMNS: [Column; 2] = [("SETTING", &["/setting"]), ("VALUE", &["/value"])];

/// Shows the settings of a service of your team, or changes them
#[derive(Args, Clone, Debug)]
pub(crate) struct Settings {
    /// Name or id of the service
    #[arg(value_name = "SERVICE", required_unless_present = "team")]
    service: Option<String>,
    /// Settings of your team, not of a service
    #[arg(long, conflicts_with = "service")]
    team: bool,
    /// New value as JSON or text, such as `approval_required=false` or `tags=linux,small`; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = filter::parse)]
    set: Vec<(String, String)>,
}

/// Executes `settings`.
pub(crate) fn settings(api: &Api, command: &Settings, out: &mut Output) -> Result<Done, Failure> {
    let names: &[&str] = if command.team { &OF_TEAM } else { OF_SERVICE };
    // Before any request: an unknown name changes nothing.
    let changes = changes(names, &command.set)?;
    let path = match &command.service {
        Some(service) => {
            let id = object::id_on(api, Kind::Services, &["serviceowner"], service)?;
            format!("{ORCABASE}/serviceowner/services/{id}/")
        }
        None => {
            let team = object::own_team(api)?.at("/id").clone();
            format!("{TEAMS}{team}/")
        }
    };
    let before = api.get(&path)?;
    if changes.is_empty() {
        return show(names, &before, out);
    }
    let body = Value::Object(changes);
    let after = api.send(&Call { method: "PATCH", path: &path, headers: &[], body: &body })?;
    if out.format == Format::Table {
        out.text(&differences(names, &before, &after))?;
        Ok(Done::Success)
    } else {
        show(names, &after, out)
    }
}

/// Returns the new values by the names of the settings.
fn changes(names: &[&str], set: &[(String, String)]) -> Result<Map<String, Value>, Failure> {
    let mut changes = Map::new();
    for (name, value) in set {
        if !names.contains(&name.as_str()) {
            let near = did_you_mean(name, names.iter().copied());
            return Err(Failure::Usage(format!("no setting has the name `{name}`{near}")));
        }
        changes.insert(name.clone(), parsed(name, value));
    }
    Ok(changes)
}

/// Returns a value as JSON. Any other text is a text, or the texts of a list.
fn parsed(name: &str, value: &str) -> Value {
    let is_list = LISTS.contains(&name);
    let json = serde_json::from_str::<Value>(value).ok().filter(|json| !is_list || json.is_array());
    json.unwrap_or_else(|| {
        if is_list {
            let texts = value.split(',').map(str::trim).filter(|text| !text.is_empty());
            // A team is an id or a name.
            texts.map(|text| text.parse::<u64>().map_or_else(|_| text.into(), Value::from)).collect()
        } else {
            value.into()
        }
    })
}

/// Prints the settings in an object.
fn show(names: &[&str], object: &Value, out: &mut Output) -> Result<Done, Failure> {
    let of = |name: &&str| ((*name).to_owned(), object.get(*name).cloned().unwrap_or_default());
    let settings: Map<String, Value> = names.iter().map(of).collect();
    if !out.json(&Value::Object(settings))? {
        let row = |name: &&str| json!({"setting": name, "value": shown(object.get(*name))});
        out.list(&names.iter().map(row).collect::<Vec<_>>(), &COLUMNS)?;
    }
    Ok(Done::Success)
}

/// Returns the changed settings, a line each.
fn differences(names: &[&str], before: &Value, after: &Value) -> String {
    let changed = names.iter().filter(|name| before.get(**name) != after.get(**name));
    let line = |name: &&str| {
        let [before, after] = [before, after].map(|object| shown(object.get(*name)));
        let [before, after] =
            [before, after].map(|text| if text.is_empty() { "(none)".to_owned() } else { plain(&text) });
        format!("  {name}: {before} -> {after}\n")
    };
    let warnings =
        after.list_at("/warnings").iter().map(|text| format!("Warning: {}\n", plain(&text.text_at(""))));
    let lines: String = changed.map(line).chain(warnings).collect();
    if lines.is_empty() { "No changes.\n".to_owned() } else { lines }
}

/// Returns a setting as text: a list with commas, a team by its name.
fn shown(value: Option<&Value>) -> String {
    let one = |one: &Value| if one.is_object() { one.text_at("/name") } else { one.text_at("") };
    match value {
        Some(Value::Array(values)) => values.iter().map(one).collect::<Vec<_>>().join(","),
        Some(value) => one(value),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_json_or_text() {
        for (name, text, expected) in [
            ("approval_required", "false", json!(false)),
            ("minimum_version", "2", json!(2)),
            ("minimum_version", "null", json!(null)),
            ("state", "IN_SERVICE", json!("IN_SERVICE")),
            ("tags", "linux, small", json!(["linux", "small"])),
            ("tags", "", json!([])),
            ("tags", r#"["a,b"]"#, json!(["a,b"])),
            ("allowed_teams", "4,Awesome", json!([4, "Awesome"])),
        ] {
            assert_eq!(parsed(name, text), expected, "{text}");
        }
    }
}
