//! The routes below `/_local/`: what the local system tells of itself, and what it can be told. No part of the API.

use std::{sync::Arc, time::Duration};

use aws_lambda_events::encodings::Body;
use dovetail_http::{Event, EventReply};
use dovetail_table::Table;
use serde_json::{Value, json};

use crate::{
    invoke::Invoker,
    journal::{Failed, Journal},
    mapping::{Mapping, Wake},
};

/// How all of these paths begin.
pub const PREFIX: &str = "/_local/";
/// How long [`settled`](Control::settled) waits.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many events one request lists at most, and when nothing is said.
const EVENTS_MAX: u64 = 1_000;

/// What is controlled.
#[derive(Clone, Debug)]
pub struct Control {
    /// The tables.
    pub table: Table,
    /// The journal.
    pub journal: Journal,
    /// The mappings.
    pub mappings: Arc<[Mapping]>,
    /// Wakes the mappings.
    pub wake: Wake,
    /// Reaches the functions.
    pub invoker: Invoker,
}

impl Control {
    /// Answers a request below [`PREFIX`].
    pub async fn answer(&self, event: &Event) -> EventReply {
        let path = event.raw_path.as_deref().unwrap_or_default();
        let route = path.strip_prefix(PREFIX).unwrap_or_default().trim_end_matches('/');
        let method = event.request_context.http.method.as_str();
        let answer = match (method, route.split('/').collect::<Vec<_>>().as_slice()) {
            ("GET", ["audit"]) => self.audit().await,
            ("GET", ["events"]) => self.events(event),
            ("GET", ["settled"]) => Ok(json!({"settled": self.settled().await})),
            ("GET", ["failures"]) => self.failures(),
            ("POST", ["failures", "redrive"]) => self.redrive().await,
            ("POST", ["sweep"]) => self.sweep(event).await,
            ("PUT", ["mappings", function]) => match self.enable(function, event) {
                Some(answer) => Ok(answer),
                None => return plain(404, &json!({"message": "there is no such mapping"})),
            },
            _ => return plain(404, &json!({"message": "there is no such route"})),
        };
        match answer {
            Ok(body) => plain(200, &body),
            Err(message) => plain(500, &json!({"message": message})),
        }
    }

    /// The invariants that the table breaks; none, if all is well.
    async fn audit(&self) -> Result<Value, String> {
        let snapshot = self.table.snapshot().await.map_err(|error| error.to_string())?;
        let violations = domain::invariant::violations(&snapshot);
        let told =
            violations.iter().map(|v| json!({"rule": v.rule, "subject": v.subject, "detail": v.detail}));
        Ok(json!({"violations": told.collect::<Vec<_>>()}))
    }

    /// What was published behind a number.
    fn events(&self, event: &Event) -> Result<Value, String> {
        let query = event.raw_query_string.as_deref().unwrap_or_default();
        let number = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.into_iter().find(|(key, _)| *key == name).and_then(|(_, value)| value.parse().ok())
        };
        let after: u64 = number("after").unwrap_or(0);
        let limit: u64 = number("limit").unwrap_or(EVENTS_MAX);
        let events = self.journal.events(after, limit.min(EVENTS_MAX)).map_err(|error| error.to_string())?;
        let next = events.last().map_or(after, |event| event.number);
        let told = events.into_iter().map(|event| json!({"number": event.number, "envelope": event.value}));
        Ok(json!({"events": told.collect::<Vec<_>>(), "next": next}))
    }

    /// Waits until the stream is read to its end and nothing was done about it since; false if that takes too long.
    pub async fn settled(&self) -> bool {
        let settling = async {
            loop {
                let (handled, wake) = (self.handled(), self.wake.wake());
                for mapping in &*self.mappings {
                    mapping.idle_since(wake).await;
                }
                if self.handled() == handled {
                    return;
                }
            }
        };
        tokio::time::timeout(PATIENCE, settling).await.is_ok()
    }

    fn handled(&self) -> u64 {
        self.mappings.iter().map(Mapping::handled).sum()
    }

    /// The batches that were given up.
    fn failures(&self) -> Result<Value, String> {
        let failures = self.journal.failures().map_err(|error| error.to_string())?;
        let told = failures.into_iter().map(|failed| {
            json!({"number": failed.number, "function": failed.value.function, "record": failed.value.record})
        });
        Ok(json!({"failures": told.collect::<Vec<_>>()}))
    }

    /// Delivers the batches that were given up once more; what is taken is forgotten.
    async fn redrive(&self) -> Result<Value, String> {
        let failures = self.journal.failures().map_err(|error| error.to_string())?;
        let (all, mut redriven) = (failures.len(), 0);
        for failed in failures {
            if self.is_taken(&failed.value).await {
                self.journal.forget(failed.number).map_err(|error| error.to_string())?;
                redriven += 1;
            }
        }
        self.wake.wake();
        Ok(json!({"redriven": redriven, "left": all - redriven}))
    }

    async fn is_taken(&self, failed: &Failed) -> bool {
        let payload = failed.record.get("payload").and_then(Value::as_str).unwrap_or_default();
        let Ok(payload) = serde_json::from_str(payload) else { return false };
        let reply = self.invoker.invoke(&failed.function, payload).await;
        reply.is_ok_and(|reply| {
            let failures = reply.get("batchItemFailures").and_then(Value::as_array);
            failures.is_none_or(Vec::is_empty)
        })
    }

    async fn sweep(&self, event: &Event) -> Result<Value, String> {
        let body = event.body.as_deref().filter(|body| !body.is_empty()).unwrap_or("{}");
        let request = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let swept = self.invoker.invoke("sweep", request).await;
        self.wake.wake();
        swept
    }

    /// Has a mapping rest or go on, as its setting `Enabled` in AWS does.
    fn enable(&self, function: &str, event: &Event) -> Option<Value> {
        let mapping = self.mappings.iter().find(|mapping| mapping.settings.function == function)?;
        let body: Value = serde_json::from_str(event.body.as_deref().unwrap_or_default()).unwrap_or_default();
        if let Some(enabled) = body.get("enabled").and_then(Value::as_bool) {
            mapping.enable(enabled);
        }
        Some(json!({"function": function, "enabled": mapping.is_enabled()}))
    }
}

/// A reply of the gateway's own.
pub(crate) fn plain(status: i64, body: &Value) -> EventReply {
    let mut reply = EventReply::default();
    reply.status_code = status;
    reply.body = Some(Body::Text(body.to_string()));
    reply
}
