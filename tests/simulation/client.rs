//! A client. It sends requests in sequence, and repeats a request without an answer.

use crate::catalogue;
use crate::command::Command;
use crate::declared::{Body, content};
use crate::locked;
use crate::shape::{CONSUMERS, OWNERS, Shape};
use crate::system::{Answer, ApiRequest, OWNED, SUBMIT, System};
use domain::model::submission::Scope;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// Maximum number of attempts of a request.
const TRIES_MAX: u32 = 8;

/// One in this number of submissions is previewed, and submitted with the preview's plan.
const PREVIEWED: usize = 3;

/// Counters of the actions of a verified service, each with a minimum of one success in all runs.
pub const VERIFIED: [&str; 3] = [PLANNED, ADOPTED, OBSERVED];

const PLANNED: &str = "item planned";
const ADOPTED: &str = "item adopted";
const OBSERVED: &str = "item observed";

/// Requests and answers of all clients in a run.
#[derive(Default)]
pub struct ClientLog {
    /// Submitted declarations, by request id.
    pub bodies: Mutex<BTreeMap<String, Body>>,
    /// Requests and their final answers.
    pub answers: Mutex<Vec<(ApiRequest, Answer)>>,
    /// Previews, each with the answer to the submission of its plan.
    pub previews: Mutex<Vec<(Value, Answer)>>,
    /// Paths of all DELETE requests, also of those without an answer.
    pub removed: Mutex<BTreeSet<String>>,
}

/// A client of a system.
#[derive(Clone, Copy)]
pub struct Client<'a> {
    pub system: &'a System,
    pub log: &'a ClientLog,
    pub shape: &'a Shape,
}

impl Client<'_> {
    /// Executes one command.
    pub async fn act(self, number: usize, command: &Command) {
        let Self { system, log, shape } = self;
        let think = system.cloud.draw(|dice| dice.u64(0..200));
        tokio::time::sleep(Duration::from_millis(think)).await;
        match command {
            Command::Submit { consumer, scope, applications, with_key } => {
                let (team, key) = CONSUMERS[*consumer];
                let content = content(applications, shape.is_verified);
                let method = if *scope == Scope::Whole { "POST" } else { "PATCH" };
                let mut request = ApiRequest::new(method, SUBMIT, key, json!({team: content}));
                request.idempotency_key = with_key.then(|| format!("key-{number}"));
                let is_previewed = number.is_multiple_of(PREVIEWED);
                let preview = if is_previewed { self.preview(&request).await } else { None };
                request.if_match =
                    preview.as_ref().map(|preview| preview["plan"].as_str().unwrap().to_owned());
                let answer = self.persist(&request, Some(&Body::new(content))).await;
                if let Some((preview, answer)) = preview.zip(answer) {
                    locked(&log.previews).push((preview, answer));
                }
            }
            // The owner of virtual machines is the first one.
            Command::Decide { owner: 0, pick, to, .. } if shape.is_verified && pick % 5 < 2 => {
                self.verified(*pick, *to).await;
            }
            Command::Decide { owner, pick, to, deployed } => {
                let states = ["PENDING", "APPROVED"];
                let Some(change) = self.some_change(*owner, *pick, &states).await else { return };
                let is_verified = shape.is_verified && change["service"]["name"] == "VM";
                let (to, deployed) = match (change["state"].as_str().unwrap(), to % 4) {
                    ("PENDING", 0) => ("REJECTED", false),
                    ("PENDING", _) => {
                        ("APPROVED", *deployed && !is_verified && change["is_dependant"] == false)
                    }
                    (_, 0) => ("ERRORED", false),
                    (_, _) => ("COMPLETED", *deployed && change["is_dependant"] == false),
                };
                let mut body = json!({"state": to});
                if deployed {
                    body["deployed_item"] = json!({"ip": format!("10.0.0.{}", pick % 3)});
                }
                let request = on(*owner, "PATCH", &change, "", body);
                drop(self.persist(&request, None).await);
            }
            Command::Retry { owner, pick } => {
                let states = ["REJECTED", "ERRORED"];
                let Some(change) = self.some_change(*owner, *pick, &states).await else {
                    return catalogue::act(self, *owner, *pick).await;
                };
                let request = if pick % 3 == 0 {
                    on(*owner, "PATCH", &change, "", json!({"state": "CLOSED"}))
                } else {
                    on(*owner, "POST", &change, "retry/", Value::Null)
                };
                drop(self.persist(&request, None).await);
            }
            Command::Sweep => drop(system.sweep(sweep::Request::default()).await),
        }
    }

    /// Leads a change instance of a verified service to its end, with a plan, and observes the item afterwards.
    async fn verified(self, pick: usize, to: usize) {
        let states = ["PENDING", "APPROVED", "COMPLETED"];
        let Some(change) = self.some_change(0, pick / 5, &states).await else { return };
        // Declared machines have one or two CPUs.
        let found = json!({"name": change["service_item"]["name"], "cpu": 1 + to % 3});
        let completion = match change["import_id"].as_str() {
            Some(id) => {
                let mut found = found.clone();
                found["host_id"] = json!(id);
                (Some(ADOPTED), json!({"state": "COMPLETED", "deployed_item": found}))
            }
            None => (None, json!({"state": "COMPLETED"})),
        };
        let planned = json!({"planned_item": {"ip": format!("10.0.0.{}", to % 3)}});
        let steps = [
            ("PENDING", (Some(PLANNED), planned)),
            ("PENDING", (None, json!({"state": "APPROVED"}))),
            ("APPROVED", completion),
            ("COMPLETED", (Some(OBSERVED), json!({"deployed_item": found}))),
        ];
        let state = change["state"].as_str().unwrap();
        for (_, (counter, body)) in steps.into_iter().skip_while(|(from, _)| *from != state) {
            let answer = self.persist(&on(0, "PATCH", &change, "", body), None).await;
            let is_done = answer.is_some_and(|answer| answer.status == 200);
            if let Some(counter) = counter.filter(|_| is_done) {
                self.system.cloud.count(counter);
            }
        }
    }

    /// Previews a submission. Returns a preview only with a plan: the declaration is valid, and no earlier work is
    /// pending.
    async fn preview(self, submission: &ApiRequest) -> Option<Value> {
        let path = submission.path.replace("/submit/", "/validate/");
        let answer = self.persist(&ApiRequest { path, ..submission.clone() }, None).await?;
        (answer.status == 200 && answer.body["plan"].is_string()).then_some(answer.body)
    }

    /// Returns one of the owner's change instances in these states, if any.
    async fn some_change(self, owner: usize, pick: usize, states: &[&str]) -> Option<Value> {
        let mut changes = Vec::new();
        for state in states {
            let path = format!("{OWNED}?state={state}&limit=50&proposal=true");
            let request = ApiRequest::new("GET", &path, OWNERS[owner].1, Value::Null);
            let answer = self.persist(&request, None).await?;
            changes.extend(answer.body["results"].as_array().cloned().unwrap_or_default());
        }
        if changes.is_empty() { None } else { Some(changes.swap_remove(pick % changes.len())) }
    }

    /// Sends a request until it has a final answer. Returns `None` after `TRIES_MAX` attempts.
    pub async fn persist(self, request: &ApiRequest, body: Option<&Body>) -> Option<Answer> {
        let Self { system, log, .. } = self;
        for _ in 0..TRIES_MAX {
            let id = system.next_request();
            // Each attempt has a separate request id, and the table can store any of them.
            if let Some(body) = body {
                locked(&log.bodies).insert(id.clone(), body.clone());
            }
            match system.send(request, &id).await {
                // API Gateway returns this body after the death of a function or of its authorizer.
                Some(answer) if answer.body["message"] == "Internal Server Error" => {}
                Some(answer) if answer.status != 503 && answer.body["code"] != "submission_in_flight" => {
                    locked(&log.answers).push((request.clone(), answer.clone()));
                    return Some(answer);
                }
                Some(_) | None => {}
            }
            let wait = system.cloud.draw(|dice| dice.u64(50..3_000));
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
        None
    }
}

fn on(owner: usize, method: &str, change: &Value, then: &str, body: Value) -> ApiRequest {
    ApiRequest::new(method, &format!("{OWNED}{}/{then}", change["id"]), OWNERS[owner].1, body)
}
