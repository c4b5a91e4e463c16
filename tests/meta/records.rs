//! Renders the stored attributes from the comments of `infra/table/src/record` and `infra/table/src/key.rs`, and
//! compares them with `docs/reference/records.md` and with the golden records.

use expect_test::expect_file;
use repository::{files, read, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const PAGE: &str = include_str!("../../docs/reference/records.md");
const BEGIN: &str = "<!-- records -->\n";
const END: &str = "<!-- /records -->";

/// Attributes of every row that are not in the structs.
const COMMON: [&str; 4] = ["pk", "sk", "ty", "v"];

/// Field names of at most three letters that are words.
const SHORT_WORDS: [&str; 12] =
    ["all", "at", "by", "due", "end", "id", "key", "log", "new", "old", "sum", "to"];

/// A field of a struct.
#[derive(Clone)]
struct Field {
    /// The name of the attribute.
    attribute: String,
    name: String,
    ty: String,
    doc: String,
    /// Whether the fields of its part are attributes of the struct.
    is_flat: bool,
}

/// A struct or an alias for stored attributes, in a file of `infra/table/src/record`.
#[derive(Default)]
struct Part {
    file: String,
    name: String,
    /// Visible in other files.
    is_shared: bool,
    doc: String,
    fields: Vec<Field>,
    /// The types of a tuple struct, an alias or the variants of an enum.
    inner: Vec<String>,
}

/// A record type with the names of its functions in `key.rs`.
#[derive(Default)]
struct Kind {
    record: String,
    ty: String,
    key: String,
    indexes: Vec<String>,
}

/// A function or constant of `key.rs`, by its doc comment.
struct KeyDoc {
    /// The text between "of" or "with" and the colon.
    of: String,
    /// The code spans of the comment.
    spans: Vec<String>,
    /// The text behind "Attributes:".
    attributes: Option<String>,
}

/// The comments, read from the sources.
struct Source {
    parts: Vec<Part>,
    kinds: Vec<Kind>,
    key_docs: BTreeMap<String, KeyDoc>,
}

impl Source {
    fn read() -> Self {
        let folder = root().join("infra/table/src/record");
        let (mut parts, mut kinds) = (Vec::new(), Vec::new());
        for path in files(&folder, ".rs") {
            let text = read(&path);
            let file = path.file_stem().unwrap().to_string_lossy().into_owned();
            parts.extend(parts_of(&file, &text));
            kinds.extend(text.split("\nimpl Record for ").skip(1).map(kind_of));
        }
        kinds.sort_by(|one: &Kind, other| one.ty.cmp(&other.ty));
        let keys = read(&root().join("infra/table/src/key.rs"));
        let further = files(&root().join("infra/table/src/key"), ".rs").into_iter().map(|path| read(&path));
        let keys = further.fold(keys, |keys, more| keys + &more);
        Self { parts: flattened(parts), kinds, key_docs: key_docs(&keys) }
    }

    /// The part of a type that a file names: its own one, or a shared one.
    fn part(&self, file: &str, ty: &str) -> Option<&Part> {
        let name = ty.trim_start_matches("parts::");
        let own = |part: &&Part| part.name == name && part.file == file && !ty.contains("::");
        let shared = |part: &&Part| part.name == name && part.is_shared;
        self.parts.iter().find(own).or_else(|| self.parts.iter().find(shared))
    }

    fn record(&self, kind: &Kind) -> &Part {
        self.parts.iter().find(|part| part.name == kind.record).unwrap()
    }

    fn key_doc(&self, name: &str) -> &KeyDoc {
        self.key_docs.get(name).unwrap_or_else(|| unreachable!("key.rs has no comment on {name}"))
    }

    /// The DynamoDB type of a field, with a link to a shared part.
    fn type_of(&self, file: &str, ty: &str) -> String {
        if let Some(inner) = inside(ty, "Option") {
            return format!("{}, optional", self.type_of(file, inner));
        }
        if let Some(inner) = inside(ty, "Vec") {
            return format!("L of {}", self.type_of(file, inner));
        }
        if let Some(inner) = inside(ty, "BTreeMap") {
            let (_, value) = inner.split_once(", ").unwrap();
            return format!("M of {}", self.type_of(file, value));
        }
        let Some(part) = self.part(file, ty) else { return scalar(ty).to_owned() };
        let own = if part.inner.is_empty() { "M".to_owned() } else { self.inner(part) };
        if part.is_shared { format!("{own} ([{}](#{}))", title(part), anchor(part)) } else { own }
    }

    fn inner(&self, part: &Part) -> String {
        let types = part.inner.iter().map(|ty| {
            let list = inside(ty, "Vec");
            let ty = list.unwrap_or(ty);
            let of = match self.part(&part.file, ty) {
                // A variant with fields of its own is a map.
                Some(inner) => inner.inner.first().map_or("M", |of| scalar(of)),
                None => scalar(ty),
            };
            if list.is_some() { format!("L of {of}") } else { of.to_owned() }
        });
        types.collect::<Vec<_>>().join(" or ")
    }

    /// The rows of a part's fields, those of private parts below the field.
    fn rows(&self, part: &Part, prefix: &str) -> String {
        let mut rows = String::new();
        for Field { attribute, name, ty, doc, .. } in &part.fields {
            assert!(!doc.is_empty(), "{}.{name} has a comment", part.name);
            let path = format!("{prefix}{attribute}");
            writeln!(rows, "| `{path}` | `{name}` | {} | {doc} |", self.type_of(&part.file, ty)).unwrap();
            let (inner, joint) = nested(ty);
            let local = self.part(&part.file, inner).filter(|part| !part.is_shared && part.inner.is_empty());
            let enumeration = self.part(&part.file, inner).filter(|part| !part.is_shared);
            let variants = enumeration.into_iter().flat_map(|part| &part.inner);
            let variants = variants.filter_map(|ty| self.part(&part.file, ty));
            for local in local.into_iter().chain(variants.filter(|part| !part.fields.is_empty())) {
                rows.push_str(&self.rows(local, &format!("{path}{joint}.")));
            }
        }
        rows
    }

    fn block(&self) -> String {
        let keys = self.kinds.iter().map(|kind| {
            let KeyDoc { of, spans, .. } = self.key_doc(&kind.key);
            let place = if self.record(kind).doc.contains("table of keys") { "keys" } else { "main" };
            let index = |index: &String| format!("`{}`", self.key_doc(index).spans[0]);
            let mut indexes: Vec<String> = kind.indexes.iter().map(index).collect();
            indexes.dedup();
            let (ty, link, indexes) = (&kind.ty, kind.ty.to_lowercase(), indexes.join(", "));
            format!("{of} | [`{ty}`](#{link}) | {place} | `{}` | `{}` | {indexes}", spans[0], spans[1])
        });
        let further = self.key_docs.values().filter_map(|KeyDoc { of, spans, attributes }| {
            let attributes = attributes.as_ref()?;
            Some(format!("{of} | `{}` | `{}` | {attributes}", spans[0], spans[1]))
        });
        let mut indexes: Vec<&KeyDoc> = self.key_docs.values().filter(|key_doc| is_index(key_doc)).collect();
        indexes.sort_by_key(|key_doc| (&key_doc.spans[0], &key_doc.of));
        let index = |KeyDoc { of, spans, .. }: &KeyDoc| {
            format!("`{}` | `{}` | `{}` | {of}", spans[0], spans[1], spans[2])
        };
        let mut block = [
            table("Keys", "record | `ty` | table | `pk` | `sk` | indexes", keys),
            table("Further rows", "row | `pk` | `sk` | attributes", further),
            table("Indexes", "index | partition | sort key | contents", indexes.into_iter().map(index)),
        ]
        .concat();
        block.push_str("\n## Records\n");
        for kind in &self.kinds {
            self.section(&mut block, &format!("`{}`", kind.ty), self.record(kind));
        }
        block.push_str("\n## Shared parts\n");
        let mut shared: Vec<&Part> =
            self.parts.iter().filter(|part| part.is_shared && !part.name.ends_with("Record")).collect();
        shared.extend(self.parts.iter().filter(|part| part.name == "EntryRecord"));
        shared.sort_by_key(|part| title(part));
        for part in shared {
            self.section(&mut block, &format!("Part: {}", title(part)), part);
        }
        block.push('\n');
        block
    }

    fn section(&self, block: &mut String, heading: &str, part: &Part) {
        assert!(!part.doc.is_empty(), "{} has a comment", part.name);
        write!(block, "\n### {heading}\n\n{}", wrapped(&part.doc)).unwrap();
        if !part.fields.is_empty() {
            let head = "\n| attribute | field | type | meaning |\n|---|---|---|---|\n";
            write!(block, "{head}{}", self.rows(part, "")).unwrap();
        }
    }
}

/// A table below a heading, from the cells of its head and of its rows.
fn table(heading: &str, head: &str, rows: impl Iterator<Item = String>) -> String {
    let line = "---|".repeat(head.split(" | ").count());
    let rows: String = rows.map(|row| format!("| {row} |\n")).collect();
    format!("\n## {heading}\n\n| {head} |\n|{line}\n{rows}")
}

/// A text in lines of at most 118 characters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split(' ') {
        if !line.is_empty() && line.len() + word.len() >= 118 {
            lines.push_str(&line);
            lines.push('\n');
            line.clear();
        }
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    format!("{lines}{line}\n")
}

fn is_index(key_doc: &KeyDoc) -> bool {
    key_doc.spans.len() == 3 && key_doc.spans[0].starts_with("gs") && !key_doc.of.contains('`')
}

/// The name of a shared part for readers: `ChainHeadPart` is "chain head".
fn title(part: &Part) -> String {
    let name = part.name.trim_end_matches("Part").trim_end_matches("Record");
    let words: String = name.chars().map(word_start).collect();
    words.trim_start().to_owned()
}

fn word_start(letter: char) -> String {
    if letter.is_uppercase() { format!(" {}", letter.to_lowercase()) } else { letter.to_string() }
}

fn anchor(part: &Part) -> String {
    format!("part-{}", title(part).replace(' ', "-"))
}

/// The DynamoDB type of a Rust type that is not a part.
fn scalar(ty: &str) -> &str {
    match ty {
        "u64" | "i64" | "u16" | "usize" => "N",
        "String" => "S",
        "bool" => "BOOL",
        _ if ty.starts_with("Bytes<") || ty.starts_with("Packed<") => "B",
        _ => unreachable!("the type {ty} has no DynamoDB type here"),
    }
}

/// The argument of a generic type of this name.
fn inside<'a>(ty: &'a str, name: &str) -> Option<&'a str> {
    ty.strip_prefix(name)?.strip_prefix('<')?.strip_suffix('>')
}

/// The type of a field's values, and the sign for a path into a list or a map.
fn nested(ty: &str) -> (&str, &str) {
    if let Some(inner) = inside(ty, "Vec") {
        return (inner, "[]");
    }
    if let Some(inner) = inside(ty, "BTreeMap") {
        return (inner.split_once(", ").unwrap().1, ".{team}");
    }
    (inside(ty, "Option").unwrap_or(ty), "")
}

/// Replaces each flattened field by the fields of its part.
fn flattened(parts: Vec<Part>) -> Vec<Part> {
    let fields = parts.iter().flat_map(|part| &part.fields);
    let types: BTreeSet<String> =
        fields.filter(|field| field.is_flat).map(|field| field.ty.clone()).collect();
    let (flat, mut parts): (Vec<Part>, Vec<Part>) =
        parts.into_iter().partition(|part| types.contains(&part.name));
    let replaced = |field: Field| match flat.iter().find(|part| field.is_flat && part.name == field.ty) {
        Some(part) => part.fields.clone(),
        None => vec![field],
    };
    for part in &mut parts {
        part.fields = std::mem::take(&mut part.fields).into_iter().flat_map(replaced).collect();
    }
    parts
}

/// The parts of a file, line by line.
fn parts_of(file: &str, text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut doc, mut rename, mut is_flat, mut is_open) = (String::new(), None, false, false);
    for line in text.lines() {
        if let Some(words) = line.trim_start().strip_prefix("/// ") {
            doc.push_str(if doc.is_empty() { "" } else { " " });
            doc.push_str(words);
            continue;
        }
        if line.trim_start().starts_with("#[") {
            let name = line.split_once("rename = \"").and_then(|(_, rest)| rest.split_once('"'));
            rename = name.map(|(name, _)| name.to_owned()).or(rename);
            is_flat |= line.trim() == "#[serde(flatten)]";
            continue;
        }
        if is_open {
            let member = line.trim().trim_end_matches(',');
            let part = parts.last_mut().unwrap();
            if line == "}" {
                is_open = false;
            } else if let Some((name, ty)) = member.split_once(": ") {
                let name = name.trim_start_matches("pub(crate) ").to_owned();
                let attribute = rename.take().unwrap_or_else(|| name.clone());
                let (ty, doc) = (ty.to_owned(), std::mem::take(&mut doc));
                part.fields.push(Field { attribute, name, ty, doc, is_flat });
            } else if let Some((_, ty)) = member.split_once('(') {
                part.inner.push(ty.trim_end_matches(')').to_owned());
            }
        } else if let Some(mut part) = declared(file, line) {
            part.doc = std::mem::take(&mut doc);
            is_open = line.ends_with('{');
            parts.push(part);
        }
        doc.clear();
        (rename, is_flat) = (None, false);
    }
    parts
}

/// The part that a line declares.
fn declared(file: &str, line: &str) -> Option<Part> {
    let is_shared = line.starts_with("pub(crate) ");
    let line = line.trim_start_matches("pub(crate) ");
    let rest = ["struct ", "enum ", "type "].iter().find_map(|word| line.strip_prefix(word))?;
    let name = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    let rest = &rest[name.len()..];
    let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(");"));
    let inner = inner.or_else(|| rest.strip_prefix(" = ").and_then(|rest| rest.strip_suffix(';')));
    let inner: Vec<String> = inner.into_iter().map(str::to_owned).collect();
    let is_part = name.ends_with("Record") || name.ends_with("Part");
    let (file, name) = (file.to_owned(), name.to_owned());
    is_part.then(|| Part { file, name, is_shared, inner, ..Part::default() })
}

/// The record type of an `impl Record for`, from behind these words.
fn kind_of(text: &str) -> Kind {
    let (text, _) = text.split_once("\n}\n").unwrap_or((text, ""));
    let record = text.split(' ').next().unwrap().to_owned();
    let (_, ty) = text.split_once("const TYPE: &'static str = \"").unwrap();
    let body = |function: &str| {
        let (_, body) = text.split_once(&format!("\n    fn {function}("))?;
        Some(body.split_once("\n    }").map_or(body, |(body, _)| body))
    };
    Kind {
        record,
        ty: ty.split_once('"').unwrap().0.to_owned(),
        key: keys_in(body("key").unwrap()).remove(0),
        indexes: body("indexes").map(keys_in).unwrap_or_default(),
    }
}

/// The functions and constants of `key.rs` that a text names, without the sort keys.
fn keys_in(text: &str) -> Vec<String> {
    let names = text.split("key::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest[..end].to_owned()
    });
    names.filter(|name| !name.starts_with("by_")).collect()
}

/// The commented functions and constants of `key.rs`.
fn key_docs(text: &str) -> BTreeMap<String, KeyDoc> {
    let mut key_docs = BTreeMap::new();
    let mut doc = String::new();
    for line in text.lines() {
        if let Some(words) = line.strip_prefix("///") {
            doc.push_str(if doc.is_empty() || words.is_empty() { words.trim() } else { words });
            continue;
        }
        let item = line.trim_start_matches("pub(crate) ");
        let item = item.strip_prefix("fn ").or_else(|| item.strip_prefix("const "));
        let name = item.and_then(|item| item.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        key_docs.extend(name.map(|name| (name.to_owned(), key_doc(&doc))));
        doc.clear();
    }
    key_docs
}

fn key_doc(doc: &str) -> KeyDoc {
    let (text, attributes) =
        doc.split_once(" Attributes: ").map_or((doc, None), |(text, rest)| (text, Some(rest)));
    let attributes = attributes.map(|attributes| attributes.trim_end_matches('.').to_owned());
    let (head, _) = text.split_once(": `").unwrap_or((text, ""));
    let of = head.split_once(" with ").or_else(|| head.split_once(" of ")).map_or(head, |(_, of)| of);
    let spans = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    KeyDoc { of: of.to_owned(), spans, attributes }
}

/// Whether a text has the form of a pattern, whose names in braces stand for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    for (number, piece) in pattern.split('{').enumerate() {
        let literal = if number == 0 { piece } else { piece.split_once('}').unwrap().1 };
        let Some(at) = rest.find(literal) else { return false };
        if number == 0 && at > 0 {
            return false;
        }
        rest = if literal.is_empty() { rest } else { &rest[at + literal.len()..] };
    }
    rest.is_empty() || pattern.ends_with('}')
}

#[test]
fn the_page_of_records_has_every_attribute() {
    let (before, rest) = PAGE.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let block = Source::read().block();
    expect_file!["../../docs/reference/records.md"].assert_eq(&format!("{before}{BEGIN}{block}{END}{after}"));
}

#[test]
fn fields_of_records_have_full_names() {
    let source = Source::read();
    let fields = source.parts.iter().flat_map(|part| &part.fields);
    let short: BTreeSet<&str> =
        fields.map(|field| field.name.as_str()).filter(|name| name.len() <= 3).collect();
    let reason =
        "a field has its full name, `#[serde(rename)]` has the short one, and each allowed word occurs";
    assert_eq!(short, BTreeSet::from(SHORT_WORDS), "{reason}");
}

#[test]
fn golden_records_have_the_keys_and_attributes_of_the_page() {
    let source = Source::read();
    // The schema record has no golden file.
    let mut seen = BTreeSet::from(["SCHEMA"]);
    for path in files(&root().join("infra/table/golden/record"), ".json") {
        let row: BTreeMap<String, Value> = serde_json::from_str(&read(&path)).unwrap();
        let text = |name: &str| row.get(name).and_then(|value| value["S"].as_str());
        let kind = source.kinds.iter().find(|kind| Some(kind.ty.as_str()) == text("ty")).unwrap();
        seen.insert(kind.ty.as_str());
        let key_doc = source.key_doc(&kind.key);
        // A gone item or a retired application has the third pattern as its partition, and perhaps another sort key.
        let is_moved = key_doc.spans.get(2).is_some_and(|pattern| fits(pattern, text("pk").unwrap()));
        let [pk, sk] = if is_moved { [2, if key_doc.spans.len() > 3 { 3 } else { 1 }] } else { [0, 1] };
        let patterns = [&key_doc.spans[pk], &key_doc.spans[sk]];
        for (pattern, name) in patterns.into_iter().zip(["pk", "sk"]) {
            assert!(fits(pattern, text(name).unwrap()), "{}: {name} {pattern}", path.display());
        }
        let record = source.record(kind);
        let documented = |name: &str| record.fields.iter().any(|field| field.attribute == name);
        for name in row.keys().filter(|name| !COMMON.contains(&name.as_str()) && !name.starts_with("gs")) {
            assert!(documented(name), "{}: {name}", path.display());
        }
        for number in 1..=3 {
            let Some(partition) = text(&format!("gs{number}pk")) else { continue };
            let sort_key = text(&format!("gs{number}sk")).unwrap();
            let fitting = kind.indexes.iter().map(|index| source.key_doc(index)).find(|key_doc| {
                key_doc.spans[0] == format!("gs{number}")
                    && fits(&key_doc.spans[1], partition)
                    && fits(&key_doc.spans[2], sort_key)
            });
            assert!(fitting.is_some(), "{}: gs{number} {partition} {sort_key}", path.display());
        }
    }
    let types = source.kinds.iter().map(|kind| kind.ty.as_str());
    assert_eq!(seen, types.collect(), "each record has a golden file");
}
