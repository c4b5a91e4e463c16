//! A document split into its items, whose texts stay unparsed.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Map, Value};

use super::Metadata;
use crate::base::json;
use crate::base::json::cursor::{Cursor, string};
use crate::base::json::sound::is_sound;
use crate::base::problem::{Problem, pointer};
use crate::model::declaration;
use crate::model::declaration::{
    BODY_BYTES_MAX, DECLARATION_BYTES_MAX, DEPTH_MAX, ITEMS_MAX, METADATA, METADATA_BYTES_MAX, NAME,
    SERVICES, name_problem,
};

/// The only key of a list of items.
const ITEMS: &str = "items";
/// Maximum growth of a text in canonical form: `9e15` becomes 16 digits.
const GROWTH_MAX: usize = 4;

/// The form of a document.
#[derive(PartialEq, Eq)]
pub(super) enum Form {
    /// A declaration as for a submission.
    Declaration {
        /// The team's name.
        team: String,
    },
    /// Items by name, below `items`.
    Items,
}

/// A document with a sound text and valid names.
pub(super) struct Document<'a> {
    pub(super) form: Form,
    /// The declared metadata by application; the team's metadata are under the empty name.
    pub(super) metadata: Metadata<'a>,
    /// The items, sorted by key.
    pub(super) items: Vec<Item<'a>>,
}

/// An item as written.
pub(super) struct Item<'a> {
    pub(super) key: Key<'a>,
    pub(super) text: &'a str,
}

/// The key of an item, which is only the name in a list of items.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a> {
    pub application: Cow<'a, str>,
    /// The title of the service.
    pub service: Cow<'a, str>,
    pub item: Cow<'a, str>,
}

impl<'a> Document<'a> {
    /// Reads a document.
    ///
    /// If the document may have a problem, the parser of submissions reads it again and reports the problem.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Vec<Problem>> {
        let text = str::from_utf8(bytes).unwrap_or_default();
        let is_list = is_list(text);
        let mut walk = Walk::new(text);
        // The cursor trusts its text, so the check for strict JSON comes first. Neither the check nor the cursor builds
        // a value.
        let read = is_sound(text, DEPTH_MAX).then(|| walk.document(is_list)).flatten();
        if read.is_none() || walk.is_large {
            if is_list {
                list_problems(bytes)?;
            } else {
                declaration::parse(bytes)?;
            }
        }
        read.map(|form| Self { form, metadata: walk.metadata, items: walk.items })
            .ok_or_else(|| vec![problem(&[], "invalid_json", "must be a declaration or a list of items")])
    }
}

/// Returns whether the text begins like a list of items.
fn is_list(text: &str) -> bool {
    let key =
        text.trim_ascii_start().strip_prefix('{').and_then(|rest| rest.trim_ascii_start().strip_prefix('"'));
    key.and_then(|rest| rest.strip_prefix(ITEMS)).is_some_and(|rest| rest.starts_with('"'))
}

/// Walks through a sound text; anything unexpected ends the walk without a result.
struct Walk<'a> {
    cursor: Cursor<'a>,
    metadata: Metadata<'a>,
    items: Vec<Item<'a>>,
    /// Whether the document may exceed a limit of submissions.
    is_large: bool,
}

impl<'a> Walk<'a> {
    const fn new(text: &'a str) -> Self {
        let cursor = Cursor::new(text);
        Self { cursor, metadata: BTreeMap::new(), items: Vec::new(), is_large: text.len() > BODY_BYTES_MAX }
    }

    fn document(&mut self, is_list: bool) -> Option<Form> {
        self.cursor.enter(b'{')?;
        let has_one = self.cursor.has_next();
        let key = self.cursor.key().filter(|_| has_one)?;
        let form = if is_list {
            self.list()?;
            // The limits are those of a submission, and a list of items is never submitted.
            self.is_large = false;
            Form::Items
        } else {
            let team = name(key)?.into_owned();
            self.team()?;
            self.is_large |= self.items.len() > ITEMS_MAX;
            Form::Declaration { team }
        };
        let has_another = self.cursor.has_next();
        self.items.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        // Keys of one object are unique already. Only two array entries can have the same name.
        let is_twice = self.items.array_windows().any(|[one, next]| one.key == next.key);
        (!has_another && !is_twice).then_some(form)
    }

    fn list(&mut self) -> Option<()> {
        self.cursor.enter(b'{')?;
        while self.cursor.has_next() {
            let item = name(self.cursor.key()?)?;
            let text = object(self.cursor.value())?;
            self.items.push(Item { key: Key { application: "".into(), service: "".into(), item }, text });
        }
        Some(())
    }

    fn team(&mut self) -> Option<()> {
        self.cursor.enter(b'{')?;
        while self.cursor.has_next() {
            let key = self.cursor.key()?;
            if key == METADATA {
                self.metadata("".into())?;
            } else {
                self.application(name(key)?)?;
            }
        }
        Some(())
    }

    fn application(&mut self, application: Cow<'a, str>) -> Option<()> {
        self.cursor.enter(b'{')?;
        while self.cursor.has_next() {
            match self.cursor.key()?.as_ref() {
                METADATA => self.metadata(application.clone())?,
                SERVICES => self.services(application.clone())?,
                _ => return None,
            }
        }
        Some(())
    }

    fn metadata(&mut self, application: Cow<'a, str>) -> Option<()> {
        let text = object(self.cursor.value())?;
        self.is_large |= may_exceed(text, METADATA_BYTES_MAX);
        self.metadata.insert(application, text);
        Some(())
    }

    fn services(&mut self, application: Cow<'a, str>) -> Option<()> {
        self.cursor.enter(b'{')?;
        while self.cursor.has_next() {
            let service = name(self.cursor.key()?)?;
            self.cursor.enter(b'[')?;
            while self.cursor.has_next() {
                let (item, text) = self.item()?;
                let key = Key { application: application.clone(), service: service.clone(), item };
                self.items.push(Item { key, text });
            }
        }
        Some(())
    }

    fn item(&mut self) -> Option<(Cow<'a, str>, &'a str)> {
        let from = self.cursor.here();
        self.cursor.enter(b'{')?;
        let mut item = None;
        while self.cursor.has_next() {
            let key = self.cursor.key()?;
            let value = self.cursor.value();
            if key == NAME {
                item = string(value).and_then(name);
            }
        }
        let text = self.cursor.since(from);
        self.is_large |= may_exceed(text, DECLARATION_BYTES_MAX);
        Some((item?, text))
    }
}

/// Returns the name if it is valid.
fn name(name: Cow<'_, str>) -> Option<Cow<'_, str>> {
    name_problem(&name).is_none().then_some(name)
}

/// Returns the text if it is an object.
fn object(text: &str) -> Option<&str> {
    text.starts_with('{').then_some(text)
}

/// Returns whether the canonical form of a text may exceed a limit.
const fn may_exceed(text: &str, canonical_bytes_max: usize) -> bool {
    text.len() > canonical_bytes_max / GROWTH_MAX
}

/// Returns all problems of a list of items.
fn list_problems(bytes: &[u8]) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for (key, value) in entries(json::parse(bytes, DEPTH_MAX)?).into_iter().flatten() {
        if key != ITEMS {
            problems.push(problem(
                &[&key],
                "unknown_key",
                "must be absent: a list of items has only the key `items`",
            ));
        } else if let Some(items) = entries(value) {
            problems.extend(items.iter().filter_map(item_problem));
        } else {
            problems.push(problem(&[ITEMS], "wrong_type", "must be an object"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn entries(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(entries) = value { Some(entries) } else { None }
}

fn item_problem((name, item): (&String, &Value)) -> Option<Problem> {
    match name_problem(name) {
        Some(message) => Some(problem(&[ITEMS, name], "invalid_name", message)),
        None if item.is_object() => None,
        None => Some(problem(&[ITEMS, name], "wrong_type", "must be an object")),
    }
}

fn problem(path: &[&str], rule: &'static str, message: &str) -> Problem {
    Problem {
        pointer: pointer(path.iter().copied()),
        path: path.iter().map(|&token| token.to_owned()).collect(),
        rule,
        message: message.to_owned(),
        change: None,
    }
}
