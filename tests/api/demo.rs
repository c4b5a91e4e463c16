//! Paths of the API, and one VM in the demo world.

use serde_json::{Value, json};
use support::Running;

pub(crate) const CONSUMER: &str = "/v1/orcabase/consumer";
pub(crate) const OWNER: &str = "/v1/orcabase/serviceowner";
pub(crate) const RECORDS: &str = "/v1/account/records/";
pub(crate) const SERVICES: &str = "/v1/orcabase/serviceowner/services/";
pub(crate) const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
pub(crate) const TEAMS: &str = "/v1/account/teams/";
pub(crate) const VALIDATE: &str = "/v1/orcabase/consumer/submissions/validate/";

/// Returns a definition that requires a name, and allows all other properties.
pub(crate) fn definition(title: &str) -> Value {
    json!({"title": title, "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}}})
}

/// Returns items whose names are this prefix and a number from 0.
pub(crate) fn numbered(prefix: &str, count: usize) -> Value {
    (0..count).map(|number| json!({"name": format!("{prefix}{number}")})).collect()
}

/// Returns a declaration of the first consumer with these VMs.
pub(crate) fn vms(items: &Value) -> Value {
    json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}})
}

/// Declares one VM. Returns the path of its change instance for the service owner.
pub(crate) fn declared(system: &Running) -> String {
    declared_as(system, 1)
}

pub(crate) fn declared_as(system: &Running, cpu: u64) -> String {
    let one = vms(&json!([{"name": "one", "cpu": cpu}]));
    let answer = system.expect(201, "POST", SUBMIT, "awesome-key", &one);
    format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"))
}
