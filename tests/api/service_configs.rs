//! Configs of a service: their writers, their readers and the number of stored versions.

use crate::api::demo::SERVICES;
use domain::catalog::config::{CONFIG_BYTES_MAX, CONFIGS_MAX};
use serde_json::{Value, json};
use std::thread;
use support::{Answer, Running};

const CONFIGS: &str = "/v1/orcabase/serviceowner/service_configs/";

fn keep(system: &Running, key: &str, service: &Value, config: &Value) -> Answer {
    system.call("POST", CONFIGS, key, &json!({"service": service, "config": config}))
}

fn versions(answer: &Answer) -> Vec<u64> {
    answer.rows().iter().map(|row| row["version"].as_u64().unwrap()).collect()
}

#[test]
fn a_config_has_versions_that_never_change_and_are_its_owners_alone() {
    let system = Running::demo();
    let url = system.get(&format!("{SERVICES}1/"), "vm-owner-key").at("/url").clone();
    let first = keep(&system, "vm-owner-key", &json!(1), &json!({"ip": "10.0.0.1"}));
    let second = keep(&system, "vm-owner-key", &url, &json!({}));
    let other = keep(&system, "lb-owner-key", &json!(2), &json!({"ip": "10.0.0.2"}));
    for (answer, service, version) in [(&first, 1, 1), (&second, 1, 2), (&other, 2, 1)] {
        answer.assert_is(201, &json!({"/service": service, "/version": version}));
    }
    let list = |query: &str, key: &str| system.get(&format!("{CONFIGS}?{query}"), key);
    assert_eq!(versions(&list("service_id=1&limit=1&ordering=-version", "vm-owner-key")), [2]);
    assert_eq!(versions(&list("", "vm-owner-key")), [1, 2]);
    assert_eq!(versions(&list("ordering=-version", "vm-owner-key")), [2, 1]);
    assert_eq!(versions(&list("service_id=2", "vm-owner-key")), [0_u64; 0]);
    assert_eq!(versions(&list("service_id=1,2", "vm-owner-key")), [1, 2]);
    assert_eq!(versions(&list("service_id=1", "awesome-key")), [0_u64; 0]);
    assert_eq!(list("service=1", "vm-owner-key").status, 400);
    let path = first.at("/url").as_str().unwrap();
    assert_eq!(system.get(path, "vm-owner-key").body, first.body);
    for key in ["lb-owner-key", "awesome-key"] {
        assert_eq!(system.get(path, key).code(), (404, "not_found"), "{key}");
    }
    for method in ["PATCH", "PUT", "DELETE"] {
        assert_eq!(system.call(method, path, "vm-owner-key", &json!({})).status, 405, "{method}");
    }
    // One response lists both fields. A service of another team is as invalid as an unknown one.
    let wrong = keep(&system, "lb-owner-key", &json!(1), &json!([]));
    assert_eq!(wrong.code(), (400, "invalid_field"));
    assert!(wrong.at("/service").is_array() && wrong.at("/config").is_array(), "{wrong:?}");
    let large = json!({"x": "x".repeat(CONFIG_BYTES_MAX)});
    assert_eq!(keep(&system, "vm-owner-key", &json!(1), &large).code(), (400, "invalid_field"));
    system.assert_sound();
}

#[test]
fn the_newest_hundred_versions_stay_and_each_number_is_used_once() {
    let system = Running::demo();
    let configs_max = usize::try_from(CONFIGS_MAX).unwrap();
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
    let actual = system.get(&list, "vm-owner-key");
    assert_eq!(actual.at("/count"), &json!(configs_max));
    assert_eq!(versions(&actual), (6..=105).rev().collect::<Vec<u64>>());
    let first = (1_u64 << 20) | 1;
    assert_eq!(system.get(&format!("{CONFIGS}{first}/"), "vm-owner-key").code(), (404, "not_found"));
    system.assert_sound();
}
