//! Documentation of a service: its writers and its readers.

use crate::api::demo::{CONSUMER, OWNER, RECORDS};
use domain::catalog::docs::DOCS_BYTES_MAX;
use serde_json::json;
use support::{Answer, ApiRequest, Running, multipart};

fn upload(system: &Running, key: &str, service: u64, field: &str, content: &[u8]) -> Answer {
    let (header, body) = multipart(field, content);
    let path = format!("{OWNER}/services/{service}/docs/");
    system.send(&ApiRequest { method: "POST", path: &path, key: Some(key), headers: &[header], body })
}

#[test]
fn documentation_is_stored_named_by_the_service_and_read_by_its_readers() {
    let system = Running::demo();
    let has_md = || system.get(&format!("{CONSUMER}/services/1/"), "awesome-key").at("/has_md").clone();
    let read = |side: &str, key| system.get(&format!("{side}/services/1/docs/"), key);
    assert_eq!((has_md(), read(CONSUMER, "awesome-key").code()), (json!(false), (404, "not_found")));
    for (status, text) in
        [(201, "# VM\n\nA machine. \u{1f5a5}\r\n--b0undar\n"), (200, "# VM, anew"), (200, "# VM, anew")]
    {
        let answer = upload(&system, "vm-owner-key", 1, "md_file", text.as_bytes());
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(has_md(), json!(true));
        for (side, key) in [(CONSUMER, "awesome-key"), (OWNER, "vm-owner-key"), (CONSUMER, "lb-owner-key")] {
            let docs = read(side, key);
            assert_eq!((docs.at("/md_file"), docs.at("/name")), (&json!(text), &json!("VM.md")), "{docs:?}");
            assert_eq!(docs.body, answer.body);
        }
    }
    // Only the owner writes documentation. Only teams with access to the service read it.
    let stranger = upload(&system, "lb-owner-key", 1, "md_file", b"# stolen");
    assert_eq!(stranger.code(), (403, "foreign_service"));
    assert_eq!(upload(&system, "vm-owner-key", 99, "md_file", b"#").code(), (404, "not_found"));
    let decommissioned = json!({"state": "DECOMMISSIONED"});
    let set = system.call("PATCH", &format!("{OWNER}/services/1/"), "vm-owner-key", &decommissioned);
    set.assert_is(200, &json!({"/has_md": true}));
    assert_eq!(read(CONSUMER, "awesome-key").code(), (404, "not_found"));
    assert_eq!(read(OWNER, "vm-owner-key").status, 200);
    let records = system.get(RECORDS, "vm-owner-key");
    let events = records.rows().iter().map(|record| record["event"].clone());
    assert_eq!(events.filter(|event| *event == "SERVICE_DOCUMENTED").count(), 3);
    system.assert_sound();
}

#[test]
fn an_upload_must_be_text() {
    let system = Running::demo();
    let key = "vm-owner-key";
    let most = "x".repeat(DOCS_BYTES_MAX);
    for (field, content) in [
        ("md_file", &b"\xff\xfe"[..]),
        ("md_file", b" \n"),
        ("md_file", format!("{most}x").as_bytes()),
        ("readme", b"# VM"),
    ] {
        let answer = upload(&system, key, 1, field, content);
        assert_eq!((answer.code(), answer.at("/pointer")), ((400, "invalid_field"), &json!("/md_file")));
    }
    let path = format!("{OWNER}/services/1/docs/");
    let (header, whole) = multipart("md_file", b"# VM");
    let bare = ("content-type", "multipart/form-data");
    for (header, body) in [
        (header, whole[..whole.len() - 20].to_vec()),
        (header, b"# VM".to_vec()),
        (header, Vec::new()),
        (bare, whole.clone()),
        (("content-type", "text/markdown"), b"# VM".to_vec()),
    ] {
        let request = ApiRequest { method: "POST", path: &path, key: Some(key), headers: &[header], body };
        let answer = system.send(&request);
        assert_eq!(answer.code(), (400, "invalid_body"), "{answer:?}");
    }
    assert_eq!(system.get(&path, key).code(), (404, "not_found"));
    assert_eq!(upload(&system, key, 1, "md_file", most.as_bytes()).status, 201);
    system.assert_sound();
}
