//! YAML 1.2 as JSON, with the position of each value.
//!
//! Anchors, aliases and merge keys (`<<`) work, because repositories use them. Duplicate keys are errors.

use crate::base::location::Position;
use domain::model::declaration::DEPTH_MAX;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Number, Value};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    iter::Peekable,
};

/// Maximum number of values of a file, with each copy of an alias.
const VALUES_MAX: usize = 2_000_000;

/// A value with its position.
#[derive(Clone, Debug)]
pub(super) struct Node {
    position: Position,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Scalar(Value),
    Sequence(Vec<Node>),
    /// Members with the positions of their keys, in the order of the text.
    Mapping(Vec<(String, Position, Node)>),
}

/// Why a text is not YAML, or not JSON.
#[derive(Debug)]
pub(super) struct Invalid {
    pub(super) position: Position,
    pub(super) message: String,
}

type Events<'a> = Peekable<Parser<'a, saphyr_parser::StrInput<'a>>>;

/// Reads a text with one document.
pub(super) fn parse(text: &str) -> Result<Node, Invalid> {
    let mut reader =
        Reader { events: Parser::new_from_str(text).peekable(), anchors: BTreeMap::new(), values: 0 };
    let mut root = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart(_) if root.is_some() => {
                return Err(invalid(span, "must be one document"));
            }
            Event::DocumentStart(_) => {
                let (event, span) = reader.next()?;
                root = Some(reader.node(event, span, 0)?);
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
    Ok(root
        .unwrap_or(Node { position: Position { line: 1, column: 1 }, content: Content::Scalar(Value::Null) }))
}

struct Reader<'a> {
    events: Events<'a>,
    anchors: BTreeMap<usize, Node>,
    values: usize,
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
            return Err(invalid(span, &format!("must be nested at most {DEPTH_MAX} levels deep")));
        }
        self.count(1, span)?;
        let (anchor, content) = match event {
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node.ok_or_else(|| invalid(span, "must not contain itself"))?;
                self.count(node.values(), span)?;
                return Ok(node);
            }
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, Content::Scalar(scalar(&text, style, tag, span)?))
            }
            Event::SequenceStart(anchor, _) => (anchor, Content::Sequence(self.sequence(depth)?)),
            Event::MappingStart(anchor, _) => (anchor, Content::Mapping(self.mapping(depth)?)),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(invalid(span, "must be a value")),
        };
        let node = Node { position: at(span.start), content };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// Counts values, so that nested aliases cannot fill the memory.
    fn count(&mut self, values: usize, span: Span) -> Result<(), Invalid> {
        self.values += values;
        if self.values > VALUES_MAX {
            Err(invalid(span, "must have at most 2,000,000 values"))
        } else {
            Ok(())
        }
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Node>, Invalid> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(nodes),
                (event, span) => nodes.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Vec<(String, Position, Node)>, Invalid> {
        let (mut members, mut merged, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let Event::Scalar(key, style, ..) = event else {
                return Err(invalid(span, "must be a text: a key of JSON"));
            };
            // In quotes, it is the name of a member.
            let is_merge = key == "<<" && style == ScalarStyle::Plain;
            let key = key.into_owned();
            let (event, of_value) = self.next()?;
            let node = self.node(event, of_value, depth + 1)?;
            if is_merge {
                merged.push((node, of_value));
            } else if !names.insert(key.clone()) {
                return Err(invalid(span, &format!("must be unique: `{key}` occurs before")));
            } else {
                members.push((key, at(span.start), node));
            }
        }
        for (node, span) in merged {
            merge(&mut members, node, span)?;
        }
        Ok(members)
    }
}

/// Adds the members of merged mappings that are absent.
fn merge(members: &mut Vec<(String, Position, Node)>, node: Node, span: Span) -> Result<(), Invalid> {
    match node.content {
        Content::Mapping(more) => {
            for member in more {
                if !members.iter().any(|(name, ..)| *name == member.0) {
                    members.push(member);
                }
            }
            Ok(())
        }
        Content::Sequence(nodes) => nodes.into_iter().try_for_each(|node| merge(members, node, span)),
        Content::Scalar(_) => Err(invalid(span, "must be a mapping, to be merged")),
    }
}

/// Returns the value of a scalar by the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle, tag: Option<Cow<'_, Tag>>, span: Span) -> Result<Value, Invalid> {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if is_text || style != ScalarStyle::Plain {
        return Ok(text.into());
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        ".inf" | "-.inf" | "+.inf" | ".nan" | ".Inf" | "-.Inf" | ".NaN" => {
            return Err(invalid(span, "must be a finite number"));
        }
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    })
}

fn number(text: &str) -> Option<Number> {
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (if text.starts_with('-') { "-" } else { "" }, digits),
        None => ("", text),
    };
    let radix = |prefix, radix| u64::from_str_radix(digits.strip_prefix(prefix)?, radix).ok();
    if let Some(number) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return sign.is_empty().then(|| number.into());
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
            return Some(number);
        }
    }
    Number::from_f64(whole.parse().ok()?)
}

fn at(marker: saphyr_parser::Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

fn invalid(span: Span, message: &str) -> Invalid {
    Invalid { position: at(span.start), message: message.to_owned() }
}

impl Node {
    fn values(&self) -> usize {
        1 + match &self.content {
            Content::Scalar(_) => 0,
            Content::Sequence(nodes) => nodes.iter().map(Self::values).sum(),
            Content::Mapping(members) => members.iter().map(|(.., node)| node.values()).sum(),
        }
    }

    /// Converts the node into JSON.
    pub(super) fn value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::Sequence(nodes) => nodes.iter().map(Self::value).collect(),
            Content::Mapping(members) => {
                let members = members.iter().map(|(name, _, node)| (name.clone(), node.value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the position of the value at a path, or of its nearest ancestor.
    pub(super) fn position(&self, path: &[String]) -> Position {
        let Some((name, rest)) = path.split_first() else { return self.position };
        match &self.content {
            Content::Mapping(members) => members.iter().find(|(member, ..)| member == name).map_or(
                self.position,
                // A problem of a whole member is at its key.
                |(_, key, node)| {
                    if rest.is_empty() && node.is_collection() { *key } else { node.position(rest) }
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
            ("a: .nan\n", 1, 4, "must be a finite number"),
            ("? [a]\n: 1\n", 1, 3, "must be a text: a key of JSON"),
        ] {
            let Invalid { position, message: found } = parse(text).unwrap_err();
            assert_eq!((position, found.as_str()), (Position { line, column }, message), "{text}");
        }
    }

    #[test]
    fn a_bomb_of_aliases_ends() {
        let level = |level: usize| {
            let before = format!("*a{}, ", level - 1).repeat(10);
            format!("a{level}: &a{level} [{}]\n", before.trim_end_matches(", "))
        };
        let levels: String = (1..12).map(level).collect();
        let text = format!("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n{levels}");
        assert_eq!(parse(&text).unwrap_err().message, "must have at most 2,000,000 values");
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
