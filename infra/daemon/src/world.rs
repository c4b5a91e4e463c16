//! The world file: the teams, keys and services of a new local system. `read` parses it, and [`crate::load`] stores
//! it in the tables.

mod contents;
mod read;

use std::{collections::BTreeSet, fs, path::Path};

use crate::error::Error;
pub use contents::{World, WorldKey, WorldNotify, WorldService, WorldTeam};

/// The JSON text of the demo world.
pub const DEMO: &str = include_str!("demo.world.json");

/// Parses a world and checks it by the rules of the API. The error has a line for each problem, with its JSON
/// pointer.
///
/// A team that only a service names is added without a key.
pub fn parse(text: &str) -> Result<World, String> {
    let mut world = read::world(text).map_err(|problems| problems.join("\n"))?;
    let team_names: BTreeSet<&str> = world.teams.iter().map(|team| team.name.as_str()).collect();
    let named = world.services.iter().flat_map(named_teams);
    let keyless: BTreeSet<&str> = named.filter(|team| !team_names.contains(team)).collect();
    let keyless: Vec<WorldTeam> = keyless.into_iter().map(WorldTeam::keyless).collect();
    world.teams.extend(keyless);
    Ok(world)
}

/// Reads a world from a file.
pub fn read_file(path: &Path) -> Result<World, Error> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path).map_err(Error::io(file.clone()))?;
    parse(&text).map_err(|problems| Error::World { file, problems })
}

/// Returns every team that a service names.
fn named_teams(service: &WorldService) -> impl Iterator<Item = &str> {
    let listed = [&service.dependent_teams, &service.allowed_teams];
    let listed = listed.into_iter().flatten().flatten().map(String::as_str);
    std::iter::once(service.owner.as_str()).chain(listed)
}

#[cfg(test)]
mod tests {
    use domain::base::actor::Role;
    use serde_json::{Value, json};

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
                ("Platform", "platform-key"),
            ]
        );
        let services: Vec<_> = world
            .services
            .iter()
            .map(|service| {
                let dependent = service.dependent_teams.as_ref().map_or(0, Vec::len);
                (service.schema.title.as_str(), service.owner.as_str(), dependent)
            })
            .collect();
        let of_demo = [
            ("VM", "VMOwnerTeam", 0),
            ("LoadBalancer", "LBOwnerTeam", 1),
            ("Network", "NPOwnerTeam", 0),
            ("Database", "VMOwnerTeam", 0),
        ];
        assert_eq!(services, of_demo);
        let claimed = world.services.iter().map(|service| service.claim_required);
        assert_eq!(claimed.collect::<Vec<_>>(), [None, None, None, Some(true)]);
        assert!(world.services.iter().all(|service| service.approval_required == Some(true)));
    }

    /// Returns a minimal schema.
    fn schema(title: &str) -> Value {
        json!({ "title": title, "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } })
    }

    #[test]
    fn what_is_left_out_is_absent() {
        let world = json!({
            "teams": [{ "name": "T" }],
            "services": [{ "owner": "T", "schema": schema("S") }],
        });
        let World { teams, services, metadata_policy } = parse(&world.to_string()).unwrap();
        assert_eq!(teams, [WorldTeam::keyless("T")]);
        let WorldService { approval_required, dependent_teams, allowed_teams, .. } = &services[0];
        assert_eq!((approval_required, dependent_teams, allowed_teams), (&None, &None, &None));
        let WorldService { update_strategy, complete_unneeded, claim_required, .. } = &services[0];
        assert_eq!((update_strategy, complete_unneeded, claim_required), (&None, &None, &None));
        assert!(metadata_policy.is_none());
        assert!(parse(r#"{"teams":[]}"#).unwrap().services.is_empty());
    }

    #[test]
    fn a_team_that_only_a_service_names_is_there_without_a_key() {
        let world = json!({
            "teams": [{ "name": "VMOwnerTeam", "api_keys": ["vm-owner-key"] }],
            "services": [{ "owner": "VMOwnerTeam", "dependent_teams": ["NPOwnerTeam"], "schema": schema("VM") }],
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
                key("plain", None, None),
                key("named", Some("ci"), None),
                key("reader", None, Some(Role::ReadOnly)),
                key("", Some("automation"), Some(Role::General)),
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
    fn invalid_json_is_refused_with_its_line() {
        assert!(parse("{\n  nonsense").unwrap_err().contains("line 2"));
        assert_eq!(refused(&json!([])), "the file: must be an object");
        assert_eq!(refused(&json!({})), "/teams: must be present");
    }

    #[test]
    fn all_problems_of_a_world_are_reported_at_once_with_their_pointers() {
        let world = json!({
            "teams": [
                { "name": "T", "api_keys": ["k", "", {}, { "name": "n" }, { "name": "n" }, 1, { "name": " x" }] },
                { "name": "T", "api_keys": ["k", { "key": "a b", "role": "BOSS", "x": 1 }, { "name": 5 }] },
                { "name": "" },
                { "name": "U", "notify": "https://example.com", "metadata": [] },
                { "name": "V", "notify": { "url": "http://me:secret@host/", "pattern": { "a": [], "b": 1 } } },
                { "nam": "W", "notify": 1, "metadata": { "note": "x".repeat(4096) } },
            ],
            "services": [
                { "owner": "", "dependent_teams": ["T", " V"], "allowed_teams": [""], "schema": schema("S") },
                { "owner": "T", "approval_required": "yes", "update_strategy": "MOVE", "schema": schema("S") },
                { "owner": "T", "dependent_teams": ["T", "U", "U"], "schema": { "type": "reel" } },
            ],
            "mandatory_metadata": { "team": { "type": "list" }, "service": {} },
        });
        let text = refused(&world);
        let lines: Vec<&str> = text.lines().collect();
        for expected in [
            "/teams/0/api_keys/1: must be visible ASCII characters, at least one",
            "/teams/0/api_keys/2: must have a key, a name, or both",
            "/teams/0/api_keys/4/name: must be unique among the keys of the team",
            "/teams/0/api_keys/5: must be a string, or an object with key or name",
            "/teams/0/api_keys/6/name: a name must not begin or end with white space",
            "/teams/1/name: must be unique among the teams",
            "/teams/1/api_keys/0: must be unique among all keys",
            "/teams/1/api_keys/1/key: must be visible ASCII characters, at least one",
            "/teams/1/api_keys/1/role: must be one of ADMIN, GENERAL, READ_ONLY, PLATFORM",
            "/teams/1/api_keys/1/x: must be one of the fields key, name, role",
            "/teams/1/api_keys/2/name: must be a string",
            "/teams/2/name: a name must not be empty",
            "/teams/3/metadata: must be an object",
            "/teams/3/notify: must be a URL that starts with http:// and has no password",
            "/teams/4/notify/url: must be a URL that starts with http:// and has no password",
            "/teams/4/notify/pattern/a: must not be empty",
            "/teams/4/notify/pattern/b: must be an object, or an array of allowed values",
            "/teams/5/nam: must be one of the fields name, metadata, api_keys, confirm_removals, notify",
            "/teams/5/name: must be present",
            "/teams/5/notify: must be a URL, or an object with url",
            "/teams/5/metadata: must be at most 4096 bytes",
            "/services/0/owner: a name must not be empty",
            "/services/0/dependent_teams/1: a name must not begin or end with white space",
            "/services/0/allowed_teams/0: a name must not be empty",
            "/services/1/approval_required: must be true or false",
            "/services/1/update_strategy: must be one of MODIFY, REPLACE",
            "/services/1/schema/title: must be unique among the services",
            "/services/2/dependent_teams: must not name the owner, which gets every change instance",
            "/services/2/dependent_teams/2: must be named once",
            "/mandatory_metadata/service: must be one of the fields team, application",
        ] {
            assert!(lines.contains(&expected), "{expected}\n in\n{text}");
        }
        for pointer in ["/services/2/schema/type: ", "/mandatory_metadata/team/type: "] {
            assert!(lines.iter().any(|line| line.starts_with(pointer)), "{pointer}\n in\n{text}");
        }
        // A secret must not appear in a message.
        assert!(!text.contains("a b") && !text.contains("me:secret"), "{text}");
    }
}
