//! The items that the entries of an application generate, and which written items stand in their place.
//!
//! Whether an item counts as generated depends on its content alone, and not on whether the document has it. So a
//! document without its generated items means the same ([`super::reduce`]).

use super::layer::{Entry, Scope};
use crate::base::hash::Hash;
use crate::base::json;
use crate::model::declaration::name_problem;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Service and name of an item.
pub(super) type Key = (String, String);

/// A written item with its defaults.
pub(super) struct Node {
    pub(super) hash: Hash,
    /// The entries whose condition the item satisfies, by their position.
    pub(super) matched: Vec<usize>,
}

/// An item to generate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generated {
    /// The position of the entry.
    pub(super) entry: usize,
    /// The target's name.
    pub(super) target: String,
}

/// The result for an application.
#[derive(Default)]
pub(super) struct Resolved {
    /// The generated items that the document lacks.
    pub(super) missing: Vec<Generated>,
    /// The written items that are equal to a generated one.
    pub(super) implied: BTreeSet<Key>,
    /// All written items that have the name of a generated one.
    pub(super) overriding: Vec<Key>,
    /// The entries that generate an item whose name another target has already taken.
    pub(super) clashes: Vec<Generated>,
    /// The entries that generate an item without a valid name, each with a message.
    pub(super) misnamed: BTreeMap<usize, &'static str>,
}

/// The application has more items than the document may have.
#[derive(Debug)]
pub(super) struct TooMany;

/// An item that is declared, or that targets generate.
#[derive(Default)]
struct Open<'a> {
    written: Option<&'a Node>,
    /// The first entry for each target, which is a service and a name.
    generators: BTreeMap<(&'a str, String), usize>,
}

/// The items to decide by length of the name. A generated item has a longer name than its target.
type Queue<'a> = BTreeMap<(usize, Key), Open<'a>>;

/// Resolves an application with at most `items_max` items.
pub(super) fn resolve(
    nodes: &BTreeMap<Key, Node>,
    scope: &mut Scope,
    items_max: usize,
) -> Result<Resolved, TooMany> {
    let entries = scope.entries.clone();
    let mut resolved = Resolved::default();
    let written = nodes.iter().map(|(key, node)| {
        ((key.1.len(), key.clone()), Open { written: Some(node), generators: BTreeMap::new() })
    });
    let (mut queue, mut decided): (Queue<'_>, usize) = (written.collect(), 0);
    while let Some(((_, key), open)) = queue.pop_first() {
        decided += 1;
        let mut generators = open.generators.into_iter();
        let first = generators.next().map(|((_, target), entry)| Generated { entry, target });
        let second = generators.next().map(|((_, target), entry)| Generated { entry, target });
        let Some(node) = open.written else {
            resolved.missing.extend(first.filter(|_| second.is_none()));
            resolved.clashes.extend(second);
            continue;
        };
        if let Some(first) = first {
            resolved.overriding.push(key.clone());
            if second.is_none() && hash_of(&first, scope) == Some(node.hash) {
                resolved.implied.insert(key);
                continue;
            }
        }
        let matched = node.matched.iter().filter_map(|position| Some((*position, entries.get(*position)?)));
        for (position, entry) in matched {
            let name = entry.name_for(&key.1);
            if let Some(message) = name_problem(&name) {
                resolved.misnamed.insert(position, message);
                continue;
            }
            let generated = (name.len(), (entry.each.service.clone(), name));
            let target = (entry.each.target.as_str(), key.1.clone());
            queue.entry(generated).or_default().generators.entry(target).or_insert(position);
        }
        if decided.saturating_add(queue.len()) > items_max {
            return Err(TooMany);
        }
    }
    Ok(resolved)
}

/// Returns the hash of a generated item.
fn hash_of(generated: &Generated, scope: &mut Scope) -> Option<Hash> {
    let entry = scope.entries.get(generated.entry).cloned()?;
    Some(hash(scope.generate(&entry, &generated.target).0))
}

/// Returns the hash of an item.
pub(super) fn hash(item: Map<String, Value>) -> Hash {
    Hash::of(&json::canonical(&Value::Object(item)))
}

/// Returns the keys of the items that may be a target of one of these, or of such a target.
pub(super) fn possible_targets<'a>(
    keys: impl IntoIterator<Item = &'a Key>,
    entries: &[std::sync::Arc<Entry>],
) -> BTreeSet<Key> {
    let mut open: Vec<Key> = keys.into_iter().cloned().collect();
    let mut targets = BTreeSet::new();
    while let Some((service, name)) = open.pop() {
        for entry in entries.iter().filter(|entry| entry.each.service == service) {
            let rest = name.strip_prefix(&entry.each.name).and_then(|rest| rest.strip_prefix('.'));
            let target = rest.filter(|rest| !rest.is_empty());
            let target = target.map(|target| (entry.each.target.clone(), target.to_owned()));
            open.extend(target.filter(|target| targets.insert(target.clone())));
        }
    }
    targets
}
