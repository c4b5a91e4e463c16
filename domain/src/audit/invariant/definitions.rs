//! The definitions that checked completed items.

use crate::catalog::schema::DecisionForms;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The versions of definitions by title and number; each compiles at its first use.
#[derive(Clone, Debug, Default)]
pub struct Definitions(BTreeMap<(String, u64), Definition>);

#[derive(Clone, derive_more::Debug)]
#[debug("Definition {{ .. }}")]
struct Definition {
    text: String,
    forms: OnceLock<Option<Arc<DecisionForms>>>,
}

impl Definitions {
    /// Adds a version.
    pub fn insert(&mut self, title: &str, version: u64, text: &str) {
        let definition = Definition { text: text.to_owned(), forms: OnceLock::new() };
        self.0.insert((title.to_owned(), version), definition);
    }

    /// Returns the forms of a version; none if it is not stored.
    pub(super) fn forms(&self, title: &str, version: u64) -> Option<&DecisionForms> {
        let definition = self.0.get(&(title.to_owned(), version))?;
        let load = || DecisionForms::load(&definition.text).ok().map(Arc::new);
        definition.forms.get_or_init(load).as_deref()
    }
}
