//! Webhooks: a team's events are posted to its URL in order, each until it is accepted.

use std::{convert::Infallible, time::Duration};

use hyper::Uri;
use tokio::sync::watch;

use crate::{client, journal::Journal, pattern::Pattern};

/// How long a receiver may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest pause before a first retry; it doubles.
const BACKOFF_MILLIS: u64 = 50;
/// The longest pause before a retry.
const BACKOFF_MILLIS_MAX: u64 = 5_000;
/// How many events are looked at at once.
const EVENTS_MAX: u64 = 100;

/// Where a team is told, and of what.
#[derive(Clone, Debug, PartialEq)]
pub struct Webhook {
    /// The team.
    pub team: String,
    /// The URL.
    pub url: Uri,
    /// The events that it gets.
    pub pattern: Pattern,
}

impl Webhook {
    /// Delivers events for ever, from where it was.
    pub async fn run(&self, journal: &Journal, mut taken: watch::Receiver<()>) -> Infallible {
        loop {
            taken.mark_unchanged();
            match self.turn(journal).await {
                Ok(true) => {}
                // The bus lives as long as this.
                Ok(false) => drop(taken.changed().await),
                Err(error) => {
                    dovetail_aws::log(&format!("webhook of {}", self.team), &error.to_string());
                    tokio::time::sleep(PATIENCE).await;
                }
            }
        }
    }

    /// Delivers what there is; false when there was nothing.
    async fn turn(&self, journal: &Journal) -> rusqlite::Result<bool> {
        let reader = format!("webhook of {}", self.team);
        let position = journal.position(&reader)?.and_then(|place| place.parse().ok()).unwrap_or(0);
        let events = journal.events(position, EVENTS_MAX)?;
        for event in &events {
            if self.pattern.matches(&event.value) {
                self.post(event.value.to_string()).await;
            }
            journal.advance(&reader, &event.number.to_string())?;
        }
        Ok(!events.is_empty())
    }

    /// Posts an event until it is accepted.
    async fn post(&self, body: String) {
        let json = [("content-type", "application/json")];
        let mut longest = BACKOFF_MILLIS;
        loop {
            let reply = client::post(&self.url, &json, body.clone(), PATIENCE).await;
            if reply.is_ok_and(|reply| reply.status().is_success()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(fastrand::u64(0..=longest))).await;
            longest = (longest * 2).min(BACKOFF_MILLIS_MAX);
        }
    }
}
