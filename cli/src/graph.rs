//! The command `graph`: the items of an application, or around an item, with their references.

mod draw;

use crate::{
    api::{
        client::Api,
        kinds::{Kind, NAME_OF_ITEM},
        object,
    },
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::joined,
    },
    output::Output,
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Graphviz
    Dot,
    /// Mermaid, as in Markdown
    Mermaid,
    /// The graph of the API
    Json,
}

/// The graph of the API, by id.
struct Graph {
    nodes: BTreeMap<u64, Node>,
    /// The ids of the referenced items of each item, with the pointers of the references.
    edges: BTreeMap<u64, BTreeMap<u64, Vec<String>>>,
    /// Services with their dependent teams.
    dependents: Vec<Dependent>,
}

struct Node {
    name: String,
    service: String,
    owner: String,
    state: String,
}

struct Dependent {
    service: String,
    team: String,
}

/// Executes `graph`.
pub(crate) fn graph(api: &Api, command: &GraphCommand, out: &mut Output) -> Result<Done, Failure> {
    let value = read(api, &command.object)?;
    if out.json(&value)? {
        return Ok(Done::Success);
    }
    let graph = Graph::of(&value);
    let text = match command.format {
        Form::Tree => draw::tree(&graph),
        Form::Dot => draw::dot(&graph),
        Form::Mermaid => draw::mermaid(&graph),
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
    while let Some(path) = api.next(&graph.value, "/next") {
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

impl Graph {
    fn of(value: &Value) -> Self {
        let id = |value: &Value, pointer: &str| value.at(pointer).as_u64().unwrap_or_default();
        let node = |item: &Value| {
            let states = ["/runtime_state", "/change_state"].map(|pointer| item.text_at(pointer));
            let node = Node {
                name: joined(item, NAME_OF_ITEM),
                service: item.text_at("/service/name"),
                owner: item.text_at("/service_owner_team/name"),
                state: states.join(", "),
            };
            (id(item, "/id"), node)
        };
        let mut edges: BTreeMap<u64, BTreeMap<u64, Vec<String>>> = BTreeMap::new();
        for reference in value.list_at("/references") {
            let of_item = edges.entry(id(reference, "/from")).or_default();
            of_item.entry(id(reference, "/to")).or_default().push(reference.text_at("/pointer"));
        }
        let dependent = |one: &Value| Dependent {
            service: one.text_at("/service/name"),
            team: one.text_at("/team/name"),
        };
        Self {
            nodes: value.list_at("/service_items").iter().map(node).collect(),
            edges,
            dependents: value.list_at("/dependants").iter().map(dependent).collect(),
        }
    }

    /// Returns the items that an item references, in the order of their names.
    fn children(&self, id: u64) -> Vec<u64> {
        let mut children: Vec<u64> = self.edges.get(&id).into_iter().flatten().map(|(to, _)| *to).collect();
        children.retain(|id| self.nodes.contains_key(id));
        children.sort_by_key(|id| self.name(*id));
        children
    }

    fn name(&self, id: u64) -> &str {
        self.nodes.get(&id).map(|node| node.name.as_str()).unwrap_or_default()
    }

    /// Returns the ids in the order of the names: first the items without a reference to them.
    fn starts(&self) -> Vec<u64> {
        let referenced: BTreeSet<u64> = self.edges.values().flat_map(|to| to.keys().copied()).collect();
        let mut ids: Vec<u64> = self.nodes.keys().copied().collect();
        ids.sort_by_cached_key(|id| (referenced.contains(id), self.name(*id).to_owned()));
        ids
    }
}
