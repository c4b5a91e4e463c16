//! The derived values of a definition: texts with names in braces, in `x-derived` (R70).
//!
//! | Part of a text | Meaning |
//! |---|---|
//! | `{port_name}` | a member of the item's document |
//! | `{node.node_name}` | a member of the document that the reference `node` names |
//! | `{saps.*.port}` | the values of all elements, joined with `, ` |
//! | `{at.team}` | a property of the item itself, see [`Fact`] |
//! | `{{` | a brace |

use super::part::{Source, Way, Word, steps};
use super::*;
use std::fmt;

/// Maximum number of properties with `x-derived`.
pub const DERIVED_MAX: usize = 32;

/// Maximum size of a text in `x-derived`, in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 1024;

/// The first step of a name that is a property of the item itself.
const AT: &str = "at";

/// The memory of a derived value or a reference property, in bytes.
const VALUE_BYTES: usize = 512;

/// A property of the item itself, after `at.`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    Application,
    /// The name of the item.
    Name,
    RuntimeState,
    /// The title of the service.
    Service,
    /// The consumer team.
    Team,
}

impl Fact {
    const ALL: [(&'static str, Self); 5] = [
        ("application", Self::Application),
        ("name", Self::Name),
        ("runtime_state", Self::RuntimeState),
        ("service", Self::Service),
        ("team", Self::Team),
    ];
}

/// A step of a name through a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Member(String),
    /// Each element of an array: `*`.
    Each,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Fact(Fact),
    /// A name, from the item's document on.
    Path(Vec<Step>),
}

/// A parsed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression(Vec<Piece>);

/// The reason why a text is not an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    TooLong,
    /// The number of a character, from 1, and what must hold there.
    At(usize, &'static str),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "must be at most {EXPRESSION_BYTES_MAX} bytes"),
            Self::At(position, reason) => write!(f, "character {position}: {reason}"),
        }
    }
}

impl Expression {
    /// Parses a text.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(Malformed::TooLong);
        }
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some((before, _)) = rest.split_once('{') {
            let brace = rest.strip_prefix(before).unwrap_or_default();
            plain.push_str(before);
            if let Some(after) = brace.strip_prefix("{{") {
                plain.push('{');
                rest = after;
                continue;
            }
            let inner = brace.strip_prefix('{').unwrap_or_default();
            let position = |rest: &str| {
                let before = text.len().saturating_sub(rest.len());
                text.get(..before).map_or(0, |before| before.chars().count()).saturating_add(1)
            };
            let Some((name, after)) = inner.split_once('}') else {
                return Err(Malformed::At(
                    position(brace),
                    "a name must end with `}`, and a brace must be `{{`",
                ));
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(named_piece(name).map_err(|reason| Malformed::At(position(inner), reason))?);
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// Returns the parts in their order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }
}

/// Parses the name between two braces.
fn named_piece(name: &str) -> Result<Piece, &'static str> {
    let steps: Vec<Step> = name.split('.').map(step).collect::<Result<_, _>>()?;
    let is_fact = matches!(steps.first(), Some(Step::Member(first)) if first == AT);
    match &steps[..] {
        [Step::Each, ..] => Err("must begin with the name of a property"),
        [_, Step::Member(second)] if is_fact => Fact::ALL
            .into_iter()
            .find(|(name, _)| name == second)
            .map(|(_, fact)| Piece::Fact(fact))
            .ok_or(FACTS),
        _ if is_fact => Err(FACTS),
        _ => Ok(Piece::Path(steps)),
    }
}

const FACTS: &str = "must be one of `at.application`, `at.name`, `at.runtime_state`, `at.service`, `at.team`";

fn step(name: &str) -> Result<Step, &'static str> {
    match name {
        "*" => Ok(Step::Each),
        "" => Err("must have a name before and after each dot"),
        _ if name.contains(['{', '*']) => Err("must be a name without `{` and `*`"),
        _ if name.trim() != name => Err("must be a name without spaces at its ends"),
        _ => Ok(Step::Member(name.to_owned())),
    }
}

/// Returns the problem of a text in `x-derived`, if it is a text.
pub(super) fn malformed(schema: &Value) -> Option<Malformed> {
    Expression::parse(schema.get(Word::Derived.keyword())?.as_str()?).err()
}

/// The derived values of a definition, with its references and paths.
#[derive(Debug, Default)]
pub struct Derivations {
    expressions: BTreeMap<String, Expression>,
    references: References,
    /// The paths with their words; none if they have no meaning.
    paths: Part,
    text_bytes: usize,
}

impl Derivations {
    /// Reads a definition that was checked at its publication.
    pub fn load(text: &str, words: Words) -> Result<Self, Vec<Problem>> {
        let references = match words {
            Words::Apply => References::with_reach(text),
            Words::Ignore => References::of(text),
        };
        let text_bytes = text.len();
        if words == Words::Ignore {
            return Ok(Self { references, text_bytes, ..Self::default() });
        }
        let definition = json::parse_schema(text.as_bytes(), SCHEMA_DEPTH_MAX)?;
        let paths = stored_paths(text)?;
        let expression = |pointer: &String| Expression::parse(definition.pointer(pointer)?.as_str()?).ok();
        let expressions = paths.derived().filter_map(|(name, pointer)| {
            let expression = expression(pointer)?;
            Some((name.to_owned(), expression))
        });
        Ok(Self { expressions: expressions.collect(), references, text_bytes, paths })
    }

    /// Returns the derived values by name.
    pub const fn expressions(&self) -> &BTreeMap<String, Expression> {
        &self.expressions
    }

    /// Returns the paths with their words.
    pub const fn paths(&self) -> &Part {
        &self.paths
    }

    /// Returns the references of the definition.
    pub const fn references(&self) -> &References {
        &self.references
    }

    /// Returns the memory in bytes; the estimate is never too low.
    pub fn bytes(&self) -> usize {
        // A piece takes about 100 bytes, and at least three bytes of a text.
        let factor = if self.expressions.is_empty() { 4 } else { 64 };
        let texts = self.text_bytes.saturating_mul(factor);
        let values = self.expressions.len().saturating_mul(VALUE_BYTES);
        [self.paths.bytes(), texts, values].into_iter().fold(0, usize::saturating_add)
    }
}

/// Returns the pointers of `x-derived` in wrong positions, and of the `required` and `x-from` that name a derived
/// value, each with the reason.
pub(super) fn misplaced(root: &Part, definition: &Value, draft: Draft) -> Vec<(String, String)> {
    let mut misplaced = Vec::new();
    for (count, (name, pointer)) in root.derived().enumerate() {
        let part = root.named(name);
        let reason = if !part.is_some_and(Part::is_read_only) {
            "must be at a property with `readOnly`".to_owned()
        } else if !part.is_some_and(|part| part.is_only("string")) {
            "must be at a property of the type `string`".to_owned()
        } else if count >= DERIVED_MAX {
            format!("must be at no more than {DERIVED_MAX} properties")
        } else {
            continue;
        };
        misplaced.push((pointer.clone(), reason));
    }
    if root.derived().next().is_some() {
        let source = Source { definition, draft };
        demands("", definition, &source, &mut |pointer, name| {
            if root.named(name).is_some_and(Part::is_derived) {
                misplaced.push((pointer.to_owned(), format!("must not name `{name}`: its value is derived")));
            }
        });
    }
    misplaced
}

/// Visits each name in `required` and `x-from` of the item, with the pointer of the keyword.
fn demands(pointer: &str, schema: &Value, source: &Source<'_>, visit: &mut impl FnMut(&str, &str)) {
    names_in(schema.get("required"), &below(pointer, "required"), visit);
    let from = below(pointer, Word::From.keyword());
    let states = schema.get(Word::From.keyword()).and_then(Value::as_object).into_iter().flatten();
    for (state, schema) in states {
        let at = below(&from, state);
        names_in(schema.get("required"), &below(&at, "required"), visit);
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let at = below(&at, "properties");
        properties.for_each(|(name, _)| visit(&below(&at, name), name));
    }
    for step in steps(pointer, schema, source) {
        if matches!(step.way, Way::Same) {
            demands(&step.pointer, step.schema, source, visit);
        }
    }
}

fn names_in(required: Option<&Value>, pointer: &str, visit: &mut impl FnMut(&str, &str)) {
    let names = required.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.for_each(|name| visit(pointer, name));
}

#[cfg(test)]
mod tests;
