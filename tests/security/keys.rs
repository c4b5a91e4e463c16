//! API keys: revocation behind a cached authorization, and every route with every role and state of a key or a person.

use super::SUBMIT;
use super::fair_use::Instance;
use super::people::MEMBERS;
use domain::Timestamp;
use domain::account::api_key::{ApiKey, Made};
use domain::account::audit_log::{AuditEntry, Event};
use domain::base::actor::{Actor, Role};
use domain::base::context::RequestContext;
use domain::rules::visibility::Side;
use dovetail_aws::{Clock, by_clock};
use dovetail_http::{Access, FairUse, Operation, ROUTES, Route, key_hash};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use support::issuer::{Issuer, seconds};
use support::{Answer, ApiRequest, Running, Settings, multipart};

pub(crate) const KEYS: &str = "/v1/account/api_keys/";
const HOOKS: &str = "/v1/external/serviceowner/webhooks/";
const MESSAGES: &str = "/v1/orcaexternal/serviceowner/messages/";
const CHECKS: &str = "/v1/external/serviceowner/healthchecks/";
pub(crate) const RECORDS: &str = "/v1/account/records/";
pub(crate) const TEAMS: &str = "/v1/account/teams/";

/// Starts a system in which one team owns a service and declares its items. A second team has no relation to it.
pub(crate) fn system() -> Running {
    system_with(Settings::default())
}

pub(crate) fn system_with(settings: Settings) -> Running {
    let mut world: Value = serde_json::from_str(include_str!("../contract/world.json")).unwrap();
    let teams = world["teams"].as_array_mut().unwrap();
    teams.push(json!({"name": "Stranger", "api_keys": ["stranger-key"]}));
    Running::start_with(&world.to_string(), settings)
}

pub(crate) const ADMIN: &str = "everything-key";

pub(crate) fn made(system: &Running, admin: &str, name: &str, role: Role) -> Answer {
    let answer = system.call("POST", KEYS, admin, &json!({"name": name, "role": role.name()}));
    assert_eq!(answer.status, 201, "{answer:?}");
    answer
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn a_revoked_key_works_until_the_authorizer_cache_expires() {
    let system = system();
    let instance = |caches_for| Instance::new(&system, FairUse::default(), caches_for);
    let (never, long) = (instance(Duration::ZERO), instance(Duration::MAX));
    let status =
        |instance: &Instance<'_>, key: &str| system.block_on(instance.answer(&system.table, TEAMS, key)).0;
    let key = made(&system, ADMIN, "short", Role::ReadOnly);
    let secret = text(key.at("/key"));
    assert_eq!((status(&never, secret), status(&long, secret)), (200, 200));
    revoke(&system, text(key.at("/url")));
    assert_eq!((status(&never, secret), status(&long, secret)), (401, 200));

    // The cache also stores the expiry of a key, so an expired key fails in spite of the cache.
    let ends = json!({"name": "ends", "role": "READ_ONLY", "expires": "2099-12-31"});
    let ends = system.call("POST", KEYS, ADMIN, &ends);
    let secret = text(ends.at("/key"));
    assert_eq!(status(&long, secret), 200);
    let end = Timestamp::parse("2099-12-31").unwrap();
    let status_at = |at: u64| {
        let clock: Clock = Arc::new(move || Timestamp::from_micros(at));
        system.block_on(by_clock(clock, long.answer(&system.table, TEAMS, secret))).0
    };
    assert_eq!((status_at(end.micros() - 1), status_at(end.micros())), (200, 401));

    let template = include_str!("../../infra/template.yaml");
    let (_, parameter) = template.split_once("  AuthorizerCacheSeconds:\n").unwrap();
    let (_, default) = parameter.split_once("    Default: ").unwrap();
    let remembered = dovetail_emulator::authorizer_cache::REMEMBERED.as_secs().to_string();
    assert_eq!(default.lines().next(), Some(remembered.as_str()));
}

/// The state of an API key, or of a person's token and membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Valid,
    Expired,
    /// The key is revoked, or the person is not a member any more.
    Revoked,
    /// Valid, for a team without any relation to the object.
    Foreign,
}

const STATES: [State; 4] = [State::Valid, State::Expired, State::Revoked, State::Foreign];

/// The credentials of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Key,
    Token,
}

/// Returns the `Authorization` header of a caller with this role and state.
fn authorization(system: &Running, issuer: &Issuer, by: By, role: Role, state: State) -> String {
    match by {
        By::Key => format!("Api-Key {}", key_in(system, role, state)),
        By::Token => format!("Bearer {}", token_in(system, issuer, role, state)),
    }
}

/// Returns the key of an ADMIN of the team in this state.
fn admin_for(state: State) -> &'static str {
    if state == State::Foreign { "stranger-key" } else { ADMIN }
}

#[track_caller]
fn revoke(system: &Running, url: &str) {
    assert_eq!(system.call("DELETE", url, ADMIN, &Value::Null).status, 204, "{url} is removed");
}

/// Returns the token of a member with this role and state.
fn token_in(system: &Running, issuer: &Issuer, role: Role, state: State) -> String {
    let subject = format!("{state:?} {}", role.name());
    let body = json!({"subject": subject, "name": subject, "role": role.name()});
    let member = system.call("POST", MEMBERS, admin_for(state), &body);
    assert_eq!(member.status, 201, "{member:?}");
    if state == State::Revoked {
        revoke(system, text(member.at("/url")));
    }
    let mut claims = issuer.claims(&subject);
    if state == State::Expired {
        claims["exp"] = json!(seconds() - 60);
    }
    issuer.ec.token(&json!({"alg": "ES256", "kid": "ec"}), &claims)
}

/// Returns an API key with this role and state.
fn key_in(system: &Running, role: Role, state: State) -> String {
    let name = format!("{state:?} {}", role.name());
    // No request creates an expired key or a PLATFORM key.
    let (secret, url) = if state == State::Expired || role == Role::Platform {
        let team = if state == State::Foreign { "Stranger" } else { "Everything" };
        let expires = (state == State::Expired).then_some(Timestamp::from_micros(2));
        let (secret, key) = stored_key(system, team, name, role, expires);
        (secret, format!("{KEYS}{}/", key.id))
    } else {
        let key = made(system, admin_for(state), &name, role);
        (text(key.at("/key")).to_owned(), text(key.at("/url")).to_owned())
    };
    if state == State::Revoked {
        revoke(system, &url);
    }
    secret
}

/// Stores a key as a load does, and returns it with its secret.
fn stored_key(
    system: &Running,
    team: &str,
    name: String,
    role: Role,
    expires: Option<Timestamp>,
) -> (String, ApiKey) {
    let secret = format!("secret of {name}");
    let team = system.block_on(system.table.team_by_name(team)).unwrap().unwrap().to_ref();
    let hash = key_hash(&secret);
    let ctx = RequestContext {
        by: Actor::System,
        request: name.clone(),
        now: Timestamp::from_micros(u64::try_from(name.len()).unwrap()),
    };
    let key = ApiKey::new(Made { hash, name, role, expires }, team, &ctx);
    let audit_entry = AuditEntry::of_key(Event::KeyCreated, &key, &ctx);
    assert!(system.block_on(system.table.create_api_key(&key, &audit_entry)).unwrap().is_done());
    (secret, key)
}

/// The expected response: 401, 403, 404, or any other response of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Unauthenticated,
    Forbidden,
    Hidden,
    Served,
}

fn expected(route: &Route, side: Side, by: By, role: Role, state: State) -> Expected {
    let is_catalogue = matches!(route.operation, Operation::GetService | Operation::GetServiceDocs);
    let is_open_catalogue = is_catalogue && side == Side::Consumer;
    let is_owners = matches!(route.operation, Operation::UpdateService | Operation::UploadServiceDocs);
    // The consumer role has no healthchecks or written messages. It may list healthchecks, and check own items. The
    // webhooks here are the owner's, so the consumer role may only list and create some.
    let of_owners = route.path.contains("/webhooks") || route.path.contains("/healthchecks");
    let is_for_all = matches!(
        route.operation,
        Operation::ListWebhooks
            | Operation::CreateWebhook
            | Operation::ListHealthchecks
            | Operation::CheckServiceItem
    );
    let is_written = route.path.contains("/messages") && route.access == Access::Admin;
    let is_none = side == Side::Consumer && ((of_owners && !is_for_all) || is_written);
    match state {
        _ if route.access == Access::Anyone => Expected::Served,
        // The token is valid, so the caller is known: 403 instead of 401.
        State::Revoked if by == By::Token => Expected::Forbidden,
        State::Expired | State::Revoked => Expected::Unauthenticated,
        State::Valid | State::Foreign if !route.access.is_open_to(role) => Expected::Forbidden,
        State::Foreign if is_owners => Expected::Forbidden,
        State::Valid | State::Foreign if is_none => Expected::Hidden,
        State::Foreign if route.path.contains("{id}") && !is_open_catalogue => Expected::Hidden,
        State::Valid | State::Foreign => Expected::Served,
    }
}

fn answered(answer: &Answer) -> Option<Expected> {
    match answer.status {
        401 => Some(Expected::Unauthenticated),
        403 => Some(Expected::Forbidden),
        404 => Some(Expected::Hidden),
        200..=204 | 400 => Some(Expected::Served),
        _ => None,
    }
}

/// Creates an inactive webhook, so no request leaves the test.
fn hook(system: &Running) -> Answer {
    let service = system.get("/v1/orcabase/serviceowner/services/", ADMIN).at("/results/0/id").clone();
    let body = json!({"service": service, "target_url": "http://127.0.0.1:1/", "active": false});
    let made = system.call("POST", HOOKS, ADMIN, &body);
    assert_eq!(made.status, 201, "{made:?}");
    made
}

/// Returns the id of a message. Keeps two in stock, because the requests remove some.
fn message(system: &Running) -> Value {
    let description = json!({"description": "VMs rest on Sunday"});
    if system.get(MESSAGES, ADMIN).at("/count").as_u64().unwrap() < 2 {
        assert_eq!(system.call("POST", MESSAGES, ADMIN, &description).status, 201);
    }
    system.get(MESSAGES, ADMIN).at("/results/0/id").clone()
}

/// Creates the healthcheck of the only service. Its target has no listener.
fn check(system: &Running) -> Answer {
    let body = json!({"service": 1, "target_url": "http://127.0.0.1:1/"});
    let made = system.call("POST", CHECKS, ADMIN, &body);
    assert!([200, 201].contains(&made.status), "{made:?}");
    made
}

/// Returns the paths of a route with ids of the team's own objects, new ones for removals.
#[expect(clippy::wildcard_enum_match_arm, reason = "of the others there are some")]
fn paths(system: &Running, route: &Route, caller: &str) -> Vec<(Side, String)> {
    let sides: &[Side] = if route.path.contains("{pov}") { &Side::ALL } else { &[Side::Consumer] };
    let path = |side: &Side| {
        let path = route.path.replace("{pov}", side.name()).replace("{code}", "blocked");
        let Some((collection, below)) = path.split_once("{id}") else { return (*side, path) };
        let id = match route.operation {
            Operation::RevokeApiKey => {
                made(system, ADMIN, &format!("to be revoked by {caller}"), Role::ReadOnly).at("/id").clone()
            }
            Operation::RemoveMember => {
                let body = json!({"subject": format!("for {caller}"), "name": "J", "role": "GENERAL"});
                system.call("POST", MEMBERS, ADMIN, &body).at("/id").clone()
            }
            Operation::RemoveWebhook => hook(system).at("/id").clone(),
            _ if route.path.contains("/messages") => message(system),
            Operation::CheckServiceItem => {
                check(system);
                system.get("/v1/orcabase/consumer/service_items/", ADMIN).at("/results/0/id").clone()
            }
            Operation::GetGrantedItem => {
                system.get("/v1/orcabase/consumer/service_items/", ADMIN).at("/results/0/id").clone()
            }
            _ if route.path.contains("/healthchecks") => check(system).at("/id").clone(),
            // The list of charges has another prefix.
            Operation::MarkCharge => {
                system.get(&collection.replace("orcabase", "marketplace"), ADMIN).at("/results/0/id").clone()
            }
            // The consumer role has an empty list, so both roles use an id of the owner's list.
            _ if route.path.contains("/webhooks") => system.get(HOOKS, ADMIN).at("/results/0/id").clone(),
            _ => system.get(collection, ADMIN).at("/results/0/id").clone(),
        };
        (*side, format!("{collection}{id}{below}"))
    };
    sides.iter().map(path).collect()
}

#[test]
fn every_route_with_every_role_and_every_state_of_a_key_and_of_a_person() {
    let issuer = Issuer::start();
    let system = system_with(Settings { issuer: Some(issuer.settings()), ..Settings::default() });
    let someone = json!({"subject": "someone", "name": "Someone", "role": "READ_ONLY"});
    assert_eq!(system.call("POST", MEMBERS, ADMIN, &someone).status, 201);
    let item = json!({"Everything": {"App": {"services": {"VM": [{"name": "one"}]}}}});
    let submitted = system.call("POST", SUBMIT, ADMIN, &item);
    let change = text(submitted.at("/change_instances/0/url")).replace("/consumer/", "/serviceowner/");
    let done = json!({"state": "APPROVED", "deployed_item": {"ip": "10.0.0.1"}});
    assert_eq!(system.call("PATCH", &change, ADMIN, &done).status, 200);
    let (header, body) = multipart("md_file", b"# VM");
    let docs = "/v1/orcabase/serviceowner/services/1/docs/";
    let upload = ApiRequest { method: "POST", path: docs, key: Some(ADMIN), headers: &[header], body };
    assert_eq!(system.send(&upload).status, 201);
    let config = json!({"service": 1, "config": {}});
    assert_eq!(system.call("POST", "/v1/orcabase/serviceowner/service_configs/", ADMIN, &config).status, 201);
    hook(&system);
    for _ in 0..2 {
        message(&system);
    }
    check(&system);
    let (mut tried, mut wrong) = (0, Vec::new());
    let methods = || ROUTES.iter().flat_map(|route| route.methods.iter().map(move |method| (route, method)));
    for (by, role, state) in callers() {
        let caller = format!("{by:?} {role:?} {state:?}");
        let authorization = authorization(&system, &issuer, by, role, state);
        for (route, method) in methods() {
            for (side, path) in paths(&system, route, &caller) {
                let body = if *method == "GET" { Vec::new() } else { b"{}".to_vec() };
                let headers = &[("authorization", authorization.as_str())];
                let answer =
                    system.send(&ApiRequest { method, path: &path, body, headers, ..ApiRequest::default() });
                let expected = expected(route, side, by, role, state);
                if answered(&answer) != Some(expected) {
                    wrong.push(format!("{caller} {method} {path}: {expected:?}: {answer:?}"));
                }
                tried += 1;
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    // A lower number would mean that the loops skip routes.
    assert!(tried > 1_600, "{tried}");
}

/// Returns all combinations of credentials, role and state.
fn callers() -> Vec<(By, Role, State)> {
    let of = |by, roles: &[Role]| -> Vec<_> {
        roles.iter().flat_map(|role| STATES.map(|state| (by, *role, state))).collect()
    };
    // A member never has the role PLATFORM.
    [of(By::Key, &Role::ALL), of(By::Token, &Role::OF_TEAMS)].concat()
}
