//! Names instead of ids: `CoreVM1` for a service item, `CoreVM1#2` for its second change instance.
//!
//! The name of an item is the shortest unambiguous end of `team/application/service/name`. The second item with the
//! same path is `CoreVM1.2`.

use serde_json::Value;
use std::collections::BTreeMap;

/// The items and change instances so far.
#[derive(Default)]
pub(super) struct Names {
    items: BTreeMap<u64, Named>,
    /// Item and number of each change instance, by id.
    changes: BTreeMap<u64, (u64, usize)>,
}

struct Named {
    path: String,
    consumer: String,
    changes: Vec<u64>,
}

/// The object with a name: a change instance or an item.
pub(super) struct NamedObject {
    pub(super) id: u64,
    /// Team with the declaration of the item.
    pub(super) consumer: String,
}

impl Names {
    /// Adds a change instance from a response. The order of calls must be the order of ids.
    pub(super) fn learn(&mut self, change: &Value) {
        let text = |pointer: &str| change.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
        let number = |pointer: &str| change.pointer(pointer).and_then(Value::as_u64).unwrap();
        let (id, item) = (number("/id"), number("/service_item/id"));
        let consumer = text("/consumer_team/name");
        let path =
            [&consumer, &text("/application/name"), &text("/service/name"), &text("/service_item/name")]
                .map(String::as_str)
                .join("/");
        let same = |named: &Named| named.path == path || named.path.starts_with(&format!("{path}."));
        let path = match self.items.values().filter(|named| same(named)).count() {
            earlier if earlier > 0 && !self.items.contains_key(&item) => format!("{path}.{}", earlier + 1),
            _ => path,
        };
        let item_named = self.items.entry(item).or_insert(Named { path, consumer, changes: Vec::new() });
        item_named.changes.push(id);
        assert!(item_named.changes.is_sorted(), "change instances come in the order of their ids");
        self.changes.insert(id, (item, item_named.changes.len()));
    }

    /// Returns the name of an item.
    pub(super) fn item(&self, id: u64) -> String {
        let Some(item) = self.items.get(&id) else { return format!("unknown item {id}") };
        let starts = item.path.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
        let mut ends = starts.map(|start| &item.path[start..]);
        ends.find(|end| self.ending(end).count() == 1).unwrap_or(&item.path).to_owned()
    }

    /// Returns the name of a change instance.
    pub(super) fn change(&self, id: u64) -> String {
        match self.changes.get(&id) {
            Some((item, number)) => format!("{}#{number}", self.item(*item)),
            None => format!("unknown change instance {id}"),
        }
    }

    /// Returns the names of change instances, with commas.
    pub(super) fn changes(&self, ids: &Value) -> String {
        let ids = ids.as_array().into_iter().flatten().filter_map(Value::as_u64);
        ids.map(|id| self.change(id)).collect::<Vec<_>>().join(", ")
    }

    /// Returns a text with names instead of ids of change instances.
    pub(super) fn replace_ids(&self, text: &str) -> String {
        let mut replaced = text.to_owned();
        for id in self.changes.keys() {
            replaced = replaced.replace(&format!("change instance {id}"), &self.change(*id));
        }
        replaced
    }

    /// Returns a document with ids instead of `"id of NAME"`.
    pub(super) fn with_ids(&self, document: &str) -> String {
        let mut parts = document.split("\"id of ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let (name, rest) = part.split_once('"').unwrap();
            format!("{text}{}{rest}", self.item_named(name).id)
        })
    }

    /// Returns the item with this name.
    pub(super) fn item_named(&self, name: &str) -> NamedObject {
        let ids: Vec<u64> = self.ending(name).collect();
        match ids.as_slice() {
            [id] => NamedObject { id: *id, consumer: self.items[id].consumer.clone() },
            [] => panic!("item `{name}` does not exist"),
            _ => panic!("`{name}` is the name of several items: say more of team/application/service/name"),
        }
    }

    /// Returns the change instance with this name.
    pub(super) fn change_named(&self, name: &str) -> NamedObject {
        let (item, number) = name.split_once('#').unwrap_or_else(|| panic!("`{name}` is no change instance"));
        let NamedObject { id, consumer } = self.item_named(item);
        let number: usize = number.parse().unwrap();
        let change = self.items[&id].changes.get(number - 1);
        NamedObject {
            id: *change.unwrap_or_else(|| panic!("change instance `{name}` does not exist")),
            consumer,
        }
    }

    fn ending(&self, end: &str) -> impl Iterator<Item = u64> {
        let fits = move |path: &str| {
            path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        self.items.iter().filter(move |(_, item)| fits(&item.path)).map(|(id, _)| *id)
    }
}
