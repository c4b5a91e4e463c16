//! Tenants of a system under load: many consumers, an owner and a dependent team.

use crate::system::{ApiRequest, OWNED, SUBMIT};
use serde_json::{Value, json};

/// API key of the service owner.
const OWNER: &str = "owner-key";

/// A service without dependent teams, so a small submission has no pending work.
pub const PLAIN: &str = "Plain";
/// A service with a dependent team, so each item has a generated change instance.
pub const SHARED: &str = "Shared";

fn name(consumer: usize) -> String {
    format!("Consumer{consumer}")
}

fn key(consumer: usize) -> String {
    format!("consumer-{consumer}-key")
}

/// Returns the content of a world file with this number of consumers.
pub fn world(consumers: usize) -> Value {
    let mut teams = vec![
        json!({"name": "Owner", "api_keys": [OWNER]}),
        json!({"name": "Network", "api_keys": ["network-key"]}),
    ];
    let consumer =
        |number| json!({"name": name(number), "api_keys": [key(number)], "confirm_removals": false});
    teams.extend((0..consumers).map(consumer));
    let service = |title: &str, dependents: &[&str]| {
        json!({"owner": "Owner", "approval_required": true, "dependent_teams": dependents, "schema": {
            "title": title, "description": "A service under load.", "type": "object",
            "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"}}, "required": ["name"]}})
    };
    json!({"teams": teams, "services": [service(PLAIN, &[]), service(SHARED, &["Network"])]})
}

/// Returns a submission of a new application with this number of items.
pub fn submission(consumer: usize, application: usize, service: &str, items: usize) -> ApiRequest {
    // The application makes each declaration unique, as in real applications.
    let item = |item| json!({"name": format!("item{item}"), "cpu": 1_000_000 * application + item});
    let items: Vec<Value> = (0..items).map(item).collect();
    let application = json!({format!("App{application}"): {"services": {service: items}}});
    ApiRequest::new("PATCH", SUBMIT, &key(consumer), json!({name(consumer): application}))
}

/// Returns the owner's decision on a change instance.
pub fn decision(change: &Value, state: &str) -> ApiRequest {
    ApiRequest::new("PATCH", &format!("{OWNED}{change}/"), OWNER, json!({"state": state}))
}
