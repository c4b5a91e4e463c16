//! A sentence with a submission.

use crate::api::demo::{CONSUMER, OWNER, SUBMIT, VALIDATE, vms};
use serde_json::{Value, json};
use support::{Answer, Running};

const KEY: &str = "awesome-key";

/// Sends a submission with a raw query.
fn submit(system: &Running, query: &str, key: &str, cpu: u64) -> Answer {
    let (path, body) = (format!("{SUBMIT}{query}"), vms(&json!([{"name": "one", "cpu": cpu}])));
    system.call_with(&[("idempotency-key", key)], "POST", &path, KEY, &body)
}

#[test]
fn a_message_is_in_the_submission_and_in_the_creation_of_its_changes() {
    let system = Running::demo();
    let query = "?message=Move%20to%20the%20new%20rack&commit_id=c0ffee";
    let answer = submit(&system, query, "k", 1);
    assert_eq!((answer.status, answer.at("/message")), (201, &json!("Move to the new rack")), "{answer:?}");
    assert_eq!(submit(&system, query, "k", 1).body, answer.body);
    for other in ["?message=Another&commit_id=c0ffee", "?commit_id=c0ffee"] {
        let other = submit(&system, other, "k", 1);
        assert_eq!(other.code(), (422, "idempotency_key_reused"), "{other:?}");
    }
    let id = answer.at("/id").to_string();
    let submissions = format!("{CONSUMER}/submissions/");
    assert_eq!(system.get(&format!("{submissions}{id}/"), KEY).at("/message"), answer.at("/message"));

    let change = format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"));
    for state in ["APPROVED", "ERRORED"] {
        system.expect(200, "PATCH", &change, "vm-owner-key", &json!({"state": state}));
    }
    let messages = |path: &str| -> Vec<Value> {
        let history = system.get(&format!("{path}history/"), "vm-owner-key");
        history.rows().iter().map(|entry| entry["message"].clone()).collect()
    };
    let sentence = json!("Move to the new rack");
    assert_eq!(messages(&change), [Value::Null, Value::Null, sentence.clone()]);
    // A retry continues the same submission.
    let retried = system.call("POST", &format!("{change}retry/"), "vm-owner-key", &Value::Null);
    let retried = format!("{OWNER}/change_instances/{}/", retried.at("/id"));
    assert_eq!(messages(&retried), [sentence]);

    let without = submit(&system, "?message=", "other", 2);
    assert_eq!((without.status, without.at("/message")), (201, &Value::Null));
    let back = format!("{submissions}{id}/revert/?message=Back%20again");
    let back = system.call("POST", &back, KEY, &Value::Null);
    assert_eq!((back.status, back.at("/message")), (201, &json!("Back again")), "{back:?}");
    let listed = system.get(&submissions, KEY);
    let listed: Vec<&Value> = listed.rows().iter().map(|submission| &submission["message"]).collect();
    assert_eq!(listed.len(), 3);
    assert!(listed.contains(&&json!("Back again")) && listed.contains(&&Value::Null));
}

#[test]
fn a_message_has_at_most_500_characters_and_no_control_character() {
    let system = Running::demo();
    let longest = "%C3%A9".repeat(500);
    let refused = [
        (format!("{longest}x"), "must be at most 500 characters"),
        ("two%0Alines".to_owned(), "must not contain control characters"),
        ("%00".to_owned(), "must not contain control characters"),
    ];
    for (message, problem) in refused {
        for path in [SUBMIT, VALIDATE] {
            let answer = system.call("POST", &format!("{path}?message={message}"), KEY, &vms(&json!([])));
            answer.assert_is(400, &json!({"/code": "invalid_filter", "/message": [problem]}));
        }
    }
    let answer = submit(&system, &format!("?message={longest}"), "k", 1);
    assert_eq!((answer.status, answer.at("/message")), (201, &json!("\u{e9}".repeat(500))), "{answer:?}");
}
