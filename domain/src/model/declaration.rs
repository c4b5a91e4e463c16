//! The submitted document: a team's applications and service items, with all checks on the document alone.
//!
//! The existence of teams, services and references, and the schemas, are checks of [`crate::rules::plan`].

pub mod expansion;
pub mod renames;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::LazyLock};

use icu_normalizer::ComposingNormalizerBorrowed;
use regex::Regex;
use serde_json::{Map, Value};

use crate::base::hash::Hash;
use crate::base::json;
use crate::base::json::Problems;
use crate::base::problem::{Problem, push_token};
use crate::model::secrets::Secrets;
use expansion::{Misformed, Sources};
use renames::NewNames;

/// Maximum size of a request body in bytes: the payload limit of a function minus its envelope.
pub const BODY_BYTES_MAX: usize = 5 * 1024 * 1024;
/// Maximum nesting of containers, including the document itself.
pub const DEPTH_MAX: usize = 32;
/// Maximum number of service items in a declaration.
pub const ITEMS_MAX: usize = 10_000;
/// Maximum number of applications that one submission changes, because one transaction writes all of them.
pub const APPLICATIONS_CHANGED_MAX: usize = 90;
/// Maximum number of different services in a declaration; each one costs a read.
pub const SERVICES_MAX: usize = 200;
/// Maximum canonical size of a service item, in bytes.
pub const DECLARATION_BYTES_MAX: usize = 128 * 1024;
/// Maximum length of the name of an application, a service or an item, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Maximum canonical size of the metadata of a team or an application, in bytes, apart from the keys of [`expansion`].
pub const METADATA_BYTES_MAX: usize = 4 * 1024;

pub(crate) const METADATA: &str = "metadata";
pub(crate) const SERVICES: &str = "services";
pub(crate) const NAME: &str = "name";

/// The desired state of one team.
///
/// Declarations and metadata never reach a log.
#[derive(Clone, derive_more::Debug, PartialEq)]
#[debug("Declaration {{ team: {team:?}, applications: {applications:?}, .. }}")]
pub struct Declaration {
    /// The team's name as sent.
    pub team: String,
    /// The team's metadata, if sent.
    pub metadata: Option<Value>,
    pub applications: Vec<DeclaredApplication>,
}

/// The desired state of one application.
#[derive(Clone, derive_more::Debug, PartialEq)]
#[debug("DeclaredApplication {{ name: {name:?}, items: {items:?}, .. }}")]
pub struct DeclaredApplication {
    /// The name: the key of the application within the team.
    pub name: String,
    /// The application's metadata, if sent.
    pub metadata: Option<Value>,
    /// The new names of items in the metadata (R75).
    pub new_names: NewNames,
    /// The items of all services of the application.
    pub items: Vec<DeclaredItem>,
}

/// The key of an item within its application: service title and name.
pub type Key<'a> = (&'a str, &'a str);

/// One desired service item.
#[derive(Clone, derive_more::Debug, PartialEq)]
#[debug("DeclaredItem {{ service: {service:?}, name: {name:?}, hash: {hash:?}, .. }}")]
pub struct DeclaredItem {
    pub service: String,
    /// The name: the key of the item within application and service.
    pub name: String,
    /// The item as its schema checks it, without masks.
    pub body: Value,
    /// The body in canonical form, with masks in place of secrets. An item that is alike to a stored declaration has
    /// the text of that one (R67).
    pub canonical: String,
    /// The hash of the canonical form.
    pub hash: Hash,
    /// The JSON pointer of the item in the document.
    pub pointer: String,
    /// The parts of the item that stand in metadata; none before [`crate::rules::expand`] (R66).
    pub sources: Sources,
    /// The values of the masks in the canonical form; none before [`crate::rules::secrets::mask`] (R58).
    pub secrets: Secrets,
    /// The name of the stored item that the item renames; none before [`crate::rules::plan::renamed`] (R75).
    pub old_name: Option<String>,
}

impl DeclaredItem {
    /// Returns the service title and the name.
    pub fn key(&self) -> Key<'_> {
        (&self.service, &self.name)
    }

    /// Returns the key of the stored item that the declaration is about, if that item exists.
    pub fn stored_key(&self) -> Key<'_> {
        (&self.service, self.old_name.as_ref().unwrap_or(&self.name))
    }

    /// Returns the JSON pointer of a value of the item, which may stand in metadata.
    pub fn pointer_to(&self, below: &str) -> String {
        self.sources.pointer_of(below).unwrap_or_else(|| format!("{}{below}", self.pointer))
    }
}

/// Parses a submitted document; returns all its problems if it has any.
pub fn parse(bytes: &[u8]) -> Result<Declaration, Vec<Problem>> {
    match read(bytes) {
        (Some(declaration), problems) if problems.is_empty() => Ok(declaration),
        (_, problems) => Err(problems),
    }
}

/// Reads the readable parts of a submitted document, and returns the problems of the rest.
///
/// The readable parts may have further problems in the plan. The caller reports both together.
pub fn read(bytes: &[u8]) -> (Option<Declaration>, Vec<Problem>) {
    match document(bytes) {
        Ok(document) => read_document(document),
        Err(problems) => (None, problems),
    }
}

/// Parses the text of a submitted document, or returns its problems.
pub fn document(bytes: &[u8]) -> Result<Value, Vec<Problem>> {
    // The size comes before the parser, whose time grows with the text.
    if bytes.len() > BODY_BYTES_MAX {
        return Err(vec![Location::default().problem("too_large", too_large(BODY_BYTES_MAX))]);
    }
    json::parse(bytes, DEPTH_MAX).map_err(|problems| problems.into_iter().map(by_name).collect())
}

/// Reads a parsed document as [`read`] does.
pub fn read_document(document: Value) -> (Option<Declaration>, Vec<Problem>) {
    let mut reader = Reader::default();
    let declaration = reader.document(document);
    let has_items = |read: &Declaration| read.applications.iter().any(|one| !one.items.is_empty());
    // Without items, or without room for another problem, further checks find nothing.
    let is_worthwhile = |read: &Declaration| !reader.problems.is_full() && has_items(read);
    let declaration = declaration.filter(|read| reader.problems.is_empty() || is_worthwhile(read));
    (declaration, reader.problems.into_vec())
}

/// Moves a problem of the text to its path by names, which omits the word `services`.
fn by_name(mut problem: Problem) -> Problem {
    if problem.path.get(2).is_some_and(|word| word == "services") {
        problem.path.remove(2);
    }
    problem
}

/// Characters that make two different names look the same.
#[expect(clippy::expect_used, reason = "the pattern is a constant, which the tests compile")]
static INVISIBLE: LazyLock<Regex> = LazyLock::new(|| {
    let classes = r"[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]";
    Regex::new(classes).expect("the classes are constant")
});

/// Returns the problem of a name of an application, a service or an item; none if it is valid.
pub fn name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("a name must not be empty")
    } else if name.len() > NAME_BYTES_MAX {
        Some("a name must not be longer than 128 bytes")
    } else if name.chars().any(char::is_control) {
        Some("a name must not contain control characters")
    } else if name.trim() != name {
        Some("a name must not begin or end with white space")
    // Without a single normal form, two names that look the same could be two items.
    } else if !ComposingNormalizerBorrowed::new_nfkc().is_normalized(name) {
        Some("a name must be in Unicode normal form KC: no full-width letters, ligatures or separate accents")
    } else if INVISIBLE.is_match(name) {
        Some("a name must not contain invisible characters or characters that change the text direction")
    } else {
        None
    }
}

fn too_large(bytes_max: usize) -> String {
    format!("must be at most {bytes_max} bytes")
}

/// A position in the document: by index for the pointer, by names for the response.
#[derive(Clone, Default)]
struct Location {
    pointer: String,
    path: Vec<String>,
}

impl Location {
    fn key(&self, key: &str) -> Self {
        self.below(key, Some(key))
    }

    /// Returns the position at `token`, whose name in the path may differ or be absent.
    fn below(&self, token: &str, name: Option<&str>) -> Self {
        let mut below = self.clone();
        push_token(&mut below.pointer, token);
        below.path.extend(name.map(str::to_owned));
        below
    }

    fn problem(&self, rule: &'static str, message: impl Into<String>) -> Problem {
        Problem {
            pointer: self.pointer.clone(),
            path: self.path.clone(),
            rule,
            message: message.into(),
            change: None,
        }
    }
}

/// Walks through the document once and collects the problems.
#[derive(Default)]
struct Reader {
    problems: Problems,
    items: usize,
    services: BTreeSet<String>,
}

impl Reader {
    fn report(&mut self, location: &Location, rule: &'static str, message: impl Into<String>) {
        self.problems.push(|| location.problem(rule, message));
    }

    fn document(&mut self, document: Value) -> Option<Declaration> {
        let root = Location::default();
        let mut teams = self.object(&root, document)?.into_iter();
        let (Some((team, content)), None) = (teams.next(), teams.next()) else {
            self.report(&root, "one_team", "must have exactly one key, the name of the team");
            return None;
        };
        let location = root.key(&team);
        self.name(&location, &team)?;
        // The limits below count over the whole document, so they are known only after the walk.
        let declaration = self.team(&location, team, content)?;
        if self.items > ITEMS_MAX {
            self.report(&location, "too_many_items", format!("must have at most {ITEMS_MAX} service items"));
            return None;
        }
        if self.services.len() > SERVICES_MAX {
            self.report(&location, "too_many_services", format!("must name at most {SERVICES_MAX} services"));
            return None;
        }
        Some(declaration)
    }

    fn team(&mut self, location: &Location, team: String, content: Value) -> Option<Declaration> {
        let mut metadata = None;
        let mut applications = Vec::new();
        for (key, value) in self.object(location, content)? {
            let location = location.key(&key);
            if key == METADATA {
                metadata = self.metadata(&location, value);
            } else {
                applications.extend(self.application(&location, key, value));
            }
        }
        Some(Declaration { team, metadata, applications })
    }

    fn application(
        &mut self,
        location: &Location,
        name: String,
        content: Value,
    ) -> Option<DeclaredApplication> {
        self.name(location, &name)?;
        let (mut metadata, mut new_names) = (None, NewNames::new());
        let mut items = Vec::new();
        for (key, value) in self.object(location, content)? {
            match key.as_str() {
                METADATA => {
                    let location = location.key(METADATA);
                    metadata = self.metadata(&location, value);
                    new_names = metadata.as_ref().map(|of| self.new_names(&location, of)).unwrap_or_default();
                }
                SERVICES => items = self.services(location, value),
                _ => {
                    let mut message =
                        "must be absent: an application has only `metadata` and `services`".to_owned();
                    if value.get(SERVICES).is_some() {
                        message = format!("{message}. If `{name}` is a team, use a key of this team");
                    }
                    self.report(&location.key(&key), "unknown_key", message);
                }
            }
        }
        Some(DeclaredApplication { name, metadata, new_names, items })
    }

    /// Reads the items below `services`, a key that the path by names omits.
    fn services(&mut self, application: &Location, content: Value) -> Vec<DeclaredItem> {
        let mut items = Vec::new();
        let Some(services) = self.object(&application.key(SERVICES), content) else {
            return items;
        };
        let location = application.below(SERVICES, None);
        for (service, entries) in services {
            self.service(&location.key(&service), &service, entries, &mut items);
        }
        items
    }

    fn service(&mut self, location: &Location, service: &str, entries: Value, items: &mut Vec<DeclaredItem>) {
        if self.name(location, service).is_none() {
            return;
        }
        let Value::Array(entries) = entries else {
            return self.report(location, "wrong_type", "must be an array of service items");
        };
        self.services.insert(service.to_owned());
        let mut names = BTreeSet::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let Some(item) = self.item(location, service, &index.to_string(), entry) else {
                continue;
            };
            if !names.insert(item.name.clone()) {
                let at = location.below(&index.to_string(), Some(&item.name)).key(NAME);
                self.report(
                    &at,
                    "duplicate_name",
                    "must be unique among the items of this service in the application",
                );
            }
            items.push(item);
        }
    }

    fn item(
        &mut self,
        service_at: &Location,
        service: &str,
        index: &str,
        entry: Value,
    ) -> Option<DeclaredItem> {
        self.items = self.items.saturating_add(1);
        let unnamed = service_at.key(index);
        let body = self.object(&unnamed, entry)?;
        let name = self.item_name(&unnamed.key(NAME), body.get(NAME))?;
        let location = service_at.below(index, Some(&name));
        let body = Value::Object(body);
        // Key order and the spelling of numbers are no modification, so the hash is that of the canonical form
        // (R26).
        let canonical = json::canonical(&body);
        if canonical.len() > DECLARATION_BYTES_MAX {
            self.report(&location, "too_large", too_large(DECLARATION_BYTES_MAX));
        }
        let hash = Hash::of(&canonical);
        Some(DeclaredItem {
            service: service.to_owned(),
            name,
            body,
            canonical,
            hash,
            pointer: location.pointer,
            sources: Sources::default(),
            secrets: Secrets::default(),
            old_name: None,
        })
    }

    fn item_name(&mut self, location: &Location, name: Option<&Value>) -> Option<String> {
        let Some(name) = name else {
            self.report(location, "missing_name", "must be present: each service item needs a name");
            return None;
        };
        let Some(name) = name.as_str() else {
            self.report(location, "invalid_name", "must be a string");
            return None;
        };
        self.name(location, name)?;
        Some(name.to_owned())
    }

    /// Checks a name. An invalid name ends the walk there, because each problem below would repeat the name.
    fn name(&mut self, location: &Location, name: &str) -> Option<()> {
        match name_problem(name) {
            None => Some(()),
            Some(message) => {
                self.report(location, "invalid_name", message);
                None
            }
        }
    }

    fn metadata(&mut self, location: &Location, value: Value) -> Option<Value> {
        let value = Value::Object(self.object(location, value)?);
        if json::canonical(&expansion::without_keys(&value)).len() > METADATA_BYTES_MAX {
            self.report(location, "too_large", too_large(METADATA_BYTES_MAX));
        }
        self.misformed(location, expansion::read(&value).1);
        Some(value)
    }

    fn new_names(&mut self, location: &Location, metadata: &Value) -> NewNames {
        let (names, problems) = renames::read(metadata);
        self.misformed(location, problems);
        names
    }

    fn misformed(&mut self, location: &Location, problems: Vec<Misformed>) {
        for (names, message) in problems {
            let at = names.iter().fold(location.clone(), |at, name| at.key(name));
            self.report(&at, METADATA, message);
        }
    }

    fn object(&mut self, location: &Location, value: Value) -> Option<Map<String, Value>> {
        if let Value::Object(object) = value {
            return Some(object);
        }
        self.report(location, "wrong_type", "must be an object");
        None
    }
}
