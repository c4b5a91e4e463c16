//! Service definitions as JSON Schemas: the checks at publication, and the check of items.
//!
//! Owners write definitions and consumers wait for their evaluation, so limits apply before compilation (ADR 8). No
//! reference leaves the definition, and the work per value is bounded.

mod blocks;
mod check;
mod compile;
mod cost;
mod decision_forms;
mod derived;
mod error;
mod forms;
mod part;
mod pattern;
mod references;
#[cfg(test)]
mod tests;
mod upgrade;
mod walk;
mod words;

pub use self::blocks::{BLOCK_DEFINITIONS_MAX, DefinitionVersion, Definitions, named_definitions};
use self::check::Check;
use self::compile::{compiled, draft, is_small, options, pointers_bytes, weight};
use self::cost::{ERRORS_BYTES_MAX, Model};
pub use self::cost::{PUBLISHED_STEPS_MAX, STEPS_MAX};
pub use self::decision_forms::DecisionForms;
pub use self::derived::{
    DERIVED_MAX, Derivations, EXPRESSION_BYTES_MAX, Expression, Fact, Malformed, Piece, Step,
};
use self::error::{for_each_leaf, message, report};
pub use self::forms::Phase;
use self::forms::form;
pub use self::part::Part;
use self::references::SERVICE_REFERENCE;
pub use self::references::{Form, Reach, ReferenceField, References};
pub(crate) use self::references::{Name, Named};
pub use self::upgrade::{Carried, Exceeded, UPGRADED_VERSIONS_MAX, UPGRADES_BYTES_MAX, Upgrade};
pub use self::words::{DIALECT, ON_CHANGE_MAX};
use crate::base::refs::Reference;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value, json};

use crate::base::hash::Hash;
use crate::base::json;
use crate::base::json::Problems;
use crate::base::money::{Amount, Prices};
use crate::base::problem::{Problem, below, push_token, tokens};
use crate::base::state::ChargeType;
use crate::model::declaration::{DECLARATION_BYTES_MAX, name_problem};

/// Maximum size of a definition in a request body, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Maximum nesting of containers in a definition.
pub const SCHEMA_DEPTH_MAX: usize = 32;
/// Maximum number of `$ref`s in a definition.
pub const SCHEMA_REFS_MAX: usize = 256;
/// Maximum number of patterns in a definition.
pub const PATTERNS_MAX: usize = 64;
/// Maximum size of a compiled pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 512 * 1024;
/// Size of each of the two caches of a pattern's automaton, in bytes.
pub const PATTERN_CACHE_BYTES: usize = 512 * 1024;
/// Maximum length of all pointers in a definition together, in bytes; the library stores the pointer of each
/// subschema.
pub const POINTERS_BYTES_MAX: usize = 1024 * 1024;
/// Maximum memory of a compiled definition in bytes, by estimate.
pub const COMPILED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum number of subschemas for one value, each counted once for each path to it.
pub const EXPANDED_MAX: u64 = 10_000;
/// Maximum nesting of subschemas, with `$ref`s resolved; compilation and validation recurse.
pub const EXPANDED_DEPTH_MAX: u64 = 64;
/// Maximum number of references of an item.
pub const REFERENCES_MAX: usize = 256;
/// Maximum number of reported problems of an item.
pub const ITEM_PROBLEMS_MAX: usize = 100;

/// Maximum memory of all compiled conditions of a request in bytes, by estimate.
pub const CONDITIONS_BYTES_MAX: usize = COMPILED_BYTES_MAX;

const MESSAGE_CHARS_MAX: usize = 300;

/// A compiled service definition.
#[derive(Debug)]
pub struct Schema {
    /// The service's title.
    pub title: String,
    /// The definition in canonical form.
    pub text: String,
    /// The properties that name items of other services.
    pub references: References,
    /// `approval_required` in the metadata, if present.
    pub approval_required: Option<bool>,
    /// The prices in the metadata.
    pub prices: Prices,
    /// Whether the text contains words (R46).
    pub has_words: bool,
    /// The paths with their words; none without words, or if they have no meaning in this version.
    paths: Option<Arc<Part>>,
    /// The pointer of a `required` that the service owner could not meet without an approval; none without one (R50).
    pub owner_path_at_approval: Option<String>,
    /// The memory of the definition in bytes; the estimate is never too low.
    pub bytes: usize,
    request: Compiled,
    /// The form at an approval; none if the definition does not check approvals.
    approved: Option<Compiled>,
}

/// A definition in one of its forms, compiled.
#[derive(Debug)]
struct Compiled {
    model: Model,
    /// The validator; none if it would take too much memory, so every item is `too_complex`.
    validator: Option<Validator>,
    /// The memory in bytes; the estimate is never too low.
    bytes: usize,
}

/// The steps left for the check and the upgrade of items.
#[derive(Debug)]
pub struct Budget {
    steps: u64,
    is_exceeded: bool,
}

impl Budget {
    /// Returns the budget of one request.
    pub const fn of_request() -> Self {
        Self { steps: STEPS_MAX, is_exceeded: false }
    }

    /// Takes steps from the budget, and returns whether so many were left.
    pub(crate) const fn takes(&mut self, steps: u64) -> bool {
        let is_left = steps <= self.steps;
        self.steps = self.steps.saturating_sub(steps);
        self.is_exceeded |= !is_left;
        is_left
    }

    /// Returns whether an item needed more steps than were left.
    pub const fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// Returns the number of used steps.
    pub const fn taken(&self) -> u64 {
        STEPS_MAX.saturating_sub(self.steps)
    }
}

/// Checks a definition without blocks before its publication, and reports every problem that needs no compilation.
pub fn publish(bytes: &[u8]) -> Result<Schema, Vec<Problem>> {
    publish_with(bytes, &Definitions::new())
}

/// Checks a definition before its publication, with copies of the parts of other definitions that it names (R68).
pub fn publish_with(bytes: &[u8], definitions: &Definitions) -> Result<Schema, Vec<Problem>> {
    let expanded = blocks::expand(read(bytes)?, definitions)?;
    let publish = |text: &str| {
        let of = |check: &mut Check<'_>, root: &Map<String, Value>| check.service(root);
        let schema = compiled(&checked(text.as_bytes(), Words::Apply, of)?, Words::Apply)?;
        if schema.has_words {
            DecisionForms::load(&schema.text)?.compile()?;
        }
        Ok(schema)
    };
    publish(&json::canonical(&expanded.definition))
        .map_err(|problems: Vec<Problem>| problems.into_iter().map(|found| expanded.sent(found)).collect())
}

/// Checks a schema for metadata before it is set. The limits of definitions apply, but the schema belongs to no
/// service.
pub fn of_metadata(bytes: &[u8]) -> Result<Schema, Vec<Problem>> {
    compiled(&checked(bytes, Words::Ignore, |check, root| check.object(root))?, Words::Ignore)
}

/// Compiles a schema that selects items by their declarations. The limits of definitions apply.
pub fn of_condition(condition: &Value) -> Result<Schema, Vec<Problem>> {
    let text = checked(condition.to_string().as_bytes(), Words::Ignore, |check, root| check.draft(root))?;
    compiled(&text, Words::Ignore)
}

/// Checks a schema with words that belongs to no service, and returns its forms.
pub fn decision_forms(bytes: &[u8]) -> Result<DecisionForms, Vec<Problem>> {
    DecisionForms::load(&checked(bytes, Words::Apply, |check, root| check.object(root))?)
}

/// Returns the paths of a definition that was checked at its publication.
pub fn stored_paths(text: &str) -> Result<Part, Vec<Problem>> {
    let definition = json::parse_schema(text.as_bytes(), SCHEMA_DEPTH_MAX)?;
    let draft = definition.as_object().and_then(draft);
    draft
        .map(|draft| Part::of(&definition, draft))
        .ok_or_else(|| vec![problem("", "invalid_schema", "must be a draft")])
}

/// Returns the canonical text of a definition without problems.
fn checked(
    bytes: &[u8],
    words: Words,
    of: impl FnOnce(&mut Check<'_>, &Map<String, Value>),
) -> Result<String, Vec<Problem>> {
    let definition = read(bytes)?;
    let Some(root) = definition.as_object() else {
        return Err(vec![problem("", "wrong_type", "must be an object")]);
    };
    let mut check = Check::new(&definition, words);
    of(&mut check, root);
    check.subschemas();
    check.work();
    check.meta_schema();
    // The cost model follows references, so it needs valid ones.
    if check.problems.is_empty() {
        check.cost();
    }
    if !check.problems.is_empty() {
        return Err(check.problems.into_vec());
    }
    // The table stores this text. The canonical form fixes the spelling of numbers there, and in messages about
    // items.
    Ok(json::canonical(&definition))
}

/// Reads a definition within the limits of its text.
fn read(bytes: &[u8]) -> Result<Value, Vec<Problem>> {
    // The size comes before the parser, whose time grows with the text.
    if bytes.len() > SCHEMA_BYTES_MAX {
        return Err(vec![problem("", "too_large", format!("must be at most {SCHEMA_BYTES_MAX} bytes"))]);
    }
    let definition = json::parse_schema(bytes, SCHEMA_DEPTH_MAX)?;
    // The pointers come before any walk, because each walk builds pointers of this length.
    if pointers_bytes(&definition, 0) > POINTERS_BYTES_MAX {
        let message =
            format!("the JSON pointers of its values must be at most {POINTERS_BYTES_MAX} bytes in total");
        return Err(vec![problem("", "too_complex", message)]);
    }
    Ok(definition)
}

/// Returns the warnings about a definition that was checked.
pub fn warnings(schema: &Schema) -> Vec<String> {
    json::parse_schema(schema.text.as_bytes(), SCHEMA_DEPTH_MAX)
        .map_or_else(|_| Vec::new(), |text| words::warnings(&text))
}

/// Whether the words of a definition have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    Apply,
    /// The version is older than the first one of its service with words (R46).
    Ignore,
}

/// Compiles a definition that was checked at its publication.
pub fn load(text: &str, words: Words) -> Result<Schema, Vec<Problem>> {
    let schema = compiled(text, words)?;
    if schema.title.is_empty() {
        Err(vec![problem("", "invalid_schema", "must have a title")])
    } else {
        Ok(schema)
    }
}

/// Compiles a schema for metadata that was checked when it was set; a title is optional.
pub fn load_of_metadata(text: &str) -> Result<Schema, Vec<Problem>> {
    compiled(text, Words::Ignore)
}

impl Schema {
    /// Returns the schema without its compiled forms; every item is then `too_complex`.
    pub fn uncompiled(&self) -> Self {
        Self {
            title: self.title.clone(),
            text: self.text.clone(),
            references: self.references.clone(),
            approval_required: self.approval_required,
            prices: self.prices,
            has_words: self.has_words,
            paths: self.paths.clone(),
            owner_path_at_approval: self.owner_path_at_approval.clone(),
            bytes: self.text.len(),
            request: Compiled::unusable(0),
            approved: self.approved.as_ref().map(|_| Compiled::unusable(0)),
        }
    }

    /// Returns the problems of an item's declaration, with relative pointers.
    ///
    /// An item that needs more steps than are left is not evaluated, and has the problem `too_complex`.
    pub fn problems(&self, body: &Value, budget: &mut Budget) -> Vec<Problem> {
        self.problems_in(&self.request, body, budget)
    }

    /// Returns whether a value satisfies the schema; none if the answer needs more steps than are left.
    pub fn accepts(&self, body: &Value, budget: &mut Budget) -> Option<bool> {
        let validator = self.request.validator.as_ref()?;
        let steps = self.request.model.cost(body, budget.steps).map_or(u64::MAX, |cost| cost.valid);
        budget.takes(steps).then(|| validator.is_valid(body))
    }

    /// Returns the problems of a declaration whose change instance needs no approval: those of its approval (R49).
    pub fn problems_at_approval(&self, body: &Value, budget: &mut Budget) -> Vec<Problem> {
        self.problems_in(self.approved.as_ref().unwrap_or(&self.request), body, budget)
    }

    /// Returns whether the approval of an item requires more than its declaration.
    pub fn checks_approval(&self) -> bool {
        self.approved.is_some()
    }

    /// Returns the paths of a definition whose words have a meaning.
    pub fn paths(&self) -> Option<Arc<Part>> {
        self.paths.clone()
    }

    fn problems_in(&self, form: &Compiled, body: &Value, budget: &mut Budget) -> Vec<Problem> {
        let mut problems = form.violations(self.paths.as_deref(), body, budget);
        let Some(paths) = &self.paths else { return problems };
        let filled = paths.read_only("", body);
        // The type of a value that must be absent does not matter.
        problems.retain(|problem| !filled.iter().any(|pointer| is_at_or_below(&problem.pointer, pointer)));
        let derived: BTreeSet<String> = paths.derived().map(|(name, _)| below("", name)).collect();
        problems.extend(filled.iter().map(|pointer| {
            let actor =
                if derived.contains(pointer) { "Dovetail computes" } else { "the service owner fills" };
            problem(pointer, "read_only", format!("must be absent: {actor} this property"))
        }));
        let message = "must be unique in its list: the service owner's values belong to elements by name";
        let repeated = paths.repeated_names("", body);
        problems.extend(repeated.iter().map(|pointer| problem(pointer, "repeated_name", message)));
        problems.truncate(ITEM_PROBLEMS_MAX);
        problems
    }

    /// Returns the names of the properties with `x-on-change`.
    pub fn on_change(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().flat_map(|paths| paths.on_change()).map(|(name, _)| name)
    }

    /// Returns the names of the fixed properties (R48).
    pub fn fixed(&self) -> impl Iterator<Item = &str> {
        self.paths
            .iter()
            .flat_map(|paths| paths.on_change())
            .filter(|(_, replaces)| !replaces)
            .map(|(name, _)| name)
    }

    /// Returns the names of the properties whose change replaces the item (R60).
    pub fn replacing(&self) -> impl Iterator<Item = &str> {
        self.paths
            .iter()
            .flat_map(|paths| paths.on_change())
            .filter(|(_, replaces)| *replaces)
            .map(|(name, _)| name)
    }

    /// Returns whether the definition has arrays whose order has no meaning (R67).
    pub fn has_unordered(&self) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.has_unordered)
    }

    /// Returns the hash of a stored declaration with its unordered arrays sorted (R67). Declarations that differ in the
    /// order of these arrays alone have the same hash.
    pub(crate) fn sorted_hash(&self, text: &str) -> Option<Hash> {
        let declared: Value = serde_json::from_str(text).ok()?;
        let sorted = self.paths.as_ref().map(|paths| paths.sorted(&declared));
        Some(Hash::of(&json::canonical(sorted.as_ref().unwrap_or(&declared))))
    }

    /// Returns whether references reach items of other applications or teams (R69).
    pub fn has_reach(&self) -> bool {
        self.references.has_reach()
    }

    /// Returns whether the removal of an item needs a confirmation (R62).
    pub fn confirms_removal(&self) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.confirms_removal)
    }

    /// Returns the references of a declaration within its application, sorted and without duplicates.
    pub fn references_of(&self, body: &Value) -> Vec<Reference> {
        let references: BTreeSet<Reference> = self.named(body).iter().filter_map(Named::reference).collect();
        references.into_iter().collect()
    }

    /// Returns each position in a declaration that names an item.
    pub(crate) fn named<'a>(&'a self, body: &'a Value) -> Vec<Named<'a>> {
        self.references.named(body)
    }
}

impl Compiled {
    /// Returns the violations of the schema.
    fn violations(&self, paths: Option<&Part>, body: &Value, budget: &mut Budget) -> Vec<Problem> {
        let Some(validator) = &self.validator else {
            let message =
                "must have a smaller definition: the definitions of the request take too much memory";
            return vec![problem("", "too_complex", message)];
        };
        // The cost comes before the validator, because nothing can interrupt a validation.
        let Some(cost) = self.model.cost(body, budget.steps) else {
            (budget.steps, budget.is_exceeded) = (0, true);
            let message = format!("all items of a request must need at most {STEPS_MAX} steps to check");
            return vec![problem("", "too_complex", message)];
        };
        budget.steps = budget.steps.saturating_sub(cost.valid);
        if validator.is_valid(body) {
            return Vec::new();
        }
        // The search for all errors costs more than the answer valid or not, so the search has its own limit.
        if cost.full > budget.steps || cost.first > ERRORS_BYTES_MAX {
            let message = "must match the definition, but both are too large to locate the error";
            return vec![problem("", "schema", message)];
        }
        budget.steps = budget.steps.saturating_sub(cost.full);
        let mut problems = Problems::default();
        if cost.bytes > ERRORS_BYTES_MAX {
            // The library builds all errors before it returns the first, except in `validate`.
            validator.validate(body).err().iter().for_each(|error| report(&mut problems, body, paths, error));
        } else {
            let errors = validator.iter_errors(body).take(ITEM_PROBLEMS_MAX);
            errors.for_each(|error| report(&mut problems, body, paths, &error));
        }
        let mut problems = problems.into_vec();
        problems.truncate(ITEM_PROBLEMS_MAX);
        problems
    }
}

/// Returns whether a pointer leads to the value at another pointer, or below it.
fn is_at_or_below(pointer: &str, other: &str) -> bool {
    pointer.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn problem(pointer: &str, rule: &'static str, message: impl Into<String>) -> Problem {
    Problem {
        pointer: pointer.to_owned(),
        path: tokens(pointer),
        rule,
        message: message.into(),
        change: None,
    }
}
