//! One VM in the demo world.

use serde_json::{Value, json};
use support::Running;

pub(crate) const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";

pub(crate) const OWNER: &str = "/v1/orcabase/serviceowner";

pub(crate) fn vms(items: &Value) -> Value {
    json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}})
}

/// Declares one VM. Returns the path of its change instance for the service owner.
pub(crate) fn declared(system: &Running) -> String {
    declared_as(system, 1)
}

pub(crate) fn declared_as(system: &Running, cpu: u64) -> String {
    let answer =
        system.expect(201, "POST", SUBMIT, "awesome-key", &vms(&json!([{"name": "one", "cpu": cpu}])));
    format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"))
}
