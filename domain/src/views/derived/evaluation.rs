//! The evaluation of the derived values of one item, within its limits.

use super::{DEPTH_MAX, DOCUMENTS_MAX, Document, Documents, EVALUATION_STEPS_MAX, RESULT_BYTES_MAX, Target};
use crate::base::id::ItemId;
use crate::base::problem::push_token;
use crate::catalog::schema::{Fact, Part, Piece, Step};
use crate::catalog::service::ReferencesSee;
use crate::model::secrets::is_mask;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Number of copied bytes in one step.
const BYTES_PER_STEP: usize = 64;

/// The text between the values of elements.
const SEPARATOR: &str = ", ";

/// The reason why a derived value is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// The name has no value.
    Name(String),
    /// The name has an object, an array or null.
    NotSingle(String),
    /// A value before `*` is not an array.
    NotArray(String),
    /// The value is at a `writeOnly` path.
    Secret(String),
    /// The reference names no declared item.
    Target(String),
    /// The referenced item is of a service of another owner, whose setting does not show documents.
    Owner(String),
    /// The caller has not added the document of a reference.
    Unread,
    Depth,
    Documents,
    Length,
    Steps,
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}` must have a value"),
            Self::NotSingle(name) => write!(f, "`{name}` must be a string, a number, or true or false"),
            Self::NotArray(name) => write!(f, "`{name}` must be at the elements of an array"),
            Self::Secret(name) => write!(f, "`{name}` must not be `writeOnly`"),
            Self::Target(name) => write!(f, "`{name}` must go through references to declared items"),
            Self::Owner(name) => {
                write!(f, "`{name}` must stay within services of one owner or with `references_see` ALL")
            }
            Self::Unread => f.write_str("must need less of other items than one response can read"),
            Self::Depth => write!(f, "must need at most {DEPTH_MAX} levels of other values"),
            Self::Documents => write!(f, "must need at most {DOCUMENTS_MAX} other items"),
            Self::Length => write!(f, "must be at most {RESULT_BYTES_MAX} bytes"),
            Self::Steps => write!(f, "must need at most {EVALUATION_STEPS_MAX} steps"),
        }
    }
}

impl Absent {
    /// Returns the reason for a value that needs a derived value with this reason.
    fn of_name(self, name: Name<'_>) -> Self {
        let is_limit =
            matches!(self, Self::Unread | Self::Depth | Self::Documents | Self::Length | Self::Steps);
        if is_limit { self } else { Self::Name(name.so_far()) }
    }
}

/// The evaluation of the derived values of one item.
pub(super) struct Evaluation<'a> {
    documents: &'a Documents,
    /// The values so far, by item, name and depth. The result depends on the depth, because the depth is limited.
    values: BTreeMap<(ItemId, &'a str, usize), Result<String, Absent>>,
    /// The items whose documents the values need.
    needed: BTreeSet<Target>,
    lacking: Vec<Target>,
    steps: usize,
}

/// A value on the path of a name.
struct At<'a> {
    document: &'a Document,
    value: &'a Value,
    /// The JSON pointer in the document.
    pointer: String,
    part: &'a Part,
    /// Number of references and derived values before this document.
    depth: usize,
    /// Whether a reference leads to this document, and the name has gone no further.
    is_entered: bool,
}

/// A name, and the steps that are left of it.
#[derive(Clone, Copy)]
struct Name<'a> {
    whole: &'a [Step],
    left: &'a [Step],
}

impl Name<'_> {
    /// Returns the name up to the steps that are left.
    fn so_far(self) -> String {
        let done = self.whole.len().saturating_sub(self.left.len());
        dotted(self.whole.get(..done).unwrap_or_default())
    }
}

/// Returns the steps of a name with dots between them.
fn dotted(steps: &[Step]) -> String {
    let names = steps.iter().map(|step| match step {
        Step::Member(name) => name.as_str(),
        Step::Each => "*",
    });
    names.collect::<Vec<_>>().join(".")
}

impl<'a> Evaluation<'a> {
    pub(super) const fn of(documents: &'a Documents) -> Self {
        Self { documents, values: BTreeMap::new(), needed: BTreeSet::new(), lacking: Vec::new(), steps: 0 }
    }

    pub(super) fn into_lacking(self) -> Vec<Target> {
        self.lacking
    }

    /// Returns a derived value of a document at a depth.
    pub(super) fn value(
        &mut self,
        document: &'a Document,
        name: &'a str,
        depth: usize,
    ) -> Result<String, Absent> {
        if depth > DEPTH_MAX {
            return Err(Absent::Depth);
        }
        let key = (document.id, name, depth);
        if let Some(value) = self.values.get(&key) {
            return value.clone();
        }
        let value = self.evaluated(document, name, depth);
        self.values.insert(key, value.clone());
        value
    }

    fn evaluated(&mut self, document: &'a Document, name: &str, depth: usize) -> Result<String, Absent> {
        let expression = document.derivations.expressions().get(name);
        let (mut text, mut is_unread) = (String::new(), false);
        for piece in expression.map_or(&[][..], |expression| expression.pieces()) {
            self.step()?;
            let added = match piece {
                Piece::Text(plain) => self.add(&mut text, plain),
                Piece::Fact(fact) => self.add(&mut text, document.fact(*fact)),
                Piece::Path(steps) => {
                    let name = Name { whole: steps, left: steps };
                    let mut joined = Joined { text: &mut text, is_first: true };
                    self.follow(At::start(document, depth, false), name, &mut joined)
                }
            };
            // The evaluation goes on, so that one round finds all the documents that it lacks.
            match added {
                Err(Absent::Unread) => is_unread = true,
                other => other?,
            }
        }
        if is_unread { Err(Absent::Unread) } else { Ok(text) }
    }

    fn step(&mut self) -> Result<(), Absent> {
        self.steps = self.steps.saturating_add(1);
        if self.steps > EVALUATION_STEPS_MAX { Err(Absent::Steps) } else { Ok(()) }
    }

    fn add(&mut self, text: &mut String, more: &str) -> Result<(), Absent> {
        if text.len().saturating_add(more.len()) > RESULT_BYTES_MAX {
            return Err(Absent::Length);
        }
        self.steps = self.steps.saturating_add(more.len() / BYTES_PER_STEP);
        text.push_str(more);
        Ok(())
    }

    /// Adds the values of a name.
    fn follow(&mut self, mut at: At<'a>, mut name: Name<'a>, joined: &mut Joined<'_>) -> Result<(), Absent> {
        loop {
            self.step()?;
            let Some((step, left)) = name.left.split_first() else {
                let text = single(at.value).ok_or_else(|| Absent::NotSingle(name.so_far()))?;
                return self.join(joined, &text);
            };
            if let Some(target) = at.document.references.get(&at.pointer) {
                let depth = at.depth.saturating_add(1);
                let document = self.target(target.clone(), depth, name)?;
                if !document.is_shown_to(at.document) {
                    return Err(Absent::Owner(dotted(name.whole)));
                }
                at = At::start(document, depth, true);
                continue;
            }
            let left = Name { left, ..name };
            match step {
                Step::Each => return self.follow_each(&at, left, joined),
                Step::Member(member) => {
                    if let Some(derived) = at.derived(member) {
                        // A reference to this document has counted already.
                        let depth = at.depth.saturating_add(usize::from(!at.is_entered));
                        let value = self.value(at.document, derived, depth);
                        let value = value.map_err(|absent| absent.of_name(left))?;
                        let is_whole = left.left.is_empty();
                        let value = is_whole.then_some(value).ok_or_else(|| Absent::Name(dotted(name.whole)));
                        return self.join(joined, &value?);
                    }
                    at = at.member(member, left)?;
                    name = left;
                }
            }
        }
    }

    /// Adds the values of a name in each element of an array.
    fn follow_each(&mut self, at: &At<'a>, name: Name<'a>, joined: &mut Joined<'_>) -> Result<(), Absent> {
        let Value::Array(elements) = at.value else { return Err(Absent::NotArray(name.so_far())) };
        let part = at.part.elements().unwrap_or(Part::ANY);
        let mut is_unread = false;
        for (index, element) in elements.iter().enumerate() {
            let at = at.below(&index.to_string(), element, part);
            match self.follow(at, name, joined) {
                Err(Absent::Unread) => is_unread = true,
                other => other?,
            }
        }
        if is_unread { Err(Absent::Unread) } else { Ok(()) }
    }

    fn join(&mut self, joined: &mut Joined<'_>, text: &str) -> Result<(), Absent> {
        if !std::mem::take(&mut joined.is_first) {
            self.add(joined.text, SEPARATOR)?;
        }
        self.add(joined.text, text)
    }

    /// Returns the document that a reference names.
    fn target(&mut self, target: Target, depth: usize, name: Name<'_>) -> Result<&'a Document, Absent> {
        if depth > DEPTH_MAX {
            return Err(Absent::Depth);
        }
        if !self.needed.contains(&target) {
            if self.needed.len() >= DOCUMENTS_MAX {
                return Err(Absent::Documents);
            }
            self.needed.insert(target.clone());
        }
        let missing = || Absent::Target(dotted(name.whole));
        let lacks = match self.documents.resolved(&target) {
            Some(None) => return Err(missing()),
            Some(Some(id)) => match self.documents.documents.get(&id) {
                Some(document) => return Ok(document),
                None => target,
            },
            None => target,
        };
        self.lacking.push(lacks);
        Err(Absent::Unread)
    }
}

/// The values of a name, joined at the end of a text.
struct Joined<'t> {
    text: &'t mut String,
    is_first: bool,
}

impl<'a> At<'a> {
    /// Returns the whole document.
    fn start(document: &'a Document, depth: usize, is_entered: bool) -> Self {
        let part = document.derivations.paths();
        Self { document, value: &document.value, pointer: String::new(), part, depth, is_entered }
    }

    /// Returns the name of a derived value, if a member of this value is one.
    fn derived(&self, name: &str) -> Option<&'a str> {
        let expressions = self.document.derivations.expressions();
        let (name, _) = expressions.get_key_value(name).filter(|_| self.pointer.is_empty())?;
        Some(name)
    }

    /// Returns the value of a member; `name` is the name with this member.
    fn member(self, member: &str, name: Name<'_>) -> Result<Self, Absent> {
        let part = self.part.member(member).unwrap_or(Part::ANY);
        // A document has no secret, but a declaration from before the word may have the plain value.
        if part.is_secret() {
            return Err(Absent::Secret(name.so_far()));
        }
        let value = self.value.get(member).ok_or_else(|| Absent::Name(name.so_far()))?;
        Ok(self.below(member, value, part))
    }

    fn below(&self, token: &str, value: &'a Value, part: &'a Part) -> Self {
        let mut pointer = self.pointer.clone();
        push_token(&mut pointer, token);
        Self { document: self.document, value, pointer, part, depth: self.depth, is_entered: false }
    }
}

impl Document {
    /// Returns whether a derived value of another document may use this one (R72).
    fn is_shown_to(&self, other: &Self) -> bool {
        self.service_owner == other.service_owner || self.sees == ReferencesSee::All
    }

    /// Returns a property of the item itself.
    fn fact(&self, fact: Fact) -> &str {
        match fact {
            Fact::Application => &self.application,
            Fact::Name => &self.name,
            Fact::RuntimeState => self.runtime_state,
            Fact::Service => &self.service,
            Fact::Team => &self.team,
        }
    }
}

/// Returns a single value as a text: a string as it is, and a number or a boolean as JSON.
fn single(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        // The mask of a secret is not shown either.
        Value::String(text) if is_mask(text) => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(_) | Value::Bool(_) => Some(Cow::Owned(value.to_string())),
        Value::Null | Value::Object(_) | Value::Array(_) => None,
    }
}
