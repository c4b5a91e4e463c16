//! The world file: the teams, keys and services that a local system begins with. Reading it is here; putting
//! it into the table is not.

use std::{collections::BTreeSet, fmt};

use domain::actor::Role;
use domain::declaration::name_problem;
use domain::service::DEPENDENT_TEAMS_MAX;
use hyper::Uri;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Map, Value, json};

use crate::{pattern::Pattern, webhook::Target};

/// The world that a system begins with when none is given.
pub const DEMO: &str = include_str!("demo.world.json");

/// The teams and services to begin with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// The teams, consumers and owners.
    pub teams: Vec<WorldTeam>,
    /// The services on offer.
    #[serde(default)]
    pub services: Vec<WorldService>,
    /// What metadata have to be; as it is where nothing is said.
    #[serde(default)]
    pub mandatory_metadata: Option<WorldMetadata>,
}

/// What metadata have to be: JSON Schemas; what is not named may be anything.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldMetadata {
    /// The schema of a team's.
    #[serde(default)]
    pub team: Option<Map<String, Value>>,
    /// The schema of an application's.
    #[serde(default)]
    pub application: Option<Map<String, Value>>,
}

/// A team and how it is reached.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldTeam {
    /// The name that services and declarations use.
    pub name: String,
    /// What the team says about itself.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// The keys that act for the team.
    #[serde(default)]
    pub api_keys: Vec<WorldKey>,
    /// Where the team is told of events.
    #[serde(default)]
    pub notify: Option<WorldNotify>,
}

/// A webhook: in the file its URL, or an object with `url` and optionally `pattern`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldNotify {
    /// The URL that events are posted to.
    pub url: String,
    /// The event pattern of those that are; none stated is those of the changes that the team is a party to.
    pub pattern: Option<Value>,
}

/// An API key: in the file a string, or an object with `key` and optionally `name` and `role`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldKey {
    /// The secret itself; none is made when the world is loaded.
    pub key: Option<String>,
    /// The name it goes by in histories.
    pub name: Option<String>,
    /// What it may do: everything, unless the file says less.
    pub role: Role,
}

/// A service that a team offers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldService {
    /// The team that decides on its change instances.
    pub owner: String,
    /// Whether the owner approves a change before it is worked on.
    #[serde(default = "approved_by_default")]
    pub approval_required: bool,
    /// The teams that get a change instance of their own for each one of the service.
    #[serde(default)]
    pub dependent_teams: Vec<String>,
    /// The teams that may declare it; none stated is every team.
    #[serde(default)]
    pub allowed_teams: Option<Vec<String>>,
    /// The JSON Schema of its declarations, whose `title` is the service's name.
    pub schema: Map<String, Value>,
}

impl WorldService {
    /// The service's name; none when the schema has no `title`.
    pub fn name(&self) -> Option<&str> {
        self.schema.get("title").and_then(Value::as_str).filter(|title| !title.is_empty())
    }
}

const fn approved_by_default() -> bool {
    true
}

impl<'de> Deserialize<'de> for WorldKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = WorldKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an API key: a string, or an object with `key` or `name`, or both, and optionally `role`")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<WorldKey, E> {
        Ok(WorldKey { key: Some(key.to_owned()), name: None, role: Role::Admin })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WorldKey, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Key {
            #[serde(default)]
            key: Option<String>,
            #[serde(default)]
            name: Option<String>,
            #[serde(default = "admin", deserialize_with = "role")]
            role: Role,
        }
        let Key { key, name, role } = Key::deserialize(MapAccessDeserializer::new(map))?;
        Ok(WorldKey { key, name, role })
    }
}

impl<'de> Deserialize<'de> for WorldNotify {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NotifyVisitor)
    }
}

struct NotifyVisitor;

impl<'de> Visitor<'de> for NotifyVisitor {
    type Value = WorldNotify;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a webhook: a URL, or an object with `url` and optionally `pattern`")
    }

    fn visit_str<E: de::Error>(self, url: &str) -> Result<WorldNotify, E> {
        Ok(WorldNotify { url: url.to_owned(), pattern: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WorldNotify, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Notify {
            url: String,
            #[serde(default)]
            pattern: Option<Value>,
        }
        let Notify { url, pattern } = Notify::deserialize(MapAccessDeserializer::new(map))?;
        Ok(WorldNotify { url, pattern })
    }
}

const fn admin() -> Role {
    Role::Admin
}

fn role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    let name = String::deserialize(deserializer)?;
    Role::parse(&name).ok_or_else(|| {
        let known = Role::ALL.map(Role::name).join(", ");
        de::Error::custom(format!("`{name}` is no role; there are {known}"))
    })
}

/// Reads a world; what is wrong with its names is told all at once, a problem per line.
///
/// A team that only a service names is there as well, without a key.
pub fn parse(text: &str) -> Result<World, String> {
    let mut world: World = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let problems = problems(&world);
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let known: BTreeSet<&str> = world.teams.iter().map(|team| team.name.as_str()).collect();
    let named = world.services.iter().flat_map(named_teams).map(|(_, team)| team);
    let keyless: BTreeSet<&str> = named.filter(|team| !known.contains(team)).collect();
    let keyless: Vec<WorldTeam> = keyless.into_iter().map(WorldTeam::keyless).collect();
    world.teams.extend(keyless);
    Ok(world)
}

impl WorldTeam {
    fn keyless(name: &str) -> Self {
        Self { name: name.to_owned(), metadata: Map::new(), api_keys: Vec::new(), notify: None }
    }
}

impl WorldNotify {
    /// The URL to post to, or what is wrong with it.
    fn uri(&self) -> Result<Uri, String> {
        let uri = self.url.parse::<Uri>().ok().filter(|uri| uri.scheme_str() == Some("http"));
        let uri =
            uri.filter(|uri| uri.authority().is_some_and(|authority| !authority.as_str().contains('@')));
        uri.ok_or_else(|| "events go to a URL that begins with http:// and holds no password".to_owned())
    }

    /// Which of the team's events to post, or what is wrong with the pattern, a problem per line.
    fn read_pattern(&self, team: &str) -> Result<Pattern, String> {
        let party = |field: &str| json!({"detail": {"data": {field: [team]}}});
        let parties = ["owner", "service_owner_team", "consumer_team"].map(party);
        Pattern::parse(self.pattern.as_ref().unwrap_or(&json!({"$or": parties})))
    }
}

impl World {
    /// Where events go; a world that was parsed has no problem here.
    pub fn webhooks(&self) -> Result<Vec<Target>, String> {
        let notified = self.teams.iter().filter_map(|team| Some((&team.name, team.notify.as_ref()?)));
        let target = |(team, notify): (&String, &WorldNotify)| {
            Ok(Target { team: team.clone(), url: notify.uri()?, pattern: notify.read_pattern(team)? })
        };
        notified.map(target).collect()
    }
}

fn problems(world: &World) -> Vec<String> {
    let mut problems = Vec::new();
    let mut teams = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for (at, team) in world.teams.iter().enumerate() {
        if let Some(problem) = name_problem(&team.name) {
            problems.push(format!("teams[{at}].name: {problem}"));
        } else if !teams.insert(team.name.as_str()) {
            problems.push(format!("teams[{at}].name: there is already a team `{}`", team.name));
        }
        let mut named = BTreeSet::new();
        for (number, key) in team.api_keys.iter().enumerate() {
            let place = format!("teams[{at}].api_keys[{number}]");
            match (&key.key, &key.name) {
                (None, None) => problems.push(format!("{place}: a key that is to be made needs a name")),
                (None, Some(name)) if !named.insert(name) => {
                    problems.push(format!("{place}: there is already a key `{name}` to be made"));
                }
                (None, Some(_)) => {}
                (Some(key), _) if key.is_empty() => problems.push(format!("{place}: a key is not empty")),
                // A caller's team is found by its key. The key itself is a secret and stays out of messages.
                (Some(key), _) if !keys.insert(key.as_str()) => {
                    problems.push(format!("{place}: this key is already in use"));
                }
                (Some(_), _) => {}
            }
        }
        if let Some(notify) = &team.notify {
            let url = notify.uri().err().map(|problem| format!("teams[{at}].notify: {problem}"));
            problems.extend(url);
            let pattern = notify.read_pattern(&team.name).err().unwrap_or_default();
            problems.extend(pattern.lines().map(|problem| format!("teams[{at}].notify.pattern: {problem}")));
        }
    }
    let mut services = BTreeSet::new();
    for (at, service) in world.services.iter().enumerate() {
        match service.name() {
            None => problems.push(format!("services[{at}].schema.title: a service needs a name")),
            Some(name) if !services.insert(name) => {
                problems.push(format!("services[{at}].schema.title: there is already a service `{name}`"));
            }
            Some(_) => {}
        }
        for (place, team) in named_teams(service) {
            if let Some(problem) = name_problem(team) {
                problems.push(format!("services[{at}].{place}: {problem}"));
            }
        }
        if service.dependent_teams.contains(&service.owner) {
            problems
                .push(format!("services[{at}].dependent_teams: the owner gets every change instance anyway"));
        }
        let distinct: BTreeSet<&String> = service.dependent_teams.iter().collect();
        if distinct.len() < service.dependent_teams.len() {
            problems.push(format!("services[{at}].dependent_teams: a team is named twice"));
        }
        if service.dependent_teams.len() > DEPENDENT_TEAMS_MAX {
            let told = format!("services[{at}].dependent_teams: at most {DEPENDENT_TEAMS_MAX} may be named");
            problems.push(told);
        }
    }
    problems
}

/// The teams that a service names, each with its place within the service.
fn named_teams(service: &WorldService) -> impl Iterator<Item = (String, &str)> {
    let listed = |field: &'static str, teams: &'_ [String]| {
        let places = (0..teams.len()).map(move |at| format!("{field}[{at}]"));
        places.collect::<Vec<_>>()
    };
    let dependent = &service.dependent_teams;
    let allowed = service.allowed_teams.as_deref().unwrap_or_default();
    std::iter::once(("owner".to_owned(), service.owner.as_str()))
        .chain(listed("dependent_teams", dependent).into_iter().zip(dependent.iter().map(String::as_str)))
        .chain(listed("allowed_teams", allowed).into_iter().zip(allowed.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(world: &Value) -> String {
        parse(&world.to_string()).unwrap_err()
    }

    #[test]
    fn the_demo_world_is_sound() {
        let world = parse(DEMO).unwrap();
        let teams: Vec<_> = world
            .teams
            .iter()
            .map(|team| (team.name.as_str(), team.api_keys[0].key.as_deref().unwrap()))
            .collect();
        assert_eq!(
            teams,
            [
                ("VMOwnerTeam", "vm-owner-key"),
                ("LBOwnerTeam", "lb-owner-key"),
                ("NPOwnerTeam", "np-owner-key"),
                ("AwesomeConsumer", "awesome-key"),
                ("AwesomeConsumer2", "awesome2-key"),
            ]
        );
        let services: Vec<_> = world
            .services
            .iter()
            .map(|service| (service.name().unwrap(), service.owner.as_str(), service.dependent_teams.len()))
            .collect();
        assert_eq!(services, [("VM", "VMOwnerTeam", 0), ("LoadBalancer", "LBOwnerTeam", 1)]);
        assert!(world.services.iter().all(|service| service.approval_required));
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let world = json!({
            "teams": [{ "name": "T" }],
            "services": [{ "owner": "T", "schema": { "title": "S" } }],
        });
        let World { teams, services, .. } = parse(&world.to_string()).unwrap();
        let team = WorldTeam { name: "T".to_owned(), metadata: Map::new(), api_keys: vec![], notify: None };
        assert_eq!(teams, [team]);
        assert!(services[0].approval_required);
        assert_eq!((&services[0].dependent_teams, &services[0].allowed_teams), (&vec![], &None));
        assert_eq!(parse(r#"{"teams":[]}"#).unwrap().services, []);
    }

    #[test]
    fn a_team_that_only_a_service_names_is_there_without_a_key() {
        let world = json!({
            "teams": [{ "name": "VMOwnerTeam", "api_keys": ["vm-owner-key"] }],
            "services": [{ "owner": "VMOwnerTeam", "dependent_teams": ["NPOwnerTeam"], "schema": { "title": "VM" } }],
        });
        let World { teams, .. } = parse(&world.to_string()).unwrap();
        assert_eq!(teams.len(), 2);
        assert_eq!(teams[1], WorldTeam::keyless("NPOwnerTeam"));
    }

    #[test]
    fn a_key_is_a_string_or_an_object() {
        let world = json!({ "teams": [{ "name": "T", "api_keys": [
            "plain",
            { "key": "named", "name": "ci" },
            { "key": "reader", "role": "READ_ONLY" },
            { "name": "automation", "role": "GENERAL" },
        ] }] });
        let key = |key: &str, name: Option<&str>, role| WorldKey {
            key: (!key.is_empty()).then(|| key.to_owned()),
            name: name.map(str::to_owned),
            role,
        };
        assert_eq!(
            parse(&world.to_string()).unwrap().teams[0].api_keys,
            [
                key("plain", None, Role::Admin),
                key("named", Some("ci"), Role::Admin),
                key("reader", None, Role::ReadOnly),
                key("", Some("automation"), Role::General),
            ]
        );
    }

    #[test]
    fn a_webhook_is_a_url_or_an_object_and_gets_what_its_team_is_a_party_to() {
        let own = json!({ "detail": { "data": { "owner": ["T"] } } });
        let world = json!({ "teams": [
            { "name": "T", "notify": "http://127.0.0.1:8080/hook" },
            { "name": "U", "notify": { "url": "http://localhost" } },
            { "name": "V", "notify": { "url": "http://localhost", "pattern": own } },
            { "name": "W" },
        ] });
        let targets = parse(&world.to_string()).unwrap().webhooks().unwrap();
        let names: Vec<(&str, String)> =
            targets.iter().map(|target| (target.team.as_str(), target.url.to_string())).collect();
        let url = "http://localhost/".to_owned();
        let expected = [("T", "http://127.0.0.1:8080/hook".to_owned()), ("U", url.clone()), ("V", url)];
        assert_eq!(names, expected);
        let event = |field: &str, team: &str| json!({ "detail": { "data": { field: team } } });
        for (event, takers) in [
            (event("owner", "T"), ["T", "V"].as_slice()),
            (event("service_owner_team", "T"), &["T"]),
            (event("consumer_team", "U"), &["U"]),
            (event("application", "T"), &[]),
            (event("owner", "W"), &[]),
        ] {
            let taking = targets.iter().filter(|target| target.pattern.matches(&event));
            assert_eq!(taking.map(|target| target.team.as_str()).collect::<Vec<_>>(), takers, "{event}");
        }
    }

    #[test]
    fn a_wrong_file_is_told_with_the_place() {
        let team = |keys: Value| refused(&json!({ "teams": [{ "name": "T", "api_keys": keys }] }));
        assert!(team(json!([1])).starts_with("invalid type: integer `1`, expected an API key: a string"));
        assert!(team(json!([{ "key": "k", "rôle": "ADMIN" }])).contains("unknown field `rôle`"));
        assert!(
            team(json!([{ "key": "k", "role": "BOSS" }]))
                .starts_with("`BOSS` is no role; there are ADMIN, GENERAL, READ_ONLY at line 1 column")
        );
        let notify = |notify: Value| refused(&json!({ "teams": [{ "name": "T", "notify": notify }] }));
        assert!(notify(json!(1)).starts_with("invalid type: integer `1`, expected a webhook: a URL, or"));
        assert!(notify(json!({ "pattern": {} })).contains("missing field `url`"));
        assert!(refused(&json!({ "teams": [{ "nam": "T" }] })).contains("unknown field `nam`"));
        assert!(refused(&json!({})).contains("missing field `teams`"));
        assert!(parse("{\n  nonsense").unwrap_err().contains("line 2"));
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let world = json!({
            "teams": [
                { "name": "T", "api_keys": ["k", "", {}, { "name": "n" }, { "name": "n" }] },
                { "name": "T", "api_keys": ["k"] },
                { "name": "" },
                { "name": "U", "notify": "https://example.com" },
                { "name": "V", "notify": { "url": "http://me:secret@host/", "pattern": { "a": [], "b": 1 } } },
                { "name": "W", "notify": "/hook" },
            ],
            "services": [
                { "owner": "", "dependent_teams": ["T", " V"], "allowed_teams": [""], "schema": { "title": "S" } },
                { "owner": "T", "schema": { "title": "S" } },
                { "owner": "T", "dependent_teams": ["T"], "schema": {} },
            ],
        });
        let expected = "\
teams[0].api_keys[1]: a key is not empty
teams[0].api_keys[2]: a key that is to be made needs a name
teams[0].api_keys[4]: there is already a key `n` to be made
teams[1].name: there is already a team `T`
teams[1].api_keys[0]: this key is already in use
teams[2].name: a name must not be empty
teams[3].notify: events go to a URL that begins with http:// and holds no password
teams[4].notify: events go to a URL that begins with http:// and holds no password
teams[4].notify.pattern: /a: must not be empty
teams[4].notify.pattern: /b: must be an object, or an array of what the field can be
teams[5].notify: events go to a URL that begins with http:// and holds no password
services[0].owner: a name must not be empty
services[0].dependent_teams[1]: a name must not begin or end with white space
services[0].allowed_teams[0]: a name must not be empty
services[1].schema.title: there is already a service `S`
services[2].schema.title: a service needs a name
services[2].dependent_teams: the owner gets every change instance anyway";
        assert_eq!(refused(&world), expected);
    }
}
