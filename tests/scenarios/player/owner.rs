//! Commands of a service owner: decisions, deployed items, charges, settings, definitions and messages.

use super::look::CHARGES;
use super::reply;
use super::script::Outcome;
use super::stage::{CORE, Stage};
use super::text::json_and_rest;
use serde_json::{Map, Value, json};
use support::Site;

const MESSAGES: &str = "/v1/orcaexternal/serviceowner/messages/";

/// Options of a decision, each with its field of the request.
const OPTIONS: [(&str, &str); 4] = [
    ("with log ", "log"),
    ("with deployed ", "deployed_item"),
    ("with planned ", "planned_item"),
    ("with claim ", "claim"),
];

impl<S: Site> Stage<S> {
    pub(super) fn update(
        &self,
        who: &str,
        method: &str,
        change: &str,
        mut body: Value,
        options: &str,
    ) -> Outcome {
        let names = self.names();
        let fields = body.as_object_mut().unwrap();
        let mut rest = options;
        while !rest.is_empty() {
            let option = OPTIONS.iter().find_map(|(words, field)| Some((field, rest.strip_prefix(words)?)));
            let (field, text) = option.unwrap_or_else(|| panic!("`{rest}` is no option"));
            let (value, after) = json_and_rest(text);
            fields.insert((*field).to_owned(), value);
            rest = after;
        }
        let path = format!("{CORE}/serviceowner/change_instances/{}/", names.change_named(change).id);
        let answer = self.call(who, method, &path, &body);
        reply::line(&answer, &names, || format!("{} {}", answer.status, reply::change(&answer.body, &names)))
    }

    /// Claims the oldest free work: `5 as w-7`, `5 PENDING as w-7`.
    pub(super) fn claim_batch(&self, team: &str, limit: &str, state: &str, worker: &str) -> Outcome {
        let body = json!({"worker": worker, "limit": limit.parse::<u64>().unwrap(), "state": state});
        let path = format!("{CORE}/serviceowner/change_instances/claim/");
        let answer = self.system.call("POST", &path, self.key(team), &body);
        let names = self.names();
        reply::error(&answer, &names).unwrap_or_else(|| {
            let results = answer.at("/results").as_array().unwrap();
            let rows = results.iter().map(|change| reply::claimed(change, &names)).collect();
            Outcome { head: answer.status.to_string(), rows }
        })
    }

    /// Takes, extends or releases the claim on the work of a change instance.
    pub(super) fn claim(&self, team: &str, change: &str, body: &Value) -> Outcome {
        let id = self.names().change_named(change).id;
        let path = format!("{CORE}/serviceowner/change_instances/{id}/claim/");
        let answer = self.system.call("POST", &path, self.key(team), body);
        let names = self.names();
        reply::line(&answer, &names, || format!("{} {}", answer.status, reply::claim(&answer.body)))
    }

    pub(super) fn retry(&self, team: &str, change: &str) -> Outcome {
        let id = self.names().change_named(change).id;
        let path = format!("{CORE}/serviceowner/change_instances/{id}/retry/");
        let answer = self.system.call("POST", &path, self.key(team), &Value::Null);
        let names = self.names();
        reply::line(&answer, &names, || format!("{} {}", answer.status, reply::created(&answer.body, &names)))
    }

    /// Creates a deployed item: `{…} for CoreVM1`, `{…} with CoreVM1#1`, or `{…} onto CoreVM1 v1`.
    pub(super) fn deploy(&self, team: &str, text: &str) -> Outcome {
        let names = self.names();
        let (data, target) = json_and_rest(text);
        let url = |collection: &str, id: u64| {
            format!("{}{CORE}/serviceowner/{collection}/{id}/", self.system.base())
        };
        let post = format!("{CORE}/serviceowner/deployed_items/");
        let (method, path, body) = match target.split(' ').collect::<Vec<_>>().as_slice() {
            ["for", item] => {
                let item = url("service_items", names.item_named(item).id);
                ("POST", post, json!({"data": data, "service_item": item}))
            }
            ["with", change] => {
                let change = url("change_instances", names.change_named(change).id);
                ("POST", post, json!({"data": data, "change_instance": change}))
            }
            ["onto", item, version] => {
                let versions = self.versions(item, &names);
                let row = versions.iter().find(|row| format!("v{}", row["version"]) == *version).unwrap();
                ("PATCH", url("deployed_items", row["id"].as_u64().unwrap()), json!({"data": data}))
            }
            _ => panic!("`{target}` is no place to deploy to"),
        };
        let answer = self.system.call(method, &path, self.key(team), &body);
        let message = answer.at("/message").as_str().map(|text| format!(" {text:?}")).unwrap_or_default();
        let deployed = || format!("{} {}{message}", answer.status, reply::deployed(&answer.body, &names));
        reply::line(&answer, &names, deployed)
    }

    pub(super) fn bill(&self, team: &str, item: &str, number: usize) -> Outcome {
        let names = self.names();
        let id = &self.charges_of(item, &names)[number - 1]["id"];
        let path = format!("{CHARGES}/serviceowner/charges/{id}/");
        let answer = self.system.call("PATCH", &path, self.key(team), &json!({"processed": true}));
        reply::line(&answer, &names, || format!("{} {}", answer.status, reply::charge(&answer.body, &names)))
    }

    pub(super) fn set(&self, team: &str, service: &str, settings: &Map<String, Value>) -> Outcome {
        let path = format!("{CORE}/serviceowner/services/{}/", self.service_id(service));
        let answer = self.system.call("PATCH", &path, self.key(team), &Value::Object(settings.clone()));
        reply::line(&answer, &self.names(), || answer.status.to_string())
    }

    /// Creates a message: `"…" to all`, `"…" to VM,LoadBalancer`, `"…" to VM until 2030-01-01`.
    pub(super) fn create_message(&self, team: &str, text: &str) -> Outcome {
        let (description, rest) = json_and_rest(text);
        let mut body = json!({"description": description});
        let rest = rest.strip_prefix("to ").unwrap_or_else(|| panic!("`{text}` says to nobody"));
        let (services, expiry) = rest.split_once(" until ").map_or((rest, None), |(to, at)| (to, Some(at)));
        if services != "all" {
            let url = |title: &str| format!("{CORE}/serviceowner/services/{}/", self.service_id(title));
            body["scopes"] = services.split(',').map(url).collect();
        }
        if let Some(expiry) = expiry {
            body["expiry_date"] = json!(expiry);
        }
        let answer = self.system.call("POST", MESSAGES, self.key(team), &body);
        reply::line(&answer, &self.names(), || answer.status.to_string())
    }

    pub(super) fn withdraw(&self, team: &str, text: &str) -> Outcome {
        let (description, _) = json_and_rest(text);
        let messages = self.results(&format!("{MESSAGES}?limit=100"), team);
        let message = messages.iter().find(|message| message["description"] == description);
        let message = message.unwrap_or_else(|| panic!("message {text} does not exist"));
        let path = format!("{MESSAGES}{}/", message["id"]);
        let answer = self.system.call("DELETE", &path, self.key(team), &Value::Null);
        reply::line(&answer, &self.names(), || answer.status.to_string())
    }

    pub(super) fn publish(&self, team: &str, schema: &str) -> Outcome {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let answer =
            self.system.call("POST", &format!("{CORE}/serviceowner/services/"), self.key(team), &schema);
        reply::line(&answer, &self.names(), || {
            let (name, version) = (answer.at("/name").as_str().unwrap(), answer.at("/schema/version"));
            format!("{} {name} version {version}", answer.status)
        })
    }
}
