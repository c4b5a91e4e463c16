//! Operators see the open change instances of every owner: numbers and the oldest one.

use crate::api::demo::{CONSUMER, OWNER, SUBMIT, definition};
use serde_json::{Value, json};
use support::{Answer, Running, assert_values};

const QUEUES: &str = "/v1/platform/queues/";
const OPERATOR: &str = "platform-key";

fn declare(system: &Running, service: &str, names: &[String]) -> Answer {
    let items: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    let body = json!({"AwesomeConsumer": {service: {"services": {service: items}}}});
    let answer = system.expect(201, "PATCH", SUBMIT, "awesome-key", &body);
    system.wait_idle();
    answer
}

/// Returns the rows of all pages.
fn queues(system: &Running, limit: usize) -> Vec<Value> {
    let pages = system.pages(&format!("{QUEUES}?limit={limit}"), OPERATOR);
    let is_bounded = |page: &Answer| page.at("/count").is_null() && page.rows().len() <= limit;
    assert!(pages.iter().all(is_bounded), "no page has a count or over {limit} rows: {pages:?}");
    pages.iter().flat_map(Answer::rows).cloned().collect()
}

#[test]
fn each_owner_has_its_numbers_and_its_oldest_by_state() {
    let system = Running::demo();
    assert_eq!(queues(&system, 20), Vec::<Value>::new());
    let vms = declare(&system, "VM", &["one".to_owned(), "two".to_owned(), "three".to_owned()]);
    let balancer = declare(&system, "LoadBalancer", &["entry".to_owned()]);
    let id = |answer: &Answer, at: usize| answer.at(&format!("/change_instances/{at}/id")).clone();
    let decide = |change: &Value, state: &str| {
        let path = format!("{OWNER}/change_instances/{change}/");
        system.expect(200, "PATCH", &path, "vm-owner-key", &json!({"state": state}));
    };
    decide(&id(&vms, 0), "APPROVED");
    decide(&id(&vms, 1), "REJECTED");
    system.wait_idle();
    let all = queues(&system, 20);
    let names: Vec<&str> = all.iter().map(|row| row["team"]["name"].as_str().unwrap()).collect();
    // The dependent team is an owner too.
    assert_eq!(names, ["VMOwnerTeam", "LBOwnerTeam", "NPOwnerTeam"]);
    let one = |id: &Value| {
        let change = system.get(&format!("{CONSUMER}/change_instances/{id}/"), "awesome-key");
        let oldest = json!({"change_instance": id, "created": change.at("/created")});
        json!({"open": 1, "is_capped": false, "oldest": oldest})
    };
    let none = json!({"open": 0, "is_capped": false, "oldest": null});
    let expected = json!({"PENDING": one(&id(&vms, 2)), "APPROVED": one(&id(&vms, 0)),
        "REJECTED": one(&id(&vms, 1)), "ERRORED": none});
    assert_eq!(all[0]["states"], expected);
    assert_eq!(all[1]["states"]["PENDING"], one(&id(&balancer, 0)));
    for limit in [1, 2, 3] {
        assert_eq!(queues(&system, limit), all, "{limit}");
    }
}

#[test]
fn the_count_stops_at_a_hundred_and_says_so() {
    let system = Running::demo();
    let names: Vec<String> = (0..101).map(|number| format!("vm-{number:03}")).collect();
    let oldest = declare(&system, "VM", &names[..1]);
    declare(&system, "VM", &names[..100]);
    let pending = || queues(&system, 20)[0]["states"]["PENDING"].clone();
    assert_values(&pending(), &json!({"/open": 100, "/is_capped": false}));
    declare(&system, "VM", &names);
    let first = oldest.at("/change_instances/0/id");
    assert_values(&pending(), &json!({"/open": 100, "/is_capped": true, "/oldest/change_instance": first}));
}

#[test]
fn a_page_covers_a_bounded_number_of_teams() {
    let mut teams: Vec<Value> = (0..250).map(|number| json!({"name": format!("Team{number}")})).collect();
    teams.push(json!({"name": "Owner", "api_keys": ["owner-key"]}));
    teams.push(json!({"name": "Consumer", "api_keys": ["consumer-key"]}));
    teams.push(json!({"name": "Platform", "api_keys": [{"key": OPERATOR, "role": "PLATFORM"}]}));
    let world = json!({"teams": teams, "services": [{"owner": "Owner", "schema": definition("VM")}]});
    let system = Running::start(&world.to_string());
    let body = json!({"Consumer": {"App": {"services": {"VM": [{"name": "one"}]}}}});
    system.expect(201, "POST", SUBMIT, "consumer-key", &body);
    let first = system.get(QUEUES, OPERATOR);
    assert!(first.rows().is_empty() && first.at("/next").is_string(), "{first:?}");
    let rows = queues(&system, 20);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["team"], json!({"id": 251, "name": "Owner"}));
}
