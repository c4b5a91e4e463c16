//! The command `init`: a first application, from the definition of a service.

use crate::{
    api::{client::Api, object},
    base::{
        failure::{Done, Failure},
        json::At as _,
    },
    document::write,
    output::Output,
};
use clap::Args;
use dovetail_terminal::plain;
use serde_json::{Value, json};

/// Writes a first application with an item of a service
///
/// The text is YAML. Required properties have a first value; optional ones are comments.
#[derive(Args, Clone, Debug)]
pub(crate) struct Init {
    /// Name of the service
    #[arg(value_name = "SERVICE")]
    service: String,
    /// Name of the application
    #[arg(long, value_name = "NAME", default_value = "MyApplication")]
    application: String,
    /// Name of the item
    #[arg(long, value_name = "NAME", default_value = "first")]
    item: String,
}

/// Executes `init`.
pub(crate) fn init(api: &Api, command: &Init, out: &mut Output) -> Result<Done, Failure> {
    let schema = object::definition(api, &command.service)?;
    let [application, service, item] =
        [&command.application, &command.service, &command.item].map(|name| write::text(name));
    let required = schema.list_at("/required");
    let line = |(name, property): (&String, &Value)| {
        let is_required = required.iter().any(|required| required == name) && !property.is_at("/x-computed");
        let sign = if is_required { "" } else { "# " };
        format!(
            "        {sign}{}: {}{}\n",
            write::text(name),
            write::inline(&example(property)),
            comment(property)
        )
    };
    let properties = schema.at("/properties").as_object().into_iter().flatten();
    // The service owner fills properties that are read-only.
    let declared = properties.filter(|(name, property)| *name != "name" && !property.is_at("/readOnly"));
    let lines: String = declared.map(line).collect();
    out.text(&format!("{application}:\n  services:\n    {service}:\n      - name: {item}\n{lines}"))?;
    Ok(Done::Success)
}

/// Maximum nesting of a first value.
const DEPTH_MAX: usize = 4;

/// Returns the description of a property and the forms of its references as a comment; nothing without both.
fn comment(property: &Value) -> String {
    let description = property.text_at("/description").lines().next().map(plain);
    let texts: Vec<String> = description.into_iter().chain(references(property, DEPTH_MAX)).collect();
    if texts.is_empty() { String::new() } else { format!("  # {}", texts.join("; ")) }
}

/// Returns how the references in a property name their items, each service once.
fn references(property: &Value, depth: usize) -> Vec<String> {
    let service = plain(&property.text_at("/service_reference"));
    let mut found = match property.text_at("/format").as_str() {
        "reference" | "reference_list" => vec![forms(&service, &property.text_at("/x-reach"))],
        _ => Vec::new(),
    };
    if depth > 0 {
        let members = property.at("/properties").as_object().into_iter().flatten().map(|(_, member)| member);
        let below = members.chain(Some(property.at("/items")));
        found.extend(below.flat_map(|below| references(below, depth - 1)));
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the forms of the name in a reference, by its reach.
fn forms(service: &str, reach: &str) -> String {
    let elsewhere = match reach {
        "team" => ", or {application: …, name: …}",
        "granted" => ", or {application: …, name: …}, or {service_item: ID}",
        _ => "",
    };
    format!("name of a {service}{elsewhere}")
}

/// Returns a first value of a property: its own example, or the simplest value of its type.
fn example(property: &Value) -> Value {
    first_value(property, DEPTH_MAX)
}

fn first_value(property: &Value, depth: usize) -> Value {
    let own = ["/const", "/default", "/examples/0", "/enum/0"].map(|pointer| property.at(pointer));
    if let Some(own) = own.into_iter().find(|value| !value.is_null()) {
        return own.clone();
    }
    let one_type = property.at("/type").as_str().or_else(|| property.at("/type/0").as_str());
    match one_type {
        Some("integer" | "number") => property.pointer("/minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(false),
        Some("array") => {
            match property.pointer("/items").filter(|items| depth > 0 && items.get("properties").is_some()) {
                Some(items) => json!([first_value(items, depth - 1)]),
                None => json!([]),
            }
        }
        // The name of the item is the simplest form of a reference.
        Some("object") if property.get("service_reference").is_some() => json!("…"),
        Some("object") if depth > 0 => members(property, depth - 1),
        Some("object") => json!({}),
        _ => json!("…"),
    }
}

/// Returns an object with its required members, and with its references.
fn members(property: &Value, depth: usize) -> Value {
    let required = property.list_at("/required");
    let is_shown = |(name, member): &(&String, &Value)| {
        let is_declared = !member.is_at("/readOnly") && !member.is_at("/x-computed");
        is_declared && (required.iter().any(|one| one == *name) || !references(member, depth).is_empty())
    };
    let all = property.at("/properties").as_object().into_iter().flatten();
    all.filter(is_shown).map(|(name, member)| (name.clone(), first_value(member, depth))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_item_shows_the_forms_of_its_references() {
        let reference = |reach: &str| json!({"type": ["string", "object"], "format": "reference", "service_reference": "Port", "x-reach": reach});
        let ends = json!({"type": "array", "items": {"type": "object", "required": ["vlan"], "properties": {
            "port": reference("granted"), "vlan": {"type": "integer"}, "note": {"type": "string"},
            "number": {"type": "integer", "readOnly": true}}}});
        assert_eq!(example(&ends), json!([{"port": "…", "vlan": 1}]));
        assert_eq!(comment(&ends), "  # name of a Port, or {application: …, name: …}, or {service_item: ID}");
        assert_eq!(
            (example(&reference("team")), comment(&reference("team"))),
            (json!("…"), "  # name of a Port, or {application: …, name: …}".to_owned())
        );
        let list = json!({"type": "array", "format": "reference_list", "service_reference": "VM", "description": "Hosts"});
        assert_eq!((example(&list), comment(&list)), (json!([]), "  # Hosts; name of a VM".to_owned()));
    }
}
