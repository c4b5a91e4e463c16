//! What a consumer declares: two applications of a few virtual machines and a load balancer, small enough to collide.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const APPLICATIONS: [&str; 2] = ["App1", "App2"];
const MACHINES: [&str; 3] = ["vm1", "vm2", "vm3"];
const ALGORITHMS: [&str; 2] = ["RoundRobin", "LeastConnections"];

/// An item's name, with where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemName {
    /// The application.
    pub application: String,
    /// The service.
    pub service: String,
    /// The name.
    pub name: String,
}

/// What an application is to be: for each machine its CPUs, and which machines the load balancer spreads over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// None for a machine that is not declared.
    pub cpus: [Option<u8>; 3],
    /// The machines that it references, a bit each, and its algorithm; none for no load balancer.
    pub load_balancer: Option<(u8, usize)>,
}

impl Application {
    fn content(&self) -> Value {
        let declared = MACHINES.iter().zip(self.cpus).filter_map(|(name, cpu)| Some((*name, cpu?)));
        let machines: Vec<Value> = declared.map(|(name, cpu)| json!({"name": name, "cpu": cpu})).collect();
        let mut services = json!({"VM": machines});
        if let Some((machines, algorithm)) = self.load_balancer {
            let is_declared = |at: usize| machines >> at & 1 == 1 && self.cpus[at].is_some();
            let related: Vec<&str> = (0..3).filter(|at| is_declared(*at)).map(|at| MACHINES[at]).collect();
            let algorithm = ALGORITHMS[algorithm % ALGORITHMS.len()];
            services["LoadBalancer"] =
                json!([{"name": "lb", "related_vms": related, "algorithm": algorithm}]);
        }
        json!({"services": services})
    }
}

/// The content of a team's applications; those that are not declared are none.
pub fn content(applications: &[Option<Application>; 2]) -> Value {
    let declared = APPLICATIONS.iter().zip(applications);
    let declared = declared.filter_map(|(name, one)| Some(((*name).to_owned(), one.as_ref()?.content())));
    Value::Object(declared.collect::<Map<_, _>>())
}

/// What was submitted for a team.
#[derive(Clone, Debug, PartialEq)]
pub struct Body(Value);

impl Body {
    /// Of the content of the team's applications.
    pub const fn new(content: Value) -> Self {
        Self(content)
    }

    /// The applications that it names.
    pub fn applications(&self) -> BTreeSet<String> {
        self.0.as_object().unwrap().keys().cloned().collect()
    }

    /// The items that it declares.
    pub fn items(&self) -> BTreeMap<ItemName, Value> {
        let mut items = BTreeMap::new();
        for (application, content) in self.0.as_object().unwrap() {
            for (service, declared) in content["services"].as_object().unwrap() {
                for item in declared.as_array().unwrap() {
                    let name = item["name"].as_str().unwrap().to_owned();
                    let (application, service) = (application.clone(), service.clone());
                    items.insert(ItemName { application, service, name }, item.clone());
                }
            }
        }
        items
    }

    /// The machines that a declaration refers to.
    pub fn references_of(item: Option<&Value>) -> Vec<String> {
        let named = item.and_then(|item| item["related_vms"].as_array());
        named.into_iter().flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
    }
}
