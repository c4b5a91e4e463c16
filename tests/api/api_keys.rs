//! API keys: creation, rotation and revocation, and refused fields.

use crate::security::keys::{ADMIN, KEYS, RECORDS, TEAMS, made, system, text};
use domain::Timestamp;
use domain::base::actor::Role;
use dovetail_http::key_hash;
use serde_json::{Value, json};

#[test]
fn a_key_is_returned_once_works_in_its_role_is_rotated_and_is_revoked() {
    let system = system();
    let first = made(&system, ADMIN, "pipeline", Role::General);
    let (id, secret) = (first.at("/id"), text(first.at("/key")));
    assert_eq!(system.get(TEAMS, secret).status, 200);

    // Only the creation returns the secret. No later read may contain it or its hash.
    for path in [KEYS.to_owned(), format!("{KEYS}{id}/"), RECORDS.to_owned()] {
        let answer = system.get(&path, ADMIN);
        assert_eq!(answer.status, 200, "{answer:?}");
        let body = answer.body.to_string();
        assert!(body.contains("pipeline") && !body.contains(secret) && !body.contains(&key_hash(secret)));
    }

    let rotate = format!("{KEYS}{id}/rotate/");
    let second = system.call("POST", &rotate, ADMIN, &json!({"overlap_seconds": 3600}));
    second.assert_is(201, &json!({"/name": "pipeline", "/role": "GENERAL"}));
    let old = system.get(&format!("{KEYS}{id}/"), ADMIN);
    assert_eq!(old.at("/successor"), second.at("/id"));
    let end = Timestamp::parse(text(old.at("/expires"))).unwrap().micros();
    let made_at = Timestamp::parse(text(second.at("/created"))).unwrap().micros();
    assert_eq!(end - made_at, 3_600_000_000);
    assert_eq!(system.get(TEAMS, secret).status, 200);

    let rotate = format!("{}rotate/", text(second.at("/url")));
    let third = system.expect(201, "POST", &rotate, ADMIN, &json!({"overlap_seconds": 0}));
    assert_eq!(system.get(TEAMS, text(second.at("/key"))).status, 401);
    assert_eq!(system.get(TEAMS, text(third.at("/key"))).status, 200);

    let gone = system.call("DELETE", &format!("{KEYS}{id}/"), ADMIN, &Value::Null);
    assert_eq!((gone.status, &gone.body), (204, &Value::Null));
    let gone = system.call("DELETE", &format!("{KEYS}{id}/"), ADMIN, &Value::Null);
    assert_eq!(gone.code(), (404, "not_found"));
}

#[test]
fn a_bad_key_is_refused_with_its_field() {
    let system = system();
    let rotate = format!("{KEYS}{}/rotate/", made(&system, ADMIN, "old", Role::General).at("/id"));
    for (path, body, pointer) in [
        (KEYS, json!({"role": "ADMIN"}), "/name"),
        (KEYS, json!({"name": 5, "role": "ADMIN"}), "/name"),
        (KEYS, json!({"name": " x", "role": "ADMIN"}), "/name"),
        (KEYS, json!({"name": "x".repeat(129), "role": "ADMIN"}), "/name"),
        (KEYS, json!({"name": "x"}), "/role"),
        (KEYS, json!({"name": "x", "role": "admin"}), "/role"),
        (KEYS, json!({"name": "x", "role": "ADMIN", "expires": "2001-01-01"}), "/expires"),
        (KEYS, json!({"name": "x", "role": "ADMIN", "expires": 5}), "/expires"),
        (&rotate, json!({"overlap_seconds": -1}), "/overlap_seconds"),
        (&rotate, json!({"overlap_seconds": 2_592_001}), "/overlap_seconds"),
        (&rotate, json!({"expires": "yesterday"}), "/expires"),
    ] {
        let answer = system.call("POST", path, ADMIN, &body);
        assert_eq!((answer.status, answer.at("/pointer")), (400, &json!(pointer)), "{body}: {answer:?}");
    }
}
