//! Secrets: masks in place of declared values at `writeOnly` paths (R58).

use crate::world::{VM_OWNER, team};
use domain::base::problem::Problem;
use domain::catalog::schema;
use domain::catalog::schema::{Budget, Part, publish};
use domain::model::declaration::{self, DECLARATION_BYTES_MAX, DeclaredItem};
use domain::model::secrets::{MaskKey, SecretOwner, Secrets, is_mask};
use domain::rules::secrets;
use serde_json::{Map, Value, json};

fn definition() -> Value {
    json!({"title": "Vault", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "password": {"writeOnly": true}, "pin": {"writeOnly": true},
        "users": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"}, "token": {"type": "string", "writeOnly": true}}}},
        "tags": {"type": "object", "additionalProperties": {"type": "string", "writeOnly": true}}}})
}

fn paths() -> Part {
    schema::decision_forms(definition().to_string().as_bytes()).unwrap().paths
}

fn owner() -> SecretOwner {
    let [application, service, item] = ["App", "Vault", "v"].map(str::to_owned);
    SecretOwner { team: team(VM_OWNER).id, application, service, item }
}

/// Returns a declared item with these members.
fn declared(members: &Value) -> DeclaredItem {
    let mut body = json!({"name": "v"});
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let document = json!({"Consumer": {"App": {"services": {"Vault": [body]}}}});
    let declaration = declaration::parse(document.to_string().as_bytes()).unwrap();
    declaration.applications[0].items[0].clone()
}

/// Returns the item with masks, and the pointers of unknown ones.
fn masked(members: &Value, key: &[u8], stored: &[&Secrets]) -> (DeclaredItem, Vec<String>) {
    let (item, problems) = checked(members, key, stored);
    assert!(problems.iter().all(|problem| problem.rule == "unknown_secret"));
    (item, problems.into_iter().map(|problem| problem.pointer).collect())
}

fn checked(members: &Value, key: &[u8], stored: &[&Secrets]) -> (DeclaredItem, Vec<Problem>) {
    let mut item = declared(members);
    let masked = secrets::mask(&mut item, &paths(), &MaskKey::new(key), (&owner(), "Consumer"), stored);
    (item, masked.err().unwrap_or_default())
}

fn stored(item: &DeclaredItem) -> Value {
    serde_json::from_str(&item.canonical).unwrap()
}

#[test]
fn r58_masks_replace_secrets_of_any_type_at_any_path() {
    let members = json!({"password": "one", "pin": {"code": [1, 2]}, "users": [{"name": "a", "token": "t"}],
        "tags": {"x": "one"}});
    let (item, unknown) = masked(&members, b"key", &[]);
    assert_eq!(unknown, Vec::<String>::new());
    let stored = stored(&item);
    for pointer in ["/password", "/pin", "/users/0/token", "/tags/x"] {
        assert!(is_mask(stored.pointer(pointer).unwrap().as_str().unwrap()), "{pointer}: {stored}");
    }
    assert_eq!(stored["tags"]["x"], stored["password"], "equal secrets have equal masks");
    assert_eq!(stored["users"][0]["name"], "a");
    assert_eq!(item.body, declared(&members).body, "the definition checks the secrets");
    assert_eq!(*item.secrets.revealed(&stored).unwrap(), item.body);
    assert!(!item.canonical.contains("one"), "{}", item.canonical);
}

#[test]
fn r58_a_declared_mask_means_the_stored_secret() {
    let (first, _) = masked(&json!({"password": "one", "pin": 1}), b"key", &[]);
    let mut again = stored(&first);
    again["users"] = json!([{"name": "a", "token": "new"}]);
    let (second, unknown) = masked(&again, b"key", &[&first.secrets]);
    assert_eq!(unknown, Vec::<String>::new());
    assert_eq!((&second.body["password"], &second.body["pin"]), (&json!("one"), &json!(1)));
    assert_eq!(stored(&second)["password"], stored(&first)["password"]);
    // A mask means nothing without its stored secret.
    let unknown = |stored: &[&Secrets]| masked(&again, b"key", stored).1;
    assert_eq!(
        unknown(&[]),
        ["/Consumer/App/services/Vault/0/password", "/Consumer/App/services/Vault/0/pin"]
    );
    assert_eq!(unknown(&[&second.secrets]), Vec::<String>::new());
}

#[test]
fn r58_an_unchanged_secret_keeps_its_mask_under_another_key() {
    let (first, _) = masked(&json!({"password": "one"}), b"key", &[]);
    let (other, _) = masked(&json!({"password": "one"}), b"another", &[]);
    assert_ne!(first.hash, other.hash);
    let (same, _) = masked(&json!({"password": "one"}), b"another", &[&first.secrets]);
    assert_eq!((same.hash, &same.secrets), (first.hash, &first.secrets));
}

#[test]
fn r58_an_item_is_within_the_limit_with_its_masks_and_with_its_secrets() {
    let (large, _) = masked(&json!({"password": "x".repeat(100_000)}), b"key", &[]);
    let mask = stored(&large)["password"].clone();
    let tags = |count: u64, value: &dyn Fn(u64) -> Value| -> Value {
        json!({"tags": (0..count).map(|tag| (tag.to_string(), value(tag))).collect::<Map<_, _>>()})
    };
    let (same, short) = (|_| mask.clone(), |tag: u64| json!(tag.to_string()));
    let at_ordinary_paths = json!({"password": mask, "notes": vec![&mask; 3_000]});
    let table = [
        ("one mask for one secret", tags(1, &same), None),
        ("many masks for one secret", tags(3_000, &same), Some("too_large")),
        ("many masks for it at ordinary paths", at_ordinary_paths, Some("too_large")),
        ("masks of short secrets", tags(3_000, &short), None),
        ("many masks of short secrets", tags(4_000, &short), Some("too_large")),
    ];
    for (case, members, refused) in table {
        let (item, problems) = checked(&members, b"key", &[&large.secrets]);
        let found: Vec<_> = problems.iter().map(|problem| (problem.rule, problem.pointer.as_str())).collect();
        let at_item = "/Consumer/App/services/Vault/0";
        assert_eq!(found, refused.map(|rule| (rule, at_item)).into_iter().collect::<Vec<_>>(), "{case}");
        assert!(refused.is_some() || item.canonical.len() <= DECLARATION_BYTES_MAX, "{case}");
    }
}

#[test]
fn r58_a_problem_above_a_secret_shows_it_in_no_form() {
    let (item, _) = masked(&json!({"password": "a\"b", "pin": {"code": 7_777}}), b"key", &[]);
    let at = |pointer: &str, message: &str| Problem {
        pointer: pointer.to_owned(),
        path: Vec::new(),
        rule: "schema",
        message: message.to_owned(),
        change: None,
    };
    let mut problems = [
        at("", r#"{"password":"a\"b"} is not allowed"#),
        at("", r#"must not contain a"b"#),
        at("/pin/code", "7777 is too large"),
        at("", "must have a size"),
        at("/passwords", "must be absent"),
    ];
    secrets::hide(&mut problems, &stored(&item), &item.secrets);
    let hidden: Vec<bool> = problems.iter().map(|problem| problem.message.contains("is a secret")).collect();
    assert_eq!(hidden, [true, true, true, false, false]);
}

#[test]
fn r58_no_problem_has_a_secret() {
    let mut definition = definition();
    definition["properties"]["password"] = json!({"type": "object", "writeOnly": true, "additionalProperties": false,
        "properties": {"code": {"type": "integer", "maximum": 3}}});
    definition["properties"]["pin"] = json!({"enum": [1, 2], "writeOnly": true});
    definition["maxProperties"] = json!(3);
    let schema = publish(definition.to_string().as_bytes()).unwrap();
    let body = json!({"name": "v", "password": {"canary": 1, "code": 7_777}, "pin": 7_777,
        "users": [{"token": "canary"}, {"token": 7_777}]});
    let problems = schema.problems(&body, &mut Budget::of_request());
    let texts: Vec<String> =
        problems.iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect();
    assert!(texts.iter().all(|text| !text.contains("canary") && !text.contains("7777")), "{texts:#?}");
    let mut pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    pointers.sort_unstable();
    pointers.dedup();
    assert_eq!(pointers, ["", "/password", "/pin", "/users/1/token"]);
}
