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

/// Returns the description of a property as a comment; nothing without one.
fn comment(property: &Value) -> String {
    let description = property.text_at("/description");
    description.lines().next().map(|line| format!("  # {}", plain(line))).unwrap_or_default()
}

/// Returns a first value of a property: its own example, or the simplest value of its type.
fn example(property: &Value) -> Value {
    let own = ["/const", "/default", "/examples/0", "/enum/0"].map(|pointer| property.at(pointer));
    if let Some(own) = own.into_iter().find(|value| !value.is_null()) {
        return own.clone();
    }
    let one_type = property.at("/type").as_str().or_else(|| property.at("/type/0").as_str());
    match one_type {
        Some("integer" | "number") => property.pointer("/minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("…"),
    }
}
