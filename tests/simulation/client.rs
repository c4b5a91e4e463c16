//! A client: it does one thing after the other, and asks again when it gets no answer.

use crate::catalogue;
use crate::command::Command;
use crate::declared::{Body, content};
use crate::shape::{CONSUMERS, OWNERS};
use crate::system::{Answer, Asked, System};
use domain::submission::Scope;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a client asks for the same.
const TRIES_MAX: u32 = 8;

/// One of so many submissions is previewed, and submitted with the preview's plan.
const PREVIEWED: usize = 3;

/// What clients have asked for and were told, while a run lasts.
#[derive(Default)]
pub struct Told {
    /// What was submitted, by the ids of the requests.
    pub bodies: Mutex<BTreeMap<String, Body>>,
    /// The answers that were not what a client asks again about.
    pub answers: Mutex<Vec<(Asked, Answer)>>,
    /// What was previewed, and what the submission with its plan was told.
    pub previews: Mutex<Vec<(Value, Answer)>>,
    /// The paths of what owners would have removed, whatever they were told.
    pub removed: Mutex<BTreeSet<String>>,
}

/// Does what a client does.
pub async fn act(system: &Arc<System>, told: &Told, number: usize, command: &Command) {
    let think = system.cloud.draw(|dice| dice.u64(0..200));
    tokio::time::sleep(Duration::from_millis(think)).await;
    match command {
        Command::Submit { consumer, scope, applications, with_key } => {
            let (team, key) = CONSUMERS[*consumer];
            let content = content(applications);
            let mut asked = Asked {
                method: if *scope == Scope::Whole { "POST" } else { "PATCH" }.to_owned(),
                path: "/v1/orcabase/consumer/submissions/submit/".to_owned(),
                key: key.to_owned(),
                idempotency_key: with_key.then(|| format!("key-{number}")),
                if_match: None,
                body: json!({team: content}),
            };
            let preview =
                if number.is_multiple_of(PREVIEWED) { preview(system, told, &asked).await } else { None };
            asked.if_match = preview.as_ref().map(|preview| preview["plan"].as_str().unwrap().to_owned());
            let answer = persist(system, told, &asked, Some(&Body::new(content))).await;
            if let Some((preview, answer)) = preview.zip(answer) {
                told.previews.lock().unwrap_or_else(PoisonError::into_inner).push((preview, answer));
            }
        }
        Command::Decide { owner, pick, to, deployed } => {
            let Some(change) = some_change(system, told, *owner, *pick, &["PENDING", "APPROVED"]).await
            else {
                return;
            };
            let (to, deployed) = match (change["state"].as_str().unwrap(), to % 4) {
                ("PENDING", 0) => ("REJECTED", false),
                ("PENDING", _) => ("APPROVED", *deployed && change["is_dependant"] == false),
                (_, 0) => ("ERRORED", false),
                (_, _) => ("COMPLETED", *deployed && change["is_dependant"] == false),
            };
            let mut body = json!({"state": to});
            if deployed {
                body["deployed_item"] = json!({"ip": format!("10.0.0.{}", pick % 3)});
            }
            let asked = on(*owner, "PATCH", &change, "", body);
            drop(persist(system, told, &asked, None).await);
        }
        Command::Retry { owner, pick } => {
            let Some(change) = some_change(system, told, *owner, *pick, &["REJECTED", "ERRORED"]).await
            else {
                return catalogue::act(system, told, *owner, *pick).await;
            };
            let asked = if pick % 3 == 0 {
                on(*owner, "PATCH", &change, "", json!({"state": "CLOSED"}))
            } else {
                on(*owner, "POST", &change, "retry/", Value::Null)
            };
            drop(persist(system, told, &asked, None).await);
        }
        Command::Sweep => drop(system.sweep(sweep::Request::default()).await),
    }
}

/// What a submission would do, if it is valid and nothing is owed from before.
async fn preview(system: &Arc<System>, told: &Told, submission: &Asked) -> Option<Value> {
    let path = submission.path.replace("/submit/", "/validate/");
    let asked = Asked { path, ..submission.clone() };
    let answer = persist(system, told, &asked, None).await?;
    (answer.status == 200 && answer.body["plan"].is_string()).then_some(answer.body)
}

fn on(owner: usize, method: &str, change: &Value, then: &str, body: Value) -> Asked {
    let path = format!("/v1/orcabase/serviceowner/change_instances/{}/{then}", change["id"]);
    let (method, key) = (method.to_owned(), OWNERS[owner].1.to_owned());
    Asked { method, path, key, idempotency_key: None, if_match: None, body }
}

/// One of the change instances that an owner is shown in these states, if there is any.
async fn some_change(
    system: &Arc<System>,
    told: &Told,
    owner: usize,
    pick: usize,
    states: &[&str],
) -> Option<Value> {
    let mut shown = Vec::new();
    for state in states {
        let path = format!("/v1/orcabase/serviceowner/change_instances/?state={state}&limit=50");
        let (method, key) = ("GET".to_owned(), OWNERS[owner].1.to_owned());
        let asked = Asked { method, path, key, idempotency_key: None, if_match: None, body: Value::Null };
        let answer = persist(system, told, &asked, None).await?;
        shown.extend(answer.body["results"].as_array().cloned().unwrap_or_default());
    }
    if shown.is_empty() { None } else { Some(shown.swap_remove(pick % shown.len())) }
}

/// Asks until there is an answer that stands.
pub async fn persist(
    system: &Arc<System>,
    told: &Told,
    asked: &Asked,
    body: Option<&Body>,
) -> Option<Answer> {
    for _ in 0..TRIES_MAX {
        let id = system.next_request();
        if let Some(body) = body {
            told.bodies.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), body.clone());
        }
        match system.ask(asked, &id).await {
            // What an API Gateway answers when its function, or its authorizer, has died.
            Some(answer) if answer.body["message"] == "Internal Server Error" => {}
            Some(answer) if answer.status != 503 && answer.body["code"] != "submission_in_flight" => {
                told.answers
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((asked.clone(), answer.clone()));
                return Some(answer);
            }
            Some(_) | None => {}
        }
        let wait = system.cloud.draw(|dice| dice.u64(50..3_000));
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
    None
}
