//! Declarations of the consumers: two applications with a few virtual machines and a load balancer. Few names make
//! races likely.

use crate::references::GRANTED_TEAMS;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub const APPLICATIONS: [&str; 2] = ["App1", "App2"];
const MACHINES: [&str; 3] = ["vm1", "vm2", "vm3"];

/// The machine that exists before its declaration, if its service can adopt objects (R55).
const ADOPTED: &str = "vm2";

/// The key of metadata, of a team as well as of an application.
const METADATA: &str = "metadata";

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

/// Adds metadata that complete and generate items (R66). The number of the command decides which ones.
pub fn add_metadata(content: &mut Value, number: usize) {
    let defaults = |memory: Value| json!({"VM": {"memory": memory}});
    // Only a string can name the target, and the machines of a load balancer are a list.
    let entry = |cpu: usize| {
        json!({"service": "LoadBalancer", "for": "VM", "as": "algorithm", "item": {"name": "of"},
            "where": {"properties": {"cpu": {"const": cpu}}}})
    };
    for (index, (_, application)) in content.as_object_mut().unwrap().iter_mut().enumerate() {
        match (number + index) % 4 {
            0 => {}
            1 => application["metadata"] = json!({"dovetail_each": [entry(2)]}),
            2 => application["metadata"] = json!({"dovetail_defaults": defaults(Value::Null)}),
            _ => application["metadata"] = json!({"dovetail_defaults": defaults(json!(number % 3))}),
        }
    }
    match number % 3 {
        0 => {
            content["metadata"] =
                json!({"dovetail_defaults": defaults(json!(8)), "dovetail_each": [entry(1)]});
        }
        1 => content["metadata"] = json!({"dovetail_defaults": defaults(json!(number % 2))}),
        _ => {}
    }
}

/// A submitted declaration of a team.
#[derive(Clone, Debug, PartialEq)]
pub struct Body(Value);

impl Body {
    /// Creates a declaration from the content of the team's applications.
    pub const fn new(content: Value) -> Self {
        Self(content)
    }

    /// Returns the metadata of the team, if the declaration has them.
    pub fn metadata(&self) -> Option<&Value> {
        self.0.get(METADATA)
    }

    /// Returns whether the metadata of the declaration itself generate an item.
    pub fn generates(&self) -> bool {
        let written =
            self.contents().flat_map(|(_, content)| content["services"].as_object().unwrap().values());
        let written: usize = written.map(|items| items.as_array().unwrap().len()).sum();
        self.items(&self.0[METADATA]).len() > written
    }

    fn contents(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.as_object().unwrap().iter().filter(|(name, _)| *name != METADATA)
    }

    /// Returns the applications, each with the list of teams that may refer to its items.
    pub fn granted(&self) -> BTreeMap<String, Value> {
        let granted = |content: &Value| content[METADATA][GRANTED_TEAMS].clone();
        self.contents().map(|(name, content)| (name.clone(), granted(content))).collect()
    }

    pub fn applications(&self) -> BTreeSet<String> {
        self.contents().map(|(name, _)| name.clone()).collect()
    }

    /// Returns all items with what metadata add, the metadata of the team among them.
    pub fn items(&self, of_team: &Value) -> BTreeMap<ItemName, Value> {
        let mut items = BTreeMap::new();
        for (application, content) in self.contents() {
            let layers = [&content[METADATA], of_team];
            let mut written = Vec::new();
            for (service, declared) in content["services"].as_object().unwrap() {
                for item in declared.as_array().unwrap() {
                    written.push((service, completed(service, item, &layers)));
                }
            }
            let entries = layers.iter().filter_map(|metadata| metadata["dovetail_each"].as_array()).flatten();
            let generated = entries.flat_map(|entry| {
                let targets = written.iter().filter(|(service, item)| is_target(entry, service, item));
                targets.map(|(_, target)| generated(entry, target, &layers))
            });
            let all =
                written.iter().map(|(service, item)| ((*service).clone(), item.clone())).chain(generated);
            // A written item wins, and then the first entry.
            for (service, item) in all {
                let name = ItemName::new(application, &service, item["name"].as_str().unwrap());
                items.entry(name).or_insert(item);
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

/// Returns an item with the members that it lacks.
fn completed(service: &str, item: &Value, layers: &[&Value]) -> Value {
    let mut seen = item.as_object().unwrap().clone();
    for metadata in layers {
        for (member, value) in metadata["dovetail_defaults"][service].as_object().into_iter().flatten() {
            seen.entry(member.clone()).or_insert_with(|| value.clone());
        }
    }
    // A null ends the search, and no declared item has one.
    seen.retain(|_, value| !value.is_null());
    Value::Object(seen)
}

fn is_target(entry: &Value, service: &str, item: &Value) -> bool {
    entry["for"] == *service && item["cpu"] == entry["where"]["properties"]["cpu"]["const"]
}

/// Returns the item that an entry adds for a target, with its service.
fn generated(entry: &Value, target: &Value, layers: &[&Value]) -> (String, Value) {
    let mut item = entry["item"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    item["name"] = json!(format!("{}.{}", text(&item["name"]), text(&target["name"])));
    item[text(&entry["as"])] = target["name"].clone();
    let service = text(&entry["service"]);
    (service.clone(), completed(&service, &item, layers))
}
