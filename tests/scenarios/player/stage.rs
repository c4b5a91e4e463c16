//! Maps the commands of a scenario to requests.

use super::names::Names;
use super::script::{Outcome, Step};
use super::text::pairs;
use domain::base::json::canonical;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use support::{Answer, ApiRequest, Site};

/// A system during a scenario.
pub(super) struct Stage<S> {
    pub(super) system: S,
    pub(super) keys: BTreeMap<String, String>,
    /// Token of a member of each team, in scenarios with people.
    pub(super) tokens: BTreeMap<String, String>,
    /// Teams with submissions. Only their change instances have names.
    pub(super) submitters: BTreeSet<String>,
    /// `If-Match` of each team's last preview.
    pub(super) plans: BTreeMap<String, String>,
    /// First response for each team and idempotency key.
    pub(super) replies: BTreeMap<(String, String), Value>,
    /// Number of the last event in a result.
    pub(super) events_read: u64,
    /// Whether generation is paused. Then the test delivers no stream records.
    pub(super) rests: bool,
}

/// Path prefix of most routes.
pub(super) const CORE: &str = "/v1/orcabase";

impl<S: Site> Stage<S> {
    pub(super) fn new(system: S, keys: BTreeMap<String, String>) -> Self {
        let (submitters, plans, replies) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let tokens = BTreeMap::new();
        Self { system, keys, tokens, submitters, plans, replies, events_read: 0, rests: false }
    }

    pub(super) fn play(&mut self, step: &Step) -> Outcome {
        let words: Vec<&str> = step.command.split(' ').collect();
        match words.as_slice() {
            ["history", change] => self.history(change),
            ["deployed", item] => self.deployed(item),
            ["charges", item] => self.charges(item),
            ["declaration", "of", team, rest @ ..] => {
                let query = match rest {
                    ["as", "of", submission] => format!("?as_of={}", self.submission_named(submission)),
                    _ => String::new(),
                };
                Outcome::head(canonical(&self.declaration(team, &query)[team]))
            }
            [team, "bills", item, number] => self.bill(team, item, number.parse().unwrap()),
            [
                kind @ ("change" | "item" | "application" | "service" | "submission" | "team"),
                name,
                fields @ ..,
            ] => self.read(None, kind, name, fields),
            [team, "reads", kind, name, fields @ ..] => self.read(Some(team), kind, name, fields),
            [team, "lists", view @ ("dependant" | "referenced"), collection, words @ ..] => {
                self.list(team, collection, Some(view), words)
            }
            [team, "lists", collection, words @ ..] => self.list(team, collection, None, words),
            [team, "submits" | "patches" | "validates" | "reverts", ..] => self.submit(team, step),
            [team, "moves", change, "to", state, ..] => {
                let body = json!({"state": state});
                self.update(team, "POST", change, body, rest_of(step, 5))
            }
            ["a", "person", "of", _, "moves", change, "to", state, ..] => {
                let (who, _) = step.command.split_once(" moves ").unwrap();
                self.update(who, "PATCH", change, json!({"state": state}), rest_of(step, 8))
            }
            [team, "updates", change, ..] => self.update(team, "PATCH", change, json!({}), rest_of(step, 3)),
            [team, "claims", change, "as", worker] if change.contains('#') => {
                self.claim(team, change, &json!({"worker": worker}))
            }
            [team, "claims", change, "as", worker, "with", number] => {
                let number: u64 = number.parse().unwrap();
                self.claim(team, change, &json!({"worker": worker, "number": number}))
            }
            [team, "releases", change, "as", worker, "with", number] => {
                let number: u64 = number.parse().unwrap();
                self.claim(team, change, &json!({"worker": worker, "number": number, "lease_seconds": 0}))
            }
            [team, "claims", limit, "as", worker] => self.claim_batch(team, limit, "APPROVED", worker),
            [team, "claims", limit, state, "as", worker] => self.claim_batch(team, limit, state, worker),
            [team, "retries", change] => self.retry(team, change),
            [team, "deploys", ..] => self.deploy(team, rest_of(step, 2)),
            [team, "sets", service, ..] => self.set(team, service, &pairs(rest_of(step, 3))),
            [team, "tells", ..] => self.create_message(team, rest_of(step, 2)),
            [team, "withdraws", ..] => self.withdraw(team, rest_of(step, 2)),
            [team, "publishes"] => self.publish(team, &step.body.join("\n")),
            ["generation", "rests"] => self.generation(false),
            ["generation", "goes", "on"] => self.generation(true),
            ["events"] => self.events(),
            _ => panic!("`{}` is no command", step.command),
        }
    }

    pub(super) fn key(&self, team: &str) -> &str {
        self.keys.get(team).unwrap_or_else(|| panic!("team `{team}` does not exist"))
    }

    /// Returns the names of all items and change instances.
    pub(super) fn names(&self) -> Names {
        let mut names = Names::default();
        for team in &self.submitters {
            let path = format!("{CORE}/consumer/change_instances/?limit=1000");
            for change in self.results(&path, team) {
                names.learn(&change);
            }
        }
        names
    }

    /// Returns all rows of a list. Fails if it has more than one page.
    pub(super) fn results(&self, path: &str, team: &str) -> Vec<Value> {
        let answer = self.system.get(path, self.key(team));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert!(answer.at("/next").is_null(), "{path} has one page");
        answer.at("/results").as_array().unwrap().clone()
    }

    /// Sends a request as `TEAM` with its API key, or as `a person of TEAM` with a token.
    pub(super) fn call(&self, who: &str, method: &str, path: &str, body: &Value) -> Answer {
        let Some(team) = who.strip_prefix("a person of ") else {
            return self.system.call(method, path, self.key(who), body);
        };
        let bearer = format!("Bearer {}", self.tokens[team]);
        let headers = [("authorization", bearer.as_str())];
        self.system.send(&ApiRequest { headers: &headers, ..ApiRequest::new(method, path, body) })
    }

    pub(super) fn service_id(&self, title: &str) -> u64 {
        let owned = |team: &String| self.results(&format!("{CORE}/serviceowner/services/?limit=1000"), team);
        let service = self.keys.keys().flat_map(owned).find(|service| service["name"] == title);
        service.unwrap_or_else(|| panic!("service `{title}` does not exist"))["id"].as_u64().unwrap()
    }

    /// Returns the id of `T#1`, the first submission of team T.
    pub(super) fn submission_named(&self, name: &str) -> u64 {
        let (team, number) = name.split_once('#').unwrap();
        let number: usize = number.parse().unwrap();
        let rows = self.results(&format!("{CORE}/consumer/submissions/?limit=1000"), team);
        rows[number - 1]["id"].as_u64().unwrap()
    }

    /// Pauses or resumes generation.
    pub(super) fn generation(&mut self, enabled: bool) -> Outcome {
        self.system.enable("generate", enabled);
        self.rests = !enabled;
        Outcome::default()
    }
}

/// Returns the command without its first words.
pub(super) fn rest_of(step: &Step, words: usize) -> &str {
    let mut rest = step.command.as_str();
    for _ in 0..words {
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
    }
    rest
}
