//! The control routes of the local system under `/_local/`, which are not part of the API.

use std::{sync::Arc, time::Duration};

use dovetail_emulator::{
    bus::Bus,
    gateway::plain,
    invoke::{Failure, Invoker},
    journal::{self, FailedBatch, Journal},
    mapping::{
        Handle,
        delivery::{BatchOutcome, batch_outcome},
        wake,
    },
    queue::{self, Queue},
    schedule::{self, Sweep},
};
use dovetail_http::{Event, EventReply};
use dovetail_table::{Table, audit::Audited};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::audit;

/// The longest wait until all consumers are idle or a consumer is disabled.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
const EVENTS: u64 = 100;
const EVENTS_MAX: u64 = 1_000;

/// The resources of the routes; clones share them.
#[derive(Clone, Debug)]
pub struct Control {
    pub bus: Bus,
    pub queue: Queue,
    /// Whether deliveries of the queue are enabled.
    pub delivering: watch::Sender<bool>,
    /// Storage of failed batches.
    pub journal: Arc<Journal>,
    /// Client that invokes functions.
    pub invoker: Invoker,
    pub sweep: Sweep,
    /// Wake-up of the consumers.
    pub wake: watch::Sender<u64>,
    /// Consumers of the stream.
    pub consumers: Vec<Handle>,
    pub table: Table,
}

impl Control {
    /// Answers a request under `/_local/`, or returns `None` for all others.
    pub async fn answer(&self, event: &Event) -> Option<EventReply> {
        let path = event.raw_path.as_deref()?;
        let route = path.strip_prefix("/_local/")?;
        if let Some(function) =
            route.strip_prefix("mappings/").filter(|_| event.request_context.http.method == "PUT")
        {
            return Some(self.enable(function, event).await);
        }
        Some(match (event.request_context.http.method.as_str(), route) {
            ("GET", "audit") => self.audit(false).await,
            ("POST", "audit") => self.audit(true).await,
            ("GET", "events") => self.events(event),
            ("GET", "settled") => plain(200, &json!({"settled": self.wait_idle().await})),
            ("GET", "failures") => self.failures(),
            ("POST", "failures/redrive") => self.redrive().await,
            ("POST", "sweep") => self.sweep(event).await,
            (method, _) => plain(404, &json!({"message": format!("no route has {method} {path}")})),
        })
    }

    fn events(&self, event: &Event) -> EventReply {
        let (after, limit) = (number(event, "after", 0), number(event, "limit", EVENTS));
        let (after, limit) = match (after, limit) {
            (Ok(after), Ok(limit)) => (after, limit.min(EVENTS_MAX)),
            (Err(problem), _) | (_, Err(problem)) => return plain(400, &json!({"message": problem})),
        };
        self.bus.list(after, limit).map_or_else(|error| broken(&error), |events| plain(200, &events))
    }

    /// Waits until all enabled consumers are idle, and returns whether they were in time. Webhooks do not count as
    /// consumers.
    async fn wait_idle(&self) -> bool {
        let waiting = async {
            loop {
                let handled = self.handled();
                let woken = wake(&self.wake);
                for mut consumer in self.consumers.clone() {
                    if *consumer.enabled.borrow() {
                        // A consumer that has ended closes its channel and will never be idle.
                        consumer.progress.wait_for(|progress| progress.idle_since >= woken).await.ok()?;
                    }
                }
                // A batch of one consumer may have caused records for another one, or for itself.
                if self.handled() == handled {
                    return Some(());
                }
            }
        };
        tokio::time::timeout(IDLE_TIMEOUT, waiting).await.is_ok_and(|idle| idle.is_some())
    }

    fn handled(&self) -> Vec<u64> {
        self.consumers.iter().map(|consumer| consumer.progress.borrow().handled).collect()
    }

    fn failures(&self) -> EventReply {
        let view = |(number, batch): (u64, FailedBatch)| {
            json!({
                "number": number, "function": batch.function, "reason": batch.reason, "record": batch.record,
            })
        };
        match self.journal.failures() {
            Ok(failures) => {
                let failures: Vec<Value> = failures.into_iter().map(view).collect();
                plain(200, &json!({"failures": failures}))
            }
            Err(error) => broken(&error),
        }
    }

    /// Delivers each failed batch once more, and removes those that succeed.
    async fn redrive(&self) -> EventReply {
        match self.redriven().await {
            Ok((redriven, left)) => plain(200, &json!({"redriven": redriven, "left": left})),
            Err(error) => broken(&error),
        }
    }

    async fn redriven(&self) -> Result<(u64, u64), journal::Error> {
        let (mut redriven, mut left) = (0_u64, 0_u64);
        for (number, batch) in self.journal.failures()? {
            let payload = batch.record.get("payload").and_then(Value::as_str).unwrap_or_default();
            let payload: Value = serde_json::from_str(payload)?;
            let records = payload.get("Records").and_then(Value::as_array).cloned().unwrap_or_default();
            let reply = self.invoker.invoke(&batch.function, payload).await;
            // A partly accepted batch stays complete. Functions may receive a record twice without harm.
            if batch_outcome(&records, &reply) == BatchOutcome::Done {
                self.journal.remove_failure(number)?;
                redriven = redriven.saturating_add(1);
            } else {
                left = left.saturating_add(1);
            }
        }
        Ok((redriven, left))
    }

    /// Answers with the violated invariants and the number of unsettled records, and may store these numbers.
    async fn audit(&self, stores_result: bool) -> EventReply {
        match self.audited(stores_result).await {
            Ok(audited) => plain(200, &audit::report(&audited)),
            Err(error) => plain(500, &json!({"message": error.to_string()})),
        }
    }

    async fn audited(&self, stores_result: bool) -> Result<Audited, dovetail_table::Error> {
        let started = dovetail_aws::now();
        let audited = self.table.audit(Some(started), &|_| ()).await?;
        if stores_result {
            audit::record(&self.table, &audited, started).await?;
        }
        Ok(audited)
    }

    /// Enables or disables a consumer, the queue of deliveries or the schedule. The body is `{"enabled": false}` or
    /// `true`.
    async fn enable(&self, function: &str, event: &Event) -> EventReply {
        let consumer = self.consumers.iter().find(|consumer| consumer.function == function);
        if consumer.is_none() && ![schedule::FUNCTION, queue::FUNCTION].contains(&function) {
            return plain(404, &json!({"message": format!("no mapping of `{function}` exists")}));
        }
        let body: Value = serde_json::from_str(event.body.as_deref().unwrap_or_default()).unwrap_or_default();
        let Some(enabled) = body.get("enabled").and_then(Value::as_bool) else {
            return plain(400, &json!({"message": "enabled must be true or false"}));
        };
        match consumer.cloned() {
            Some(mut consumer) => {
                consumer.enabled.send_replace(enabled);
                wake(&self.wake);
                // The consumer still delivers the records of its current read. It reports only afterwards that it
                // rests, so a caller can rely on the response.
                let resting = consumer.progress.wait_for(|progress| progress.rests != enabled);
                if tokio::time::timeout(IDLE_TIMEOUT, resting).await.is_err() {
                    return plain(
                        503,
                        &json!({"message": "the mapping still delivers records that it read earlier"}),
                    );
                }
            }
            None if function == queue::FUNCTION => drop(self.delivering.send_replace(enabled)),
            None => self.sweep.enable(enabled),
        }
        plain(200, &json!({"function": function, "enabled": enabled}))
    }

    /// Runs `sweep` at once, with the optional body as its payload.
    async fn sweep(&self, event: &Event) -> EventReply {
        let payload = match event.body.as_deref() {
            None | Some("") => json!({}),
            Some(body) => match serde_json::from_str(body) {
                Ok(payload) => payload,
                Err(error) => {
                    return plain(400, &json!({"message": format!("the body must be JSON: {error}")}));
                }
            },
        };
        let answered = self.sweep.run(payload).await;
        wake(&self.wake);
        match answered {
            Ok(answer) => plain(200, &answer),
            Err(Failure::Function(reason) | Failure::NotInvoked(reason)) => {
                plain(502, &json!({"message": reason}))
            }
        }
    }
}

fn number(event: &Event, name: &str, default: u64) -> Result<u64, String> {
    let Some(given) = event.query_string_parameters.first(name) else { return Ok(default) };
    given.parse().map_err(|_| format!("`{name}` must be an integer of at least 0, not `{given}`"))
}

fn broken(error: &journal::Error) -> EventReply {
    plain(500, &json!({"message": error.to_string()}))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use aws_lambda_events::encodings::Body;
    use dovetail_emulator::mapping::Progress;

    use super::*;

    /// The routes without a consumer, and with a function that fails on demand.
    struct Fixture {
        _parent: tempfile::TempDir,
        control: Control,
        is_failing: Arc<Mutex<bool>>,
    }

    impl Fixture {
        async fn new() -> Self {
            let parent = tempfile::tempdir().unwrap();
            let journal = Arc::new(Journal::open(&parent.path().join("journal.db")).unwrap());
            let is_failing = Arc::new(Mutex::new(false));
            let fails = Arc::clone(&is_failing);
            let invoker = Invoker::here(move |name, payload| {
                let answer = match (name.as_str(), *fails.lock().unwrap()) {
                    (_, true) => Err("broken".to_owned()),
                    ("partial", false) => Ok(json!({"batchItemFailures": [{"itemIdentifier": "1"}]})),
                    (name, false) => Ok(json!({"name": name, "payload": payload})),
                };
                async { answer }
            });
            let nowhere = dovetail_table::Settings {
                table: "none".to_owned(),
                keys_table: "none".to_owned(),
                actions_max: dovetail_table::ACTIONS_MAX,
                reuse_from: domain::rules::plan::REUSE_FROM,
                endpoint: Some("http://127.0.0.1:1".to_owned()),
            };
            let control = Control {
                bus: Bus::new(Arc::clone(&journal)),
                queue: Queue::new(Arc::clone(&journal)),
                delivering: watch::Sender::new(true),
                journal,
                sweep: Sweep::new(invoker.clone()),
                invoker,
                wake: watch::Sender::default(),
                consumers: Vec::new(),
                // The tests of these routes never read the table.
                table: Table::connect(nowhere),
            };
            Self { _parent: parent, control, is_failing }
        }

        fn give_up(&self, function: &str) {
            let payload = json!({"Records": [{"dynamodb": {"SequenceNumber": "1"}}]}).to_string();
            let record = json!({"version": "1.0", "payload": payload});
            let batch = FailedBatch { function: function.to_owned(), reason: "broken".to_owned(), record };
            self.control.journal.give_up(&batch, function, Some("1")).unwrap();
        }

        /// Sends a request and returns the status and the body of the response.
        async fn send(&self, method: &str, path: &str, body: Option<&str>) -> (i64, Value) {
            let (path, query) = path.split_once('?').unwrap_or((path, ""));
            let mut event = Event::default();
            event.raw_path = Some(path.to_owned());
            event.query_string_parameters = query.parse().unwrap();
            event.request_context.http.method = method.parse().unwrap();
            event.body = body.map(str::to_owned);
            let reply = self.control.answer(&event).await.expect("a reply");
            let Some(Body::Text(body)) = reply.body else { panic!("{:?}", reply.body) };
            (reply.status_code, serde_json::from_str(&body).unwrap())
        }
    }

    #[tokio::test]
    async fn events_are_listed_by_page() {
        let fixture = Fixture::new().await;
        let envelopes: Vec<Value> = (1..=150).map(|number| json!({"n": number})).collect();
        fixture.control.journal.append(&envelopes).unwrap();
        for (query, first, next) in [
            ("", Some(1), 100),
            ("?after=100", Some(101), 150),
            ("?after=3&limit=2", Some(4), 5),
            ("?after=150", None, 150),
        ] {
            let (status, page) = fixture.send("GET", &format!("/_local/events{query}"), None).await;
            assert_eq!((status, &page["next"]), (200, &json!(next)), "{query}");
            let expected = first.map(|first: u64| json!({"number": first, "envelope": {"n": first}}));
            assert_eq!(page["events"].get(0), expected.as_ref(), "{query}");
        }
        let error = json!({"message": "`after` must be an integer of at least 0, not `-1`"});
        assert_eq!(fixture.send("GET", "/_local/events?after=-1", None).await, (400, error));
    }

    #[tokio::test]
    async fn a_redrive_forgets_what_succeeds_and_keeps_the_rest() {
        let fixture = Fixture::new().await;
        for function in ["generate", "partial", "notify"] {
            fixture.give_up(function);
        }
        let numbers = async || {
            let (status, listed) = fixture.send("GET", "/_local/failures", None).await;
            assert_eq!(status, 200);
            let failures = listed["failures"].as_array().unwrap().clone();
            failures.iter().map(|failure| failure["number"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        let redrive = async || fixture.send("POST", "/_local/failures/redrive", None).await;
        *fixture.is_failing.lock().unwrap() = true;
        assert_eq!(redrive().await, (200, json!({"redriven": 0, "left": 3})));
        assert_eq!(numbers().await, [1, 2, 3]);
        *fixture.is_failing.lock().unwrap() = false;
        assert_eq!(redrive().await, (200, json!({"redriven": 2, "left": 1})));
        assert_eq!(numbers().await, [2]);
        let (_, listed) = fixture.send("GET", "/_local/failures", None).await;
        let payload = r#"{"Records":[{"dynamodb":{"SequenceNumber":"1"}}]}"#;
        let record = json!({"version": "1.0", "payload": payload});
        let expected = json!([{"number": 2, "function": "partial", "reason": "broken", "record": record}]);
        assert_eq!(listed["failures"], expected);
    }

    #[tokio::test]
    async fn sweep_runs_with_the_body_and_returns_its_answer() {
        let fixture = Fixture::new().await;
        let ran = |payload: Value| (200, json!({"name": "sweep", "payload": payload}));
        assert_eq!(fixture.send("POST", "/_local/sweep", None).await, ran(json!({})));
        assert_eq!(fixture.send("POST", "/_local/sweep", Some("{\"a\":1}")).await, ran(json!({"a": 1})));
        assert_eq!(fixture.send("POST", "/_local/sweep", Some("{")).await.0, 400);
        *fixture.is_failing.lock().unwrap() = true;
        let failed = (502, json!({"message": "broken"}));
        assert_eq!(fixture.send("POST", "/_local/sweep", None).await, failed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_system_that_never_becomes_idle_is_not_settled() {
        let mut fixture = Fixture::new().await;
        let idle = (200, json!({"settled": true}));
        let unsettled = (200, json!({"settled": false}));
        assert_eq!(fixture.send("GET", "/_local/settled", None).await, idle);
        let (consumer, progress) = watch::channel(Progress::default());
        let enabled = watch::Sender::new(true);
        fixture.control.consumers.push(Handle { function: "generate", enabled: enabled.clone(), progress });
        let begin = tokio::time::Instant::now();
        assert_eq!(fixture.send("GET", "/_local/settled", None).await, unsettled);
        assert_eq!(begin.elapsed(), IDLE_TIMEOUT);
        consumer.send_modify(|progress| progress.rests = true);
        let path = "/_local/mappings/generate";
        let rests = (200, json!({"function": "generate", "enabled": false}));
        assert_eq!(fixture.send("PUT", path, Some(r#"{"enabled": false}"#)).await, rests);
        assert_eq!(fixture.send("GET", "/_local/settled", None).await, idle, "what rests is not waited for");
        assert_eq!(fixture.send("PUT", path, Some("{}")).await.0, 400);
        assert_eq!(fixture.send("PUT", "/_local/mappings/list", Some("{}")).await.0, 404);
        enabled.send_replace(true);
        drop(consumer);
        assert_eq!(fixture.send("GET", "/_local/settled", None).await, unsettled);
        assert_eq!(begin.elapsed(), IDLE_TIMEOUT, "a consumer that is gone is not waited for");
    }

    #[tokio::test]
    async fn other_paths_are_not_answered_here() {
        let fixture = Fixture::new().await;
        for (method, path) in [("POST", "/_local/events"), ("GET", "/_local/sweep"), ("GET", "/_local/")] {
            let error = json!({"message": format!("no route has {method} {path}")});
            assert_eq!(fixture.send(method, path, None).await, (404, error));
        }
        for path in ["/v1/_local/events", "/_locals"] {
            let mut event = Event::default();
            event.raw_path = Some(path.to_owned());
            assert!(fixture.control.answer(&event).await.is_none(), "{path}");
        }
    }
}
