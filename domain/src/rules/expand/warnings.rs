//! Warnings of a preview about the effects of metadata that the consumer may not intend (R66).

use super::{Expanded, expand};
use crate::base::hash::Hash;
use crate::base::json;
use crate::model::declaration::expansion::{DEFAULTS, EACH};
use crate::model::declaration::{Declaration, DeclaredApplication, Key};
use crate::model::submission::Scope;
use crate::rules::plan::{Items, Stored};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of warnings; one more line counts the rest.
const WARNINGS_MAX: usize = 100;

/// A submission of which a preview warns.
#[derive(Clone, Copy)]
pub struct Previewed<'a> {
    /// The declaration as sent.
    pub written: &'a Declaration,
    /// The declaration with additions, if there are any.
    pub expanded: Option<&'a Expanded>,
    pub scope: Scope,
    pub stored: &'a Stored,
    pub items: &'a Items,
}

/// Returns the warnings of a preview.
pub fn warnings(previewed: Previewed<'_>) -> Vec<String> {
    let overriding = previewed.expanded.map_or(&[][..], |expanded| &expanded.overriding);
    let overriding = overriding.iter().map(|(application, (service, name))| {
        format!(
            "{service} '{name}' of application '{application}' is declared, so the one that {EACH} generates does not \
             count"
        )
    });
    let mut all = overriding.chain(previewed.of_team()).chain(previewed.of_applications());
    let mut few: Vec<String> = all.by_ref().take(WARNINGS_MAX).collect();
    let more = all.count();
    if more > 0 {
        few.push(format!("and {more} more"));
    }
    few
}

impl Previewed<'_> {
    /// Returns a warning if changed metadata of the team change items.
    fn of_team(self) -> Option<String> {
        let new = self.written.metadata.as_ref()?;
        let old = stored_metadata(&self.stored.team.metadata);
        if keys(new) == keys(&old) {
            return None;
        }
        let count = self.changed_from(Declaration { metadata: Some(old), ..self.written.clone() });
        (count > 0).then(|| format!("{DEFAULTS} or {EACH} of the team differ; changed items: {count}"))
    }

    /// Returns a warning for each application that loses one of the keys, if this changes items.
    fn of_applications(self) -> impl Iterator<Item = String> {
        self.written.applications.iter().enumerate().filter_map(move |(index, declared)| {
            let name = &declared.name;
            let stored = self.stored.applications.iter().find(|stored| stored.name == *name)?;
            let old = stored_metadata(&stored.metadata);
            let is_lost = |key: &&str| {
                let new = declared.metadata.as_ref().and_then(|metadata| metadata.get(*key));
                old.get(*key).is_some() && new.is_none()
            };
            let lost: Vec<&str> = [DEFAULTS, EACH].into_iter().filter(is_lost).collect();
            if lost.is_empty() {
                return None;
            }
            let mut before = self.written.clone();
            before.applications.get_mut(index)?.metadata = Some(old);
            let (lost, count) = (lost.join(" and "), self.changed_from(before));
            let warning =
                || format!("application '{name}' is declared without its {lost}; changed items: {count}");
            (count > 0).then(warning)
        })
    }

    /// Returns the number of items that the submission changes, and that the metadata of `before` would declare
    /// otherwise.
    fn changed_from(self, before: Declaration) -> usize {
        let Ok(expanded) = expand(&before, self.stored, self.scope) else { return 0 };
        let before = expanded.map_or(before, |expanded| expanded.declaration);
        let after = self.expanded.map_or(self.written, |expanded| &expanded.declaration);
        let pairs = before.applications.iter().zip(&after.applications);
        pairs.map(|(before, after)| self.changed(before, after)).sum()
    }

    fn changed(self, before: &DeclaredApplication, after: &DeclaredApplication) -> usize {
        let stored = self.stored.applications.iter().find(|stored| stored.name == after.name);
        let stored = stored.and_then(|stored| self.items.get(&stored.id)).into_iter().flatten();
        let stored = stored.filter(|item| item.declared);
        let stored: Hashes<'_> = stored.map(|item| (item.key(), item.version.hash)).collect();
        let (before, after) = (hashes(before), hashes(after));
        let all: BTreeSet<_> = before.keys().chain(after.keys()).collect();
        let is_changed = |key: &&&(&str, &str)| {
            let new = after.get(**key);
            new != before.get(**key) && new != stored.get(**key)
        };
        all.iter().filter(is_changed).count()
    }
}

/// The hashes of declared items by service and name.
type Hashes<'a> = BTreeMap<Key<'a>, Hash>;

fn hashes(declared: &DeclaredApplication) -> Hashes<'_> {
    declared.items.iter().map(|item| (item.key(), item.hash)).collect()
}

fn stored_metadata(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns the keys of metadata in canonical form.
fn keys(metadata: &Value) -> [Option<String>; 2] {
    [DEFAULTS, EACH].map(|key| metadata.get(key).map(json::canonical))
}
