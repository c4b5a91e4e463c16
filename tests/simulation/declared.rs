//! Declarations of the consumers: two applications with a few virtual machines and a load balancer. Few names make
//! races likely.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const APPLICATIONS: [&str; 2] = ["App1", "App2"];
const MACHINES: [&str; 3] = ["vm1", "vm2", "vm3"];

/// The machine that exists before its declaration, if its service can adopt objects (R55).
const ADOPTED: &str = "vm2";

const ALGORITHMS: [&str; 2] = ["RoundRobin", "LeastConnections"];

/// Full name of an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemName {
    pub application: String,
    pub service: String,
    pub name: String,
}

impl ItemName {
    pub fn new(application: &str, service: &str, name: &str) -> Self {
        let [application, service, name] = [application, service, name].map(str::to_owned);
        Self { application, service, name }
    }
}

/// Content of an application: its machines and its load balancer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// CPUs of each machine. `None` if the machine is not declared.
    pub cpus: [Option<u8>; 3],
    /// Referenced machines as bits, and index of the algorithm. `None` without a load balancer.
    pub load_balancer: Option<(u8, usize)>,
}

impl Application {
    fn content(&self, adopts: bool) -> Value {
        let declared = MACHINES.iter().zip(self.cpus).filter_map(|(name, cpu)| Some((*name, cpu?)));
        let machine = |(name, cpu)| {
            let mut machine = json!({"name": name, "cpu": cpu});
            if adopts && name == ADOPTED {
                machine["host_id"] = json!("h-2");
            }
            machine
        };
        let machines: Vec<Value> = declared.map(machine).collect();
        let mut services = json!({"VM": machines});
        if let Some((machines, algorithm)) = self.load_balancer {
            // An unresolved reference would make the declaration invalid.
            let is_declared = |at: usize| machines >> at & 1 == 1 && self.cpus[at].is_some();
            let related: Vec<&str> = (0..3).filter(|at| is_declared(*at)).map(|at| MACHINES[at]).collect();
            let algorithm = ALGORITHMS[algorithm % ALGORITHMS.len()];
            services["LoadBalancer"] =
                json!([{"name": "lb", "related_vms": related, "algorithm": algorithm}]);
        }
        json!({"services": services})
    }
}

/// Returns the content of a team's applications, without undeclared ones.
///
/// `adopts` is whether the service of virtual machines can adopt objects.
pub fn content(applications: &[Option<Application>; 2], adopts: bool) -> Value {
    let declared = APPLICATIONS.iter().zip(applications);
    let declared =
        declared.filter_map(|(name, one)| Some(((*name).to_owned(), one.as_ref()?.content(adopts))));
    Value::Object(declared.collect::<Map<_, _>>())
}

/// A submitted declaration of a team.
#[derive(Clone, Debug, PartialEq)]
pub struct Body(Value);

impl Body {
    /// Creates a declaration from the content of the team's applications.
    pub const fn new(content: Value) -> Self {
        Self(content)
    }

    pub fn applications(&self) -> BTreeSet<String> {
        self.0.as_object().unwrap().keys().cloned().collect()
    }

    pub fn items(&self) -> BTreeMap<ItemName, Value> {
        let mut items = BTreeMap::new();
        for (application, content) in self.0.as_object().unwrap() {
            for (service, declared) in content["services"].as_object().unwrap() {
                for item in declared.as_array().unwrap() {
                    let name = item["name"].as_str().unwrap();
                    items.insert(ItemName::new(application, service, name), item.clone());
                }
            }
        }
        items
    }

    /// Returns the machines that an item references.
    pub fn references_of(item: Option<&Value>) -> Vec<String> {
        let named = item.and_then(|item| item["related_vms"].as_array());
        named.into_iter().flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
    }
}
