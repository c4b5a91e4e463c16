//! A repeated completion: it succeeds, says what became of the deployed item, and can be made conditional.

use crate::api::demo::declared;
use serde_json::json;
use support::{Answer, Running};

const OWNER: &str = "vm-owner-key";

/// Returns a system with an approved change instance, and its path.
fn approved() -> (Running, String) {
    let system = Running::demo();
    let path = declared(&system);
    system.expect(200, "PATCH", &path, OWNER, &json!({"state": "APPROVED"}));
    (system, path)
}

fn complete(system: &Running, path: &str, ip: &str, tag: Option<&str>) -> Answer {
    let headers: Vec<_> = tag.map(|tag| ("if-match", tag)).into_iter().collect();
    let body = json!({"state": "COMPLETED", "deployed_item": {"ip": ip}});
    system.call_with(&headers, "PATCH", path, OWNER, &body)
}

#[test]
fn a_repeated_completion_says_what_became_of_its_deployed_item() {
    let (system, path) = approved();
    let first = complete(&system, &path, "10.0.0.1", None);
    assert_eq!((first.status, first.body.get("warnings")), (200, None), "{first:?}");
    for (ip, stored) in [
        ("10.0.0.2", "the deployed item is stored as version 2"),
        ("10.0.0.2", "the deployed item is the newest version already"),
    ] {
        let again = complete(&system, &path, ip, None);
        assert_eq!(again.status, 200, "{again:?}");
        let warning = again.at("/warnings/0").as_str().unwrap();
        assert!(warning.starts_with("was already COMPLETED by VMOwnerTeam-1 (Api Key) at 20"), "{warning}");
        assert!(warning.ends_with(stored), "{warning}");
    }
    assert_eq!(system.get(&path, OWNER).body.get("warnings"), None);
}

#[test]
fn a_decision_with_a_tag_is_for_the_state_that_was_read() {
    let (system, path) = approved();
    let tag = |answer: &Answer| answer.header("etag").unwrap().to_owned();
    let read = tag(&system.get(&path, OWNER));
    let first = complete(&system, &path, "10.0.0.1", Some(&read));
    assert_eq!(first.status, 200, "{first:?}");
    // Both a history entry and a deployed item change the tag.
    for ip in ["10.0.0.2", "10.0.0.3"] {
        let late = complete(&system, &path, ip, Some(&read));
        assert_eq!(late.code(), (412, "changed_meanwhile"), "{late:?}");
        let present = tag(&system.get(&path, OWNER));
        let again = complete(&system, &path, ip, Some(&present));
        assert_eq!(again.status, 200, "{again:?}");
        assert_ne!(tag(&again), present);
    }
    assert_eq!(complete(&system, &path, "10.0.0.3", Some(&tag(&first))).status, 412);
    system.assert_sound();
}
