//! Numbers of applications (R45): new applications race for the number of an empty one, and a team uses its numbers
//! again and again.

use super::races::request;
use futures_util::future::join;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::{Answer, Running, Settings, send};

const CORE: &str = "/v1/orcabase/consumer";
const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";

/// Number of applications created one after the other.
const ROUNDS: usize = 40;

/// Number of applications from which numbers are used again.
const REUSE_FROM: usize = 3;

fn system() -> Running {
    let system =
        Running::start_with(&without_approval(), Settings { reuse_from: REUSE_FROM, ..Settings::default() });
    for name in ["one", "two", "three"] {
        patch(&system, name, &["vm"]);
        finish(&system);
    }
    system
}

/// Returns the demo world, in which change instances of VMs start in APPROVED.
fn without_approval() -> String {
    let mut world: Value = serde_json::from_str(dovetail_daemon::world::DEMO).unwrap();
    for service in world["services"].as_array_mut().unwrap() {
        service["approval_required"] = json!(false);
    }
    world.to_string()
}

/// Returns a declaration of an application with VMs.
fn application(name: &str, vms: &[&str]) -> Value {
    let items: Vec<Value> = vms.iter().map(|vm| json!({"name": vm, "cpu": 1})).collect();
    json!({"AwesomeConsumer": {name: {"services": {"VM": items}}}})
}

/// Submits one application, and leaves the others alone.
#[track_caller]
fn patch(system: &Running, name: &str, vms: &[&str]) -> Answer {
    let confirmed = format!("{SUBMIT}?allow_removal=true");
    let answer = system.call("PATCH", &confirmed, "awesome-key", &application(name, vms));
    assert_eq!(answer.status, 201, "{answer:?}");
    system.wait_idle();
    answer
}

/// Completes all approved change instances of VMs.
#[track_caller]
fn finish(system: &Running) {
    let listed = system.get(&format!("{CHANGES}?state=APPROVED"), "vm-owner-key");
    for change in listed.at("/results").as_array().unwrap() {
        let path = format!("{CHANGES}{}/", change["id"]);
        let answer = system.call("PATCH", &path, "vm-owner-key", &json!({"state": "COMPLETED"}));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

/// Removes the VMs of an application, and completes that.
fn empty(system: &Running, name: &str) {
    patch(system, name, &[]);
    finish(system);
}

/// Returns the ids of the team's applications by name.
fn ids(system: &Running, filter: &str) -> Vec<(String, u64)> {
    let listed = system.get(&format!("{CORE}/applications/?limit=1000&light=true{filter}"), "awesome-key");
    let rows = listed.at("/results").as_array().unwrap().iter();
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row["id"].as_u64().unwrap())).collect()
}

#[test]
fn a_team_uses_its_numbers_again_and_no_id_twice() {
    let system = system();
    for round in 0..ROUNDS {
        empty(&system, if round == 0 { "two".to_owned() } else { format!("branch{}", round - 1) }.as_str());
        patch(&system, &format!("branch{round}"), &["vm"]);
        finish(&system);
    }
    let (present, retired) = (ids(&system, ""), ids(&system, "&retired=true"));
    assert_eq!((present.len(), retired.len()), (REUSE_FROM, ROUNDS));
    let all: BTreeSet<u64> = present.iter().chain(&retired).map(|(_, id)| *id).collect();
    assert_eq!(all.len(), REUSE_FROM + ROUNDS, "no id exists twice");
    for (name, id) in &retired {
        let read = system.get(&format!("{CORE}/applications/{id}/"), "awesome-key");
        assert_eq!((read.at("/name"), read.at("/retired")), (&json!(name), &json!(true)));
        let items = system.get(&format!("{CORE}/service_items/?application_id={id}"), "awesome-key");
        assert_eq!(items.at("/count"), 1);
        assert_eq!(items.at("/results/0/application/name"), &json!(name));
        assert_eq!(items.at("/results/0/gone"), &json!(true));
    }
    system.assert_sound();
}

#[test]
fn of_two_new_applications_one_takes_the_number() {
    let system = system();
    for round in 0..ROUNDS {
        let name = if round == 0 { "two".to_owned() } else { format!("left{}", round - 1) };
        empty(&system, &name);
        let names = [format!("left{round}"), format!("right{round}")];
        let [left, right] =
            names.map(|name| request("PATCH", SUBMIT, "awesome-key", &application(&name, &["vm"])));
        let both = join(send(&system.base, &left), send(&system.base, &right));
        let (left, right) = system.block_on(both);
        assert_eq!((left.status, right.status), (201, 201), "round {round}");
        system.wait_idle();
        finish(&system);
    }
    let present = ids(&system, "");
    let numbers: BTreeSet<u64> = present.iter().map(|(_, id)| id % 4096).collect();
    assert_eq!((present.len(), numbers.len()), (REUSE_FROM + ROUNDS, REUSE_FROM + ROUNDS));
    assert_eq!(ids(&system, "&retired=true").len(), ROUNDS);
    system.assert_sound();
}

#[test]
fn a_difference_lists_retired_applications_page_by_page() {
    let system = system();
    let from = patch(&system, "two", &["vm", "other"]).at("/id").clone();
    finish(&system);
    empty(&system, "one");
    empty(&system, "two");
    patch(&system, "four", &["vm"]);
    let to = patch(&system, "five", &["vm"]).at("/id").clone();
    let mut path = Some(format!("{CORE}/submissions/{from}/difference/?to={to}&limit=1"));
    let mut differences = Vec::new();
    while let Some(page) = path {
        let answer = system.get(&page, "awesome-key");
        for row in answer.at("/service_items").as_array().unwrap() {
            let text = |pointer| row.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let [change_type, application, name] = ["/change_type", "/application/name", "/name"].map(text);
            differences.push(format!("{change_type} {application}/{name}"));
        }
        path = answer.at("/next").as_str().map(str::to_owned);
    }
    let expected = ["CREATE four/vm", "CREATE five/vm", "DELETE one/vm", "DELETE two/vm", "DELETE two/other"];
    assert_eq!(differences, expected);
}
