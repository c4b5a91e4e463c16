//! A worker of an owner: it claims work before it carries it out (R64).

use crate::client::{Client, on};
use crate::shape::OWNERS;
use crate::system::{Answer, ApiRequest, OWNED};
use serde_json::{Value, json};
use std::time::Duration;

/// Counters of the worker, each with a minimum of one in all runs.
pub const COUNTERS: [&str; 3] = [HANDED_OUT, IN_TIME, REFUSED];

const HANDED_OUT: &str = "batch of claims";
const IN_TIME: &str = "completed with a claim";
const REFUSED: &str = "refused without the newest claim";

/// Length of most leases, in seconds: about as long as the work.
const LEASE_SECONDS: u64 = 10;

/// Ends APPROVED work in a state, as a worker with a claim. Some workers take longer than their lease, and some have
/// none.
pub async fn work(client: Client<'_>, owner: usize, change: &Value, pick: usize, body: Value) {
    let is_claimed = !pick.is_multiple_of(7);
    let number = if is_claimed { claimed(client, owner, change, pick).await } else { None };
    if is_claimed && number.is_none() {
        // Another worker has the work.
        return;
    }
    finish(client, owner, change, number, body).await;
}

/// Claims a batch of the owner's work, and completes it.
pub async fn work_on_batch(client: Client<'_>, owner: usize, pick: usize) {
    let body = json!({"worker": worker(pick), "limit": 1 + pick % 3, "lease_seconds": LEASE_SECONDS});
    let request = ApiRequest::new("POST", &format!("{OWNED}claim/"), OWNERS[owner].1, body);
    let Some(answer) = client.persist(&request, None).await else { return };
    let changes = answer.body["results"].as_array().cloned().unwrap_or_default();
    if !changes.is_empty() {
        client.system.cloud.count(HANDED_OUT);
    }
    for change in changes {
        let number = change["claim"]["number"].as_u64();
        finish(client, owner, &change, number, json!({"state": "COMPLETED"})).await;
    }
}

/// Takes the work of a change instance, and returns the number of the claim. Sometimes it extends the lease.
async fn claimed(client: Client<'_>, owner: usize, change: &Value, pick: usize) -> Option<u64> {
    let claim = |body: Value| on(owner, "POST", change, "claim/", body);
    let lease = if pick.is_multiple_of(3) { 300 } else { LEASE_SECONDS };
    let body = json!({"worker": worker(pick), "lease_seconds": lease});
    let number = number_of(&client.persist(&claim(body), None).await?)?;
    if pick % 4 == 1 {
        let body = json!({"worker": worker(pick), "lease_seconds": LEASE_SECONDS, "number": number});
        number_of(&client.persist(&claim(body), None).await?)?;
    }
    let seconds = client.system.cloud.draw(|dice| dice.u64(0..2 * LEASE_SECONDS));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    Some(number)
}

fn number_of(answer: &Answer) -> Option<u64> {
    if answer.status == 200 { answer.body["claim"]["number"].as_u64() } else { None }
}

async fn finish(client: Client<'_>, owner: usize, change: &Value, number: Option<u64>, mut body: Value) {
    if let Some(number) = number {
        body["claim"] = json!(number);
    }
    let Some(answer) = client.persist(&on(owner, "PATCH", change, "", body), None).await else { return };
    if answer.body["code"] == "not_claimed" {
        client.system.cloud.count(REFUSED);
    } else if number.is_some() && answer.body["state"] == "COMPLETED" {
        client.system.cloud.count(IN_TIME);
    }
}

fn worker(pick: usize) -> String {
    format!("worker-{}", pick % 3)
}
