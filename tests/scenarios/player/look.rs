//! Commands that read: objects, lists, histories, charges and events.

use super::names::Names;
use super::reply;
use super::script::Outcome;
use super::stage::{CORE, Stage};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::Site;

/// Path prefix of charges.
pub(super) const CHARGES: &str = "/v1/marketplace";

impl<S: Site> Stage<S> {
    /// Reads one object as this team. Without a team, reads it as its consumer.
    pub(super) fn read(&self, team: Option<&str>, kind: &str, name: &str, fields: &[&str]) -> Outcome {
        let names = self.names();
        let (as_of, fields) = match fields {
            ["as", "of", submission, fields @ ..] => {
                (format!("?as_of={}", self.submission_named(submission)), fields)
            }
            fields => (String::new(), fields),
        };
        let (collection, id, reader) = match kind {
            "change" => {
                let object = names.change_named(name);
                ("change_instances", object.id, object.consumer)
            }
            "item" => {
                let object = names.item_named(name);
                ("service_items", object.id, object.consumer)
            }
            "application" => self.find_named("applications", "name", &json!(name)),
            "submission" => {
                let (team, _) = name.split_once('#').unwrap();
                ("submissions", self.submission_named(name), team.to_owned())
            }
            "service" => ("services", self.service_id(name), "AwesomeConsumer".to_owned()),
            "team" => {
                let row = &self.results("/v1/account/teams/", name)[0];
                if as_of.is_empty() {
                    return Outcome::head(reply::fields(row, fields, &names));
                }
                let path = format!("/v1/account/teams/{}/{as_of}", row["id"]);
                let answer = self.system.get(&path, self.key(name));
                return reply::line(&answer, &names, || reply::fields(&answer.body, fields, &names));
            }
            _ => panic!("`{kind}` cannot be read"),
        };
        let is_consumers_own = matches!(collection, "applications" | "submissions");
        let as_consumer = is_consumers_own || team.is_none_or(|team| team == reader);
        let side = if as_consumer { "consumer" } else { "serviceowner" };
        let path = format!("{CORE}/{side}/{collection}/{id}/{as_of}");
        let answer = self.system.get(&path, self.key(team.unwrap_or(&reader)));
        reply::line(&answer, &names, || match (kind, fields) {
            ("change", []) => reply::change(&answer.body, &names),
            ("item", []) => reply::item(&answer.body),
            _ => reply::fields(&answer.body, fields, &names),
        })
    }

    /// Returns the object with this name, among the objects of the teams with submissions.
    pub(super) fn find_named(
        &self,
        collection: &'static str,
        field: &str,
        name: &Value,
    ) -> (&'static str, u64, String) {
        for team in &self.submitters {
            let mut rows = self.results(&format!("{CORE}/consumer/{collection}/?limit=1000"), team);
            if collection == "applications" {
                let retired = format!("{CORE}/consumer/{collection}/?limit=1000&retired=true");
                rows.extend(self.results(&retired, team));
            }
            if let Some(row) = rows.iter().find(|row| row[field] == *name) {
                return (collection, row["id"].as_u64().unwrap(), team.clone());
            }
        }
        panic!("nothing among {collection} is called {name}")
    }

    /// Lists a collection, for example `changes state=PENDING`. After `as consumer`, it uses the consumer role.
    pub(super) fn list(&self, team: &str, collection: &str, view: Option<&str>, words: &[&str]) -> Outcome {
        let names = self.names();
        let (side, filters) = match words {
            ["as", "consumer", filters @ ..] => ("consumer", filters),
            filters => ("serviceowner", filters),
        };
        let filters = filters.iter().map(|filter| match filter.split_once('=') {
            Some(("service_item_id", item)) => format!("service_item_id={}", names.item_named(item).id),
            _ => (*filter).to_owned(),
        });
        let (collection, side) = match collection {
            "changes" => ("change_instances", side),
            "items" => ("service_items", side),
            "deployed" => ("deployed_items", side),
            "submissions" => ("submissions", "consumer"),
            other => (other, side),
        };
        let filters = filters.collect::<Vec<_>>().join("&");
        let view = view.map(|view| format!("{view}/")).unwrap_or_default();
        let base = if collection == "messages" { "/v1/orcaexternal" } else { CORE };
        let path = format!("{base}/{side}/{collection}/{view}?{filters}");
        let answer = self.system.get(&path, self.key(team));
        reply::line(&answer, &names, || {
            let rows = answer.at("/results").as_array().unwrap();
            assert_eq!(answer.at("/count"), rows.len(), "the count is the number of rows");
            let rows: Vec<String> = rows.iter().map(|row| reply::row(collection, row, &names)).collect();
            if rows.is_empty() { "none".to_owned() } else { rows.join(", ") }
        })
    }

    pub(super) fn history(&self, change: &str) -> Outcome {
        let names = self.names();
        let object = names.change_named(change);
        let path = format!("{CORE}/consumer/change_instances/{}/history/", object.id);
        let entries = self.results(&path, &object.consumer);
        Outcome { head: String::new(), rows: reply::history(&entries, &names) }
    }

    /// Returns the rows of an item in a list of its consumer.
    fn rows_of(&self, item: &str, list: &str, names: &Names) -> Vec<Value> {
        let item = names.item_named(item);
        self.results(&format!("{list}&service_item_id={}", item.id), &item.consumer)
    }

    pub(super) fn versions(&self, item: &str, names: &Names) -> Vec<Value> {
        self.rows_of(item, &format!("{CORE}/consumer/deployed_items/?limit=1000"), names)
    }

    pub(super) fn deployed(&self, item: &str) -> Outcome {
        let names = self.names();
        let versions = self.versions(item, &names);
        listed(versions.iter().map(|version| reply::deployed(version, &names)).collect())
    }

    /// Returns the charges of an item as its consumer sees them, oldest first.
    pub(super) fn charges_of(&self, item: &str, names: &Names) -> Vec<Value> {
        self.rows_of(item, &format!("{CHARGES}/consumer/charges/?limit=100&ordering=created"), names)
    }

    pub(super) fn charges(&self, item: &str) -> Outcome {
        let names = self.names();
        let charges = self.charges_of(item, &names);
        listed(charges.iter().map(|charge| reply::charge(charge, &names)).collect())
    }

    /// Returns the events since the last call, by subject.
    pub(super) fn events(&mut self) -> Outcome {
        let names = self.names();
        let events = self.system.events(self.events_read);
        self.events_read = events.last().map_or(self.events_read, |event| event.number);
        let mut rows: Vec<_> = events.iter().map(|event| reply::event(&event.envelope, &names)).collect();
        // Events have an order only within a subject, and each can arrive twice (docs/reference/events.md).
        rows.sort_by_key(|(subject, _)| subject.clone());
        let mut seen = BTreeSet::new();
        rows.retain(|row| seen.insert(row.clone()));
        Outcome { head: String::new(), rows: rows.into_iter().map(|(_, row)| row).collect() }
    }
}

fn listed(rows: Vec<String>) -> Outcome {
    Outcome { head: if rows.is_empty() { "none" } else { "" }.to_owned(), rows }
}
