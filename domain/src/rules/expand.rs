//! Metadata complete and generate items, before anything else looks at a declaration (R66).
//!
//! The result is the declaration that the planner gets. The text that a consumer reads back leaves the additions out
//! ([`reduce`]).

mod exposed;
mod layer;
pub mod reduce;
mod resolve;
mod warnings;

use self::layer::{Conditions, Entry, Layer, ReadLayer, Scope};
use self::resolve::{Generated, Key, Node, Resolved, resolve};
pub use self::warnings::{Previewed, warnings};
use super::plan::Stored;
use crate::base::hash::Hash;
use crate::base::json;
use crate::base::json::Problems;
use crate::base::problem::{Problem, pointer};
use crate::catalog::schema::{Budget, STEPS_MAX};
use crate::model::declaration::expansion::{
    DEFAULTS, EACH, KEYS_OF_TEAM_BYTES_MAX, Sources, has_keys, keys_bytes, may_have_keys,
};
use crate::model::declaration::{
    BODY_BYTES_MAX, DECLARATION_BYTES_MAX, Declaration, DeclaredApplication, DeclaredItem, ITEMS_MAX,
    METADATA, NAME, SERVICES_MAX,
};
use crate::model::submission;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A declaration with the additions of metadata.
pub struct Expanded {
    pub declaration: Declaration,
    /// The problems of the additions. The declaration is without the broken ones.
    pub problems: Vec<Problem>,
    /// The items of the document that have the name of a generated one: application, service and name.
    overriding: Vec<(String, Key)>,
    /// The additions by application.
    scopes: BTreeMap<String, Scope>,
}

/// Adds what the metadata of the team and its applications add. Returns none if the metadata have none of the keys.
///
/// The team's metadata are those after the submission. The error has the problems of a declaration that exceeds a limit
/// with its additions.
pub fn expand(
    declaration: &Declaration,
    stored: &Stored,
    scope: submission::Scope,
) -> Result<Option<Expanded>, Vec<Problem>> {
    let retained = retained_metadata(declaration, stored);
    let team = declaration.metadata.as_ref().or(retained.as_ref()).filter(|metadata| has_keys(metadata));
    let own = declaration.applications.iter().filter_map(|declared| declared.metadata.as_ref());
    if team.is_none() && !own.clone().any(has_keys) {
        return Ok(None);
    }
    let mut work = Work::new(declaration);
    if own.chain(&declaration.metadata).any(has_keys) {
        work.check_size(stored, team, scope)?;
    }
    let layer = team.map(|metadata| Layer::read(metadata, &[&declaration.team], &mut work.conditions));
    // The parser has reported the form of metadata in the document already, but not that of stored ones.
    let team = layer.map(|read| work.accept(read, retained.is_some())).unwrap_or_default();
    let mut applications = Vec::new();
    for declared in &declaration.applications {
        applications.push(work.application(declared, &team)?);
    }
    let (metadata, team) = (declaration.metadata.clone(), declaration.team.clone());
    let declaration = Declaration { team, metadata, applications };
    work.check_services(&declaration)?;
    let Work { problems, overriding, scopes, .. } = work;
    Ok(Some(Expanded { declaration, problems: problems.into_vec(), overriding, scopes }))
}

/// Returns the stored metadata of the team, if the declaration keeps them and they may have one of the keys.
fn retained_metadata(declaration: &Declaration, stored: &Stored) -> Option<Value> {
    let text = &stored.team.metadata;
    let is_retained = declaration.metadata.is_none() && may_have_keys(text);
    is_retained.then(|| serde_json::from_str(text).ok()).flatten()
}

/// An expansion in progress.
struct Work<'a> {
    declaration: &'a Declaration,
    conditions: Conditions,
    /// The steps left for all conditions.
    budget: Budget,
    problems: Problems,
    items: usize,
    /// The size of the items with additions, in bytes.
    bytes: usize,
    overriding: Vec<(String, Key)>,
    scopes: BTreeMap<String, Scope>,
}

impl<'a> Work<'a> {
    fn new(declaration: &'a Declaration) -> Self {
        Self {
            declaration,
            conditions: Conditions::default(),
            budget: Budget::of_request(),
            problems: Problems::default(),
            items: 0,
            bytes: 0,
            overriding: Vec::new(),
            scopes: BTreeMap::new(),
        }
    }

    /// Returns the problems so far, with one of the whole declaration.
    fn exceeded(&mut self, rule: &'static str, message: String) -> Vec<Problem> {
        let path = vec![self.declaration.team.clone()];
        let pointer = pointer([self.declaration.team.as_str()]);
        self.refused(Problem { pointer, path, rule, message, change: None })
    }

    fn refused(&mut self, problem: Problem) -> Vec<Problem> {
        let mut problems = std::mem::take(&mut self.problems).into_vec();
        problems.push(problem);
        problems
    }

    /// Checks the size of the keys in all metadata of the team after the submission.
    fn check_size(
        &mut self,
        stored: &Stored,
        team: Option<&Value>,
        scope: submission::Scope,
    ) -> Result<(), Vec<Problem>> {
        let declared: BTreeMap<&str, Option<&Value>> = self
            .declaration
            .applications
            .iter()
            .map(|declared| (declared.name.as_str(), declared.metadata.as_ref()))
            .collect();
        let others = stored.applications.iter().filter(|application| {
            scope == submission::Scope::Partial
                && !declared.contains_key(application.name.as_str())
                && may_have_keys(&application.metadata)
        });
        let others = others.filter_map(|application| serde_json::from_str(&application.metadata).ok());
        let others: usize = others.map(|metadata: Value| keys_bytes(&metadata)).sum();
        let own: usize = declared.values().copied().flatten().chain(team).map(keys_bytes).sum();
        if own.saturating_add(others) <= KEYS_OF_TEAM_BYTES_MAX {
            return Ok(());
        }
        let message = format!(
            "must have at most {KEYS_OF_TEAM_BYTES_MAX} bytes in `{DEFAULTS}` and `{EACH}` of the team and all its \
             applications"
        );
        Err(self.exceeded(METADATA, message))
    }

    fn check_services(&mut self, declaration: &Declaration) -> Result<(), Vec<Problem>> {
        let items = declaration.applications.iter().flat_map(|application| &application.items);
        let services: BTreeSet<&str> = items.map(|item| item.service.as_str()).collect();
        if services.len() <= SERVICES_MAX {
            return Ok(());
        }
        let message = format!("must name at most {SERVICES_MAX} services, with those of generated items");
        Err(self.exceeded("too_many_services", message))
    }

    /// Collects the problems of a layer, and returns the layer.
    fn accept(&mut self, read: ReadLayer, is_stored: bool) -> Arc<Layer> {
        let misformed = read.misformed.into_iter().filter(|_| is_stored);
        misformed.chain(read.invalid).for_each(|problem| self.problems.push(|| problem));
        read.layer
    }

    fn application(
        &mut self,
        declared: &DeclaredApplication,
        team: &Arc<Layer>,
    ) -> Result<DeclaredApplication, Vec<Problem>> {
        let names = [self.declaration.team.as_str(), declared.name.as_str()];
        let own = declared.metadata.as_ref().filter(|metadata| has_keys(metadata));
        let own = own.map(|metadata| Layer::read(metadata, &names, &mut self.conditions));
        let own = own.map(|read| self.accept(read, false)).unwrap_or_default();
        let mut scope = Scope::of(own, Arc::clone(team));
        if scope.is_empty() {
            self.items = self.items.saturating_add(declared.items.len());
            return Ok(declared.clone());
        }
        let mut items = Vec::new();
        for item in &declared.items {
            items.push(self.filled(item, &declared.name, &mut scope)?);
        }
        let generated = self.generated(&items, &declared.name, &mut scope)?;
        items.extend(generated);
        self.items = self.items.saturating_add(items.len());
        let DeclaredApplication { name, metadata, new_names, .. } = declared.clone();
        self.scopes.insert(name.clone(), scope);
        Ok(DeclaredApplication { name, metadata, new_names, items })
    }

    /// Returns an item of the document with the members that it lacks.
    fn filled(
        &mut self,
        item: &DeclaredItem,
        application: &str,
        scope: &mut Scope,
    ) -> Result<DeclaredItem, Vec<Problem>> {
        let Value::Object(mut body) = item.body.clone() else { return Ok(item.clone()) };
        let members = scope.fill(&item.service, &mut body);
        if members.is_empty() {
            return Ok(item.clone());
        }
        let sources = Sources { entry: None, members };
        self.item(body, [application, &item.service], (item.pointer.clone(), sources))
    }

    /// Returns the generated items of an application: by entry, and for each entry in the order of its targets.
    fn generated(
        &mut self,
        written: &[DeclaredItem],
        application: &str,
        scope: &mut Scope,
    ) -> Result<Vec<DeclaredItem>, Vec<Problem>> {
        let mut nodes = BTreeMap::new();
        for item in written {
            let matched = scope.matched(&item.service, &item.body, &mut self.budget);
            let matched = matched.map_err(|position| self.too_complex(scope, position))?;
            let key = (item.service.clone(), item.name.clone());
            nodes.insert(key, Node { hash: item.hash, matched });
        }
        let Ok(resolved) = resolve(&nodes, scope, ITEMS_MAX.saturating_sub(self.items)) else {
            let message = format!("must have at most {ITEMS_MAX} service items, with generated ones");
            return Err(self.exceeded("too_many_items", message));
        };
        self.report(&resolved, scope);
        self.overriding.extend(resolved.overriding.into_iter().map(|key| (application.to_owned(), key)));
        let order: BTreeMap<(&str, &str), usize> =
            written.iter().map(|item| (item.service.as_str(), item.name.as_str())).zip(0..).collect();
        let entries = scope.entries.clone();
        let mut missing: Vec<_> = resolved
            .missing
            .iter()
            .filter_map(|generated| {
                let entry = entries.get(generated.entry)?;
                let target = order.get(&(entry.each.target.as_str(), generated.target.as_str()))?;
                Some((generated.entry, *target, entry, generated.target.as_str()))
            })
            .collect();
        missing.sort_unstable_by_key(|(position, target, ..)| (*position, *target));
        let missing = missing.into_iter();
        missing.map(|(_, _, entry, target)| self.generate(entry, target, application, scope)).collect()
    }

    /// Reports the generated items without a name of their own.
    fn report(&mut self, resolved: &Resolved, scope: &Scope) {
        for (position, message) in &resolved.misnamed {
            let problem = scope.entries.get(*position).map(|entry| {
                let message = format!("{message}, and a generated one would");
                entry.problem(&["item", NAME], "invalid_name", message)
            });
            if let Some(problem) = problem {
                self.problems.push(|| problem);
            }
        }
        for Generated { entry, target } in &resolved.clashes {
            let Some(entry) = scope.entries.get(*entry) else { continue };
            let name = entry.name_for(target);
            let message = format!("must be unique: two items generate {} '{name}'", entry.each.service);
            self.problems.push(|| entry.problem(&["item", NAME], "duplicate_name", message));
        }
    }

    fn too_complex(&mut self, scope: &Scope, position: usize) -> Vec<Problem> {
        let message = format!("all conditions of a request must need at most {STEPS_MAX} steps");
        let problem = scope.entries.get(position);
        let problem = problem.map(|entry| entry.problem(&["where"], "too_complex", message.clone()));
        match problem {
            Some(problem) => self.refused(problem),
            None => self.exceeded("too_complex", message),
        }
    }

    fn generate(
        &mut self,
        entry: &Entry,
        target: &str,
        application: &str,
        scope: &mut Scope,
    ) -> Result<DeclaredItem, Vec<Problem>> {
        let (body, members) = scope.generate(entry, target);
        let sources = Sources { entry: Some(Arc::clone(&entry.pointer)), members };
        let pointer = format!("{}/item", entry.pointer);
        self.item(body, [application, &entry.each.service], (pointer, sources))
    }

    /// Returns an item with additions, and counts its size.
    fn item(
        &mut self,
        body: Map<String, Value>,
        [application, service]: [&str; 2],
        (pointer, sources): (String, Sources),
    ) -> Result<DeclaredItem, Vec<Problem>> {
        let name = body.get(NAME).and_then(Value::as_str).unwrap_or_default().to_owned();
        let body = Value::Object(body);
        let canonical = json::canonical(&body);
        self.bytes = self.bytes.saturating_add(canonical.len());
        if self.bytes > BODY_BYTES_MAX {
            let message =
                format!("must be at most {BODY_BYTES_MAX} bytes with the items and values of metadata");
            return Err(self.exceeded("too_large", message));
        }
        if canonical.len() > DECLARATION_BYTES_MAX && !self.problems.has("too_large", &pointer) {
            let path =
                [self.declaration.team.as_str(), application, service, &name].map(str::to_owned).to_vec();
            let (pointer, rule) = (pointer.clone(), "too_large");
            let message =
                format!("must be at most {DECLARATION_BYTES_MAX} bytes with the values of metadata");
            self.problems.push(|| Problem { pointer, path, rule, message, change: None });
        }
        let hash = Hash::of(&canonical);
        let (service, secrets) = (service.to_owned(), crate::model::secrets::Secrets::default());
        let old_name = None;
        Ok(DeclaredItem { service, name, body, canonical, hash, pointer, sources, secrets, old_name })
    }
}
