//! The graph of the API, and its forms. Names come from other teams, so each form escapes them.

use crate::{
    api::kinds::NAME_OF_ITEM,
    base::{json::At as _, text::joined},
};
use dovetail_terminal::plain;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The graph of the API, by id.
pub(crate) struct Graph {
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

/// The place of an item in the waves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    wave: usize,
    /// The referenced item that decides the wave.
    below: Option<u64>,
}

struct Dependent {
    service: String,
    team: String,
}

impl Graph {
    /// Reads the graph of the API.
    pub(crate) fn of(value: &Value) -> Self {
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

    /// Returns the graph as a tree of text, in the form of `cargo tree`.
    pub(crate) fn tree(&self) -> String {
        let (mut out, mut drawn) = (String::new(), BTreeSet::new());
        for start in self.starts() {
            if !drawn.contains(&start) {
                branch(self, start, &mut drawn, &mut out);
            }
        }
        if !self.dependents.is_empty() {
            out.push_str("\nDependent teams:\n");
            for dependent in &self.dependents {
                let line = format!("  {} of {}", dependent.team, dependent.service);
                out.extend([plain(&line).as_str(), "\n"]);
            }
        }
        out
    }

    /// Returns the items in waves, and the longest chain of references.
    pub(crate) fn waves(&self) -> String {
        let placed = self.placed();
        let mut waves: BTreeMap<usize, Vec<&Node>> = BTreeMap::new();
        for (id, node) in &self.nodes {
            waves.entry(placed.get(id).map_or(usize::MAX, |place| place.wave)).or_default().push(node);
        }
        let mut out = String::new();
        for (wave, mut nodes) in waves {
            nodes.sort_by_key(|node| &node.name);
            let title = if wave == usize::MAX { "In a circle".to_owned() } else { format!("Wave {wave}") };
            out.extend([&title, ":\n"]);
            for node in nodes {
                out.extend(["  ", &label(node), "\n"]);
            }
        }
        out + &self.longest_chain(&placed)
    }

    /// Returns the places of the items in the waves.
    ///
    /// An item is in the wave after those of the items that it references. Items in a circle, and those that reference
    /// one, have no place.
    fn placed(&self) -> BTreeMap<u64, Place> {
        let mut parents: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let (mut left, mut placed) = (BTreeMap::new(), BTreeMap::<u64, Place>::new());
        for id in self.nodes.keys() {
            let children = self.children(*id);
            left.insert(*id, children.len());
            for child in children {
                parents.entry(child).or_default().push(*id);
            }
        }
        let mut ready: Vec<u64> = left.iter().filter(|(_, left)| **left == 0).map(|(id, _)| *id).collect();
        let mut next: BTreeMap<u64, Place> =
            ready.iter().map(|id| (*id, Place { wave: 0, below: None })).collect();
        while let Some(id) = ready.pop() {
            let Some(place) = next.remove(&id) else { continue };
            for parent in parents.get(&id).into_iter().flatten() {
                let above = Place { wave: place.wave + 1, below: Some(id) };
                let entry = next.entry(*parent).or_insert(above);
                *entry = (*entry).max(above);
                if let Some(left) = left.get_mut(parent) {
                    *left -= 1;
                    ready.extend((*left == 0).then_some(*parent));
                }
            }
            placed.insert(id, place);
        }
        placed
    }

    /// Returns the line with the longest chain of references; empty for at most two items.
    fn longest_chain(&self, placed: &BTreeMap<u64, Place>) -> String {
        let last = placed.iter().max_by_key(|(_, place)| place.wave).filter(|(_, place)| place.wave > 1);
        let below = |id: &u64| placed.get(id).and_then(|place| place.below);
        let chain = std::iter::successors(last.map(|(id, _)| *id), below);
        let mut chain: Vec<&str> = chain.map(|id| self.name(id)).collect();
        chain.reverse();
        if chain.is_empty() {
            String::new()
        } else {
            format!("\nLongest chain: {}\n", plain(&chain.join(" -> ")))
        }
    }

    /// Returns the graph for Graphviz.
    pub(crate) fn dot(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", plain(text).replace('\\', "\\\\").replace('"', "\\\""));
        let mut out = "digraph {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
        let mut line = |text: String| out.extend(["  ", &text, ";\n"]);
        for (id, node) in &self.nodes {
            line(format!("{id} [label={}, tooltip={}]", quoted(&node.name), quoted(&node.state)));
        }
        for (from, to, pointers) in references(self) {
            line(format!("{from} -> {to} [label={}]", quoted(&pointers)));
        }
        for (id, team) in teams(self) {
            line(format!("{id} -> {} [style=dashed]", quoted(&format!("team {team}"))));
        }
        out.push_str("}\n");
        out
    }

    /// Returns the graph for Mermaid.
    pub(crate) fn mermaid(&self) -> String {
        let mut out = "flowchart LR\n".to_owned();
        let mut line = |text: String| out.extend(["  ", &text, "\n"]);
        for (id, node) in &self.nodes {
            line(format!("n{id}[\"{}\"]", entities(&node.name)));
        }
        for (from, to, pointers) in references(self) {
            line(format!("n{from} -->|\"{}\"| n{to}", entities(&pointers)));
        }
        let names: BTreeSet<&str> = teams(self).map(|(_, team)| team).collect();
        let number = |team: &str| names.iter().position(|name| *name == team).unwrap_or_default();
        for name in &names {
            line(format!("team{}([\"{}\"])", number(name), entities(name)));
        }
        for (id, team) in teams(self) {
            line(format!("n{id} -.-> team{}", number(team)));
        }
        out
    }
}

/// Draws an item, and the items below it. Without recursion, because a chain of references may be long.
fn branch(graph: &Graph, start: u64, drawn: &mut BTreeSet<u64>, out: &mut String) {
    // The ids above the present one, and for each of them whether its siblings continue below.
    let (mut path, mut continues) = (Vec::new(), Vec::new());
    let mut waiting = vec![(start, 0_usize, false)];
    while let Some((id, depth, has_siblings)) = waiting.pop() {
        path.truncate(depth);
        continues.truncate(depth);
        let children = graph.children(id);
        let mark = if path.contains(&id) {
            " (cycle)"
        } else if drawn.contains(&id) && !children.is_empty() {
            " (*)"
        } else {
            ""
        };
        // The start has no siblings.
        let lines: String =
            continues.iter().skip(1).map(|continues| if *continues { "│   " } else { "    " }).collect();
        let corner = match (depth, has_siblings) {
            (0, _) => "",
            (_, true) => "├── ",
            (_, false) => "└── ",
        };
        let label = graph.nodes.get(&id).map(label).unwrap_or_default();
        out.extend([&lines, corner, &label, mark, "\n"]);
        drawn.insert(id);
        if mark.is_empty() {
            path.push(id);
            continues.push(has_siblings);
            let last = children.len();
            let below = children.into_iter().enumerate().map(|(at, child)| (child, depth + 1, at + 1 < last));
            waiting.extend(below.rev());
        }
    }
}

fn label(node: &Node) -> String {
    plain(&format!("{}  ({}; {})", node.name, node.owner, node.state))
}

/// Returns the references between items of the graph, with their pointers.
fn references(graph: &Graph) -> impl Iterator<Item = (u64, u64, String)> {
    let all =
        graph.edges.iter().flat_map(|(from, to)| to.iter().map(move |(to, pointers)| (*from, *to, pointers)));
    let is_known = |id: &u64| graph.nodes.contains_key(id);
    let known = all.filter(move |(from, to, _)| is_known(from) && is_known(to));
    known.map(|(from, to, pointers)| (from, to, pointers.join(", ")))
}

/// Returns each item with each team that depends on its service.
fn teams(graph: &Graph) -> impl Iterator<Item = (u64, &str)> {
    graph.nodes.iter().flat_map(|(id, node)| {
        let of_service = graph.dependents.iter().filter(|dependent| dependent.service == node.service);
        of_service.map(|dependent| (*id, dependent.team.as_str()))
    })
}

/// Returns a text with the entities of Mermaid, in which only letters, digits and a few signs stand for themselves.
fn entities(text: &str) -> String {
    let mut out = String::new();
    for c in plain(text).chars() {
        if c.is_alphanumeric() || " _-./".contains(c) {
            out.push(c);
        } else {
            out.extend(["#", &u32::from(c).to_string(), ";"]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(id: u64, service: &str, name: &str) -> Value {
        json!({"id": id, "url": "", "name": name, "application": {"id": 1, "name": "Shop"},
            "service": {"id": 1, "name": service}, "service_owner_team": {"id": 2, "name": "Owner"},
            "runtime_state": "IN_SERVICE", "change_state": "CHANGES_PENDING"})
    }

    fn graph(references: &[(u64, u64)]) -> Graph {
        let references: Vec<Value> = references
            .iter()
            .map(|(from, to)| json!({"from": from, "to": to, "pointer": format!("/vms/{to}")}))
            .collect();
        Graph::of(&json!({"application": {"id": 1, "name": "Shop"}, "service_items": [
            item(1, "LB", "front"), item(2, "VM", "web1"), item(3, "VM", "web2"), item(4, "Disk", "a\"b\\]#\u{1b}")],
            "references": references, "dependants": [{"service": {"id": 1, "name": "LB"}, "team": {"id": 3, "name": "Watch"}}],
            "next": null}))
    }

    #[test]
    fn a_tree_draws_each_reference_once() {
        let expected = "\
Shop/LB/front  (Owner; IN_SERVICE, CHANGES_PENDING)
├── Shop/VM/web1  (Owner; IN_SERVICE, CHANGES_PENDING)
│   └── Shop/Disk/a\"b\\]#\u{fffd}  (Owner; IN_SERVICE, CHANGES_PENDING)
└── Shop/VM/web2  (Owner; IN_SERVICE, CHANGES_PENDING)
    └── Shop/VM/web1  (Owner; IN_SERVICE, CHANGES_PENDING) (*)

Dependent teams:
  Watch of LB
";
        assert_eq!(graph(&[(1, 2), (1, 3), (2, 4), (3, 2)]).tree(), expected);
    }

    #[test]
    fn an_item_is_in_the_wave_after_those_that_it_references() {
        let state = "  (Owner; IN_SERVICE, CHANGES_PENDING)";
        let expected = format!(
            "Wave 0:\n  Shop/Disk/a\"b\\]#\u{fffd}{state}\n  Shop/VM/web2{state}\nWave 1:\n  Shop/VM/web1{state}\n\
             Wave 2:\n  Shop/LB/front{state}\n\n\
             Longest chain: Shop/Disk/a\"b\\]#\u{fffd} -> Shop/VM/web1 -> Shop/LB/front\n"
        );
        assert_eq!(graph(&[(1, 2), (1, 3), (2, 4)]).waves(), expected);
        let circle = graph(&[(2, 3), (3, 2), (1, 2)]).waves();
        assert!(circle.ends_with(&format!(
            "In a circle:\n  Shop/LB/front{state}\n  Shop/VM/web1{state}\n  Shop/VM/web2{state}\n"
        )));
    }

    #[test]
    fn a_cycle_ends_at_its_mark() {
        let drawn = graph(&[(2, 3), (3, 2), (1, 1)]).tree();
        let lines: Vec<&str> = drawn.lines().map(|line| line.trim_end()).collect();
        let state = "  (Owner; IN_SERVICE, CHANGES_PENDING)";
        assert_eq!(
            lines[1..6],
            [
                format!("Shop/LB/front{state}"),
                format!("└── Shop/LB/front{state} (cycle)"),
                format!("Shop/VM/web1{state}"),
                format!("└── Shop/VM/web2{state}"),
                format!("    └── Shop/VM/web1{state} (cycle)"),
            ]
        );
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let items: Vec<Value> = (0..3_000).map(|id| item(id, "VM", &id.to_string())).collect();
        let references: Vec<Value> =
            (1..3_000).map(|id| json!({"from": id - 1, "to": id, "pointer": "/next"})).collect();
        let drawn = Graph::of(&json!({"service_items": items, "references": references})).tree();
        assert_eq!(drawn.lines().count(), 3_000);
    }

    #[test]
    fn names_are_escaped() {
        let graph = graph(&[(1, 2), (1, 4)]);
        let expected = "\
digraph {
  rankdir=LR;
  node [shape=box];
  1 [label=\"Shop/LB/front\", tooltip=\"IN_SERVICE, CHANGES_PENDING\"];
  2 [label=\"Shop/VM/web1\", tooltip=\"IN_SERVICE, CHANGES_PENDING\"];
  3 [label=\"Shop/VM/web2\", tooltip=\"IN_SERVICE, CHANGES_PENDING\"];
  4 [label=\"Shop/Disk/a\\\"b\\\\]#\u{fffd}\", tooltip=\"IN_SERVICE, CHANGES_PENDING\"];
  1 -> 2 [label=\"/vms/2\"];
  1 -> 4 [label=\"/vms/4\"];
  1 -> \"team Watch\" [style=dashed];
}
";
        assert_eq!(graph.dot(), expected);
        let expected = "\
flowchart LR
  n1[\"Shop/LB/front\"]
  n2[\"Shop/VM/web1\"]
  n3[\"Shop/VM/web2\"]
  n4[\"Shop/Disk/a#34;b#92;#93;#35;#65533;\"]
  n1 -->|\"/vms/2\"| n2
  n1 -->|\"/vms/4\"| n4
  team0([\"Watch\"])
  n1 -.-> team0
";
        assert_eq!(graph.mermaid(), expected);
    }
}
