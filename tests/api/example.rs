//! A system with an example of each kind of object.

use crate::api::demo::{CONSUMER, OWNER, SUBMIT};
use serde_json::{Value, json};
use std::sync::LazyLock;
use support::{Answer, Running};

/// A shared system. The tests read it, and write only change instances of their own.
pub(crate) static SHARED: LazyLock<Example> = LazyLock::new(Example::new);

/// A system with one load balancer and one VM. The VM is approved and deployed.
pub(crate) struct Example {
    pub(crate) system: Running,
    pub(crate) submitted: Answer,
    pub(crate) change: u64,
    /// Change instance of the load balancer's dependent team.
    pub(crate) share: u64,
    pub(crate) item: u64,
    pub(crate) deployed: u64,
}

pub(crate) fn declaration() -> Value {
    json!({"AwesomeConsumer": {
        "metadata": {"budget_code": 12345},
        "NewApp1": {
            "metadata": {"env": "dev"},
            "services": {
                "VM": [{"name": "CoreVM1", "cpu": 8, "memory": 2}],
                "LoadBalancer": [{"name": "Entry", "related_vms": ["CoreVM1"], "algorithm": "round robin"}]}}}})
}

impl Example {
    pub(crate) fn new() -> Self {
        let system = Running::demo();
        let path = format!("{SUBMIT}?commit_id=51e53e4");
        let submitted = system.expect(201, "POST", &path, "awesome-key", &declaration());
        system.wait_idle();
        let shares = system.get(&format!("{OWNER}/change_instances/dependant/"), "np-owner-key");
        let share = shares.at("/results/0/id").as_u64().unwrap();
        let listed = system.get(&format!("{CONSUMER}/change_instances/?service_name=VM"), "awesome-key");
        let change = listed.at("/results/0/id").as_u64().unwrap();
        let item = listed.at("/results/0/service_item/id").as_u64().unwrap();
        let body = json!({"state": "APPROVED", "log": "in the rack", "deployed_item": {"ip": "10.0.0.1"}});
        let path = format!("{OWNER}/change_instances/{change}/");
        system.expect(200, "PATCH", &path, "vm-owner-key", &body);
        let listed = system.get(&format!("{OWNER}/deployed_items/"), "vm-owner-key");
        let deployed = listed.at("/results/0/id").as_u64().unwrap();
        Self { system, submitted, change, share, item, deployed }
    }

    /// Declares a VM in a new application. Returns the path of its change instance.
    pub(crate) fn fresh(&self, name: &str) -> String {
        let body = json!({"AwesomeConsumer": {name: {"services": {"VM": [{"name": name}]}}}});
        let answer = self.system.expect(201, "PATCH", SUBMIT, "awesome-key", &body);
        format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"))
    }
}
