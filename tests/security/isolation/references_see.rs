//! Values of another owner's items: a reference shows what `references_see` says, on no route more (R70, R72, R73).
//!
//! The owner of the referencing items is hostile. Its definitions try every way to a value of the other owner.

use super::trespass::guarded;
use dovetail_http::Access;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::Running;
use support::contract::Operation;

const SERVICES: &str = "/v1/orcabase/serviceowner/services/";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";

/// The keys of the consumer, of the owner of the referenced items, and of the hostile owner.
const CONSUMER: &str = "awesome-key";
const OWNER: &str = "vm-owner-key";
const HOSTILE: &str = "lb-owner-key";

/// The marks of a declared value, of a secret and of a deployed value.
const NOTE: &str = "vault-note";
const SECRET: &str = "vault-secret";
const ADDRESS: &str = "vault-address";

/// The texts of derived values with which the hostile owner tries to read.
const EXPRESSIONS: &[&str] = &[
    "{to.note}",
    "{to.password}",
    "{to.*}",
    "{to.*.note}",
    "{all.*.note}",
    "{all.*.password}",
    "{to.at.team} {to.at.name}",
    "{to.title}",
    "{to.deployed_item.address}",
    "{to.old_declaration.note}",
    "{at.declaration}",
    "{{to.note}}",
];

/// Publishes the services, and declares an item of the owner, and one of each hostile service that refers to it. Returns
/// the number of hostile services.
fn declare(system: &Running, note: &str) -> usize {
    let text = json!({"type": "string"});
    let vault = json!({"title": "Vault", "type": "object", "required": ["name"], "properties": {
        "name": text, "note": text, "password": {"type": "string", "writeOnly": true},
        "title": {"type": "string", "readOnly": true, "x-derived": "{note}"}}});
    let answer = system.call("POST", SERVICES, OWNER, &vault);
    assert!([200, 201, 400].contains(&answer.status), "{answer:?}");
    let mut services = json!({"Vault": [{"name": "v", "note": note, "password": SECRET}]});
    for (number, expression) in EXPRESSIONS.iter().enumerate() {
        let title = format!("Spy{number}");
        let reference =
            |format: &str, of: &str| json!({"type": of, "format": format, "service_reference": "Vault"});
        let spy = json!({"title": title, "type": "object", "required": ["name"], "properties": {
            "name": text, "to": reference("reference", "string"), "all": reference("reference_list", "array"),
            "stolen": {"type": "string", "readOnly": true, "x-derived": expression}}});
        let answer = system.call("POST", SERVICES, HOSTILE, &spy);
        if [200, 201].contains(&answer.status) {
            services[title] = json!([{"name": "s", "to": "v", "all": ["v"]}]);
        }
    }
    let body = json!({"AwesomeConsumer": {"Shop": {"services": services}}});
    let path = "/v1/orcabase/consumer/submissions/submit/";
    assert_eq!(system.call("PATCH", path, CONSUMER, &body).status, 201);
    system.wait_idle();
    services.as_object().unwrap().len() - 1
}

/// Sets what references to the owner's items show.
fn see(system: &Running, word: &str) {
    let listed = system.get(&format!("{SERVICES}?name=Vault"), OWNER);
    let path = format!("{SERVICES}{}/", listed.at("/results/0/id"));
    system.expect(200, "PATCH", &path, OWNER, &json!({"references_see": word}));
}

/// Completes the open change instances of a team.
fn complete(system: &Running, key: &str, deployed: &Value) {
    for state in ["APPROVED", "COMPLETED"] {
        let open = system.get(&format!("{CHANGES}?state=PENDING,APPROVED&limit=100"), key);
        for row in open.at("/results").as_array().unwrap() {
            let mut body = json!({"state": state});
            if state == "COMPLETED" && !deployed.is_null() {
                body["deployed_item"] = deployed.clone();
            }
            system.expect(200, "PATCH", &format!("{CHANGES}{}/", row["id"]), key, &body);
        }
    }
    system.wait_idle();
}

/// Returns the ids of all objects that the consumer can read, and those of the services.
fn ids(system: &Running) -> BTreeSet<u64> {
    let lists =
        ["service_items", "change_instances", "submissions", "applications", "services", "deployed_items"];
    let lists = lists.iter().map(|list| format!("/v1/orcabase/consumer/{list}/?limit=100"));
    let rows = lists.flat_map(|path| {
        let list = system.get(&path, CONSUMER).expect_status(200);
        list.at("/results").as_array().unwrap().clone()
    });
    rows.map(|row| row["id"].as_u64().unwrap()).collect()
}

/// Returns whether an operation has the parameters of a query.
fn knows(path: &str, query: &str) -> bool {
    let operation = Operation::find("GET", path);
    let has = |name: &str| {
        let mut parameters = operation.into_iter().flat_map(|operation| &operation.parameters);
        parameters.any(|parameter| parameter["in"] == "query" && parameter["name"] == name)
    };
    let pairs = query.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty());
    pairs.filter_map(|pair| pair.split_once('=')).all(|(name, _)| has(name))
}

/// Returns what the hostile owner can read: each route, with each id, and with the parameters that show more.
fn read_all(system: &Running) -> String {
    const MORE: [&str; 6] = [
        "",
        "?references=true",
        "?document=true",
        "?references=true&document=true",
        "?declaration_contains=vault-note",
        "?as_of=2100-01-01",
    ];
    let ids = ids(system);
    let (mut seen, mut tried) = (String::new(), 0);
    for route in guarded().filter(|route| route.access == Access::Read && route.methods.contains(&"GET")) {
        for side in ["serviceowner", "consumer"] {
            let path = route.path.replace("{pov}", side);
            let paths: Vec<String> = if path.contains("{id}") {
                ids.iter().map(|id| format!("{}/", path.replace("{id}", &id.to_string()))).collect()
            } else {
                vec![format!("{path}/")]
            };
            for (path, more) in paths.iter().flat_map(|path| MORE.map(|more| (path, more))) {
                if !knows(path, more) {
                    continue;
                }
                let answer = system.get(&format!("{path}{more}"), HOSTILE);
                assert!([200, 400, 403, 404].contains(&answer.status), "{path}{more}: {answer:?}");
                // The parameter itself comes from the caller.
                seen.push_str(&answer.body.to_string().replace("declaration_contains=vault-note", ""));
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried}");
    seen
}

/// Returns which of the marks the hostile owner can read: of the declared, the deployed and the secret value.
fn marks(system: &Running) -> [bool; 3] {
    let seen = read_all(system);
    [NOTE, ADDRESS, SECRET].map(|mark| seen.contains(mark))
}

#[test]
fn no_route_shows_more_of_another_owners_item_than_its_service_says() {
    let system = Running::demo();
    assert!(declare(&system, NOTE) > 4, "most of the hostile definitions are valid");
    complete(&system, OWNER, &json!({"address": ADDRESS}));
    complete(&system, HOSTILE, &Value::Null);
    // A modification gives the hostile owner referenced change instances with a cause.
    declare(&system, &format!("{NOTE}-2"));
    assert_eq!(marks(&system), [false, false, false], "the default shows names and states");
    see(&system, "DEPLOYED");
    assert_eq!(marks(&system), [false, true, false]);
    see(&system, "ALL");
    assert_eq!(marks(&system), [true, true, false]);
    see(&system, "STATE");
    assert_eq!(marks(&system), [false, false, false], "a narrower setting holds at once");
    system.assert_sound();
}
