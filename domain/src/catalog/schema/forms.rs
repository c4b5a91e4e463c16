//! The forms of a definition with words (R47).
//!
//! | form | `required` of an owner path | `x-from` |
//! |---|---|---|
//! | request | forgiven | ignored |
//! | completed | applies | applies |

use super::part::{Source, Way, steps};
use super::walk::{for_each_subschema, target};
use super::*;

/// What a definition judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// A declaration, at its submission.
    Request,
    /// An item, at the completion of its change instance.
    Completed,
}

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
    if phase == Phase::Request {
        collect(&mut forgiven, "", definition, root, false, &source);
    }
    let mut build = Build { phase, source: &source, forgiven, copies: Map::new(), open: Vec::new() };
    let mut built = build.rewritten("", definition, phase == Phase::Request);
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

fn collect(
    forgiven: &mut Forgiven,
    pointer: &str,
    schema: &Value,
    part: &Part,
    is_below: bool,
    source: &Source<'_>,
) {
    let is_below = is_below || part.is_read_only();
    if schema.get("properties").is_some() {
        let names = schema.get(REQUIRED).and_then(Value::as_array).into_iter().flatten();
        let of_schema = forgiven.entry(pointer.to_owned()).or_default();
        for name in names.filter_map(Value::as_str) {
            let is_owner = is_below || part.named(name).is_some_and(Part::is_owner);
            let all = of_schema.entry(name.to_owned()).or_insert(true);
            *all = *all && is_owner;
        }
    }
    for step in steps(pointer, schema, source) {
        let part = match &step.way {
            Way::Same => Some(part),
            Way::Member(name) => part.named(name),
            Way::Others => part.others.as_deref(),
            Way::Elements => part.elements(),
        };
        if let Some(part) = part {
            collect(forgiven, &step.pointer, step.schema, part, is_below, source);
        }
    }
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
        self.apply_from(members);
        built
    }

    fn forgive(&self, pointer: &str, members: &mut Map<String, Value>) {
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
        let name = copy_name(pointer);
        if !self.copies.contains_key(&name) {
            // The placeholder ends the work on a schema with several references.
            self.copies.insert(name.clone(), Value::Bool(true));
            self.open.push(pointer.to_owned());
        }
        let reference = format!("#{}", below("/$defs", &name));
        members.insert("$ref".to_owned(), Value::String(reference));
    }

    /// Replaces `x-from` by the schemas of the reached states, in `allOf`.
    fn apply_from(&self, members: &mut Map<String, Value>) {
        let Some(Value::Object(mut from)) = members.remove(FROM) else { return };
        let states: &[&str] = match self.phase {
            Phase::Request => &[],
            Phase::Completed => &["APPROVED", "COMPLETED"],
        };
        let schemas: Vec<Value> = states.iter().filter_map(|state| from.remove(*state)).collect();
        if schemas.is_empty() {
            return;
        }
        if let Some(all) = members.entry("allOf").or_insert_with(|| json!([])).as_array_mut() {
            all.extend(schemas);
        }
    }
}

#[cfg(test)]
mod tests;
