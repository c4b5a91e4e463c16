//! The parser of the world file, which reports all problems at once, each with its JSON pointer.

use std::{collections::BTreeSet, fmt::Display, sync::Arc};

use domain::account::api_key::KEYS_MAX;
use domain::base::actor::Role;
use domain::base::json;
use domain::base::problem::{Problem, pointer, push_token};
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::catalog::schema;
use domain::catalog::schema::{SCHEMA_DEPTH_MAX, Schema};
use domain::catalog::service::{ALLOWED_TEAMS_MAX, DEPENDENT_TEAMS_MAX, ReferencesSee, UpdateStrategy};
use domain::model::declaration;
use domain::model::declaration::{METADATA_BYTES_MAX, name_problem};
use serde_json::{Map, Value, json};

use super::contents::{World, WorldKey, WorldNotify, WorldService, WorldTeam};

/// The levels of the file around a schema: the document, `services`, the service.
const LEVELS_ABOVE_SCHEMA: usize = 3;
/// The fields of a service.
const SERVICE_FIELDS: [&str; 10] = [
    "owner",
    "approval_required",
    "update_strategy",
    "complete_unneeded",
    "claim_required",
    "references_see",
    "require_ready",
    "dependent_teams",
    "allowed_teams",
    "schema",
];
/// The team name of the declaration in which metadata are checked.
const ANY_TEAM: &str = "team";

type Object = Map<String, Value>;

/// Parses a world, or returns all problems as `pointer: message`.
pub(super) fn world(text: &str) -> Result<World, Vec<String>> {
    let depth_max = SCHEMA_DEPTH_MAX + LEVELS_ABOVE_SCHEMA;
    let mut reader = Reader::default();
    let world = match json::parse(text.as_bytes(), depth_max) {
        Ok(document) => reader.document(&document),
        Err(problems) => {
            reader.below("", &problems);
            None
        }
    };
    world.filter(|_| reader.problems.is_empty()).ok_or(reader.problems)
}

/// The state of the parser: problems, and values that must be unique.
#[derive(Default)]
struct Reader {
    problems: Vec<String>,
    teams: BTreeSet<String>,
    secrets: BTreeSet<String>,
    titles: BTreeSet<String>,
}

impl Reader {
    fn document(&mut self, document: &Value) -> Option<World> {
        let object = self.object("", document, &["teams", "services", "mandatory_metadata"])?;
        if !object.contains_key("teams") {
            self.refuse("/teams", "must be present");
        }
        let teams = self.list("", object, "teams");
        let teams = teams.iter().filter_map(|(at, team)| self.team(at, team)).collect();
        let services = self.list("", object, "services");
        let services = services.iter().filter_map(|(at, service)| self.service(at, service)).collect();
        let policy_value = object.get("mandatory_metadata").filter(|value| !value.is_null());
        let metadata_policy = policy_value.map(|value| self.metadata_policy("/mandatory_metadata", value));
        Some(World { teams, services, metadata_policy })
    }

    fn team(&mut self, at: &str, value: &Value) -> Option<WorldTeam> {
        let object =
            self.object(at, value, &["name", "metadata", "api_keys", "confirm_removals", "notify"])?;
        let name = self.name(at, object, "name").unwrap_or_default();
        if !name.is_empty() && !self.teams.insert(name.clone()) {
            self.refuse(&format!("{at}/name"), "must be unique among the teams");
        }
        let metadata = self.metadata(&format!("{at}/metadata"), object.get("metadata"));
        let api_keys = self.api_keys(at, object, &name);
        let confirm_removals = self.flag(at, object, "confirm_removals");
        let notify = object.get("notify").filter(|value| !value.is_null());
        let notify = notify.and_then(|value| self.notify(&format!("{at}/notify"), value, &name));
        Some(WorldTeam { name, metadata, api_keys, confirm_removals, notify })
    }

    /// Checks metadata with the parser of declarations, in a declaration that has nothing else.
    fn metadata(&mut self, at: &str, value: Option<&Value>) -> Option<Object> {
        let value = value?;
        let document = json!({ANY_TEAM: {"metadata": value}}).to_string();
        if let Err(problems) = declaration::parse(document.as_bytes()) {
            let prefix = pointer([ANY_TEAM, "metadata"]);
            for problem in &problems {
                let below = problem.pointer.strip_prefix(&prefix).unwrap_or_default();
                self.refuse(&format!("{at}{below}"), metadata_message(problem));
            }
        }
        value.as_object().cloned()
    }

    fn api_keys(&mut self, at: &str, team: &Object, team_name: &str) -> Vec<WorldKey> {
        let listed = self.list(at, team, "api_keys");
        if u64::try_from(listed.len()).is_ok_and(|count| count > KEYS_MAX) {
            self.refuse(&format!("{at}/api_keys"), format!("must have at most {KEYS_MAX} keys"));
        }
        let mut names = BTreeSet::new();
        let mut keys = Vec::new();
        for ((at, value), number) in listed.iter().zip(1_u64..) {
            let Some(key) = self.api_key(at, value) else { continue };
            if !names.insert(key.effective_name(team_name, number)) {
                self.refuse(&format!("{at}/name"), "must be unique among the keys of the team");
            }
            keys.push(key);
        }
        keys
    }

    /// Reads a key: a string, or an object with `key` or `name`, or both.
    fn api_key(&mut self, at: &str, value: &Value) -> Option<WorldKey> {
        if let Some(secret) = value.as_str() {
            self.secret(at, secret);
            return Some(WorldKey { key: Some(secret.to_owned()), name: None, role: None });
        }
        if !value.is_object() {
            self.refuse(at, "must be a string, or an object with key or name");
            return None;
        }
        let object = self.object(at, value, &["key", "name", "role"])?;
        let key = self.text(at, object, "key");
        if let Some(secret) = &key {
            self.secret(&format!("{at}/key"), secret);
        }
        let name = if object.contains_key("name") { self.name(at, object, "name") } else { None };
        if !object.contains_key("key") && !object.contains_key("name") {
            self.refuse(at, "must have a key, a name, or both");
        }
        Some(WorldKey { key, name, role: self.role(at, object) })
    }

    /// Checks a secret without showing it in a message.
    fn secret(&mut self, at: &str, secret: &str) {
        if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            self.refuse(at, "must be visible ASCII characters, at least one");
        } else if !self.secrets.insert(secret.to_owned()) {
            self.refuse(at, "must be unique among all keys");
        }
    }

    fn role(&mut self, at: &str, object: &Object) -> Option<Role> {
        let text = self.text(at, object, "role")?;
        self.one_of(&format!("{at}/role"), Role::parse(&text), &Role::ALL.map(Role::name))
    }

    fn references_see(&mut self, at: &str, object: &Object) -> Option<ReferencesSee> {
        let text = self.text(at, object, "references_see")?;
        let names = ReferencesSee::ALL.map(ReferencesSee::name);
        self.one_of(&format!("{at}/references_see"), ReferencesSee::parse(&text), &names)
    }

    fn update_strategy(&mut self, at: &str, object: &Object) -> Option<UpdateStrategy> {
        let text = self.text(at, object, "update_strategy")?;
        let names = UpdateStrategy::ALL.map(UpdateStrategy::name);
        self.one_of(&format!("{at}/update_strategy"), UpdateStrategy::parse(&text), &names)
    }

    /// Returns the value of a name, which must be one of these.
    fn one_of<T>(&mut self, at: &str, value: Option<T>, names: &[&str]) -> Option<T> {
        if value.is_none() {
            self.refuse(at, format!("must be one of {}", names.join(", ")));
        }
        value
    }

    /// Reads the receiver of a team's events: a URL, or an object with `url` and optionally `pattern`.
    fn notify(&mut self, at: &str, value: &Value, team: &str) -> Option<WorldNotify> {
        let (url_at, notify) = if let Some(url) = value.as_str() {
            (at.to_owned(), WorldNotify { url: url.to_owned(), pattern: None })
        } else if value.is_object() {
            let object = self.object(at, value, &["url", "pattern"])?;
            let url = self.needed(at, object, "url")?;
            (format!("{at}/url"), WorldNotify { url, pattern: object.get("pattern").cloned() })
        } else {
            self.refuse(at, "must be a URL, or an object with url");
            return None;
        };
        if let Err(problem) = notify.uri() {
            self.refuse(&url_at, problem);
        }
        // The problems of a pattern begin with pointers into the pattern, one in each line.
        for line in notify.read_pattern(team).err().unwrap_or_default().lines() {
            self.problems.push(format!("{at}/pattern{line}"));
        }
        Some(notify)
    }

    fn service(&mut self, at: &str, value: &Value) -> Option<WorldService> {
        let object = self.object(at, value, &SERVICE_FIELDS)?;
        let owner = self.name(at, object, "owner").unwrap_or_default();
        let approval_required = self.flag(at, object, "approval_required");
        let update_strategy = self.update_strategy(at, object);
        let complete_unneeded = self.flag(at, object, "complete_unneeded");
        let claim_required = self.flag(at, object, "claim_required");
        let references_see = self.references_see(at, object);
        let require_ready = self.flag(at, object, "require_ready");
        let dependent_teams = self.names(at, object, "dependent_teams", DEPENDENT_TEAMS_MAX);
        if dependent_teams.iter().flatten().any(|team| *team == owner) {
            let message = "must not name the owner, which gets every change instance";
            self.refuse(&format!("{at}/dependent_teams"), message);
        }
        let allowed_teams = self.names(at, object, "allowed_teams", ALLOWED_TEAMS_MAX);
        let schema = self.service_schema(&format!("{at}/schema"), object.get("schema"))?;
        Some(WorldService {
            owner,
            approval_required,
            update_strategy,
            complete_unneeded,
            claim_required,
            references_see,
            require_ready,
            dependent_teams,
            allowed_teams,
            schema,
        })
    }

    fn service_schema(&mut self, at: &str, value: Option<&Value>) -> Option<Arc<Schema>> {
        let Some(value) = value else {
            self.refuse(at, "must be present");
            return None;
        };
        let title = value.get("title").and_then(Value::as_str).unwrap_or_default();
        if !title.is_empty() && !self.titles.insert(title.to_owned()) {
            self.refuse(&format!("{at}/title"), "must be unique among the services");
        }
        self.schema(at, value, schema::publish)
    }

    fn metadata_policy(&mut self, at: &str, value: &Value) -> MetadataPolicy {
        let Some(object) = self.object(at, value, &["team", "application"]) else {
            return MetadataPolicy::default();
        };
        let mut of = |field| {
            let value = object.get(field).filter(|value| !value.is_null())?;
            self.schema(&format!("{at}/{field}"), value, schema::of_metadata)
        };
        MetadataPolicy { team: of("team"), application: of("application") }
    }

    fn schema(
        &mut self,
        at: &str,
        value: &Value,
        compile: fn(&[u8]) -> Result<Schema, Vec<Problem>>,
    ) -> Option<Arc<Schema>> {
        match compile(value.to_string().as_bytes()) {
            Ok(schema) => Some(Arc::new(schema)),
            Err(problems) => {
                self.below(at, &problems);
                None
            }
        }
    }

    /// Reads a list of names, each once.
    fn names(&mut self, at: &str, object: &Object, field: &str, most: usize) -> Option<Vec<String>> {
        object.get(field).filter(|value| !value.is_null())?;
        let listed = self.list(at, object, field);
        if listed.len() > most {
            self.refuse(&format!("{at}/{field}"), format!("must name at most {most} teams"));
        }
        let mut names: Vec<String> = Vec::new();
        for (at, value) in &listed {
            match value.as_str() {
                None => self.refuse(at, "must be a string"),
                Some(name) if names.iter().any(|taken| taken == name) => {
                    self.refuse(at, "must be named once");
                }
                Some(name) => {
                    self.check_name(at, name);
                    names.push(name.to_owned());
                }
            }
        }
        Some(names)
    }

    fn name(&mut self, at: &str, object: &Object, field: &str) -> Option<String> {
        let name = self.needed(at, object, field)?;
        self.check_name(&format!("{at}/{field}"), &name);
        Some(name)
    }

    fn check_name(&mut self, at: &str, name: &str) {
        if let Some(problem) = name_problem(name) {
            self.refuse(at, problem);
        }
    }

    fn needed(&mut self, at: &str, object: &Object, field: &str) -> Option<String> {
        if !object.contains_key(field) {
            self.refuse(&format!("{at}/{field}"), "must be present");
        }
        self.text(at, object, field)
    }

    fn text(&mut self, at: &str, object: &Object, field: &str) -> Option<String> {
        let value = object.get(field)?;
        if !value.is_string() {
            self.refuse(&format!("{at}/{field}"), "must be a string");
        }
        value.as_str().map(str::to_owned)
    }

    fn flag(&mut self, at: &str, object: &Object, field: &str) -> Option<bool> {
        let value = object.get(field)?;
        if !value.is_boolean() {
            self.refuse(&format!("{at}/{field}"), "must be true or false");
        }
        value.as_bool()
    }

    /// Returns the entries of a list with their pointers; an absent list has none.
    fn list<'a>(&mut self, at: &str, object: &'a Object, field: &str) -> Vec<(String, &'a Value)> {
        let at = format!("{at}/{field}");
        match object.get(field) {
            None => Vec::new(),
            Some(Value::Array(entries)) => (0..).map(|n| format!("{at}/{n}")).zip(entries).collect(),
            Some(_) => {
                self.refuse(&at, "must be an array");
                Vec::new()
            }
        }
    }

    fn object<'a>(&mut self, at: &str, value: &'a Value, fields: &[&str]) -> Option<&'a Object> {
        let Some(object) = value.as_object() else {
            self.refuse(at, "must be an object");
            return None;
        };
        for key in object.keys().filter(|key| !fields.contains(&key.as_str())) {
            let mut at = at.to_owned();
            push_token(&mut at, key);
            self.refuse(&at, format!("must be one of the fields {}", fields.join(", ")));
        }
        Some(object)
    }

    fn below(&mut self, at: &str, problems: &[Problem]) {
        for problem in problems {
            self.refuse(&format!("{at}{}", problem.pointer), &problem.message);
        }
    }

    fn refuse(&mut self, at: &str, message: impl Display) {
        // The pointer of the whole document is the empty string, which reads like a missing text.
        let at = if at.is_empty() { "the file" } else { at };
        self.problems.push(format!("{at}: {message}"));
    }
}

/// Returns the message of a metadata problem without the words for declarations.
fn metadata_message(problem: &Problem) -> String {
    match problem.rule {
        "too_large" => format!("must be at most {METADATA_BYTES_MAX} bytes"),
        "wrong_type" => "must be an object".to_owned(),
        _ => problem.message.clone(),
    }
}
