//! Blocks: parts of other definitions, which a definition copies at its publication (R68).
//!
//! `$ref: "dovetail:TITLE/VERSION#/pointer"` names a part of a published version. The copy is in `$defs`, with its
//! origin in `x-block`. Versions never change, so equal texts with blocks have equal copies.

use super::walk::{BadRef, for_each_subschema, reference_to, target};
use super::*;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Maximum number of definitions that the blocks of a definition name.
pub const BLOCK_DEFINITIONS_MAX: usize = 16;

/// The keyword at a copied part: the origin of the copy.
pub(super) const BLOCK: &str = "x-block";

const SCHEME: &str = "dovetail:";
/// The characters of a title that `x-block` encodes.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const FORM: &str = "must be `dovetail:TITLE/VERSION#/pointer`, with a percent-encoded title and a version";

/// A version of a service definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefinitionVersion {
    /// The title of the service.
    pub title: String,
    /// The version, from 1.
    pub version: u64,
}

/// The texts of published definitions. A definition that does not exist, or that the publishing team does not see, is
/// absent.
pub type Definitions = BTreeMap<DefinitionVersion, Arc<str>>;

/// Returns the definitions that the blocks of a sent definition name. An unreadable definition names none.
pub fn named_definitions(bytes: &[u8]) -> BTreeSet<DefinitionVersion> {
    let definition = json::parse_schema(bytes, SCHEMA_DEPTH_MAX).unwrap_or_default();
    let all = words::all_subschemas(&definition);
    let named = all.filter_map(|(_, schema)| Block::named(schema.get("$ref")?.as_str()?)?.ok());
    named.map(|block| block.definition).take(BLOCK_DEFINITIONS_MAX + 1).collect()
}

/// A part of a definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    definition: DefinitionVersion,
    /// The JSON pointer of the part.
    pointer: String,
}

impl Block {
    /// Returns the part that a `$ref` names, or the reason why it names none; `None` for another `$ref`.
    fn named(reference: &str) -> Option<Result<Self, &'static str>> {
        reference.strip_prefix(SCHEME).map(|block| Self::parse(block).ok_or(FORM))
    }

    fn parse(block: &str) -> Option<Self> {
        let (definition, fragment) = block.split_once('#')?;
        let (title, version) = definition.rsplit_once('/')?;
        let decoded = |text| percent_decode_str(text).decode_utf8().ok();
        let title = decoded(title).filter(|title| name_problem(title).is_none())?.into_owned();
        let pointer = decoded(fragment).filter(|pointer| pointer.starts_with('/'))?.into_owned();
        // A version has one spelling only.
        let number =
            version.parse().ok().filter(|number: &u64| *number > 0 && number.to_string() == version)?;
        Some(Self { definition: DefinitionVersion { title, version: number }, pointer })
    }

    /// Returns the value of `x-block`.
    fn text(&self) -> String {
        let DefinitionVersion { title, version } = &self.definition;
        format!("{}/{version}{}", utf8_percent_encode(title, ENCODED), reference_to(&self.pointer))
    }

    /// Returns a name for the copy, such as `L2VPN.2.SAP` for `L2VPN/2#/$defs/SAP`.
    fn name(&self) -> String {
        let DefinitionVersion { title, version } = &self.definition;
        let mut path = tokens(&self.pointer);
        if path.first().is_some_and(|first| matches!(first.as_str(), "$defs" | "definitions")) {
            path.remove(0);
        }
        format!("{title}.{version}.{}", path.join("."))
    }
}

/// A definition with the copies of the parts that it names.
pub(super) struct Expanded {
    pub(super) definition: Value,
    /// For each copy by its pointer: the pointer of the sent `$ref` that needs it, and the origin.
    copies: BTreeMap<String, (String, String)>,
}

impl Expanded {
    /// Returns the problem at a place of the sent definition. A problem in a copy belongs to the `$ref` that needs it.
    pub(super) fn sent(&self, found: Problem) -> Problem {
        let at = self.copies.iter().find(|(copy, _)| is_at_or_below(&found.pointer, copy));
        let Some((copy, (reference, origin))) = at else { return found };
        let rest = found.pointer.strip_prefix(copy.as_str()).unwrap_or_default();
        let message = format!("must name a part that fits here: in {origin}, `{rest}` {}", found.message);
        problem(reference, found.rule, message)
    }
}

/// Copies the parts that a sent definition names.
pub(super) fn expand(definition: Value, definitions: &Definitions) -> Result<Expanded, Vec<Problem>> {
    let mut copying = Copying::of(&definition, definitions);
    for (pointer, _) in words::all_subschemas(&definition).filter(|(_, schema)| schema.get(BLOCK).is_some()) {
        let message = "must be absent: Dovetail sets this keyword at the copy of a part";
        copying.problems.push(|| problem(&below(&pointer, BLOCK), "invalid_keyword", message));
    }
    let mut definition = definition;
    copying.sent("", &mut definition);
    copying.finish();
    if copying.definitions.len() > BLOCK_DEFINITIONS_MAX {
        let message = format!("must name parts of at most {BLOCK_DEFINITIONS_MAX} definitions");
        copying.problems.push(|| problem("", "too_complex", message));
    }
    if !copying.problems.is_empty() {
        return Err(copying.problems.into_vec());
    }
    let at = |name: &str| below("/$defs", name);
    let copies = copying.places.into_iter().map(|(name, place)| (at(&name), place)).collect();
    if let (false, Some(root)) = (copying.copies.is_empty(), definition.as_object_mut())
        && let Some(definitions) = root.entry("$defs").or_insert_with(|| json!({})).as_object_mut()
    {
        definitions.extend(copying.copies);
    }
    Ok(Expanded { definition, copies })
}

/// The copies under construction.
struct Copying<'a> {
    title: Option<String>,
    draft: Draft,
    texts: &'a Definitions,
    /// The named definitions; none for a missing one.
    definitions: BTreeMap<DefinitionVersion, Option<Arc<Value>>>,
    /// The name of the copy of each part.
    names: BTreeMap<Block, String>,
    /// The names in the `$defs` of the sent definition.
    taken: BTreeSet<String>,
    /// The parts whose copies are not built yet, each with the name of the copy.
    open: Vec<(Block, String)>,
    /// For each copy: the pointer of the sent `$ref` that needs it, and the origin.
    places: BTreeMap<String, (String, String)>,
    copies: Map<String, Value>,
    problems: Problems,
}

impl<'a> Copying<'a> {
    fn of(definition: &Value, texts: &'a Definitions) -> Self {
        let taken = definition.get("$defs").and_then(Value::as_object).into_iter().flatten();
        Self {
            title: definition.get("title").and_then(Value::as_str).map(str::to_owned),
            draft: definition.as_object().and_then(draft).unwrap_or_default(),
            texts,
            definitions: BTreeMap::new(),
            names: BTreeMap::new(),
            taken: taken.map(|(name, _)| name.clone()).collect(),
            open: Vec::new(),
            places: BTreeMap::new(),
            copies: Map::new(),
            problems: Problems::default(),
        }
    }

    /// Lets each `$ref` of the sent definition that names a part of another one refer to the copy.
    fn sent(&mut self, pointer: &str, schema: &mut Value) {
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(named) = reference.and_then(Block::named) {
            let at = below(pointer, "$ref");
            let copied =
                named.map_err(|message| ("invalid_schema", message)).and_then(|block| self.copy(block, &at));
            match copied {
                Ok(name) => refer(schema, &name),
                Err((rule, message)) => self.problems.push(|| problem(&at, rule, message)),
            }
        }
        for_each_subschema(pointer, schema, &mut |_, at, below| self.sent(at, below));
    }

    /// Returns the name of the copy of a part. `at` is the sent `$ref` that needs the part.
    fn copy(&mut self, part: Block, at: &str) -> Result<String, (&'static str, &'static str)> {
        let definition = self.definition(&part.definition)?;
        let reference = reference_to(&part.pointer);
        let missing = "must refer to a part of the definition";
        let (pointer, schema) =
            target(&definition, &reference).map_err(|_: BadRef| ("dangling_reference", missing))?;
        if pointer.is_empty() {
            return Err((
                "dangling_reference",
                "must refer to a part that does not need the whole definition",
            ));
        }
        // A copy of a copy is the same part.
        let origin = schema.get(BLOCK).and_then(Value::as_str).and_then(Block::parse);
        let origin = origin.unwrap_or_else(|| part.clone());
        if self.title.as_ref() == Some(&origin.definition.title) {
            return Err((
                "recursive_reference",
                "must not refer to a part that comes from this service itself",
            ));
        }
        if let Some(name) = self.names.get(&origin) {
            return Ok(name.clone());
        }
        let name = self.free_name(&origin);
        self.taken.insert(name.clone());
        self.places.insert(name.clone(), (at.to_owned(), origin.text()));
        self.names.insert(origin, name.clone());
        self.open.push((part, name.clone()));
        Ok(name)
    }

    fn definition(
        &mut self,
        version: &DefinitionVersion,
    ) -> Result<Arc<Value>, (&'static str, &'static str)> {
        let unknown =
            ("unknown_definition", "must name a published version of a service that your team sees");
        let texts = self.texts;
        let parsed = self.definitions.entry(version.clone()).or_insert_with(|| {
            let text = texts.get(version)?;
            json::parse_schema(text.as_bytes(), SCHEMA_DEPTH_MAX).ok().map(Arc::new)
        });
        let definition = parsed.clone().ok_or(unknown)?;
        let is_same_draft = definition.as_object().and_then(draft) == Some(self.draft);
        let other = ("unsupported_draft", "must name a definition of the same draft");
        is_same_draft.then_some(definition).ok_or(other)
    }

    fn free_name(&self, origin: &Block) -> String {
        let name = origin.name();
        let numbered = (2_u64..).map(|number| format!("{name}.{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(|name| !self.taken.contains(name)).unwrap_or_default()
    }

    /// Builds the copies, and the copies of the parts that they need.
    fn finish(&mut self) {
        while let Some((part, name)) = self.open.pop() {
            let Ok(source) = self.definition(&part.definition) else { continue };
            let Some(mut schema) = source.pointer(&part.pointer).cloned() else { continue };
            let (at, origin) = self.places.get(&name).cloned().unwrap_or_default();
            self.local("", &mut schema, &source, &part.definition, &at);
            if let Some(members) = schema.as_object_mut() {
                members.insert(BLOCK.to_owned(), Value::String(origin));
            }
            self.copies.insert(name, schema);
        }
    }

    /// Lets each `$ref` of a copied part refer to the copy of its target.
    fn local(&mut self, pointer: &str, schema: &mut Value, source: &Value, of: &DefinitionVersion, at: &str) {
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(Ok((to, _))) = reference.map(|reference| target(source, reference)) {
            let part = Block { definition: of.clone(), pointer: to.into_owned() };
            match self.copy(part, at) {
                Ok(name) => refer(schema, &name),
                Err((rule, message)) => self.problems.push(|| problem(at, rule, message)),
            }
        }
        for_each_subschema(pointer, schema, &mut |_, place, below| self.local(place, below, source, of, at));
    }
}

/// Lets a schema refer to a copy.
fn refer(schema: &mut Value, name: &str) {
    if let Some(members) = schema.as_object_mut() {
        members.insert("$ref".to_owned(), Value::String(reference_to(&below("/$defs", name))));
    }
}

#[cfg(test)]
mod tests;
