//! The command `graph`: the items of an application, or around an item, with their references.

use crate::{
    api::{client::Api, kinds::Kind, object},
    base::{
        failure::{Done, Failure},
        json::At as _,
    },
    output::{Output, graph::Graph},
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The lists of a graph. Its pages continue all of them.
const LISTS: [&str; 3] = ["service_items", "references", "dependants"];

/// Draws the items of an application, or around an item, with their references
///
/// An item is above the items that it references. `(*)` marks an item whose references are shown before, and `(cycle)`
/// one that is also above itself.
#[derive(Args, Clone, Debug)]
pub(crate) struct GraphCommand {
    /// An application, or an item as APPLICATION/SERVICE/ITEM; by name or id
    #[arg(value_name = "APPLICATION|ITEM")]
    object: String,
    /// Form of the graph
    #[arg(long, value_enum, default_value = "tree")]
    format: Form,
}

/// The form of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A tree of text
    Tree,
    /// Items in waves: each one after those that it references
    Waves,
    /// Graphviz
    Dot,
    /// Mermaid, as in Markdown
    Mermaid,
    /// The graph of the API
    Json,
}

/// Executes `graph`.
pub(crate) fn graph(api: &Api, command: &GraphCommand, out: &mut Output) -> Result<Done, Failure> {
    let value = read(api, &command.object)?;
    if out.json(&value)? {
        return Ok(Done::Success);
    }
    let graph = Graph::of(&value);
    let text = match command.format {
        Form::Tree => graph.tree(),
        Form::Waves => graph.waves(),
        Form::Dot => graph.dot(),
        Form::Mermaid => graph.mermaid(),
        Form::Json => format!("{value:#}\n"),
    };
    out.text(&text)?;
    Ok(Done::Success)
}

/// Reads all pages of the graph of an application or an item.
fn read(api: &Api, text: &str) -> Result<Value, Failure> {
    let kind = if text.contains('/') { Kind::Items } else { Kind::Applications };
    let id = object::id(api, kind, text)?;
    let page = |kind: Kind| object::either_side(api, kind.sides(), &format!("{}/{id}/graph/", kind.path()));
    // An id without a name may be that of an item.
    let mut graph = match page(kind) {
        Err(Failure::Failed(_)) if kind == Kind::Applications => page(Kind::Items)?,
        result => result?,
    };
    while let Some(path) = api.next_page(&graph.value, "/next") {
        add(&mut graph.value, &api.get(&path)?);
    }
    Ok(graph.value)
}

/// Adds a page. Each object occurs once.
fn add(graph: &mut Value, page: &Value) {
    for name in LISTS {
        if let Some(Value::Array(all)) = graph.get_mut(name) {
            let known: BTreeSet<String> = all.iter().map(Value::to_string).collect();
            let page = page.list_at(&format!("/{name}")).iter();
            all.extend(page.filter(|one| !known.contains(&one.to_string())).cloned());
        }
    }
    if let Some(next) = graph.get_mut("next") {
        *next = page.get("next").cloned().unwrap_or(json!(null));
    }
}
