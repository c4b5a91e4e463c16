//! The paths of a definition as a tree: the words at each property, and the properties below it (R46).
//!
//! A path leads from the root through `properties`, `additionalProperties`, `items` and `$ref`. Schemas below other
//! keywords share their value with neighbours, so no single actor is responsible for the value there.

use super::walk::{Subschema, subschemas, target};
use super::*;

/// The word at the root of a verified definition.
pub(super) const VERIFIED: &str = "x-verified";

/// The word at the root of a definition whose items are removed only with a confirmation.
pub(super) const CONFIRM_REMOVAL: &str = "x-confirm-removal";

/// The value of `x-on-change` at a property whose change replaces the item.
const REPLACE: &str = "replace";

/// The memory of a part, in bytes.
const PART_BYTES: usize = 2_560;

/// A word at a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Word {
    ReadOnly,
    Computed,
    WriteOnly,
    OnChange,
    Import,
    Unordered,
    Reach,
    Derived,
    From,
}

impl Word {
    pub(super) const ALL: [Self; 9] = [
        Self::ReadOnly,
        Self::Computed,
        Self::WriteOnly,
        Self::OnChange,
        Self::Import,
        Self::Unordered,
        Self::Reach,
        Self::Derived,
        Self::From,
    ];

    pub(super) const fn keyword(self) -> &'static str {
        match self {
            Self::ReadOnly => "readOnly",
            Self::Computed => "x-computed",
            Self::WriteOnly => "writeOnly",
            Self::OnChange => "x-on-change",
            Self::Import => "x-import",
            Self::Unordered => "x-unordered",
            Self::Reach => "x-reach",
            Self::Derived => "x-derived",
            Self::From => "x-from",
        }
    }

    /// Returns whether a schema has the word. A `readOnly` or `writeOnly` with the value `false` is not a word.
    pub(super) fn is_in(self, schema: &Value) -> bool {
        schema.get(self.keyword()).is_some_and(|value| *value != Value::Bool(false))
    }

    /// Returns the words of a schema.
    pub(super) fn of(schema: &Value) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|word| word.is_in(schema))
    }
}

/// A property of the item, or the item itself, with its words and the properties below it.
#[derive(Debug, Default)]
pub struct Part {
    /// The words at this path, each with the pointer of its keyword.
    pub(super) words: BTreeMap<Word, String>,
    /// The types in the definition; empty for any type.
    pub(super) types: BTreeSet<String>,
    /// The pointer of the `service_reference` of a property that names items of another service.
    pub(super) reference: Option<String>,
    /// Whether this is the root of a verified definition: the owner sends whole items (R51).
    pub is_verified: bool,
    /// Whether this is the root of a definition whose items are removed only with a confirmation (R62).
    pub confirms_removal: bool,
    /// Whether this is the root of a definition with arrays whose order has no meaning (R67).
    pub has_unordered: bool,
    /// Whether another value replaces the item and is not refused (R60).
    replaces: bool,
    /// The members with a name in the definition.
    pub(super) members: BTreeMap<String, Self>,
    /// The other members of the object, if `additionalProperties` has a schema for them.
    pub(super) others: Option<Box<Self>>,
    /// The elements of the array, if `items` has a schema for them.
    pub(super) elements: Option<Box<Self>>,
}

impl Part {
    /// A part without words and without parts below it.
    pub(crate) const ANY: &'static Self = &Self {
        words: BTreeMap::new(),
        types: BTreeSet::new(),
        reference: None,
        is_verified: false,
        confirms_removal: false,
        has_unordered: false,
        replaces: false,
        members: BTreeMap::new(),
        others: None,
        elements: None,
    };

    /// Returns the tree of a definition with bounded work, or only the root of a recursive definition, because it has
    /// no words.
    pub(super) fn of(definition: &Value, draft: Draft) -> Self {
        let mut part = Self {
            is_verified: definition.get(VERIFIED).is_some(),
            confirms_removal: definition.get(CONFIRM_REMOVAL).is_some(),
            ..Self::default()
        };
        let source = Source { definition, draft };
        if !source.is_recursive("", definition, &mut BTreeMap::new()) {
            part.add("", definition, &source);
        }
        part.has_unordered = part.contains_unordered();
        part
    }

    /// Adds a schema that applies at this path.
    fn add(&mut self, pointer: &str, schema: &Value, source: &Source<'_>) {
        for word in Word::of(schema) {
            let is_first = !self.words.contains_key(&word);
            self.words.entry(word).or_insert_with(|| below(pointer, word.keyword()));
            if word == Word::OnChange {
                // Two schemas may apply at one path. If they disagree, the change is refused.
                let replaces = schema.get(word.keyword()).and_then(Value::as_str) == Some(REPLACE);
                self.replaces = replaces && (is_first || self.replaces);
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => drop(self.types.insert(name.clone())),
            Some(Value::Array(names)) => {
                self.types.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            Some(_) | None => {}
        }
        if schema.get(SERVICE_REFERENCE).is_some() {
            self.reference.get_or_insert_with(|| below(pointer, SERVICE_REFERENCE));
        }
        for step in steps(pointer, schema, source) {
            let part = match step.way {
                Way::Same => &mut *self,
                Way::Member(name) => self.members.entry(name).or_default(),
                Way::Others => self.others.get_or_insert_default(),
                Way::Elements => self.elements.get_or_insert_default(),
            };
            part.add(&step.pointer, step.schema, source);
        }
    }

    /// Returns whether the service owner fills the value: the consumer must not declare it.
    pub(crate) fn is_read_only(&self) -> bool {
        self.words.contains_key(&Word::ReadOnly)
    }

    /// Returns whether this is an owner path, apart from paths above it.
    pub(crate) fn is_owner(&self) -> bool {
        self.is_read_only() || self.words.contains_key(&Word::Computed)
    }

    /// Returns the part of a member with a name in the definition.
    pub(crate) fn named(&self, name: &str) -> Option<&Self> {
        self.members.get(name)
    }

    /// Returns the part of any member.
    pub(crate) fn member(&self, name: &str) -> Option<&Self> {
        self.named(name).or(self.others.as_deref())
    }

    /// Returns the part of each element.
    pub(crate) fn elements(&self) -> Option<&Self> {
        self.elements.as_deref()
    }

    /// Returns the name of an element with this part: a text that the consumer declares.
    pub(crate) fn name_of<'a>(&self, element: &'a Value) -> Option<&'a str> {
        let is_declared = self.member("name").is_none_or(|part| !part.is_owner() && !part.is_secret());
        element.get("name").filter(|_| is_declared).and_then(Value::as_str)
    }

    /// Returns whether the service owner fills the value unless the consumer declares it.
    pub(crate) fn is_computed(&self) -> bool {
        self.words.contains_key(&Word::Computed)
    }

    /// Returns whether no version of the item and no plan contains the value.
    pub(crate) fn is_secret(&self) -> bool {
        self.words.contains_key(&Word::WriteOnly) || self.elements().is_some_and(Self::is_secret)
    }

    /// Returns whether a value with this part can contain secrets.
    pub fn has_secrets(&self) -> bool {
        self.is_secret() || self.below().any(Self::has_secrets)
    }

    /// Returns whether the order of the elements of an array has no meaning (R67).
    pub(crate) fn is_unordered(&self) -> bool {
        self.words.contains_key(&Word::Unordered)
    }

    fn contains_unordered(&self) -> bool {
        self.is_unordered() || self.below().any(Self::contains_unordered)
    }

    /// Returns a value with each unordered array sorted by the canonical form of its elements, inner arrays first
    /// (R67).
    pub(crate) fn sorted(&self, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let sorted = |(name, value): (&String, &Value)| {
                    let value = self.member(name).map_or_else(|| value.clone(), |part| part.sorted(value));
                    (name.clone(), value)
                };
                members.iter().map(sorted).collect()
            }
            Value::Array(elements) => {
                let part = self.elements().unwrap_or(Self::ANY);
                let mut sorted: Vec<Value> = elements.iter().map(|element| part.sorted(element)).collect();
                if self.is_unordered() {
                    sorted.sort_by_cached_key(json::canonical);
                }
                Value::Array(sorted)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    /// Returns whether the definition allows `null`.
    pub(crate) fn is_nullable(&self) -> bool {
        self.types.contains("null")
    }

    /// Returns whether the definition names members of the object, or has a schema for all of them.
    pub(crate) fn names_members(&self) -> bool {
        !self.members.is_empty() || self.others.is_some()
    }

    /// Returns the members with a name in the definition.
    pub(crate) fn named_members(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.members.iter().map(|(name, part)| (name.as_str(), part))
    }

    /// Returns the names of the members with `x-on-change`, each with whether another value replaces the item.
    pub(super) fn on_change(&self) -> impl Iterator<Item = (&str, bool)> {
        let marked = self.members.iter().filter(|(_, part)| part.words.contains_key(&Word::OnChange));
        marked.map(|(name, part)| (name.as_str(), part.replaces))
    }

    /// Returns whether another value of a member replaces the item (R60).
    pub(crate) fn replaces(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(|part| part.replaces)
    }

    /// Returns whether Dovetail computes the value at each read (R70).
    pub(crate) fn is_derived(&self) -> bool {
        self.words.contains_key(&Word::Derived)
    }

    /// Returns the names of the members with `x-derived`, each with the pointer of its keyword.
    pub(crate) fn derived(&self) -> impl Iterator<Item = (&str, &String)> {
        let members = self.members.iter();
        members.filter_map(|(name, part)| Some((name.as_str(), part.words.get(&Word::Derived)?)))
    }

    /// Returns whether the definition has derived values (R70).
    pub fn has_derived(&self) -> bool {
        self.derived().next().is_some()
    }

    /// Returns the name of the member whose declared value adopts an existing object (R55).
    pub(crate) fn import(&self) -> Option<&str> {
        let mut members = self.members.iter();
        members.find(|(_, part)| part.words.contains_key(&Word::Import)).map(|(name, _)| name.as_str())
    }

    /// Returns the memory of the tree in bytes; the estimate is never too low.
    pub fn bytes(&self) -> usize {
        self.count().saturating_mul(PART_BYTES)
    }

    /// Returns the number of parts, this one included.
    fn count(&self) -> usize {
        self.below().map(Self::count).fold(1, usize::saturating_add)
    }

    /// Returns the pointers of the values at `readOnly` paths.
    pub(super) fn read_only(&self, pointer: &str, value: &Value) -> Vec<String> {
        if self.is_read_only() {
            return vec![pointer.to_owned()];
        }
        let below = |token: &str, part: Option<&Self>, value: &Value| {
            part.map_or_else(Vec::new, |part| part.read_only(&below(pointer, token), value))
        };
        match value {
            Value::Object(members) => {
                members.iter().flat_map(|(name, value)| below(name, self.member(name), value)).collect()
            }
            Value::Array(elements) => {
                let elements = elements.iter().enumerate();
                elements
                    .flat_map(|(index, value)| below(&index.to_string(), self.elements(), value))
                    .collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        }
    }

    /// Returns the pointers of the names that an earlier element of their list has, in lists whose elements have owner
    /// paths: the owner's values belong to an element by its name.
    pub(super) fn repeated_names(&self, pointer: &str, value: &Value) -> Vec<String> {
        let at = |token: &str| below(pointer, token);
        match value {
            Value::Object(members) => {
                let parts =
                    members.iter().filter_map(|(name, value)| Some((name, self.member(name)?, value)));
                parts.flat_map(|(name, part, value)| part.repeated_names(&at(name), value)).collect()
            }
            Value::Array(elements) => {
                let Some(part) = self.elements().filter(|part| part.has_owner_path()) else {
                    return Vec::new();
                };
                let mut names = BTreeSet::new();
                let mut repeated = Vec::new();
                for (index, element) in elements.iter().enumerate() {
                    let at = at(&index.to_string());
                    if part.name_of(element).is_some_and(|name| !names.insert(name)) {
                        repeated.push(below(&at, "name"));
                    }
                    repeated.extend(part.repeated_names(&at, element));
                }
                repeated
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        }
    }

    /// Returns whether this path or a path below it is an owner path.
    fn has_owner_path(&self) -> bool {
        self.is_owner() || self.below().any(Self::has_owner_path)
    }

    /// Returns whether the definition allows arrays, and nothing else but `null`.
    pub(super) fn is_array(&self) -> bool {
        self.types.contains("array") && self.types.iter().all(|name| name == "array" || name == "null")
    }

    /// Returns whether the definition allows values of this type alone.
    pub(super) fn is_only(&self, name: &str) -> bool {
        self.types.len() == 1 && self.types.contains(name)
    }

    /// Returns the parts directly below this one.
    pub(super) fn below(&self) -> impl Iterator<Item = &Self> {
        self.members.values().chain(self.others.as_deref()).chain(self.elements.as_deref())
    }
}

/// The definition around a schema.
pub(super) struct Source<'a> {
    pub(super) definition: &'a Value,
    pub(super) draft: Draft,
}

impl Source<'_> {
    /// Returns whether a path from a schema leads back to an earlier schema of the path. For each visited schema,
    /// `ended` has whether its paths are complete.
    fn is_recursive(&self, pointer: &str, schema: &Value, ended: &mut BTreeMap<String, bool>) -> bool {
        if let Some(ended) = ended.get(pointer) {
            return !ended;
        }
        ended.insert(pointer.to_owned(), false);
        let mut steps = steps(pointer, schema, self).into_iter();
        let is_recursive = steps.any(|step| self.is_recursive(&step.pointer, step.schema, ended));
        ended.insert(pointer.to_owned(), true);
        is_recursive
    }
}

/// A schema that a path reaches next.
pub(super) struct Step<'a> {
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
    pub(super) way: Way,
}

/// The direction of a step.
pub(super) enum Way {
    /// The same value, by `$ref`.
    Same,
    Member(String),
    Others,
    Elements,
}

/// Returns the schemas that a path reaches from `schema`.
pub(super) fn steps<'a>(pointer: &str, schema: &'a Value, source: &Source<'a>) -> Vec<Step<'a>> {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| target(source.definition, reference).ok());
    let same = target.map(|(pointer, schema)| Step { pointer: pointer.into_owned(), schema, way: Way::Same });
    // Draft-07 ignores the keywords next to `$ref`.
    if reference.is_some() && source.draft == Draft::Draft7 {
        return same.into_iter().collect();
    }
    let below = subschemas(pointer, schema).into_iter().filter_map(|below| {
        let way = match below.keyword {
            "properties" => Way::Member(below.token()),
            // A member that matches a pattern does not belong to `additionalProperties`, and its name alone does not
            // show the difference.
            "additionalProperties" if schema.get("patternProperties").is_none() => Way::Others,
            "items" if is_single(&below, schema) => Way::Elements,
            _ => return None,
        };
        Some(Step { pointer: below.pointer, schema: below.schema, way })
    });
    same.into_iter().chain(below).filter(|step| step.schema.is_object()).collect()
}

/// Returns whether this schema in `items` is for all elements.
fn is_single(items: &Subschema<'_>, schema: &Value) -> bool {
    schema.get("items").is_some_and(|single| std::ptr::eq(single, items.schema))
        && schema.get("prefixItems").is_none()
}
