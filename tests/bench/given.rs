//! Input of the benchmarks: items of about 300 bytes, declarations, and the world with its teams.

use dovetail_daemon::world;
use serde_json::{Map, Value, json};

/// Name of the consumer team.
pub const CONSUMER: &str = "AwesomeConsumer";

/// API key of the consumer team.
pub const CONSUMER_KEY: &str = "awesome-key";

/// API key of the owner of VMs.
pub const OWNER_KEY: &str = "vm-owner-key";

/// Maximum number of items in an application.
const APPLICATION: usize = 1_000;

/// The share of items with a difference from the first declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    Nothing,
    OneInHundred,
    All,
}

impl Changed {
    pub const EACH: [Self; 3] = [Self::Nothing, Self::OneInHundred, Self::All];

    /// Returns the name in the figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "0 % changed",
            Self::OneInHundred => "1 % changed",
            Self::All => "100 % changed",
        }
    }

    /// Returns the number of CPUs of an item.
    const fn cpu(self, number: usize) -> u64 {
        match self {
            Self::OneInHundred if number.is_multiple_of(100) => 8,
            Self::Nothing | Self::OneInHundred => 4,
            Self::All => 16,
        }
    }
}

pub fn schema() -> Value {
    let (text, integer) = (json!({"type": "string"}), json!({"type": "integer", "minimum": 1}));
    json!({
        "title": "VM", "type": "object", "required": ["name", "cpu", "memory"], "additionalProperties": false,
        "properties": {
            "name": text, "cpu": integer, "memory": integer, "zone": text, "image": text,
            "disks": {"type": "array", "items": {"type": "object", "required": ["device", "size"], "properties": {
                "device": text, "size": integer, "kind": {"enum": ["ssd", "hdd"]}}}},
            "networks": {"type": "array", "items": text},
            "tags": {"type": "object", "additionalProperties": text},
        },
    })
}

/// Returns the demo world with this schema, without receivers of events, and with additional teams.
pub fn world(further: usize) -> String {
    let mut world: Value = serde_json::from_str(world::DEMO).unwrap();
    let teams = world["teams"].as_array_mut().unwrap();
    for team in teams.iter_mut() {
        team.as_object_mut().unwrap().remove("notify");
    }
    teams.extend((0..further).map(|n| json!({"name": team(n), "api_keys": [key(n)]})));
    world["services"][0]["schema"] = schema();
    world.to_string()
}

/// Returns the name of an additional team.
pub fn team(number: usize) -> String {
    format!("Consumer{number:03}")
}

/// Returns the API key of an additional team.
pub fn key(number: usize) -> String {
    format!("consumer-{number:03}-key")
}

/// Returns a virtual machine.
pub fn item(number: usize, cpu: u64) -> Value {
    json!({
        "name": format!("vm-{number:05}.billing"), "cpu": cpu, "memory": 16, "zone": "eu-central-1a",
        "image": "debian-13.4",
        "disks": [{"device": "/dev/vda", "size": 40, "kind": "ssd"}, {"device": "/dev/vdb", "size": 200, "kind": "hdd"}],
        "networks": ["frontend", "storage"],
        "tags": {"owner": "billing", "environment": "production", "cost_center": "4711"},
    })
}

/// Returns this number of items by name, as in the files of `dovetail plan`.
pub fn items(count: usize, changed: Changed) -> Map<String, Value> {
    (0..count).map(|number| (format!("vm{number:05}"), item(number, changed.cpu(number)))).collect()
}

/// Returns the consumer's declaration with this number of items.
pub fn declaration(count: usize, changed: Changed) -> Vec<u8> {
    let mut applications = Map::new();
    for first in (0..count).step_by(APPLICATION) {
        let numbers = first..count.min(first + APPLICATION);
        let items: Vec<Value> = numbers.map(|n| item(n, changed.cpu(n))).collect();
        let name = format!("App{}", first / APPLICATION);
        applications.insert(name, json!({"services": {"VM": items}}));
    }
    json!({CONSUMER: applications}).to_string().into_bytes()
}
