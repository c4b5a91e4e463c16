//! Secrets (R58): a declared value at a `writeOnly` path leaves the system in one response alone, that of its owner.

use domain::model::secrets::is_mask;
use domain::rules::visibility::Side;
use dovetail_http::{ROUTES, Route};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::contract::Operation;
use support::manual_queue::ManualQueue;
use support::receiver::Receiver;
use support::{Answer, Running};

use super::SUBMIT;
use super::keys::{KEYS, RECORDS};

const CORE: &str = "/v1/orcabase";
const SERVICES: &str = "/v1/orcabase/serviceowner/services/";
const DRY_RUN: &str = "/v1/orcabase/serviceowner/services/validate/?dry_run=true";
const VALIDATE: &str = "/v1/orcabase/consumer/submissions/validate/";
const CONSUMER: &str = "awesome-key";
const OWNER: &str = "vm-owner-key";
/// A dependent team.
const DEPENDENT: &str = "np-owner-key";
const STRANGER: &str = "lb-owner-key";
/// A secret, short enough for the definition below. Its mask is longer than the definition allows.
const CANARY: &str = "canary1";
const SECOND: &str = "canary2";

fn definition(title: &str) -> Value {
    json!({"title": title, "type": "object", "required": ["name"], "x-verified": true, "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "size": {"type": "integer"},
            "ip": {"type": "string", "readOnly": true},
            "password": {"type": "string", "writeOnly": true, "maxLength": 8},
            "users": {"type": "array", "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "token": {"type": "string", "writeOnly": true}}}}}})
}

/// Fails unless a response has no secret.
#[track_caller]
fn assert_no_secret(answer: &Answer) {
    assert!(!answer.body.to_string().contains("canary"), "{answer:?}");
}

/// A system with a service with secrets, which has a dependent team.
struct Vault {
    system: Running,
    /// Keys of the consumer and the owner for reads.
    readers: [String; 2],
}

impl Vault {
    fn new() -> Self {
        let mut vault = Self { system: Running::demo(), readers: Default::default() };
        let service = vault.done("POST", SERVICES, OWNER, &definition("Vault"));
        let dependent = vault.get("/v1/account/teams/", DEPENDENT).at("/results/0/id").clone();
        let url = service.at("/url").as_str().unwrap().to_owned();
        vault.done("PATCH", &url, OWNER, &json!({"dependant_teams": [dependent]}));
        vault.readers = [CONSUMER, OWNER].map(|key| {
            let made = vault.done("POST", KEYS, key, &json!({"name": "reader", "role": "READ_ONLY"}));
            made.at("/key").as_str().unwrap().to_owned()
        });
        vault
    }

    /// Returns a system with an item with the first secret.
    fn with_item() -> Self {
        let vault = Self::new();
        vault.declared(&item(1, CANARY));
        vault
    }

    fn get(&self, path: &str, key: &str) -> Answer {
        self.system.get(path, key)
    }

    /// Sends a request that succeeds.
    #[track_caller]
    fn done(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        let answer = self.system.call(method, path, key, body);
        assert!(matches!(answer.status, 200 | 201), "{path}: {answer:?}");
        answer
    }

    fn declare(&self, path: &str, item: &Value) -> Answer {
        let body = json!({"AwesomeConsumer": {"Safe": {"services": {"Vault": [item]}}}});
        let answer = self.system.call("PATCH", path, CONSUMER, &body);
        assert_no_secret(&answer);
        answer
    }

    #[track_caller]
    fn declared(&self, item: &Value) -> Answer {
        let answer = self.declare(SUBMIT, item);
        assert!(matches!(answer.status, 200 | 201), "{answer:?}");
        answer
    }

    /// Returns the stored declaration as everyone sees it.
    fn stored(&self) -> Value {
        let items = self.get(&format!("{CORE}/consumer/service_items/?service_name=Vault"), CONSUMER);
        items.at("/results/0/declaration").clone()
    }

    /// Returns the URL of the newest change instance of the owner.
    fn change(&self) -> String {
        let filter = "service_name=Vault&is_dependant=false&ordering=-id";
        let changes = self.get(&format!("{CORE}/serviceowner/change_instances/?{filter}"), OWNER);
        changes.at("/results/0/url").as_str().unwrap().to_owned()
    }

    /// Returns the new declaration of the newest change instance as its owner reads it.
    #[track_caller]
    fn revealed(&self) -> Value {
        let answer = self.get(&format!("{}?secrets=true", self.change()), OWNER);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.at("/new_declaration/declaration").clone()
    }

    fn complete(&self) {
        let url = self.change();
        self.done("PATCH", &url, OWNER, &json!({"state": "APPROVED"}));
        self.done("PATCH", &url, OWNER, &json!({"state": "COMPLETED", "deployed_item": {"ip": "10.0.0.1"}}));
    }
}

fn item(size: u64, password: &str) -> Value {
    json!({"name": "v", "size": size, "password": password, "users": [{"name": "a", "token": password}]})
}

#[test]
fn r58_a_mask_stands_for_an_unchanged_secret() {
    let vault = Vault::with_item();
    let stored = vault.stored();
    let mask = stored["password"].as_str().unwrap();
    assert!(is_mask(mask), "{stored}");
    assert_eq!(stored["users"][0]["token"], mask, "equal secrets of an item have equal masks");
    assert_eq!(vault.revealed(), item(1, CANARY));
    // What the system shows can be declared again, as it is or with another change.
    let export = vault.get(&format!("{CORE}/consumer/declaration/"), CONSUMER);
    let again = vault.done("POST", SUBMIT, CONSUMER, export.at("/declaration"));
    assert_eq!(again.at("/changed"), false);
    for unchanged in [&stored, &item(1, CANARY)] {
        assert_eq!(vault.declared(unchanged).at("/changed"), false, "{unchanged}");
    }
    let mut larger = stored.clone();
    larger["size"] = json!(2);
    assert_eq!(vault.declared(&larger).at("/changed"), true);
    assert_eq!(vault.revealed(), item(2, CANARY));
    assert_eq!(vault.stored()["password"], mask);
    // The definition checks the secret and not its mask, which is longer than the definition allows.
    vault.complete();
    let impact = vault.done("POST", DRY_RUN, OWNER, &definition("Vault"));
    assert_eq!(impact.at("/dry_run/failing"), 0, "{impact:?}");
    vault.system.assert_sound();
}

#[test]
fn r58_a_mask_stands_for_its_secret_after_the_removal_of_its_item() {
    let vault = Vault::with_item();
    let masked = vault.stored();
    vault.complete();
    let removal = json!({"AwesomeConsumer": {"Safe": {"services": {"Vault": []}}}});
    vault.done("PATCH", SUBMIT, CONSUMER, &removal);
    vault.done("PATCH", &vault.change(), OWNER, &json!({"state": "APPROVED"}));
    // A new check follows. The mask is longer than the definition allows.
    vault.declared(&masked);
    assert_eq!(vault.revealed(), item(1, CANARY));
}

#[test]
fn r75_a_mask_stands_for_its_secret_after_its_item_got_another_name() {
    let vault = Vault::with_item();
    let mut masked = vault.stored();
    masked["name"] = json!("w");
    let with = |new_names: Value| {
        let metadata = json!({"dovetail_renamed": {"Vault": new_names}});
        json!({"AwesomeConsumer": {"Safe": {"metadata": metadata, "services": {"Vault": [masked]}}}})
    };
    let refused = vault.system.call("PATCH", SUBMIT, CONSUMER, &with(json!({})));
    assert_eq!(*refused.at("/problems/0/rule"), "unknown_secret", "{refused:?}");
    vault.done("PATCH", SUBMIT, CONSUMER, &with(json!({"v": "w"})));
    assert_eq!(vault.revealed()["password"], CANARY);
    // The next submission finds the secret under the new name.
    let mut larger = vault.stored();
    larger["size"] = json!(2);
    vault.declared(&larger);
    let mut expected = item(2, CANARY);
    expected["name"] = json!("w");
    assert_eq!(vault.revealed(), expected);
    vault.system.assert_sound();
}

#[test]
fn r58_a_difference_of_a_secret_shows_no_value() {
    let vault = Vault::with_item();
    let preview = vault.declare(VALIDATE, &item(1, SECOND));
    let secret = |pointer: &str| json!({"pointer": pointer, "secret": true});
    let differences = json!([secret("/password"), secret("/users/0/token")]);
    assert_eq!(*preview.at("/change_instances/0/differences"), differences, "{preview:?}");
    let first = vault.declared(&item(1, SECOND)).at("/id").as_u64().unwrap() - 1;
    assert_eq!(vault.revealed()["password"], SECOND);
    // A revert declares the earlier secret again.
    let revert = format!("{CORE}/consumer/submissions/{first}/revert/");
    vault.done("POST", &revert, CONSUMER, &json!({}));
    assert_eq!(vault.revealed()["password"], CANARY);
    vault.system.assert_sound();
}

#[test]
fn r58_a_mask_of_something_else_is_refused() {
    let vault = Vault::with_item();
    vault.done("POST", SERVICES, OWNER, &definition("Other"));
    let mask = vault.stored()["password"].as_str().unwrap().to_owned();
    let before = vault.system.stored();
    let unknown = "secret:AAAAAAAAAAAAAAAAAAAAAA";
    let other = |service: &str, name: &str, mask: &str| json!({"AwesomeConsumer": {"Safe": {"services": {service: [{"name": name, "password": mask}]}}}});
    for body in [other("Vault", "v", unknown), other("Vault", "w", &mask), other("Other", "v", &mask)] {
        let answer = vault.system.call("PATCH", SUBMIT, CONSUMER, &body);
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        let problem = answer.at("/problems/0");
        assert_eq!(problem["rule"], "unknown_secret", "{body}: {answer:?}");
        assert!(problem["pointer"].as_str().unwrap().ends_with("/0/password"), "{problem}");
    }
    assert_eq!(before, vault.system.stored(), "a refused declaration changes nothing");
}

#[test]
fn r58_an_item_that_is_large_only_with_its_masks_or_with_its_secrets_is_refused() {
    let vault = Vault::new();
    let item = |users: &[Value]| json!({"name": "v", "size": 1, "users": users});
    let refused = |users: &[Value]| {
        let before = vault.system.stored();
        let answer = vault.declare(SUBMIT, &item(users));
        let problem = answer.at("/problems/0");
        assert_eq!((answer.status, problem["rule"].as_str()), (400, Some("too_large")), "{answer:.300?}");
        assert_eq!(problem["pointer"], "/AwesomeConsumer/Safe/services/Vault/0", "{answer:.300?}");
        assert_eq!(before, vault.system.stored(), "a refused declaration changes nothing");
    };
    let secrets: Vec<Value> = (0..8_000).map(|n| json!({"token": (n % 10).to_string()})).collect();
    // First as a new item, then as a change of a stored one.
    refused(&secrets);
    vault.declared(&item(&[json!({"token": "x".repeat(100_000)})]));
    refused(&secrets);
    let mask = vault.stored()["users"][0]["token"].clone();
    refused(&vec![json!({"token": mask}); 2_000]);
}

#[test]
fn r58_a_problem_shows_no_secret() {
    let vault = Vault::new();
    let answer = vault.declare(SUBMIT, &item(1, "canary-much-too-long"));
    assert_eq!(answer.status, 400);
    assert_eq!(*answer.at("/problems/0/detail"), "value is longer than 8 characters");
}

#[test]
fn r58_a_mask_at_an_ordinary_path_is_a_text() {
    let vault = Vault::with_item();
    let mut masked = vault.stored();
    masked["size"] = masked["password"].clone();
    let answer = vault.declare(VALIDATE, &masked);
    let detail = answer.at("/problems/0/detail").as_str().unwrap();
    assert!(detail.contains(masked["password"].as_str().unwrap()), "{answer:?}");
}

#[test]
fn r58_the_dry_run_of_a_definition_shows_no_secret() {
    let vault = Vault::with_item();
    let mut ordinary = definition("Vault");
    ordinary["properties"]["password"] = json!({"type": "integer"});
    ordinary["properties"]["users"] = json!({"maxItems": 0});
    let answer = vault.system.call("POST", DRY_RUN, OWNER, &ordinary);
    let mut problems = answer.at("/dry_run/teams/0/items/0/problems").as_array().unwrap().iter();
    let is_of_password = |problem: &Value| problem["pointer"].as_str().unwrap().ends_with("/password");
    assert!(problems.any(is_of_password), "the dry run reports the password: {answer:?}");
    assert_no_secret(&answer);
}

#[test]
fn r58_a_property_that_becomes_a_secret_gets_a_mask_with_the_next_change_of_its_application() {
    let vault = Vault::new();
    let mut later = definition("Later");
    later["properties"]["password"] = json!({"type": "string"});
    vault.done("POST", SERVICES, OWNER, &later);
    let submitted = |sizes: [u64; 2]| {
        let app = |size: u64| {
            json!({"services": {"Later": [{"name": "v", "size": size, "password": CANARY},
            {"name": "w", "password": CANARY}]}})
        };
        let body = json!({"AwesomeConsumer": {"One": app(sizes[0]), "Two": app(sizes[1])}});
        vault.done("PATCH", SUBMIT, CONSUMER, &body)
    };
    submitted([1, 1]);
    vault.done("POST", SERVICES, OWNER, &definition("Later"));
    // Only the second application changes, so the first one stays as it is.
    let answer = submitted([1, 2]);
    let created = answer.at("/change_instances").as_array().unwrap();
    let names: Vec<&Value> = created.iter().map(|change| &change["application"]["name"]).collect();
    assert_eq!(names, ["Two", "Two"], "{answer:?}");
    let password = |change: &Value| change["new_declaration"]["declaration"]["password"].clone();
    assert!(created.iter().all(|change| is_mask(password(change).as_str().unwrap())), "{answer:?}");
}

#[test]
fn r58_only_the_owner_of_an_open_change_reads_its_secrets() {
    let vault = Vault::with_item();
    let url = vault.change();
    let id = url.trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
    let of_consumer = format!("{CORE}/consumer/change_instances/{id}/?secrets=true");
    let of_owner = format!("{url}?secrets=true");
    let log = || vault.get(RECORDS, OWNER).at("/results/0/event").clone();
    let [consumer_reader, owner_reader] = vault.readers.each_ref().map(String::as_str);
    for (path, key, code) in [
        (&of_consumer, CONSUMER, "not_owner"),
        (&of_consumer, consumer_reader, "read_only_key"),
        (&of_owner, owner_reader, "read_only_key"),
        (&of_owner, DEPENDENT, "not_found"),
    ] {
        let answer = vault.get(path, key);
        assert_eq!(*answer.at("/code"), code, "{path} {key}: {answer:?}");
    }
    assert_ne!(log(), "SECRETS_READ");
    assert_eq!(vault.revealed()["password"], CANARY);
    let entry = vault.get(RECORDS, OWNER).at("/results/0").clone();
    assert_eq!(entry["event"], "SECRETS_READ");
    assert_eq!(entry["change_instance"], json!({"id": id.parse::<u64>().unwrap(), "service_item": "v"}));
    vault.complete();
    assert_eq!(*vault.get(&of_owner, OWNER).at("/code"), "no_secrets_now");
}

/// Returns the paths of a route: with each id of its list that a key reads.
fn paths(vault: &Vault, route: &Route, key: &str) -> Vec<String> {
    let sides = if route.path.contains("{pov}") { &Side::ALL[..] } else { &[Side::Consumer] };
    let of_role = sides.iter().map(|side| route.path.replace("{pov}", side.name()));
    let with_ids = |path: String| {
        let Some((list, rest)) = path.split_once("/{id}") else { return vec![format!("{path}/")] };
        let results = vault.get(&format!("{list}/?limit=100"), key);
        let ids =
            results.body["results"].as_array().into_iter().flatten().filter_map(|row| row["id"].as_u64());
        ids.map(|id| format!("{list}/{id}{rest}/")).collect()
    };
    of_role.flat_map(with_ids).collect()
}

#[test]
fn r58_no_other_response_has_a_secret() {
    let vault = Vault::new();
    let submission = vault.declared(&item(1, CANARY));
    vault.complete();
    vault.declared(&item(2, SECOND));
    vault.declare(VALIDATE, &item(3, "canary3"));
    let id = submission.at("/id").as_u64().unwrap();
    let (as_of, to) = (format!("as_of={id}"), format!("to={}", id + 1));
    let parameters = ["", "proposal=true", "document=true", &as_of, &to];
    let mut seen = BTreeSet::new();
    let readers = vault.readers.iter().map(String::as_str);
    for key in [CONSUMER, OWNER, DEPENDENT, STRANGER].into_iter().chain(readers) {
        for route in ROUTES.iter().filter(|route| route.methods.contains(&"GET")) {
            for path in paths(&vault, route, key) {
                let known = Operation::find("GET", &path).unwrap();
                let is_known = |parameter: &&&str| {
                    let mut names = known.parameters.iter().map(|known| known["name"].as_str().unwrap());
                    parameter.is_empty() || names.any(|name| parameter.split('=').next() == Some(name))
                };
                for parameters in parameters.iter().filter(is_known) {
                    let answer = vault.get(&format!("{path}?{parameters}"), key);
                    let body = answer.body.to_string();
                    assert!(!body.contains("canary"), "{key} {path}?{parameters}: {answer:?}");
                    if answer.status == 200 && body.contains("secret:") {
                        seen.insert(route.path);
                    }
                }
            }
        }
    }
    let masked: Vec<&str> = seen.into_iter().collect();
    expect_test::expect![[r#"
        [
            "/v1/orcabase/consumer/declaration",
            "/v1/orcabase/consumer/submissions/{id}",
            "/v1/orcabase/{pov}/applications/{id}",
            "/v1/orcabase/{pov}/change_instances",
            "/v1/orcabase/{pov}/change_instances/dependant",
            "/v1/orcabase/{pov}/change_instances/{id}",
            "/v1/orcabase/{pov}/service_items",
            "/v1/orcabase/{pov}/service_items/dependant",
            "/v1/orcabase/{pov}/service_items/{id}",
        ]
    "#]]
    .assert_debug_eq(&masked);
    // A filter compares with the mask, so it finds no secret.
    for filter in ["declaration_contains=canary", "declaration_regex=canary"] {
        for list in ["change_instances", "service_items"] {
            let found = vault.get(&format!("{CORE}/consumer/{list}/?{filter}"), &vault.readers[0]);
            assert_eq!(*found.at("/results"), json!([]), "{list} {filter}");
        }
    }
    vault.system.assert_sound();
}

#[test]
fn r58_no_event_and_no_delivery_has_a_secret() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let made = world.system.call("POST", SERVICES, OWNER, &definition("Vault"));
    assert_eq!(made.status, 201, "{made:?}");
    // The receiver of every message about the service, and a consumer's.
    for state in [Value::Null, json!("PENDING"), json!("APPROVED")] {
        let url = receiver.url("/owner");
        let hook = json!({"target_url": url, "change_instance_state": state, "active": true});
        world.hook(OWNER, "Vault", hook);
    }
    world.hook_of_consumer(CONSUMER, &json!({"target_url": receiver.url("/consumer"), "active": true}));
    world.declare(&json!({"Vault": [item(1, CANARY)]}));
    world.approve(OWNER);
    world.declare(&json!({"Vault": [item(2, SECOND)]}));
    world.deliver();
    let events = world.system.events(0);
    let deliveries = [receiver.of("/owner"), receiver.of("/consumer")].concat();
    assert!(events.len() >= 5 && deliveries.len() >= 3, "{} events, {deliveries:?}", events.len());
    let events = events.iter().map(|event| event.envelope.to_string());
    for text in events.chain(deliveries.iter().map(|delivery| format!("{delivery:?}"))) {
        assert!(!text.contains("canary"), "{text}");
    }
}
