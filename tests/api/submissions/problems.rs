//! The problems of a rejected declaration.

use crate::api::demo::{OWNER, SUBMIT, VALIDATE};
use serde_json::{Value, json};
use support::{Answer, Running};

/// Returns rule and pointer of each problem.
fn listed(answer: &Answer) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let describe = |problem: &Value| format!("{} {}", text(&problem["rule"]), text(&problem["pointer"]));
    answer.at("/problems").as_array().unwrap().iter().map(describe).collect()
}

#[test]
fn an_item_without_a_name_hides_no_other_problem() {
    let system = Running::demo();
    let body = json!({"AwesomeConsumer": {"App": {"services": {
        "VM": [{"cpu": 1}, {"name": "one", "cpu": "x"}, {"name": "two"}, {"name": "two", "memory": "y"}, 5],
        "Vm": [{"name": "three"}],
        "LoadBalancer": [{"name": "entry", "related_vms": ["ghost", "one"]}]}},
        "Other": {"services": {"VM": {}, "LoadBalancer": [{"name": "entry", "related_vms": ["one"]}]}}}});
    let expected = [
        "missing_name /AwesomeConsumer/App/services/VM/0/name",
        "schema /AwesomeConsumer/App/services/VM/1/cpu",
        "duplicate_name /AwesomeConsumer/App/services/VM/3/name",
        "schema /AwesomeConsumer/App/services/VM/3/memory",
        "wrong_type /AwesomeConsumer/App/services/VM/4",
        "unknown_service /AwesomeConsumer/App/services/Vm",
        "dangling_reference /AwesomeConsumer/App/services/LoadBalancer/0/related_vms/0",
        "wrong_type /AwesomeConsumer/Other/services/VM",
    ];
    for path in [SUBMIT, VALIDATE] {
        let answer = system.call("POST", path, "awesome-key", &body);
        assert_eq!(answer.code(), (400, "invalid_declaration"), "{answer:?}");
        let mut problems = listed(&answer);
        problems.sort_by_key(|problem| expected.iter().position(|line| line == problem));
        assert_eq!(problems, expected, "{path}");
    }
}

#[test]
fn a_reference_has_its_problem_under_its_own_property() {
    let mut world: Value = serde_json::from_str(dovetail_daemon::world::DEMO).unwrap();
    let main = json!({"type": "string", "format": "reference", "service_reference": "VM"});
    world["services"][1]["schema"]["properties"]["main/vm"] = main;
    let system = Running::start(&world.to_string());
    let balancer = json!({"name": "entry", "related_vms": ["one", "ghost"], "main/vm": "ghost"});
    let body = |vm: &str| json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": vm}], "LoadBalancer": [balancer]}}}});
    let answer = system.call("POST", SUBMIT, "awesome-key", &body("one"));
    let item = "/AwesomeConsumer/App/services/LoadBalancer/0";
    let expected =
        [format!("dangling_reference {item}/main~1vm"), format!("dangling_reference {item}/related_vms/1")];
    assert_eq!(listed(&answer), expected, "{answer:?}");
    let errors = answer.at("/errors/AwesomeConsumer/App/LoadBalancer/entry");
    let message = "VM 'ghost' must be declared in application 'App'";
    assert_eq!(*errors, json!({"main/vm": [message], "related_vms": [message]}));
    // An unchanged item is checked as well: its reference to the removed VM dangles (R15).
    let mut both = body("one");
    let vms = &mut both["AwesomeConsumer"]["App"]["services"]["VM"];
    vms.as_array_mut().unwrap().push(json!({"name": "ghost"}));
    system.expect(201, "POST", SUBMIT, "awesome-key", &both);
    system.wait_idle();
    assert_eq!(listed(&system.call("POST", SUBMIT, "awesome-key", &body("one"))), expected);
}

#[test]
fn a_private_service_is_suggested_to_no_other_team() {
    let system = Running::demo();
    let private = json!({"allowed_teams": ["AwesomeConsumer2"]});
    system.expect(200, "PATCH", &format!("{OWNER}/services/1/"), "vm-owner-key", &private);
    for (team, key, rest) in
        [("AwesomeConsumer", "awesome-key", ""), ("AwesomeConsumer2", "awesome2-key", ", did you mean `VM`?")]
    {
        let body = json!({team: {"App": {"services": {"Vms": [{"name": "one"}]}}}});
        let answer = system.call("POST", SUBMIT, key, &body);
        let detail = format!("must be the title of a service, but 'Vms' does not exist{rest}");
        assert_eq!(*answer.at("/problems/0/detail"), detail);
    }
}
