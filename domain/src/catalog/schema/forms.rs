//! The forms of a definition with words (R47, R49).
//!
//! | form | `required` of an owner path | other `required` at a path | `x-from.APPROVED` | `x-from.COMPLETED` |
//! |---|---|---|---|---|
//! | request | forgiven | applies | ignored | ignored |
//! | partial | forgiven | forgiven | applies, without its own `required` | ignored |
//! | approved | forgiven | applies | applies | ignored |
//! | completed | applies | applies | applies | applies |

use super::part::{Source, Way, steps};
use super::walk::{for_each_subschema, reference_to, target};
use super::*;

/// The point of a change instance's life at which a definition checks the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A declaration, at its submission.
    Request,
    /// An item with missing members, for a change instance that failed.
    Partial,
    /// An item, at the approval of its change instance.
    Approved,
    /// An item, at the completion of its change instance.
    Completed,
}

impl Phase {
    pub(super) const ALL: [Self; 4] = [Self::Request, Self::Partial, Self::Approved, Self::Completed];

    /// Returns whether an owner path may be absent, even if `required` names it.
    fn forgives(self) -> bool {
        self != Self::Completed
    }

    /// Returns the states whose schemas in `x-from` apply.
    const fn states(self) -> &'static [&'static str] {
        match self {
            Self::Request => &[],
            Self::Partial | Self::Approved => &[APPROVED],
            Self::Completed => &[APPROVED, "COMPLETED"],
        }
    }
}

const APPROVED: &str = "APPROVED";
const FROM: &str = "x-from";
const REQUIRED: &str = "required";
/// Prefix of the copies of referenced schemas, in `$defs`.
const COPY: &str = "path:";

/// Returns the form of a definition, without words.
///
/// A path refers to a copy of a shared schema, so the original stays as it is for the other references.
pub(super) fn form(definition: &Value, draft: Draft, root: &Part, phase: Phase) -> Value {
    let source = Source { definition, draft };
    let mut forgiven = Forgiven::default();
    if phase.forgives() {
        let root = At { pointer: "", schema: definition, part: root, is_below: false };
        for_each_at_path(root, &source, &mut |at| collect(&mut forgiven, at));
    }
    let mut build = Build { phase, source: &source, forgiven, copies: Map::new(), open: Vec::new() };
    let mut built = build.rewritten("", definition, phase.forgives());
    while let Some(pointer) = build.open.pop() {
        let Some(schema) = definition.pointer(&pointer) else { continue };
        let copy = build.rewritten(&pointer, schema, true);
        build.copies.insert(copy_name(&pointer), copy);
    }
    if let (false, Some(members)) = (build.copies.is_empty(), built.as_object_mut()) {
        let definitions = members.entry("$defs").or_insert_with(|| json!({}));
        if let Some(definitions) = definitions.as_object_mut() {
            definitions.extend(build.copies);
        }
    }
    built
}

fn copy_name(pointer: &str) -> String {
    format!("{COPY}{}", pointer.replace('/', "."))
}

/// For each schema at a path: its required names, and whether each is an owner path wherever the schema applies.
type Forgiven = BTreeMap<String, BTreeMap<String, bool>>;

fn collect(forgiven: &mut Forgiven, at: &At<'_>) {
    if at.schema.get("properties").is_none() {
        return;
    }
    let of_schema = forgiven.entry(at.pointer.to_owned()).or_default();
    for (name, is_owner) in at.required() {
        let all = of_schema.entry(name.to_owned()).or_insert(true);
        *all = *all && is_owner;
    }
}

/// A schema at a path.
#[derive(Clone, Copy)]
struct At<'a> {
    pointer: &'a str,
    schema: &'a Value,
    part: &'a Part,
    /// Whether it is below `readOnly`.
    is_below: bool,
}

impl<'a> At<'a> {
    /// Returns the required names, and whether each is an owner path.
    fn required(self) -> impl Iterator<Item = (&'a str, bool)> {
        let names = self.schema.get(REQUIRED).and_then(Value::as_array).into_iter().flatten();
        let is_owner = move |name| self.is_below || self.part.named(name).is_some_and(Part::is_owner);
        names.filter_map(Value::as_str).map(move |name| (name, is_owner(name)))
    }
}

/// Visits a schema and all schemas that paths reach from it.
fn for_each_at_path(at: At<'_>, source: &Source<'_>, visit: &mut impl FnMut(&At<'_>)) {
    let at = At { is_below: at.is_below || at.part.is_read_only(), ..at };
    visit(&at);
    for step in steps(at.pointer, at.schema, source) {
        let part = match &step.way {
            Way::Same => Some(at.part),
            Way::Member(name) => at.part.named(name),
            Way::Others => at.part.others.as_deref(),
            Way::Elements => at.part.elements(),
        };
        if let Some(part) = part {
            let below = At { pointer: &step.pointer, schema: step.schema, part, is_below: at.is_below };
            for_each_at_path(below, source, visit);
        }
    }
}

/// Returns whether a definition checks an approval without an item: it has `x-from.APPROVED`.
pub(super) fn checks_approval(definition: &Value) -> bool {
    words::all_subschemas(definition).any(|(_, schema)| from_approved(schema).is_some())
}

fn from_approved(schema: &Value) -> Option<&Value> {
    schema.get(FROM)?.get(APPROVED)
}

/// Returns the pointer of a `required` in `x-from.APPROVED` that names an owner path (R50).
pub(super) fn owner_path_at_approval(definition: &Value, draft: Draft, root: &Part) -> Option<String> {
    let source = Source { definition, draft };
    let mut found = None;
    let root = At { pointer: "", schema: definition, part: root, is_below: false };
    for_each_at_path(root, &source, &mut |at| {
        if let Some(schema) = from_approved(at.schema) {
            let pointer = below(&below(at.pointer, FROM), APPROVED);
            find_owner_path(At { pointer: &pointer, schema, ..*at }, &source, &mut found);
        }
    });
    found
}

/// Finds a `required` with an owner path in a schema of `x-from`.
fn find_owner_path(at: At<'_>, source: &Source<'_>, found: &mut Option<String>) {
    for_each_at_path(at, source, &mut |at| {
        if at.required().any(|(_, is_owner)| is_owner) {
            found.get_or_insert_with(|| below(at.pointer, REQUIRED));
        }
        let all = at.schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for (index, schema) in all.enumerate() {
            let pointer = below(&below(at.pointer, "allOf"), &index.to_string());
            find_owner_path(At { pointer: &pointer, schema, ..*at }, source, found);
        }
    });
}

/// A form under construction.
struct Build<'a> {
    phase: Phase,
    source: &'a Source<'a>,
    forgiven: Forgiven,
    /// The copies of schemas that paths refer to, by name.
    copies: Map<String, Value>,
    /// The pointers of copies that are not built yet.
    open: Vec<String>,
}

impl Build<'_> {
    /// Returns a schema in this form; `is_path` if it applies at a path whose `required` may be forgiven.
    fn rewritten(&mut self, pointer: &str, schema: &Value, is_path: bool) -> Value {
        let Some(members) = schema.as_object() else { return schema.clone() };
        let mut built = Value::Object(members.clone());
        let paths: BTreeSet<String> = if is_path {
            steps(pointer, schema, self.source).into_iter().map(|step| step.pointer).collect()
        } else {
            BTreeSet::new()
        };
        for_each_subschema(pointer, &mut built, &mut |keyword, at, below| {
            if keyword != FROM {
                *below = self.rewritten(at, below, paths.contains(at));
            }
        });
        let Some(members) = built.as_object_mut() else { return built };
        if is_path {
            self.forgive(pointer, members);
            self.refer_to_copy(members);
        }
        self.apply_from(members, is_path);
        built
    }

    fn forgive(&self, pointer: &str, members: &mut Map<String, Value>) {
        if self.phase == Phase::Partial {
            members.remove(REQUIRED);
        }
        let Some(names) = self.forgiven.get(pointer) else { return };
        if let Some(required) = members.get_mut(REQUIRED).and_then(Value::as_array_mut) {
            let is_forgiven = |name: &Value| name.as_str().and_then(|name| names.get(name)).copied();
            required.retain(|name| is_forgiven(name) != Some(true));
        }
    }

    /// Lets a path refer to a copy of the schema.
    fn refer_to_copy(&mut self, members: &mut Map<String, Value>) {
        let Some(reference) = members.get("$ref").and_then(Value::as_str) else { return };
        let Ok((pointer, _)) = target(self.source.definition, reference) else { return };
        let name = copy_name(&pointer);
        if !self.copies.contains_key(&name) {
            // The placeholder ends the work on a schema with several references.
            self.copies.insert(name.clone(), Value::Bool(true));
            self.open.push(pointer.into_owned());
        }
        let reference = reference_to(&below("/$defs", &name));
        members.insert("$ref".to_owned(), Value::String(reference));
    }

    /// Replaces `x-from` by the schemas of the reached states, in `allOf`.
    fn apply_from(&self, members: &mut Map<String, Value>, is_path: bool) {
        let Some(Value::Object(mut from)) = members.remove(FROM) else { return };
        let states = self.phase.states();
        let mut schemas: Vec<Value> = states.iter().filter_map(|state| from.remove(*state)).collect();
        if schemas.is_empty() {
            return;
        }
        if is_path && self.phase == Phase::Partial {
            for schema in schemas.iter_mut().filter_map(Value::as_object_mut) {
                schema.remove(REQUIRED);
            }
        }
        if let Some(all) = members.entry("allOf").or_insert_with(|| json!([])).as_array_mut() {
            all.extend(schemas);
        }
    }
}

#[cfg(test)]
mod tests;
