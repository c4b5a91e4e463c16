//! Actions of an owner besides decisions: it bills, and changes messages, configs, settings and healthchecks.

use crate::client::{Client, ClientLog};
use crate::cloud::{KEYS_TABLE, TABLE};
use crate::locked;
use crate::shape::OWNERS;
use crate::system::{Answer, ApiRequest, System};
use domain::audit::invariant::Snapshot;
use domain::base::id::{ConfigId, MessageId};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CHARGES: &str = "/v1/marketplace/serviceowner/charges/";
const MESSAGES: &str = "/v1/orcaexternal/serviceowner/messages/";
const SERVICES: &str = "/v1/orcabase/serviceowner/services/";
const CONFIGS: &str = "/v1/orcabase/serviceowner/service_configs/";
const HEALTHCHECKS: &str = "/v1/external/serviceowner/healthchecks/";

/// Path and counter of each action with a minimum of one success in all runs.
pub const MADE: [(&str, &str); 3] =
    [(MESSAGES, "message made"), (CONFIGS, "config made"), (HEALTHCHECKS, "healthcheck made")];

/// Number of actions in one command.
const AT_ONCE: u32 = 3;

/// Executes some of these actions, by the drawn number.
pub async fn act(client: Client<'_>, owner: usize, pick: usize) {
    let owner = Owner { client, key: OWNERS[owner].1 };
    for step in 0..AT_ONCE {
        owner.act(pick.rotate_right(step * 16)).await;
    }
}

struct Owner<'a> {
    client: Client<'a>,
    key: &'static str,
}

impl Owner<'_> {
    async fn act(&self, pick: usize) {
        let of = pick / 10;
        match pick % 10 {
            0..3 => self.bill(of).await,
            3 => drop(self.send("POST", MESSAGES, json!({"description": format!("message {of}")})).await),
            4 => self.change_message(of).await,
            5 | 6 => self.put_config(of).await,
            7 | 8 => self.put_healthcheck(of).await,
            _ => self.set(of).await,
        }
    }

    /// Sends a request until it has a final answer, and returns the body.
    async fn send(&self, method: &str, path: &str, body: Value) -> Option<Value> {
        let request = ApiRequest::new(method, path, self.key, body);
        self.client.persist(&request, None).await.map(|answer| answer.body)
    }

    /// Returns the id of one row of a list. `None` if the list is empty.
    async fn one_of(&self, list: &str, pick: usize) -> Option<Value> {
        let list_body = self.send("GET", list, Value::Null).await?;
        let rows = list_body["results"].as_array()?;
        rows.get(pick.checked_rem(rows.len())?).map(|row| row["id"].clone())
    }

    /// Marks an unprocessed charge as processed.
    async fn bill(&self, pick: usize) {
        let unprocessed = format!("{CHARGES}?processed=false&limit=50");
        let Some(id) = self.one_of(&unprocessed, pick).await else { return };
        self.send("PATCH", &format!("{CHARGES}{id}/"), json!({"processed": true})).await;
    }

    /// Changes or deletes a message.
    async fn change_message(&self, pick: usize) {
        let Some(id) = self.one_of(MESSAGES, pick).await else { return };
        let path = format!("{MESSAGES}{id}/");
        if pick.is_multiple_of(3) {
            // The answer can get lost, so the path counts as removed before the request.
            locked(&self.client.log.removed).insert(path.clone());
            self.send("DELETE", &path, Value::Null).await;
        } else {
            self.send("PATCH", &path, json!({"description": format!("changed {pick}")})).await;
        }
    }

    async fn put_config(&self, pick: usize) {
        let Some(service) = self.one_of(SERVICES, pick).await else { return };
        self.send("POST", CONFIGS, json!({"service": service, "config": {"port": pick % 5}})).await;
    }

    /// Stores or deletes a healthcheck.
    async fn put_healthcheck(&self, pick: usize) {
        let Some(service) = self.one_of(SERVICES, pick).await else { return };
        if pick.is_multiple_of(2) {
            self.send("DELETE", &format!("{HEALTHCHECKS}{service}/"), Value::Null).await;
        } else {
            let healthcheck = json!({"service": service, "target_url": "https://automation.example/health",
                "schedule_enabled": true, "schedule_crontab": format!("{} * * * *", pick % 4)});
            self.send("POST", HEALTHCHECKS, healthcheck).await;
        }
    }

    /// Changes settings without effect on declarations. The oracle does not know settings.
    async fn set(&self, pick: usize) {
        let Some(service) = self.one_of(SERVICES, pick).await else { return };
        let tags = json!({"tags": [format!("tag-{}", pick % 3)], "minimum_version": 1});
        self.send("PATCH", &format!("{SERVICES}{service}/"), tags).await;
    }
}

/// Panics unless all created objects exist, and each healthcheck is in both tables.
pub fn assert_stored(system: &System, client_log: &ClientLog, snapshot: &Snapshot) {
    let answers = locked(&client_log.answers);
    let removed = locked(&client_log.removed);
    let is_created =
        |(request, answer): &&(ApiRequest, Answer)| request.method == "POST" && answer.status == 201;
    for (request, answer) in answers.iter().filter(is_created) {
        if let Some((_, made)) = MADE.iter().find(|(path, _)| *path == request.path) {
            system.cloud.count(made);
        }
        let id = answer.body["id"].as_u64().unwrap_or_default();
        let catalogue = &snapshot.catalogue;
        let is_there = match request.path.as_str() {
            MESSAGES if removed.contains(&format!("{MESSAGES}{id}/")) => true,
            MESSAGES => {
                let id = MessageId::parse(id).unwrap();
                catalogue.messages.get(&id.team()).is_some_and(|messages| messages.find(id).is_some())
            }
            CONFIGS => catalogue.configs.contains_key(&ConfigId::parse(id).unwrap()),
            _ => true,
        };
        assert!(is_there, "{request:?} has this answer, so its object exists: {answer:?}");
    }
    // A healthcheck has its definition in one table and its schedule in the other, so neither may exist alone.
    let of = |table: &str, prefix: &str| -> BTreeSet<String> {
        let rows = system.cloud.engine.rows_of(table);
        let texts =
            |row: &Value| Some((row["pk"]["S"].as_str()?.to_owned(), row["sk"]["S"].as_str()?.to_owned()));
        let placed = rows.iter().filter_map(texts);
        placed.filter_map(|(pk, sk)| Some(format!("{} {sk}", pk.strip_prefix(prefix)?))).collect()
    };
    assert_eq!(of(KEYS_TABLE, "HEALTHCHECK#"), of(TABLE, "COURSE#"), "each healthcheck is in both tables");
}
