//! The comparison of two documents: the changes that a submission of the new one after the old one would cause.
//!
//! The comparison uses the two texts alone. Schemas, references and runtime states belong to [`crate::rules::plan`].

mod document;
mod field;
mod list;

use std::{borrow::Cow, cmp::Ordering, collections::BTreeMap};

pub use self::{document::Key, field::Field};
use self::{
    document::{Document, Form, Item},
    field::fields,
};
use crate::base::problem::{Problem, pointer};
use crate::base::state::ChangeType;
use crate::model::metadata::NO_METADATA;

/// The differences of two documents, in the order of applications, services and names.
#[derive(Default)]
pub struct Differences<'a> {
    /// The created, modified and deleted items.
    pub changes: Vec<ItemChange<'a>>,
    /// The changed metadata; they cause no change instance.
    pub metadata: Vec<MetadataChange<'a>>,
    /// The number of unchanged items.
    pub unchanged: usize,
}

/// A change of one item.
pub struct ItemChange<'a> {
    pub change_type: ChangeType,
    pub key: Key<'a>,
    /// The different fields; empty for a created or deleted item.
    pub fields: Vec<Field>,
}

/// A change of the metadata of the team or of an application.
pub struct MetadataChange<'a> {
    /// The application; empty for the team.
    pub application: Cow<'a, str>,
    pub fields: Vec<Field>,
}

/// The problems of the two documents.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Problems of the old document.
    pub old: Vec<Problem>,
    /// Problems of the new document, including a mismatch with the old one.
    pub new: Vec<Problem>,
}

/// Compares two declarations, or two lists of items.
pub fn compare<'a>(old: &'a [u8], new: &'a [u8]) -> Result<Differences<'a>, Refused> {
    // Identical texts need no second read, but a problem in them still counts.
    let before = Document::read(old).map_err(|old| Refused { old, ..Refused::default() });
    if old == new {
        return before
            .map(|document| Differences { unchanged: document.items.len(), ..Differences::default() });
    }
    let after = Document::read(new).map_err(|new| Refused { new, ..Refused::default() });
    let (before, after) = match (before, after) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(old), Err(new)) => return Err(Refused { old: old.old, new: new.new }),
        (Err(refused), Ok(_)) | (Ok(_), Err(refused)) => return Err(refused),
    };
    if let Some(problem) = mismatch(&before, &after) {
        return Err(Refused { new: vec![problem], ..Refused::default() });
    }
    let mut differences = Differences::default();
    differences.metadata(before.metadata, after.metadata)?;
    differences.items(before.items, after.items)?;
    Ok(differences)
}

/// Returns the different fields of two declarations of an item, or of two metadata, in the order of application.
pub fn between(old: &str, new: &str) -> Result<Vec<Field>, Refused> {
    fields(old, new)
}

/// Returns the reason why two valid documents cannot be compared.
fn mismatch(old: &Document<'_>, new: &Document<'_>) -> Option<Problem> {
    let problem = |path: Vec<String>, rule, message| {
        Some(Problem { pointer: pointer(path.iter().map(String::as_str)), path, rule, message, change: None })
    };
    match (&old.form, &new.form) {
        (Form::Items, Form::Items) => None,
        (Form::Declaration { team: old }, Form::Declaration { team: new }) if old == new => None,
        (Form::Declaration { team: old }, Form::Declaration { team: new }) => problem(
            vec![new.clone()],
            "foreign_team",
            format!("must be '{old}', the team of the other document"),
        ),
        (Form::Declaration { .. }, Form::Items) | (Form::Items, Form::Declaration { .. }) => {
            let message = "must both be declarations, or both be lists of items";
            problem(Vec::new(), "other_form", message.to_owned())
        }
    }
}

impl<'a> Differences<'a> {
    /// Returns whether the documents are equivalent.
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.metadata.is_empty()
    }

    /// Returns the number of items with this type of change.
    pub fn count(&self, change_type: ChangeType) -> usize {
        self.changes.iter().filter(|change| change.change_type == change_type).count()
    }

    fn metadata(&mut self, old: Metadata<'a>, mut new: Metadata<'a>) -> Result<(), Refused> {
        let mut pairs = BTreeMap::new();
        for (application, old) in old {
            // A team without declared metadata keeps its stored metadata, but an application without declared metadata
            // loses them.
            let absent = if application.is_empty() { old } else { NO_METADATA };
            let new = new.remove(&application).unwrap_or(absent);
            pairs.insert(application, (old, new));
        }
        pairs.extend(new.into_iter().map(|(application, new)| (application, (NO_METADATA, new))));
        for (application, (old, new)) in pairs {
            let fields = fields(old, new)?;
            if !fields.is_empty() {
                self.metadata.push(MetadataChange { application, fields });
            }
        }
        Ok(())
    }

    /// Merges two lists of items, both sorted by key.
    fn items(&mut self, old: Vec<Item<'a>>, new: Vec<Item<'a>>) -> Result<(), Refused> {
        let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(before), Some(after)) => before.key.cmp(&after.key),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Ok(()),
            };
            let before = old.next_if(|_| order.is_le());
            let after = new.next_if(|_| order.is_ge());
            self.item(before, after)?;
        }
    }

    fn item(&mut self, before: Option<Item<'a>>, after: Option<Item<'a>>) -> Result<(), Refused> {
        let (change_type, key, fields) = match (before, after) {
            (Some(before), Some(after)) => (ChangeType::Modify, after.key, fields(before.text, after.text)?),
            (Some(before), None) => (ChangeType::Delete, before.key, Vec::new()),
            (None, Some(after)) => (ChangeType::Create, after.key, Vec::new()),
            (None, None) => return Ok(()),
        };
        if change_type == ChangeType::Modify && fields.is_empty() {
            self.unchanged += 1;
        } else {
            self.changes.push(ItemChange { change_type, key, fields });
        }
        Ok(())
    }
}

type Metadata<'a> = BTreeMap<Cow<'a, str>, &'a str>;

#[cfg(test)]
mod tests;
