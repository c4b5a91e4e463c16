//! The first thing that must work.

use serde_json::json;
use tests::Running;

#[test]
fn a_declaration_becomes_change_instances() {
    let system = Running::demo();
    let declaration = json!({"AwesomeConsumer": {"NewApp1": {"services": {
        "VM": [{"name": "CoreVM1", "cpu": 8, "memory": 2}]
    }}}});
    let path = "/v1/orcabase/consumer/submissions/submit/";
    let answer = system.call("POST", path, "awesome-key", &declaration);
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.at("/change_instances/0/change_type"), "CREATE");
    system.assert_sound();
}
