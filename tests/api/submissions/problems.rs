//! The problems of a rejected declaration.

use crate::api::demo::{OWNER, SUBMIT};
use serde_json::{Value, json};
use support::{Answer, Running};

#[test]
fn an_item_without_a_name_hides_no_other_problem() {
    let system = Running::demo();
    let body = json!({"AwesomeConsumer": {"App": {"services": {
        "VM": [{"cpu": 1}, {"name": "one", "cpu": "x"}, {"name": "two"}, {"name": "two", "memory": "y"}, 5],
        "Vm": [{"name": "three"}],
        "LoadBalancer": [{"name": "entry", "related_vms": ["ghost", "one"]}]}},
        "Other": {"services": {"VM": {}, "LoadBalancer": [{"name": "entry", "related_vms": ["one"]}]}}}});
    let vm = "/AwesomeConsumer/App/services/VM";
    let expected = [
        ("missing_name", format!("{vm}/0/name")),
        ("schema", format!("{vm}/1/cpu")),
        ("duplicate_name", format!("{vm}/3/name")),
        ("schema", format!("{vm}/3/memory")),
        ("wrong_type", format!("{vm}/4")),
        ("unknown_service", "/AwesomeConsumer/App/services/Vm".to_owned()),
        ("dangling_reference", "/AwesomeConsumer/App/services/LoadBalancer/0/related_vms/0".to_owned()),
        ("wrong_type", "/AwesomeConsumer/Other/services/VM".to_owned()),
    ];
    for path in [SUBMIT, "/v1/orcabase/consumer/submissions/validate/"] {
        let answer = system.call("POST", path, "awesome-key", &body);
        assert_eq!(answer.code(), (400, "invalid_declaration"), "{answer:?}");
        let problems = answer.at("/problems").as_array().unwrap().iter();
        let mut problems: Vec<(&str, String)> = problems
            .map(|problem| {
                (problem["rule"].as_str().unwrap(), problem["pointer"].as_str().unwrap().to_owned())
            })
            .collect();
        problems.sort_by_key(|problem| expected.iter().position(|line_of| line_of == problem));
        assert_eq!(problems, expected, "{path}");
    }
}

#[test]
fn a_reference_has_its_problem_under_its_own_property() {
    let mut world: Value = serde_json::from_str(dovetail_daemon::world::DEMO).unwrap();
    let properties =
        world.pointer_mut("/services/1/schema/properties").and_then(Value::as_object_mut).unwrap();
    let main = json!({"type": "string", "format": "reference", "service_reference": "VM"});
    properties.insert("main/vm".to_owned(), main);
    let system = Running::start(&world.to_string());
    let balancer = json!({"name": "entry", "related_vms": ["one", "ghost"], "main/vm": "ghost"});
    let body = |vm: &str| json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": vm}], "LoadBalancer": [balancer]}}}});
    let listed = |answer: &Answer| -> Vec<String> {
        let problems = answer.at("/problems").as_array().unwrap().iter();
        let describe = |problem: &Value| {
            format!("{} {}", problem["rule"].as_str().unwrap(), problem["pointer"].as_str().unwrap())
        };
        problems.map(describe).collect()
    };
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
    let vms = both.pointer_mut("/AwesomeConsumer/App/services/VM").and_then(Value::as_array_mut).unwrap();
    vms.push(json!({"name": "ghost"}));
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
        let answer = system.call(
            "POST",
            SUBMIT,
            key,
            &json!({team: {"App": {"services": {"Vms": [{"name": "one"}]}}}}),
        );
        assert_eq!(
            *answer.at("/problems/0/detail"),
            format!("must be the title of a service, but 'Vms' does not exist{rest}")
        );
    }
}
