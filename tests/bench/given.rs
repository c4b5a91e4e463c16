//! What is declared: items as teams have them, of about 300 bytes, and the world around them.

use dovetail_local::world;
use serde_json::{Map, Value, json};

/// The team that declares.
pub const CONSUMER: &str = "AwesomeConsumer";

/// Its key.
pub const CONSUMER_KEY: &str = "awesome-key";

/// The key of the team that VMs are ordered from.
pub const OWNER_KEY: &str = "vm-owner-key";

/// How many items an application has at most.
const APPLICATION: usize = 1_000;

/// Which items of a declaration differ from those that were declared first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// None does.
    Nothing,
    /// One in a hundred does.
    OneInHundred,
    /// Each does.
    All,
}

impl Changed {
    /// All of them.
    pub const EACH: [Self; 3] = [Self::Nothing, Self::OneInHundred, Self::All];

    /// How the figures name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "0 % changed",
            Self::OneInHundred => "1 % changed",
            Self::All => "100 % changed",
        }
    }

    /// How many processors an item has.
    const fn cpu(self, number: usize) -> u64 {
        match self {
            Self::OneInHundred if number.is_multiple_of(100) => 8,
            Self::Nothing | Self::OneInHundred => 4,
            Self::All => 16,
        }
    }
}

/// The schema of the items.
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

/// Returns the demo world with this schema, without receivers of events, and with further teams.
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

/// The name of a further team.
pub fn team(number: usize) -> String {
    format!("Consumer{number:03}")
}

/// The key of a further team.
pub fn key(number: usize) -> String {
    format!("consumer-{number:03}-key")
}

/// A virtual machine.
pub fn item(number: usize, cpu: u64) -> Value {
    json!({
        "name": format!("vm-{number:05}.billing"), "cpu": cpu, "memory": 16, "zone": "eu-central-1a",
        "image": "debian-13.4",
        "disks": [{"device": "/dev/vda", "size": 40, "kind": "ssd"}, {"device": "/dev/vdb", "size": 200, "kind": "hdd"}],
        "networks": ["frontend", "storage"],
        "tags": {"owner": "billing", "environment": "production", "cost_center": "4711"},
    })
}

/// So many items by name, as files of items hold them.
pub fn items(count: usize, changed: Changed) -> Map<String, Value> {
    (0..count).map(|number| (format!("vm{number:05}"), item(number, changed.cpu(number)))).collect()
}

/// The declaration of a team that has so many items.
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
