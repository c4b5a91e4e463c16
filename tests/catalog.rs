//! Documentation and configs of a service: their writers, their readers and the number of stored versions.
#![cfg(test)]

use domain::catalog::config::{CONFIG_BYTES_MAX, CONFIGS_KEPT};
use domain::catalog::docs::DOCS_BYTES_MAX;
use serde_json::{Value, json};
use std::thread;
use support::{Answer, Ask, Running, multipart};

const OWNER: &str = "/v1/orcabase/serviceowner";
const CONSUMER: &str = "/v1/orcabase/consumer";
const CONFIGS: &str = "/v1/orcabase/serviceowner/service_configs/";

fn upload(system: &Running, key: &str, service: u64, field: &str, content: &[u8]) -> Answer {
    let (header, body) = multipart(field, content);
    let path = format!("{OWNER}/services/{service}/docs/");
    system.send(&Ask { method: "POST", path: &path, key: Some(key), headers: &[header], body })
}

fn code(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.at("/code").as_str().unwrap_or_default())
}

#[test]
fn documentation_is_stored_told_on_the_service_and_read_by_those_who_find_it() {
    let system = Running::demo();
    let has_md = || system.get(&format!("{CONSUMER}/services/1/"), "awesome-key").at("/has_md").clone();
    let read = |pov: &str, key| system.get(&format!("{pov}/services/1/docs/"), key);
    assert_eq!((has_md(), code(&read(CONSUMER, "awesome-key"))), (json!(false), (404, "not_found")));
    for (status, text) in
        [(201, "# VM\n\nA machine. \u{1f5a5}\r\n--b0undar\n"), (200, "# VM, anew"), (200, "# VM, anew")]
    {
        let answer = upload(&system, "vm-owner-key", 1, "md_file", text.as_bytes());
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(has_md(), json!(true));
        for (pov, key) in [(CONSUMER, "awesome-key"), (OWNER, "vm-owner-key"), (CONSUMER, "lb-owner-key")] {
            let docs = read(pov, key);
            assert_eq!((docs.at("/md_file"), docs.at("/name")), (&json!(text), &json!("VM.md")), "{docs:?}");
            assert_eq!(docs.body, answer.body);
        }
    }
    // Only the owner writes documentation. Only teams with access to the service read it.
    let stranger = upload(&system, "lb-owner-key", 1, "md_file", b"# stolen");
    assert_eq!(code(&stranger), (403, "foreign_service"));
    assert_eq!(code(&upload(&system, "vm-owner-key", 99, "md_file", b"#")), (404, "not_found"));
    let decommissioned = json!({"state": "DECOMMISSIONED"});
    let set = system.call("PATCH", &format!("{OWNER}/services/1/"), "vm-owner-key", &decommissioned);
    assert_eq!((set.status, set.at("/has_md")), (200, &json!(true)));
    assert_eq!(code(&read(CONSUMER, "awesome-key")), (404, "not_found"));
    assert_eq!(read(OWNER, "vm-owner-key").status, 200);
    let records = system.get("/v1/account/records/", "vm-owner-key");
    let events = records.at("/results").as_array().unwrap().iter().map(|record| record["event"].clone());
    assert_eq!(events.filter(|event| *event == "SERVICE_DOCUMENTED").count(), 3);
    system.assert_sound();
}

#[test]
fn an_upload_that_is_no_text_is_refused() {
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
        assert_eq!((code(&answer), answer.at("/pointer")), ((400, "invalid_field"), &json!("/md_file")));
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
        let ask = Ask { method: "POST", path: &path, key: Some(key), headers: &[header], body };
        let answer = system.send(&ask);
        assert_eq!(code(&answer), (400, "invalid_body"), "{answer:?}");
    }
    assert_eq!(code(&system.get(&path, key)), (404, "not_found"));
    assert_eq!(upload(&system, key, 1, "md_file", most.as_bytes()).status, 201);
    system.assert_sound();
}

fn keep(system: &Running, key: &str, service: &Value, config: &Value) -> Answer {
    system.call("POST", CONFIGS, key, &json!({"service": service, "config": config}))
}

fn versions(answer: &Answer) -> Vec<u64> {
    answer.at("/results").as_array().unwrap().iter().map(|row| row["version"].as_u64().unwrap()).collect()
}

#[test]
fn a_config_has_versions_that_never_change_and_are_its_owners_alone() {
    let system = Running::demo();
    let url = system.get(&format!("{OWNER}/services/1/"), "vm-owner-key").at("/url").clone();
    let first = keep(&system, "vm-owner-key", &json!(1), &json!({"ip": "10.0.0.1"}));
    let second = keep(&system, "vm-owner-key", &url, &json!({}));
    let other = keep(&system, "lb-owner-key", &json!(2), &json!({"ip": "10.0.0.2"}));
    for (answer, service, version) in [(&first, 1, 1), (&second, 1, 2), (&other, 2, 1)] {
        let told = (answer.status, answer.at("/service"), answer.at("/version"));
        assert_eq!(told, (201, &json!(service), &json!(version)), "{answer:?}");
    }
    let list = |query: &str, key: &str| system.get(&format!("{CONFIGS}?{query}"), key);
    assert_eq!(versions(&list("service_id=1&limit=1&ordering=-version", "vm-owner-key")), [2]);
    assert_eq!(versions(&list("", "vm-owner-key")), [1, 2]);
    assert_eq!(versions(&list("ordering=-version", "vm-owner-key")), [2, 1]);
    assert_eq!(versions(&list("service_id=2", "vm-owner-key")), [0_u64; 0]);
    assert_eq!(versions(&list("service_id=1,2", "vm-owner-key")), [1, 2]);
    assert_eq!(versions(&list("service_id=1", "awesome-key")), [0_u64; 0]);
    assert_eq!(code(&list("service=1", "vm-owner-key")).0, 400);
    let path = first.at("/url").as_str().unwrap();
    assert_eq!(system.get(path, "vm-owner-key").body, first.body);
    for key in ["lb-owner-key", "awesome-key"] {
        assert_eq!(code(&system.get(path, key)), (404, "not_found"), "{key}");
    }
    for method in ["PATCH", "PUT", "DELETE"] {
        assert_eq!(system.call(method, path, "vm-owner-key", &json!({})).status, 405, "{method}");
    }
    // One response lists both fields. A service of another team is as invalid as an unknown one.
    let wrong = keep(&system, "lb-owner-key", &json!(1), &json!([]));
    assert_eq!(code(&wrong), (400, "invalid_field"));
    assert!(wrong.at("/service").is_array() && wrong.at("/config").is_array(), "{wrong:?}");
    let large = json!({"x": "x".repeat(CONFIG_BYTES_MAX)});
    assert_eq!(code(&keep(&system, "vm-owner-key", &json!(1), &large)), (400, "invalid_field"));
    system.assert_sound();
}

#[test]
fn the_newest_hundred_versions_are_kept_and_each_number_is_given_once() {
    let system = Running::demo();
    let kept = usize::try_from(CONFIGS_KEPT).unwrap();
    // Concurrent uploads race for the next number. A losing upload can get 503, and then the client retries.
    let mut given: Vec<u64> = thread::scope(|scope| {
        let post = |worker: u64| {
            let system = &system;
            scope.spawn(move || {
                let mut given = Vec::new();
                while given.len() < 35 {
                    let answer = keep(system, "vm-owner-key", &json!(1), &json!({"worker": worker}));
                    assert!(matches!(answer.status, 201 | 503), "{answer:?}");
                    given.extend(answer.at("/version").as_u64());
                }
                given
            })
        };
        let workers: Vec<_> = (0..3).map(post).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    given.sort_unstable();
    assert_eq!(given, (1..=105).collect::<Vec<u64>>());
    let list = format!("{CONFIGS}?service_id=1&ordering=-version&limit=100");
    let found = system.get(&list, "vm-owner-key");
    assert_eq!(found.at("/count"), &json!(kept));
    assert_eq!(versions(&found), (6..=105).rev().collect::<Vec<u64>>());
    let first = (1_u64 << 20) | 1;
    assert_eq!(code(&system.get(&format!("{CONFIGS}{first}/"), "vm-owner-key")), (404, "not_found"));
    system.assert_sound();
}
