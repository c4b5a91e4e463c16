//! The check of a declaration: collects all problems, each with its JSON pointer and its rule.

use super::application::AffectedApplication;
use super::elsewhere::GRANTED_TEAMS;
use super::renames;
use super::resolver::{Resolved, Resolver};
use super::stored_items::by_key;
use super::{EarlierValues, Offer, Offers, Request, Stored, on_change};
use crate::base::id::ItemId;
use crate::base::json;
use crate::base::json::Problems;
use crate::base::problem::{Problem, below, pointer};
use crate::base::refs::{ItemReference, Reference};
use crate::base::state::ChangeType;
use crate::catalog::schema::{Budget, Name, REFERENCES_MAX, Schema};
use crate::catalog::service::Service;
use crate::model::change::Target;
use crate::model::declaration::expansion::{EACH, Sources};
use crate::model::declaration::{
    APPLICATIONS_CHANGED_MAX, DECLARATION_BYTES_MAX, DEPTH_MAX, Declaration, DeclaredApplication,
    DeclaredItem, Key, METADATA, SERVICES,
};
use crate::model::item::{Item, Slot};
use crate::model::submission::Scope;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Returns all problems of the declaration, including `of_applications`, which were found before.
pub(super) fn problems(
    resolver: &Resolver<'_, '_>,
    affected: &[AffectedApplication<'_, '_>],
    offers: &Offers,
    request: &Request<'_>,
    of_applications: &[Problem],
) -> Vec<Problem> {
    let stored = resolver.stored;
    let mut problems = Problems::default();
    for problem in request.unread {
        problems.push(|| problem.clone());
    }
    let team = &request.declaration.team;
    if *team != stored.team.name {
        problems.push(|| Problem {
            pointer: pointer([team.as_str()]),
            path: vec![team.clone(), "team".to_owned()],
            rule: "foreign_team",
            message: format!("must be '{}', the team of the caller", stored.team.name),
            change: None,
        });
        // All further checks would use the records of the wrong team.
        return problems.into_vec();
    }
    // All items of a request share one budget, so many cheap items cannot exceed it either (ADR 8).
    let mut budget = Budget::of_request();
    metadata(stored, request, &mut problems, &mut budget);
    let changed = affected.iter().filter(|application| application.is_changed()).count();
    // Each changed application is a write in the commit, and even a staged submission commits in one transaction.
    if changed > APPLICATIONS_CHANGED_MAX {
        problems.push(|| too_many_applications(team, changed));
    }
    for problem in of_applications {
        problems.push(|| problem.clone());
    }
    for application in affected {
        let renames =
            application.declared.map(|declared| renames::problems(team, declared, application.items));
        for problem in renames.into_iter().flatten() {
            problems.push(|| problem);
        }
        let stored_items = by_key(application.items);
        let mut check = Check {
            team,
            application,
            stored_items,
            offers,
            earlier: request.earlier,
            resolver,
            budget: &mut budget,
            problems: &mut problems,
        };
        check.declared_items();
        check.answers();
    }
    problems.into_vec()
}

/// Checks the metadata against the platform's schemas (R42).
///
/// A whole submission checks the team's metadata even if it sends none; a partial submission checks only the metadata
/// that it sends. The check covers each application with declared items or metadata.
fn metadata(stored: &Stored, request: &Request<'_>, problems: &mut Problems, budget: &mut Budget) {
    let (declaration, metadata_policy) = (request.declaration, request.metadata_policy);
    let team = declaration.team.as_str();
    if let Some(schema) = &metadata_policy.team {
        let stored_metadata = || json::parse(stored.team.metadata.as_bytes(), DEPTH_MAX).unwrap_or_default();
        match (&declaration.metadata, request.scope) {
            (Some(sent), _) => against(schema, sent, &[team, METADATA], problems, budget),
            (None, Scope::Whole) => against(schema, &stored_metadata(), &[team, METADATA], problems, budget),
            (None, Scope::Partial) => {}
        }
    }
    grants(declaration, problems);
    let Some(schema) = &metadata_policy.application else { return };
    let none = Value::Object(Map::new());
    for declared in &declaration.applications {
        if problems.is_full() {
            return;
        }
        // An emptied application disappears, and a removal must not fail for its metadata.
        if declared.metadata.is_some() || !declared.items.is_empty() {
            let sent = declared.metadata.as_ref().unwrap_or(&none);
            against(schema, sent, &[team, &declared.name, METADATA], problems, budget);
        }
    }
}

/// Checks the grants in the metadata of applications (R69).
fn grants(declaration: &Declaration, problems: &mut Problems) {
    for declared in &declaration.applications {
        let granted = declared.metadata.as_ref().and_then(|metadata| metadata.get(GRANTED_TEAMS));
        let is_list =
            |teams: &Value| teams.as_array().is_some_and(|teams| teams.iter().all(Value::is_string));
        if granted.is_some_and(|teams| !is_list(teams)) {
            let location = [declaration.team.as_str(), &declared.name, METADATA, GRANTED_TEAMS];
            problems.push(|| Problem {
                pointer: pointer(location),
                path: location.map(str::to_owned).to_vec(),
                rule: METADATA,
                message: "must be a list of the names of teams, or of `*` for all teams".to_owned(),
                change: None,
            });
        }
    }
}

fn against(
    schema: &Schema,
    metadata: &Value,
    location: &[&str],
    problems: &mut Problems,
    budget: &mut Budget,
) {
    for problem in within(budget, |budget| schema.problems(metadata, budget)) {
        let pointer = format!("{}{}", pointer(location.iter().copied()), problem.pointer);
        let path = location.iter().map(|name| (*name).to_owned()).chain(problem.path).collect();
        problems.push(|| Problem { pointer, path, rule: metadata_rule(problem.rule), ..problem });
    }
}

/// Returns the problems of a body, or an empty list once the request has exceeded its budget.
///
/// The item at the limit is reported and the request fails in any case, so further checks would only cost time.
fn within(budget: &mut Budget, problems: impl FnOnce(&mut Budget) -> Vec<Problem>) -> Vec<Problem> {
    if budget.is_exceeded() { Vec::new() } else { problems(budget) }
}

fn metadata_rule(rule: &'static str) -> &'static str {
    if rule == "too_complex" { rule } else { "metadata" }
}

fn too_many_applications(team: &str, count: usize) -> Problem {
    Problem {
        pointer: pointer([team]),
        path: vec![team.to_owned(), "applications".to_owned()],
        rule: "too_many_applications",
        message: format!("must change at most {APPLICATIONS_CHANGED_MAX} applications at once, not {count}"),
        change: None,
    }
}

/// The check of one application.
struct Check<'a> {
    team: &'a str,
    application: &'a AffectedApplication<'a, 'a>,
    stored_items: BTreeMap<Key<'a>, &'a Item>,
    offers: &'a Offers,
    earlier: &'a EarlierValues,
    resolver: &'a Resolver<'a, 'a>,
    budget: &'a mut Budget,
    problems: &'a mut Problems,
}

impl Check<'_> {
    fn declared_items(&mut self) {
        let Some(declared) = self.application.declared else { return };
        for item in &declared.items {
            if self.problems.is_full() {
                // The response lists no more problems, and a hostile document could make the search for them
                // arbitrarily expensive.
                return;
            }
            let before = self.stored_items.get(&item.stored_key()).copied();
            match before.filter(|before| before.is_last_declared_as(item.hash)) {
                // The last declaration passed its check, so newer schemas and settings do not apply (R20), but its
                // references must still exist.
                Some(before) => {
                    let stored: Vec<Reference> =
                        before.references.iter().map(ItemReference::to_reference).collect();
                    self.references(declared, item, &stored);
                    self.returned_uses(declared, item, before);
                }
                None => self.changed(declared, item, before),
            }
        }
    }

    /// Checks a new item or a new declaration: service, schema and references.
    fn changed(&mut self, declared: &DeclaredApplication, item: &DeclaredItem, before: Option<&Item>) {
        let Some(offer) = self.offers.get(&item.service) else {
            return self.unknown_service(declared, item);
        };
        self.availability(declared, item, before, &offer.service);
        if item.canonical.len() > DECLARATION_BYTES_MAX {
            // The parser has reported the size already, and a check of this body would cost too much.
            return;
        }
        self.schema(declared, item, offer);
        self.fixed(declared, item, before, offer);
        self.references(declared, item, &offer.schema.references_of(&item.body));
        self.elsewhere(declared, item, before, offer);
    }

    /// Reports each reference to an item of another application or team that names no such item (R69).
    fn elsewhere(
        &mut self,
        declared: &DeclaredApplication,
        item: &DeclaredItem,
        before: Option<&Item>,
        offer: &Offer,
    ) {
        if !offer.schema.has_reach() {
            return;
        }
        let all = offer.schema.named(&item.body);
        let elsewhere = all.iter().filter(|named| !matches!(named.name, Name::Here(_))).count();
        if elsewhere > REFERENCES_MAX {
            let message =
                format!("must have at most {REFERENCES_MAX} references to items elsewhere, not {elsewhere}");
            self.push(declared, item, "references", "too_many_references", message);
        }
        for named in all {
            let (rule, message) = match self.resolver.resolve(&declared.name, &named) {
                Some(Ok(Resolved::Stored(id))) if before.is_some_and(|before| before.id == id) => {
                    ("self_reference", format!("{} '{}' must not reference itself", item.service, item.name))
                }
                Some(Err(unresolved)) => unresolved,
                Some(Ok(_)) | None => continue,
            };
            let path = [self.path(declared, item), named.property()].concat();
            let pointer = item.pointer_to(&named.pointer());
            self.add(item, Problem { pointer, path, rule, message, change: None });
        }
    }

    /// Reports an item whose removal the consumer withdraws, and whose referenced items are not declared any more.
    fn returned_uses(&mut self, declared: &DeclaredApplication, item: &DeclaredItem, before: &Item) {
        let is_lost = |id: &ItemId| !self.resolver.is_declared(*id);
        if !before.declared && before.uses.iter().any(is_lost) {
            let message =
                "must refer to declared items, but one elsewhere is not declared any more".to_owned();
            self.push(declared, item, "references", "dangling_reference", message);
        }
    }

    /// Reports a service that does not exist, once for each application and not for each item.
    fn unknown_service(&mut self, declared: &DeclaredApplication, item: &DeclaredItem) {
        let path = [self.team, &declared.name, &item.service, "service"].map(str::to_owned).to_vec();
        let pointer = match &item.sources.entry {
            Some(entry) => format!("{entry}/service"),
            None => pointer([self.team, &declared.name, "services", &item.service]),
        };
        if self.problems.has("unknown_service", &pointer) {
            return;
        }
        let message = format!("must be the title of a service, but '{}' does not exist", item.service);
        self.problems.push(|| Problem { pointer, path, rule: "unknown_service", message, change: None });
    }

    /// Reports a service that accepts no such request of this team (R20, R21, R31).
    ///
    /// A private or closed service limits new requests only, and unchanged items never get here.
    fn availability(
        &mut self,
        declared: &DeclaredApplication,
        item: &DeclaredItem,
        before: Option<&Item>,
        service: &Service,
    ) {
        let is_new = !before.is_some_and(|before| before.declared);
        if is_new && !service.settings.allows(self.resolver.stored.team.id) {
            let message = format!("service '{}' is private and does not allow this team", item.service);
            self.push(declared, item, "service", "private_service", message);
        }
        let requested = if is_new { ChangeType::Create } else { ChangeType::Modify };
        if let Some(closed) = service.settings.state.against(requested) {
            let message = format!("service '{}' {}", item.service, closed.message);
            self.push(declared, item, "service", closed.rule, message);
        }
    }

    /// Reports each place where the item does not fit the schema.
    fn schema(&mut self, declared: &DeclaredApplication, item: &DeclaredItem, offer: &Offer) {
        // Without an approval, the change instance enters APPROVED with this submission (R49).
        let is_approval = !offer.service.settings.approval_required;
        let problems = within(self.budget, |budget| {
            if is_approval {
                offer.schema.problems_at_approval(&item.body, budget)
            } else {
                offer.schema.problems(&item.body, budget)
            }
        });
        for problem in problems {
            let mut path = self.path(declared, item);
            if problem.path.is_empty() {
                path.push("declaration".to_owned());
            }
            path.extend(problem.path);
            let pointer = item.pointer_to(&problem.pointer);
            self.add(item, Problem { pointer, path, ..problem });
        }
    }

    /// Reports each fixed property with another value than in the earlier declaration (R48).
    fn fixed(
        &mut self,
        declared: &DeclaredApplication,
        item: &DeclaredItem,
        before: Option<&Item>,
        offer: &Offer,
    ) {
        let changed = before.map(|before| on_change::refused(before, item, offer, self.earlier));
        for (name, message) in changed.into_iter().flatten() {
            let path = [self.path(declared, item), vec![name.clone()]].concat();
            let pointer = item.pointer_to(&below("", &name));
            self.add(item, Problem { pointer, path, rule: "fixed", message, change: None });
        }
    }

    /// Checks that references resolve within the same declared application (R15, R17).
    fn references(&mut self, declared: &DeclaredApplication, item: &DeclaredItem, references: &[Reference]) {
        if references.len() > REFERENCES_MAX {
            let message = format!("must have at most {REFERENCES_MAX} references, not {}", references.len());
            self.push(declared, item, "references", "too_many_references", message);
        }
        for reference in references {
            let named = (reference.service.as_str(), reference.name.as_str());
            if named == (item.service.as_str(), item.name.as_str()) {
                let message = format!("{} '{}' must not reference itself", reference.service, reference.name);
                self.misplaced(declared, item, reference, "self_reference", &message);
            } else if !self.application.keys.contains_key(&named)
                && self.is_read(declared, &reference.service)
            {
                let message = format!(
                    "{} '{}' must be declared in application '{}'",
                    reference.service, reference.name, declared.name
                );
                self.misplaced(declared, item, reference, "dangling_reference", &message);
            }
        }
    }

    /// Returns whether the items of a service were readable, if there are any, and the entries that may generate some.
    ///
    /// Without this condition, a reference into an unreadable part would look dangling.
    fn is_read(&self, declared: &DeclaredApplication, service: &str) -> bool {
        let services = pointer([self.team, &declared.name, SERVICES]);
        let of_service = pointer([self.team, &declared.name, SERVICES, service]);
        let entries = pointer([self.team, &declared.name, METADATA, EACH]);
        let of_team = pointer([self.team, METADATA, EACH]);
        ![services, of_service].iter().any(|pointer| self.problems.has("wrong_type", pointer))
            && ![entries, of_team].iter().any(|pointer| self.problems.has_below(METADATA, pointer))
    }

    /// Reports a problem of a reference at each property that names it in the newest schema.
    ///
    /// The schema of an older declaration may have used another property. In this case, the problem belongs to the item
    /// as a whole.
    fn misplaced(
        &mut self,
        declared: &DeclaredApplication,
        item: &DeclaredItem,
        reference: &Reference,
        rule: &'static str,
        message: &str,
    ) {
        let schema = self.offers.get(&item.service).map(|offer| &offer.schema);
        let named = schema.into_iter().flat_map(|schema| schema.named(&item.body));
        let mut fields: Vec<(String, Vec<String>)> = named
            .filter(|named| named.names(reference))
            .map(|named| (named.pointer(), named.property()))
            .collect();
        if fields.is_empty() {
            fields.push((String::new(), vec!["references".to_owned()]));
        }
        for (below, property) in fields {
            let path = [self.path(declared, item), property].concat();
            let pointer = item.pointer_to(&below);
            let message = message.to_owned();
            self.add(item, Problem { pointer, path, rule, message, change: None });
        }
    }

    /// Checks that each REJECTED or ERRORED declaration is modified, whichever owner rejected it (Example 3, R10).
    ///
    /// A failed removal needs no answer: the next submission requests the removal again (R28).
    fn answers(&mut self) {
        for item in self.application.items {
            if self.problems.is_full() {
                return;
            }
            let Some(declared) = self.application.declaration_of(item) else { continue };
            let target = Target::Declared(declared.hash);
            for (_, slot) in item.blocked().filter(|(_, slot)| slot.target == target) {
                self.problems.push(|| unanswered(self.team, item, declared, slot));
            }
        }
    }

    fn path(&self, declared: &DeclaredApplication, item: &DeclaredItem) -> Vec<String> {
        [self.team, &declared.name, &item.service, &item.name].map(str::to_owned).to_vec()
    }

    fn push(
        &mut self,
        declared: &DeclaredApplication,
        item: &DeclaredItem,
        field: &str,
        rule: &'static str,
        message: String,
    ) {
        let path = [self.path(declared, item), vec![field.to_owned()]].concat();
        let pointer = item.pointer.clone();
        self.add(item, Problem { pointer, path, rule, message, change: None });
    }

    /// Adds a problem of an item. A problem of a value in metadata is added once, and not for each item with the value.
    fn add(&mut self, item: &DeclaredItem, problem: Problem) {
        let has_additions = item.sources != Sources::default();
        if !(has_additions && self.problems.has(problem.rule, &problem.pointer)) {
            self.problems.push(|| problem);
        }
    }
}

fn unanswered(team: &str, item: &Item, declared: &DeclaredItem, slot: &Slot) -> Problem {
    let path = [team, &item.application, &item.service.title, &item.name, "change_instance"];
    Problem {
        pointer: declared.pointer.clone(),
        path: path.map(str::to_owned).to_vec(),
        rule: "blocked",
        message: format!("change instance {} is {}: modify or remove the item", slot.change, slot.state),
        change: Some(slot.change),
    }
}
