//! The additions of metadata: those of a team, and those of an application before them.

use crate::base::json;
use crate::base::problem::{Problem, below, pointer};
use crate::catalog::schema;
use crate::catalog::schema::{Budget, CONDITIONS_BYTES_MAX, Schema};
use crate::model::declaration::expansion::{self, DEFAULTS, EACH, Each, Misformed, Source};
use crate::model::declaration::{METADATA, NAME};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A default with its place.
pub(super) struct Filler {
    pub(super) source: Arc<Source>,
    /// The value; null means that the member stays absent.
    pub(super) value: Value,
}

/// An entry with its place.
pub(super) struct Entry {
    pub(super) each: Each,
    /// The pointer in the document.
    pub(super) pointer: Arc<str>,
    /// The position by names.
    pub(super) path: Vec<String>,
    condition: Option<Arc<Schema>>,
}

/// What one object of metadata adds.
#[derive(Default)]
pub(super) struct Layer {
    pub(super) defaults: BTreeMap<String, Vec<Arc<Filler>>>,
    pub(super) entries: Vec<Arc<Entry>>,
}

/// A layer and the problems of its metadata.
pub(super) struct ReadLayer {
    pub(super) layer: Arc<Layer>,
    /// The problems that the parser of a document finds too.
    pub(super) misformed: Vec<Problem>,
    /// The problems of conditions.
    pub(super) invalid: Vec<Problem>,
}

/// The compiled conditions of a request, each once.
#[derive(Default)]
pub(super) struct Conditions {
    compiled: BTreeMap<String, Result<Arc<Schema>, Vec<Problem>>>,
    bytes: usize,
}

impl Conditions {
    fn compiled(&mut self, condition: &Value) -> Result<Arc<Schema>, Vec<Problem>> {
        let text = json::canonical(condition);
        if let Some(compiled) = self.compiled.get(&text) {
            return compiled.clone();
        }
        let compiled = if self.bytes < CONDITIONS_BYTES_MAX {
            schema::of_condition(condition).map(Arc::new)
        } else {
            // A compiled condition may take far more memory than its text.
            let message = "must be smaller: the conditions of the request take too much memory".to_owned();
            let (pointer, path) = (String::new(), Vec::new());
            Err(vec![Problem { pointer, path, rule: "too_complex", message, change: None }])
        };
        self.bytes = self.bytes.saturating_add(compiled.as_ref().map_or(0, |schema| schema.bytes));
        self.compiled.insert(text, compiled.clone());
        compiled
    }
}

impl Layer {
    /// Reads the metadata of a team or an application with these names.
    pub(super) fn read(metadata: &Value, names: &[&str], conditions: &mut Conditions) -> ReadLayer {
        let (expansion, misformed) = expansion::read(metadata);
        let names = [names, &[METADATA]].concat();
        let misformed = misformed.into_iter().map(|misformed| problem(&names, misformed)).collect();
        let (mut entries, mut invalid) = (Vec::new(), Vec::new());
        for each in expansion.each {
            let index = each.index.to_string();
            let path = [&names[..], &[EACH, &index]].concat();
            match each.condition.as_ref().map(|condition| conditions.compiled(condition)).transpose() {
                Ok(condition) => {
                    let pointer = pointer(path.iter().copied()).into();
                    let path = path.into_iter().map(str::to_owned).collect();
                    entries.push(Arc::new(Entry { each, pointer, path, condition }));
                }
                Err(broken) => invalid.extend(broken.into_iter().map(|problem| of_condition(&path, problem))),
            }
        }
        let defaults = expansion.defaults.into_iter().map(|(service, values)| {
            let at = pointer([&names[..], &[DEFAULTS, &service]].concat());
            let fillers = values.into_iter().map(|(member, value)| {
                let pointer = below(&at, &member);
                Arc::new(Filler { source: Arc::new(Source { member, pointer }), value })
            });
            (service, fillers.collect())
        });
        let layer = Arc::new(Self { defaults: defaults.collect(), entries });
        ReadLayer { layer, misformed, invalid }
    }
}

fn problem(names: &[&str], (below, message): Misformed) -> Problem {
    let path: Vec<String> = names.iter().map(|name| (*name).to_owned()).chain(below).collect();
    Problem { pointer: pointer(path.iter().map(String::as_str)), path, rule: METADATA, message, change: None }
}

/// Returns the problem of a condition with its position in the document.
fn of_condition(entry: &[&str], problem: Problem) -> Problem {
    let path: Vec<String> = entry.iter().copied().chain(["where"]).map(str::to_owned).collect();
    Problem {
        pointer: format!("{}{}", pointer(path.iter().map(String::as_str)), problem.pointer),
        path: path.into_iter().chain(problem.path).collect(),
        rule: METADATA,
        ..problem
    }
}

/// The layers of an application, its own before that of its team.
pub(super) struct Scope {
    pub(super) layers: [Arc<Layer>; 2],
    /// All entries, in the order in which they count.
    pub(super) entries: Vec<Arc<Entry>>,
    /// The values for missing members by service.
    fillers: BTreeMap<String, Arc<[Arc<Filler>]>>,
}

impl Scope {
    pub(super) fn of(application: Arc<Layer>, team: Arc<Layer>) -> Self {
        let layers = [application, team];
        let entries = layers.iter().flat_map(|layer| &layer.entries).cloned().collect();
        Self { layers, entries, fillers: BTreeMap::new() }
    }

    /// Returns whether the layers add nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.layers.iter().all(|layer| layer.defaults.is_empty())
    }

    /// Returns the values for missing members of a service's items.
    pub(super) fn fillers(&mut self, service: &str) -> Arc<[Arc<Filler>]> {
        if let Some(fillers) = self.fillers.get(service) {
            return Arc::clone(fillers);
        }
        let mut seen = BTreeSet::new();
        let all = self.layers.iter().filter_map(|layer| layer.defaults.get(service)).flatten();
        // A null in the first layer ends the search, so it hides the value of the second one.
        let first = all.filter(|filler| seen.insert(filler.source.member.as_str()));
        let fillers: Arc<[_]> = first.filter(|filler| !filler.value.is_null()).cloned().collect();
        self.fillers.insert(service.to_owned(), Arc::clone(&fillers));
        fillers
    }

    /// Adds the missing members of an item, and returns their sources.
    pub(super) fn fill(&mut self, service: &str, item: &mut Map<String, Value>) -> Vec<Arc<Source>> {
        let fillers = self.fillers(service);
        let missing = fillers.iter().filter(|filler| !item.contains_key(&filler.source.member));
        let missing: Vec<_> = missing.cloned().collect();
        for filler in &missing {
            item.insert(filler.source.member.clone(), filler.value.clone());
        }
        missing.iter().map(|filler| Arc::clone(&filler.source)).collect()
    }

    /// Returns the entries that generate an item for this one, by their position. If the budget is exceeded, the error is
    /// the position of the entry.
    pub(super) fn matched(
        &self,
        service: &str,
        item: &Value,
        budget: &mut Budget,
    ) -> Result<Vec<usize>, usize> {
        let mut matched = Vec::new();
        for (position, entry) in self.entries.iter().enumerate() {
            if entry.each.target == service && entry.accepts(item, budget).ok_or(position)? {
                matched.push(position);
            }
        }
        Ok(matched)
    }

    /// Returns the item that an entry generates for a target, with the sources of its members outside of the entry's
    /// `item`.
    pub(super) fn generate(&mut self, entry: &Entry, target: &str) -> (Map<String, Value>, Vec<Arc<Source>>) {
        let mut item = entry.each.item.clone();
        item.insert(NAME.to_owned(), Value::from(entry.name_for(target)));
        item.insert(entry.each.reference.clone(), Value::from(target));
        let mut sources = self.fill(&entry.each.service, &mut item);
        let member = entry.each.reference.clone();
        sources.push(Arc::new(Source { member, pointer: below(&entry.pointer, "as") }));
        (item, sources)
    }
}

impl Entry {
    /// Returns the name of the item for a target.
    pub(super) fn name_for(&self, target: &str) -> String {
        format!("{}.{target}", self.each.name)
    }

    /// Returns whether a target satisfies the condition; none if the budget is exceeded.
    pub(super) fn accepts(&self, item: &Value, budget: &mut Budget) -> Option<bool> {
        self.condition.as_ref().map_or(Some(true), |condition| condition.accepts(item, budget))
    }

    pub(super) fn has_condition(&self) -> bool {
        self.condition.is_some()
    }

    /// Returns a problem at a member of the entry.
    pub(super) fn problem(&self, names: &[&str], rule: &'static str, message: impl Into<String>) -> Problem {
        let below = pointer(names.iter().copied());
        Problem {
            pointer: format!("{}{below}", self.pointer),
            path: self
                .path
                .iter()
                .map(String::as_str)
                .chain(names.iter().copied())
                .map(str::to_owned)
                .collect(),
            rule,
            message: message.into(),
            change: None,
        }
    }
}
