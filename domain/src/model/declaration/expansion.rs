//! The metadata keys that complete and generate items, and their form (R66).
//!
//! The effect on a declaration is the concern of [`crate::rules::expand`], which also checks the schemas in the keys.

use super::{DEPTH_MAX, NAME, name_problem};
use crate::base::json;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The key of the values for members that an item lacks.
pub const DEFAULTS: &str = "dovetail_defaults";
/// The key of the entries that generate items.
pub const EACH: &str = "dovetail_each";

/// Maximum number of entries in the metadata of a team or an application.
pub const ENTRIES_MAX: usize = 32;
/// Maximum canonical size of both keys in the metadata of a team or an application, in bytes.
pub const KEYS_BYTES_MAX: usize = 64 * 1024;
/// Maximum canonical size of both keys in the metadata of a team and all its applications, in bytes.
///
/// A submission reads all these metadata, and one transaction may write many of them.
pub const KEYS_OF_TEAM_BYTES_MAX: usize = 1024 * 1024;

/// Maximum nesting of an item: its list is in a service, an application, a team and the document.
const ITEM_DEPTH_MAX: usize = DEPTH_MAX - 5;

/// The members of an entry.
const MEMBERS: [&str; 5] = ["service", "for", "as", "item", "where"];

/// What the metadata of a team or an application add to items.
#[derive(Clone, Default, derive_more::Debug, PartialEq)]
#[debug("Expansion {{ entries: {}, .. }}", each.len())]
pub struct Expansion {
    /// The values for missing members by service. With null, the member stays absent.
    pub defaults: BTreeMap<String, Map<String, Value>>,
    /// The valid entries.
    pub each: Vec<Each>,
}

/// An entry that generates an item for each item of another service.
#[derive(Clone, derive_more::Debug, PartialEq)]
#[debug("Each {{ index: {index}, service: {service:?}, target: {target:?}, .. }}")]
pub struct Each {
    /// The position among the entries.
    pub index: usize,
    /// The service of the generated items.
    pub service: String,
    /// The service of the items for which it generates, the member `for`.
    pub target: String,
    /// The property of a generated item with the name of its target, the member `as`.
    pub reference: String,
    /// The beginning of the names of generated items.
    pub name: String,
    /// The content of a generated item.
    pub item: Map<String, Value>,
    /// The schema that a target has to satisfy, the member `where`; none for all items of the service.
    pub condition: Option<Value>,
}

/// The parts of a declared item that stand in metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The pointer of the entry that generates the item; none if the document has the item itself.
    pub entry: Option<Arc<str>>,
    /// The members from metadata.
    pub members: Vec<Arc<Source>>,
}

/// A member of an item with the pointer of its value in metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub member: String,
    pub pointer: String,
}

impl Sources {
    /// Returns the pointer of the metadata for a value of the item; none if the value stands in the item itself.
    pub(crate) fn pointer_of(&self, below: &str) -> Option<String> {
        let leads_to = |source: &Arc<Source>| {
            let member = crate::base::problem::pointer([source.member.as_str()]);
            let rest = below.strip_prefix(&member)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{}{rest}", source.pointer))
        };
        self.members.iter().find_map(leads_to)
    }
}

/// A wrong part of metadata: its names below the metadata, and the message.
pub type Misformed = (Vec<String>, String);

/// Returns whether metadata have one of the keys.
pub fn has_keys(metadata: &Value) -> bool {
    [DEFAULTS, EACH].iter().any(|key| metadata.get(key).is_some())
}

/// Returns whether stored metadata may have one of the keys.
pub fn may_have_keys(text: &str) -> bool {
    [DEFAULTS, EACH].iter().any(|key| text.contains(key))
}

/// Returns metadata without the keys.
pub fn without_keys(metadata: &Value) -> Cow<'_, Value> {
    let mut others = Cow::Borrowed(metadata);
    if has_keys(metadata)
        && let Some(members) = others.to_mut().as_object_mut()
    {
        for key in [DEFAULTS, EACH] {
            members.remove(key);
        }
    }
    others
}

/// Returns the canonical size of the keys in metadata, in bytes; 0 without them.
pub fn keys_bytes(metadata: &Value) -> usize {
    let keys = [DEFAULTS, EACH].into_iter();
    let keys: Map<String, Value> =
        keys.filter_map(|key| Some((key.to_owned(), metadata.get(key)?.clone()))).collect();
    if keys.is_empty() { 0 } else { json::canonical(&Value::Object(keys)).len() }
}

/// Reads the valid parts of the keys, and returns the problems of the others.
pub fn read(metadata: &Value) -> (Expansion, Vec<Misformed>) {
    let mut form = Form::default();
    if keys_bytes(metadata) > KEYS_BYTES_MAX {
        let message = format!("must have at most {KEYS_BYTES_MAX} bytes in `{DEFAULTS}` and `{EACH}`");
        return (Expansion::default(), vec![(Vec::new(), message)]);
    }
    let defaults = metadata.get(DEFAULTS).map(|value| form.defaults(value)).unwrap_or_default();
    let each = metadata.get(EACH).map(|value| form.each(value)).unwrap_or_default();
    (Expansion { defaults, each }, form.problems)
}

/// Reads the keys and collects the problems.
#[derive(Default)]
struct Form {
    problems: Vec<Misformed>,
}

impl Form {
    fn report(&mut self, at: &[&str], message: impl Into<String>) {
        self.problems.push((at.iter().map(|name| (*name).to_owned()).collect(), message.into()));
    }

    fn defaults(&mut self, value: &Value) -> BTreeMap<String, Map<String, Value>> {
        let mut defaults = BTreeMap::new();
        let Some(services) = value.as_object() else {
            self.report(&[DEFAULTS], "must be an object with the titles of services");
            return defaults;
        };
        for (service, values) in services {
            let Some(values) = values.as_object() else {
                self.report(&[DEFAULTS, service], "must be an object with properties of items");
                continue;
            };
            if let Some(message) = name_problem(service) {
                self.report(&[DEFAULTS, service], message);
                continue;
            }
            let valid = values.iter().filter(|(member, value)| self.is_default(service, member, value));
            let valid = valid.map(|(member, value)| (member.clone(), value.clone())).collect();
            defaults.insert(service.clone(), valid);
        }
        defaults
    }

    fn is_default(&mut self, service: &str, member: &str, value: &Value) -> bool {
        if member == NAME {
            self.report(&[DEFAULTS, service, member], "must be absent: each item has a name of its own");
            return false;
        }
        // The value is one level deeper in an item than in the metadata of a team.
        let depth_max = ITEM_DEPTH_MAX - 1;
        let is_flat = json::depth(value) <= depth_max;
        if !is_flat {
            let message = format!("must be nested at most {depth_max} levels deep");
            self.report(&[DEFAULTS, service, member], message);
        }
        is_flat
    }

    fn each(&mut self, value: &Value) -> Vec<Each> {
        let Some(entries) = value.as_array() else {
            self.report(&[EACH], "must be an array of entries");
            return Vec::new();
        };
        if entries.len() > ENTRIES_MAX {
            let message = format!("must have at most {ENTRIES_MAX} entries, not {}", entries.len());
            self.report(&[EACH], message);
            return Vec::new();
        }
        entries.iter().enumerate().filter_map(|(index, entry)| self.entry(index, entry)).collect()
    }

    fn entry(&mut self, index: usize, value: &Value) -> Option<Each> {
        let number = index.to_string();
        let at = [EACH, number.as_str()];
        let Some(entry) = value.as_object() else {
            self.report(&at, "must be an object");
            return None;
        };
        for member in entry.keys().filter(|member| !MEMBERS.contains(&member.as_str())) {
            let message = format!(
                "must be absent: an entry has {}",
                MEMBERS.map(|name| format!("`{name}`")).join(", ")
            );
            self.report(&[&at[..], &[member]].concat(), message);
        }
        let (service, target) = (self.name(&at, entry, "service"), self.name(&at, entry, "for"));
        let reference = self.reference(&at, entry);
        let item = self.item(&at, entry, reference.as_deref());
        let condition = entry.get("where");
        if condition.is_some_and(|condition| !condition.is_object()) {
            self.report(&[&at[..], &["where"]].concat(), "must be a JSON Schema, as an object");
            return None;
        }
        let (name, item) = item?;
        let (service, target, reference) = (service?, target?, reference?);
        Some(Each { index, service, target, reference, name, item, condition: condition.cloned() })
    }

    /// Returns the name of a service in a member of an entry.
    fn name(&mut self, at: &[&str], entry: &Map<String, Value>, member: &str) -> Option<String> {
        let name = entry.get(member).map(Value::as_str);
        let message = match name {
            None => Some("must be present: the title of a service"),
            Some(None) => Some("must be a string"),
            Some(Some(name)) => name_problem(name),
        };
        match message {
            Some(message) => self.report(&[at, &[member]].concat(), message),
            None => return name.flatten().map(str::to_owned),
        }
        None
    }

    fn reference(&mut self, at: &[&str], entry: &Map<String, Value>) -> Option<String> {
        let property = entry.get("as").and_then(Value::as_str);
        let property = property.filter(|property| !property.is_empty() && *property != NAME);
        if property.is_none() {
            let message = "must be a property of the generated items other than `name`";
            self.report(&[at, &["as"]].concat(), message);
        }
        property.map(str::to_owned)
    }

    /// Returns the beginning of the names of generated items, and their content.
    fn item(
        &mut self,
        at: &[&str],
        entry: &Map<String, Value>,
        reference: Option<&str>,
    ) -> Option<(String, Map<String, Value>)> {
        let at = [at, &["item"]].concat();
        let Some(item) = entry.get("item").and_then(Value::as_object) else {
            self.report(&at, "must be an object: the content of the generated items");
            return None;
        };
        if let Some(reference) = reference.filter(|reference| item.contains_key(*reference)) {
            self.report(&[&at[..], &[reference]].concat(), "must be absent: it gets the name of the target");
            return None;
        }
        let name = item.get(NAME).map(Value::as_str);
        let message = match name {
            None => {
                Some("must be present: generated items have this name, a dot and the name of their target")
            }
            Some(None) => Some("must be a string"),
            Some(Some(name)) => name_problem(name),
        };
        if let Some(message) = message {
            self.report(&[&at[..], &[NAME]].concat(), message);
            return None;
        }
        Some((name.flatten()?.to_owned(), item.clone()))
    }
}
