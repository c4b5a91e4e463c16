//! The check of the words in a definition: their values and their positions (R46).

use super::part::{CONFIRM_REMOVAL, Source, VERIFIED, Word, steps};
use super::references::is_property;
use super::upgrade::{UPGRADE, unstorable};
use super::walk::{Reach, subschemas, target};
use super::*;
use crate::base::suggest::did_you_mean;
use std::sync::LazyLock;

/// The dialect of service definitions; `GET /v1/definition.schema.json` serves it.
pub const DIALECT: &str = include_str!("../../../../infra/definition.schema.json");

/// Maximum number of properties with `x-on-change`.
pub const ON_CHANGE_MAX: usize = 8;

/// Maximum number of warnings.
const WARNINGS_MAX: usize = 20;

/// The words of the root.
const ROOT_WORDS: [&str; 3] = [VERIFIED, UPGRADE, CONFIRM_REMOVAL];

/// The words that exclude each other at a property.
const EXCLUSIVE: [(Word, Word); 8] = [
    (Word::ReadOnly, Word::Computed),
    (Word::ReadOnly, Word::WriteOnly),
    (Word::ReadOnly, Word::OnChange),
    (Word::ReadOnly, Word::Import),
    (Word::Computed, Word::WriteOnly),
    (Word::Computed, Word::OnChange),
    (Word::WriteOnly, Word::Import),
    (Word::Derived, Word::From),
];

/// The words at values that the service owner fills, or that stay secret.
const NOT_OF_CONSUMER: [Word; 3] = [Word::ReadOnly, Word::Computed, Word::WriteOnly];

const STATES: &str = "must be one of APPROVED, COMPLETED";

/// The keywords below which a schema is a condition.
const CONDITIONS: [&str; 4] = ["contains", "if", "not", "propertyNames"];

const AT_A_PATH: &str = "must be at a property: at a schema that `properties`, `items`, `additionalProperties` and \
                         `$ref` alone reach from the root";

/// The words of the dialect, for a single schema.
static VALUES: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let mut dialect: Value = serde_json::from_str(DIALECT).ok()?;
    let mut definitions = dialect.get_mut("$defs")?.take();
    // The check of the definition visits the schemas in `x-from` itself.
    let anchor = json!({"$dynamicAnchor": "meta"});
    definitions.as_object_mut()?.insert("any".to_owned(), anchor);
    let root = json!({"$ref": "#/$defs/words", "$defs": definitions});
    options(Draft::Draft202012).build(&root).ok()
});

/// Returns whether a definition has words.
pub(super) fn has_words(definition: &Value) -> bool {
    ROOT_WORDS.iter().any(|word| definition.get(word).is_some())
        || all_subschemas(definition).any(|(_, schema)| Word::of(schema).next().is_some())
}

/// Returns a definition and all schemas below it, with their pointers.
pub(super) fn all_subschemas(definition: &Value) -> impl Iterator<Item = (String, &Value)> {
    let mut open = vec![(String::new(), definition)];
    std::iter::from_fn(move || {
        let (pointer, schema) = open.pop()?;
        open.extend(subschemas(&pointer, schema).into_iter().map(|below| (below.pointer, below.schema)));
        Some((pointer, schema))
    })
}

/// Returns a warning for each keyword of a definition that only looks like a word.
pub(super) fn warnings(definition: &Value) -> Vec<String> {
    let keywords = all_subschemas(definition).flat_map(|(pointer, schema)| {
        let keywords = schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str());
        keywords.map(move |keyword| (below(&pointer, keyword), keyword)).collect::<Vec<_>>()
    });
    let known = || Word::ALL.iter().map(|word| word.keyword()).chain(ROOT_WORDS).chain([blocks::BLOCK]);
    let unknown: BTreeMap<String, &str> = keywords
        .filter(|(_, keyword)| keyword.starts_with("x-") && known().all(|word| word != *keyword))
        .take(WARNINGS_MAX)
        .collect();
    let warning = |(pointer, keyword): (String, &str)| {
        format!("{pointer} has no meaning for Dovetail{}", did_you_mean(keyword, known()))
    };
    unknown.into_iter().map(warning).chain(inert_formats(definition)).collect()
}

/// The formats that no definition asserts: they need tables of international names.
const UNCHECKED_FORMATS: [&str; 2] = ["idn-email", "idn-hostname"];

/// Returns a warning for each `format` that no check applies.
fn inert_formats(definition: &Value) -> Vec<String> {
    let draft = definition.as_object().and_then(draft).unwrap_or_default();
    let is_asserted = draft == Draft::Draft7 || has_words(definition);
    // The formats of references are not formats of JSON Schema.
    let others = all_subschemas(definition).filter(|(_, schema)| schema.get("service_reference").is_none());
    let formats = others.filter_map(|(pointer, schema)| {
        let is_unchecked = UNCHECKED_FORMATS.contains(&schema.get("format")?.as_str().unwrap_or_default());
        (is_unchecked || !is_asserted).then(|| (below(&pointer, "format"), is_unchecked))
    });
    let mut formats: Vec<_> = formats.collect();
    formats.sort_unstable();
    formats.truncate(WARNINGS_MAX);
    let warning = |(pointer, is_unchecked): (String, bool)| {
        let instead = if is_unchecked {
            "use a `pattern`"
        } else {
            "add a word such as `x-verified`, or `\"$schema\"` of draft-07, or a `pattern`"
        };
        format!("{pointer} is not checked: {instead}")
    };
    formats.into_iter().map(warning).collect()
}

/// Reports the words of one schema with a wrong value.
pub(super) fn values(pointer: &str, schema: &Value, mut report: impl FnMut(&str, String)) {
    let Some(validator) = VALUES.as_ref().filter(|_| schema.is_object()) else { return };
    let mut problems = Problems::default();
    for error in validator.iter_errors(schema) {
        super::error::report(&mut problems, schema, None, &error);
    }
    for Problem { pointer: at, message, .. } in problems.into_vec() {
        let message = match at.strip_prefix('/') {
            Some(state) if state.starts_with("x-from/") => STATES.to_owned(),
            _ => message,
        };
        report(&format!("{pointer}{at}"), message);
    }
    if pointer.is_empty() {
        unstorable(schema).for_each(|(pointer, message)| report(&pointer, message));
    }
}

/// The way in which a schema is reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    /// Along a path.
    Path,
    /// Below another keyword, such as `anyOf`.
    Beyond,
    /// As a condition, whose failure is not a problem of the item.
    Condition,
    /// Inside `x-from`.
    From,
}

/// The schemas of a definition with the ways in which they are reached.
type Reaches<'a> = BTreeMap<String, (&'a Value, BTreeSet<Reached>)>;

fn reaches<'a>(source: &Source<'a>) -> Reaches<'a> {
    let mut reaches = Reaches::new();
    let mut open = vec![(String::new(), source.definition, Reached::Path)];
    while let Some((pointer, schema, reached)) = open.pop() {
        if !reaches.entry(pointer.clone()).or_insert((schema, BTreeSet::new())).1.insert(reached) {
            continue;
        }
        let paths = if reached == Reached::Path { steps(&pointer, schema, source) } else { Vec::new() };
        let along: BTreeSet<String> = paths.iter().map(|step| step.pointer.clone()).collect();
        for below in subschemas(&pointer, schema) {
            if below.reach == Reach::Named || along.contains(&below.pointer) {
                continue;
            }
            let reached = match (below.keyword, reached) {
                ("x-from", _) => Reached::From,
                (keyword, _) if CONDITIONS.contains(&keyword) => Reached::Condition,
                (_, Reached::Path) => Reached::Beyond,
                (_, other) => other,
            };
            open.push((below.pointer, below.schema, reached));
        }
        let reference = schema.get("$ref").and_then(Value::as_str).filter(|_| reached != Reached::Path);
        let target = reference.and_then(|reference| target(source.definition, reference).ok());
        open.extend(target.map(|(pointer, schema)| (pointer.into_owned(), schema, reached)));
        open.extend(paths.into_iter().map(|step| (step.pointer, step.schema, Reached::Path)));
    }
    reaches
}

/// Returns the pointers of the words and references in wrong positions, each with its rule and the reason.
///
/// The definition must have bounded work.
pub(super) fn misplaced(definition: &Value, draft: Draft) -> BTreeMap<String, (&'static str, String)> {
    let source = Source { definition, draft };
    let mut misplaced = Misplaced { pointers: BTreeMap::new() };
    for (pointer, (schema, reached)) in &reaches(&source) {
        misplaced.schema(pointer, schema, reached, draft);
    }
    let root = Part::of(definition, draft);
    misplaced.root(&root, definition);
    for (pointer, message) in derived::misplaced(&root, definition, draft) {
        misplaced.report(&pointer, message);
    }
    misplaced.parts(&root, None);
    misplaced.references(&root, None);
    misplaced.pointers
}

/// The words and references in wrong positions, each with its rule and the reason.
struct Misplaced {
    pointers: BTreeMap<String, (&'static str, String)>,
}

impl Misplaced {
    fn report(&mut self, pointer: &str, message: impl Into<String>) {
        self.pointers.entry(pointer.to_owned()).or_insert_with(|| ("misplaced_keyword", message.into()));
    }

    fn report_reference(&mut self, pointer: &str, message: impl Into<String>) {
        self.pointers.entry(pointer.to_owned()).or_insert_with(|| ("invalid_reference", message.into()));
    }

    /// Checks the words of one schema against the ways in which it is reached.
    fn schema(&mut self, pointer: &str, schema: &Value, reached: &BTreeSet<Reached>, draft: Draft) {
        let is_ignored = draft == Draft::Draft7 && schema.get("$ref").is_some();
        for word in Word::of(schema) {
            let at = below(pointer, word.keyword());
            if is_ignored {
                self.report(&at, "must not be next to `$ref`: draft-07 ignores it there");
            } else if reached.contains(&Reached::From) {
                self.report(&at, "must not be in `x-from`");
            } else if word == Word::From {
                if reached.contains(&Reached::Condition) {
                    self.report(&at, "must not be below `not`, `if`, `contains` or `propertyNames`");
                }
            } else if reached.iter().any(|reached| *reached != Reached::Path) {
                self.report(&at, AT_A_PATH);
            } else if word == Word::Reach && schema.get(SERVICE_REFERENCE).is_none() {
                self.report(&at, "must be next to `service_reference`");
            } else if word == Word::Unordered && has_positions(schema) {
                self.report(&at, "must be at an array with one schema for all elements");
            }
        }
        if schema.get(SERVICE_REFERENCE).is_some() && !is_property(pointer) {
            let at = below(pointer, SERVICE_REFERENCE);
            if is_ignored {
                self.report_reference(&at, "must not be next to `$ref`: draft-07 ignores it there");
            } else if pointer.is_empty() || reached.iter().any(|reached| *reached != Reached::Path) {
                self.report_reference(&at, AT_A_PATH);
            }
        }
        for word in ROOT_WORDS.into_iter().filter(|word| !pointer.is_empty() && schema.get(word).is_some()) {
            self.report(&below(pointer, word), "must be at the root of the definition");
        }
    }

    /// Checks the words of the whole item, and those that only its own properties may have.
    fn root(&mut self, root: &Part, definition: &Value) {
        let is_verified = definition.get(VERIFIED).is_some();
        if !is_verified && definition.get(UPGRADE).is_some() {
            self.report(&below("", UPGRADE), "must be in a definition with `x-verified`");
        }
        for (word, pointer) in root.words.iter().filter(|(word, _)| **word != Word::From) {
            self.report(pointer, format!("must be at a property, not at the item: `{}`", word.keyword()));
        }
        let with =
            |word| root.members.values().filter_map(move |part: &Part| Some((part, part.words.get(&word)?)));
        for (count, (part, pointer)) in with(Word::OnChange).enumerate() {
            if !["string", "integer", "boolean"].iter().any(|name| part.is_only(name)) {
                self.report(pointer, "must be at a property of the type `string`, `integer` or `boolean`");
            } else if count >= ON_CHANGE_MAX {
                self.report(pointer, format!("must be at no more than {ON_CHANGE_MAX} properties"));
            }
        }
        for (count, (part, pointer)) in with(Word::Import).enumerate() {
            if !is_verified {
                self.report(pointer, "must be in a definition with `x-verified`");
            } else if !part.is_only("string") || !part.words.contains_key(&Word::Computed) {
                self.report(pointer, "must be at a property of the type `string` with `x-computed`");
            } else if count > 0 {
                self.report(pointer, "must be at one property of the definition");
            }
        }
        for word in NOT_OF_CONSUMER {
            if let Some(pointer) = root.members.get("name").and_then(|name| name.words.get(&word)) {
                self.report(pointer, "must not be at the name of the item");
            }
        }
        for below in root.members.values().flat_map(Part::below).chain(root.others.as_deref()) {
            self.deeper(below);
        }
    }

    /// Checks that a path below the item's own properties has none of their words.
    fn deeper(&mut self, part: &Part) {
        for word in [Word::OnChange, Word::Import, Word::Derived] {
            if let Some(pointer) = part.words.get(&word) {
                self.report(pointer, "must be at a property of the item itself");
            }
        }
        part.below().for_each(|below| self.deeper(below));
    }

    /// Checks that the consumer declares each reference, and that no reference is a secret.
    fn references(&mut self, part: &Part, above: Option<Word>) {
        let own = NOT_OF_CONSUMER.into_iter().find_map(|word| part.words.get_key_value(&word));
        if let Some(reference) = &part.reference {
            if let Some((_, pointer)) = own {
                self.report(pointer, "must not be at a reference");
            } else if let Some(above) = above {
                self.report_reference(reference, format!("must not be below `{}`", above.keyword()));
            }
        }
        let above = above.or(own.map(|(word, _)| *word));
        part.below().for_each(|below| self.references(below, above));
    }

    /// Checks the words that meet at one path, and below `readOnly` and `writeOnly`.
    fn parts(&mut self, part: &Part, above: Option<Word>) {
        for (word, pointer) in &part.words {
            if let Some(above) = above.filter(|above| above != word) {
                self.report(pointer, format!("must not be below `{}`", above.keyword()));
            }
        }
        for (one, other) in EXCLUSIVE {
            if let (Some(_), Some(pointer)) = (part.words.get(&one), part.words.get(&other)) {
                self.report(pointer, format!("must not be at the same property as `{}`", one.keyword()));
            }
        }
        if let Some(pointer) = part.words.get(&Word::Unordered) {
            if !part.is_array() {
                self.report(pointer, "must be at a property of the type `array`");
            } else if part.is_secret() {
                // The mask of the whole array depends on the order of its elements (R58).
                self.report(pointer, "must not be at an array that is a secret");
            }
        }
        let own = [Word::ReadOnly, Word::WriteOnly].into_iter().find(|word| part.words.contains_key(word));
        part.below().for_each(|below| self.parts(below, above.or(own)));
    }
}

/// Returns whether an array has schemas for elements by position.
fn has_positions(schema: &Value) -> bool {
    schema.get("prefixItems").is_some() || schema.get("items").is_some_and(Value::is_array)
}

#[cfg(test)]
mod tests;
