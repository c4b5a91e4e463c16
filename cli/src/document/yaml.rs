//! YAML 1.2 as JSON, with the position of each value.
//!
//! Anchors, aliases and merge keys (`<<`) work, because repositories use them. Duplicate keys and unknown tags are
//! errors.

use crate::base::location::Position;
use domain::model::declaration::DEPTH_MAX;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Number, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// Maximum size of a file as JSON, with each copy of an alias, in bytes.
const BYTES_MAX: usize = 5 * 1024 * 1024;

/// Maximum number of values of a file, with each copy of an alias.
const VALUES_MAX: usize = 500_000;

/// A value with its position.
#[derive(Clone, Debug)]
pub(super) struct Node {
    position: Position,
    size: Size,
    content: Content,
}

/// The copies of an alias share their content.
#[derive(Clone, Debug)]
enum Content {
    Scalar(Value),
    Sequence(Rc<[Node]>),
    /// The members in the order of the text.
    Mapping(Rc<[Member]>),
}

#[derive(Clone, Debug)]
struct Member {
    name: Rc<str>,
    /// Position of the name.
    position: Position,
    node: Node,
}

/// The size of a value as JSON.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: usize,
    values: usize,
    /// Number of levels below the value.
    levels: usize,
}

/// Why a text is not YAML, or not JSON.
#[derive(Debug)]
pub(super) struct Invalid {
    pub(super) position: Position,
    pub(super) message: String,
}

/// Reads a text with one document. Further documents must be empty.
pub(super) fn parse(text: &str) -> Result<Node, Invalid> {
    let mut reader =
        Reader { events: Parser::new_from_str(text), anchors: BTreeMap::new(), read: Size::default() };
    let mut root = Node::of(Position { line: 1, column: 1 }, Content::Scalar(Value::Null));
    loop {
        let (event, start) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(root),
            Event::DocumentStart(_) => {
                let (event, span) = reader.next()?;
                let node = reader.node(event, span, 0)?;
                if root.is_null() {
                    root = node;
                } else if !node.is_null() {
                    return Err(invalid(start, "must be one document"));
                }
            }
            Event::Nothing
            | Event::StreamStart
            | Event::DocumentEnd
            | Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::SequenceEnd
            | Event::MappingStart(..)
            | Event::MappingEnd => {}
        }
    }
}

struct Reader<'a> {
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: BTreeMap<usize, Node>,
    /// The size of what was read so far.
    read: Size,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Invalid> {
        match self.events.next() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(error.into()),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Invalid> {
        if depth > DEPTH_MAX {
            return Err(too_deep(span));
        }
        let (anchor, content) = match event {
            Event::Alias(anchor) => {
                let node = self.aliased(anchor, span)?;
                return if depth + node.size.levels > DEPTH_MAX { Err(too_deep(span)) } else { Ok(node) };
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref(), span)?;
                self.count(size_of(&value), span)?;
                (anchor, Content::Scalar(value))
            }
            Event::SequenceStart(anchor, tag) => {
                assert_tag(tag.as_deref(), "seq", span)?;
                (anchor, Content::Sequence(self.sequence(span, depth)?.into()))
            }
            Event::MappingStart(anchor, tag) => {
                assert_tag(tag.as_deref(), "map", span)?;
                (anchor, Content::Mapping(self.mapping(span, depth)?.into()))
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(invalid(span, "must be a value")),
        };
        let node = Node::of(at(span.start), content);
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// Returns the node of an anchor, and counts it once more.
    fn aliased(&mut self, anchor: usize, span: Span) -> Result<Node, Invalid> {
        // The node of an anchor is complete after its last value.
        let node = self.anchors.get(&anchor).cloned();
        let node = node.ok_or_else(|| invalid(span, "must not contain itself"))?;
        self.count(node.size, span)?;
        Ok(node)
    }

    /// Counts what was read, so that no file can fill the memory.
    fn count(&mut self, size: Size, span: Span) -> Result<(), Invalid> {
        self.read.bytes += size.bytes;
        self.read.values += size.values;
        if self.read.bytes > BYTES_MAX {
            return Err(invalid(span, "must be at most 5 MiB of JSON, with each copy of an alias"));
        }
        if self.read.values > VALUES_MAX {
            return Err(invalid(span, "must have at most 500,000 values, with each copy of an alias"));
        }
        Ok(())
    }

    fn sequence(&mut self, span: Span, depth: usize) -> Result<Vec<Node>, Invalid> {
        self.count(BRACKETS, span)?;
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(nodes),
                (event, span) => nodes.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, span: Span, depth: usize) -> Result<Vec<Member>, Invalid> {
        self.count(BRACKETS, span)?;
        let (mut members, mut merged, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            // In quotes, it is the name of a member.
            let is_merge = matches!(&event, Event::Scalar(key, ScalarStyle::Plain, ..) if key == "<<");
            let name = self.name(event, span)?;
            let (event, of_value) = self.next()?;
            let node = self.node(event, of_value, depth + 1)?;
            if is_merge {
                merged.push((node, of_value));
            } else if names.insert(Rc::clone(&name)) {
                members.push(Member { name, position: at(span.start), node });
            } else {
                return Err(invalid(span, &format!("must be unique: `{name}` occurs before")));
            }
        }
        for (node, span) in merged {
            merge(&mut members, &mut names, &node, span)?;
        }
        Ok(members)
    }

    /// Reads the name of a member, possibly with an anchor, or an alias of a text.
    fn name(&mut self, event: Event<'a>, span: Span) -> Result<Rc<str>, Invalid> {
        let name: Rc<str> = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref(), span)?;
                if anchor > 0 {
                    self.anchors.insert(anchor, Node::of(at(span.start), Content::Scalar(value)));
                }
                text.into()
            }
            Event::Alias(anchor) => match self.aliased(anchor, span)?.content {
                Content::Scalar(Value::String(text)) => text.into(),
                Content::Scalar(_) | Content::Sequence(_) | Content::Mapping(_) => return Err(no_name(span)),
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceStart(..)
            | Event::SequenceEnd
            | Event::MappingStart(..)
            | Event::MappingEnd => return Err(no_name(span)),
        };
        self.count(size_of_name(&name), span)?;
        Ok(name)
    }
}

/// Adds the members of merged mappings that are absent.
fn merge(
    members: &mut Vec<Member>,
    names: &mut BTreeSet<Rc<str>>,
    node: &Node,
    span: Span,
) -> Result<(), Invalid> {
    match &node.content {
        Content::Mapping(more) => {
            members.extend(more.iter().filter(|member| names.insert(Rc::clone(&member.name))).cloned());
            Ok(())
        }
        Content::Sequence(nodes) => nodes.iter().try_for_each(|node| merge(members, names, node, span)),
        Content::Scalar(_) => Err(invalid(span, "must be a mapping, to be merged")),
    }
}

/// Returns the value of a scalar by the core schema of YAML 1.2, and by its tag.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Value, Invalid> {
    let Some(tag) = tag else {
        let is_plain = style == ScalarStyle::Plain;
        return if is_plain { plain(text, span) } else { Ok(text.into()) };
    };
    let kind = core_kind(tag).ok_or_else(|| unknown(tag, span))?;
    if kind == "str" {
        return Ok(text.into());
    }
    let value = plain(text, span)?;
    let fits = match kind {
        "int" => value.is_i64() || value.is_u64(),
        "float" => value.is_number(),
        "bool" => value.is_boolean(),
        "null" => value.is_null(),
        _ => return Err(unknown(tag, span)),
    };
    if fits { Ok(value) } else { Err(invalid(span, &format!("must be a value of its tag `!!{kind}`"))) }
}

/// Fails unless a tag is absent, or says that a collection is what it is.
fn assert_tag(tag: Option<&Tag>, kind: &str, span: Span) -> Result<(), Invalid> {
    let wrong = tag.filter(|tag| !is_without_kind(tag) && core_kind(tag) != Some(kind));
    wrong.map_or(Ok(()), |tag| Err(unknown(tag, span)))
}

/// Returns the kind that a tag of the core schema says. The tag `!` makes a scalar a text.
fn core_kind(tag: &Tag) -> Option<&str> {
    if is_without_kind(tag) { Some("str") } else { tag.is_yaml_core_schema().then_some(tag.suffix.as_str()) }
}

/// Returns whether a tag is `!` alone.
fn is_without_kind(tag: &Tag) -> bool {
    tag.handle.is_empty() && tag.suffix == "!"
}

/// Returns the value of a scalar without quotes and tag.
fn plain(text: &str, span: Span) -> Result<Value, Invalid> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        ".nan" | ".NaN" | ".NAN" => return Err(not_finite(span)),
        _ if matches!(text.strip_prefix(['-', '+']).unwrap_or(text), ".inf" | ".Inf" | ".INF") => {
            return Err(not_finite(span));
        }
        _ => match number(text) {
            Some(Some(number)) => Value::Number(number),
            Some(None) => return Err(not_finite(span)),
            None => text.into(),
        },
    })
}

/// Reads a number. Returns `Some(None)` if it is too large, and `None` if the text is not a number.
fn number(text: &str) -> Option<Option<Number>> {
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (if text.starts_with('-') { "-" } else { "" }, digits),
        None => ("", text),
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            return Some(u64::from_str_radix(digits, radix).ok().map(Number::from));
        }
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
    {
        return None;
    }
    let whole = format!("{sign}{digits}");
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let number =
            whole.parse::<i64>().map(Number::from).or_else(|_| whole.parse::<u64>().map(Number::from));
        if let Ok(number) = number {
            return Some(Some(number));
        }
    }
    Some(Number::from_f64(whole.parse().ok()?))
}

/// The size of an empty collection.
const BRACKETS: Size = Size { bytes: 2, values: 1, levels: 0 };

fn size_of(scalar: &Value) -> Size {
    let bytes = match scalar {
        Value::String(text) => text.len() + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => 8,
    };
    Size { bytes, values: 1, levels: 0 }
}

fn size_of_name(name: &str) -> Size {
    Size { bytes: name.len() + 4, values: 0, levels: 0 }
}

fn at(marker: saphyr_parser::Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

fn invalid(span: Span, message: &str) -> Invalid {
    Invalid { position: at(span.start), message: message.to_owned() }
}

fn too_deep(span: Span) -> Invalid {
    invalid(span, &format!("must be nested at most {DEPTH_MAX} levels deep"))
}

fn not_finite(span: Span) -> Invalid {
    invalid(span, "must be a finite number, or a text in quotes")
}

fn no_name(span: Span) -> Invalid {
    invalid(span, "must be a text: a key of JSON")
}

fn unknown(tag: &Tag, span: Span) -> Invalid {
    let tag = if tag.is_yaml_core_schema() { format!("!!{}", tag.suffix) } else { tag.to_string() };
    invalid(span, &format!("must have no tag `{tag}`: it has no meaning here"))
}

impl Node {
    fn of(position: Position, content: Content) -> Self {
        let size = match &content {
            Content::Scalar(value) => size_of(value),
            Content::Sequence(nodes) => nodes.iter().fold(BRACKETS, |size, node| size.with(node.size)),
            Content::Mapping(members) => members.iter().fold(BRACKETS, |size, Member { name, node, .. }| {
                size.with(size_of_name(name)).with(node.size)
            }),
        };
        Self { position, size, content }
    }

    const fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    /// Converts the node into JSON.
    pub(super) fn value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::Sequence(nodes) => nodes.iter().map(Self::value).collect(),
            Content::Mapping(members) => {
                let members = members.iter().map(|member| (member.name.to_string(), member.node.value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the position of the value at a path, or of its nearest ancestor.
    pub(super) fn position(&self, path: &[String]) -> Position {
        let Some((name, rest)) = path.split_first() else { return self.position };
        match &self.content {
            Content::Mapping(members) => members.iter().find(|member| *member.name == **name).map_or(
                self.position,
                // A problem of a whole member is at its key.
                |Member { position, node, .. }| {
                    if rest.is_empty() && node.is_collection() { *position } else { node.position(rest) }
                },
            ),
            Content::Sequence(nodes) => {
                let node = name.parse::<usize>().ok().and_then(|at| nodes.get(at));
                node.map_or(self.position, |node| node.position(rest))
            }
            Content::Scalar(_) => self.position,
        }
    }

    const fn is_collection(&self) -> bool {
        !matches!(self.content, Content::Scalar(_))
    }
}

impl Size {
    /// Adds the size of a value, or of its name, one level below.
    const fn with(self, below: Self) -> Self {
        let levels =
            if below.levels + 1 > self.levels && below.values > 0 { below.levels + 1 } else { self.levels };
        Self { bytes: self.bytes + below.bytes, values: self.values + below.values, levels }
    }
}

impl From<ScanError> for Invalid {
    fn from(error: ScanError) -> Self {
        Self { position: at(*error.marker()), message: error.info().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_follow_the_core_schema() {
        let text = "[1, -2, +3, 1.5, 1e3, 0x1F, 0o17, yes, on, ~, null, true, '1', 2024-01-01, 1.2.3, 18446744073709551615]";
        let expected = json!([
            1,
            -2,
            3,
            1.5,
            1000.0,
            31,
            15,
            "yes",
            "on",
            null,
            null,
            true,
            "1",
            "2024-01-01",
            "1.2.3",
            18_446_744_073_709_551_615_u64
        ]);
        assert_eq!(parse(text).unwrap().value(), expected);
    }

    #[test]
    fn aliases_and_merge_keys_are_copied() {
        let text = "base: &base {cpu: 4, memory: 8}\nvm:\n  <<: *base\n  cpu: 2\n";
        let expected = json!({"base": {"cpu": 4, "memory": 8}, "vm": {"cpu": 2, "memory": 8}});
        assert_eq!(parse(text).unwrap().value(), expected);
    }

    #[test]
    fn invalid_texts_have_a_position() {
        for (text, line, column, message) in [
            ("a: 1\na: 2\n", 2, 1, "must be unique: `a` occurs before"),
            ("a: 1\n---\nb: 2\n", 2, 1, "must be one document"),
            ("a: .nan\n", 1, 4, "must be a finite number, or a text in quotes"),
            ("a: -.INF\n", 1, 4, "must be a finite number, or a text in quotes"),
            ("a: 1e400\n", 1, 4, "must be a finite number, or a text in quotes"),
            ("a: 0x10000000000000000\n", 1, 4, "must be a finite number, or a text in quotes"),
            ("a: !vault x\n", 1, 4, "must have no tag `!vault`: it has no meaning here"),
            ("a: !Ref {b: 1}\n", 1, 4, "must have no tag `!Ref`: it has no meaning here"),
            ("!Sub a: 1\n", 1, 1, "must have no tag `!Sub`: it has no meaning here"),
            ("a: !!set {b}\n", 1, 4, "must have no tag `!!set`: it has no meaning here"),
            ("a: !!binary aGk=\n", 1, 4, "must have no tag `!!binary`: it has no meaning here"),
            ("a: !!int x\n", 1, 4, "must be a value of its tag `!!int`"),
            ("a: &a [*a]\n", 1, 8, "must not contain itself"),
            ("a: &a [1]\n*a : 2\n", 2, 1, "must be a text: a key of JSON"),
            ("? [a]\n: 1\n", 1, 3, "must be a text: a key of JSON"),
        ] {
            let Invalid { position, message: found } = parse(text).unwrap_err();
            assert_eq!((position, found.as_str()), (Position { line, column }, message), "{text}");
        }
    }

    #[test]
    fn tags_of_the_core_schema_say_the_type() {
        let text = "[!!int \"12\", !!bool \"true\", !!float 1, !!null \"\", !!str 1, ! 2, !!seq [!!map {}]]";
        assert_eq!(parse(text).unwrap().value(), json!([12, true, 1, null, "1", "2", [{}]]));
    }

    #[test]
    fn a_key_can_have_an_anchor_and_be_an_alias() {
        let text = "&k name: x\nkey: *k\nother: {*k : y}\n";
        assert_eq!(parse(text).unwrap().value(), json!({"name": "x", "key": "name", "other": {"name": "y"}}));
    }

    #[test]
    fn empty_documents_are_left_out() {
        for text in ["a: 1\n---\n", "---\na: 1\n---\n...\n", "---\n---\na: 1\n", "a: 1\n---\n# The end.\n"] {
            assert_eq!(parse(text).unwrap().value(), json!({"a": 1}), "{text}");
        }
    }

    #[test]
    fn copies_of_a_deep_value_are_not_deeper_than_allowed() {
        let levels = DEPTH_MAX - 1;
        let deep = format!("a: &a {}1{}\n", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&format!("{deep}b: *a\n")).is_ok());
        let message = parse(&format!("{deep}b: [[*a]]\n")).unwrap_err().message;
        assert_eq!(message, format!("must be nested at most {DEPTH_MAX} levels deep"));
    }

    #[test]
    fn the_copies_of_a_large_text_count() {
        let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(60));
        let message = parse(&text).unwrap_err().message;
        assert_eq!(message, "must be at most 5 MiB of JSON, with each copy of an alias");
    }

    #[test]
    fn a_bomb_of_aliases_ends() {
        let level = |level: usize| {
            let before = format!("*a{}, ", level - 1).repeat(10);
            format!("a{level}: &a{level} [{}]\n", before.trim_end_matches(", "))
        };
        let levels: String = (1..12).map(level).collect();
        let text = format!("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n{levels}");
        assert_eq!(
            parse(&text).unwrap_err().message,
            "must have at most 500,000 values, with each copy of an alias"
        );
    }

    #[test]
    fn positions_follow_a_path() {
        let node = parse("Shop:\n  services:\n    VM:\n      - name: web1\n        cpu: x\n").unwrap();
        let path = |path: &str| path.split('/').skip(1).map(str::to_owned).collect::<Vec<_>>();
        let position = |text: &str| node.position(&path(text));
        assert_eq!(position("/Shop/services/VM/0/cpu"), Position { line: 5, column: 14 });
        assert_eq!(position("/Shop/services"), Position { line: 2, column: 3 });
        assert_eq!(position("/Shop/services/VM/0/memory"), Position { line: 4, column: 9 });
    }
}
