//! The queue of webhook deliveries, like SQS: a rule of the bus fills it, and `deliver` receives its messages.

use std::{
    slice,
    sync::Arc,
    time::{Duration, SystemTime},
};

use aws_lambda_events::encodings::Body;
use dovetail_http::{Event, EventReply};
use dovetail_queue::{SqsBatchResponse, SqsEvent, SqsMessage};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
};

use crate::{
    bus::Bus,
    envelope,
    invoke::Invoker,
    journal::{self, FailedBatch, Journal, Message, RULE, Received},
    pattern::Pattern,
};

/// The function that receives the messages.
pub const FUNCTION: &str = "deliver";
/// The pattern of events that become messages.
pub const PATTERN: &str =
    r#"{"source":["dovetail.change-orchestration"],"detail-type":["ChangeInstance.StateChanged.v1"]}"#;
/// The most messages of one invocation.
pub const BATCH_SIZE: u64 = 1;
/// The most invocations at once.
pub const CONCURRENCY: usize = 10;
/// The deliveries of a message before it goes to the failed batches.
pub const RECEIVES_MAX: u64 = 5;
/// The time for which a received message stays invisible to other receivers.
pub const VISIBILITY: Duration = Duration::from_secs(360);

const NAME: &str = "dovetail-local-deliveries";
const SEND_MESSAGE: &str = "AmazonSQS.SendMessage";
const DELAY_SECONDS_MAX: u64 = dovetail_queue::DELAY_SECONDS_MAX;
/// The largest message in bytes, a limit of SQS.
const BYTES_MAX: usize = 1024 * 1024;
/// The most events of one read.
const READ_MAX: u64 = 100;

/// Returns the event pattern of the rule that fills the queue.
pub fn rule() -> Result<Pattern, String> {
    let pattern = serde_json::from_str(PATTERN).map_err(|error| error.to_string())?;
    Pattern::parse(&pattern)
}

/// Returns the URL of the queue at an endpoint.
pub fn url(endpoint: &str) -> String {
    format!("{endpoint}/{}/{NAME}", envelope::ACCOUNT)
}

/// The queue; clones share its messages.
#[derive(Clone, Debug)]
pub struct Queue {
    journal: Arc<Journal>,
    changed: watch::Sender<()>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Send {
    message_body: Option<String>,
    message_group_id: Option<String>,
    #[serde(default)]
    delay_seconds: u64,
}

impl Queue {
    /// Returns the queue of a journal.
    pub fn new(journal: Arc<Journal>) -> Self {
        Self { journal, changed: watch::Sender::new(()) }
    }

    /// Answers a request in the AWS JSON 1.0 protocol of SQS, or returns `None` for other services.
    pub fn answer(&self, event: &Event) -> Option<EventReply> {
        let target = event.headers.get("x-amz-target").and_then(|target| target.to_str().ok())?;
        if !target.starts_with("AmazonSQS.") {
            return None;
        }
        let answer = match target {
            SEND_MESSAGE => self.send(event.body.as_deref().unwrap_or_default()),
            _ => Err((400, "com.amazonaws.sqs#UnsupportedOperation")),
        };
        let (status, body) = match answer {
            Ok(()) => (200, json!({"MessageId": envelope::uuid()})),
            Err((status, name)) => (status, json!({"__type": name})),
        };
        let mut reply = EventReply::default();
        reply.status_code = status;
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
        reply.body = Some(Body::Text(body.to_string()));
        Some(reply)
    }

    fn send(&self, body: &str) -> Result<(), (i64, &'static str)> {
        let invalid = (400, "com.amazonaws.sqs#InvalidParameterValueException");
        let sent: Send = serde_json::from_str(body).map_err(|_| invalid)?;
        let message = sent.message_body.filter(|body| !body.is_empty() && body.len() <= BYTES_MAX);
        let (Some(message), 0..=DELAY_SECONDS_MAX) = (message, sent.delay_seconds) else {
            return Err(invalid);
        };
        let due = now().saturating_add(sent.delay_seconds.saturating_mul(1_000));
        let sent =
            self.journal.enqueue(&[Message { due, group: sent.message_group_id, body: message }], None);
        sent.map_err(|_| (500, "com.amazonaws.sqs#InternalError"))?;
        self.changed.send_replace(());
        Ok(())
    }
}

/// Returns the time in milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The task that fills the queue and delivers its messages.
#[derive(Debug)]
pub struct Deliveries {
    queue: Queue,
    pattern: Pattern,
    invoker: Invoker,
    published: watch::Receiver<u64>,
    position: u64,
    enabled: watch::Receiver<bool>,
    stop: watch::Receiver<bool>,
}

impl Deliveries {
    /// Returns the task, which continues at the position of the journal.
    pub fn new(
        queue: Queue,
        bus: &Bus,
        pattern: Pattern,
        invoker: Invoker,
        enabled: watch::Receiver<bool>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, journal::Error> {
        let position = queue.journal.webhook(RULE)?;
        Ok(Self { queue, pattern, invoker, published: bus.published(), position, enabled, stop })
    }

    /// Runs until the stop. Messages that are still in progress are delivered again later.
    pub async fn run(mut self) -> Result<(), journal::Error> {
        let (slots, mut batches) = (Arc::new(Semaphore::new(CONCURRENCY)), JoinSet::new());
        let mut changed = self.queue.changed.subscribe();
        loop {
            // The marks come before the reads. An event or message that arrives after them wakes the `select` below.
            self.published.mark_unchanged();
            changed.mark_unchanged();
            let is_filled = self.fill()?;
            while let Some(ended) = batches.try_join_next() {
                ended.unwrap_or(Ok(()))?;
            }
            if *self.enabled.borrow_and_update()
                && let Ok(slot) = Arc::clone(&slots).try_acquire_owned()
            {
                let until = now().saturating_add(u64::try_from(VISIBILITY.as_millis()).unwrap_or(u64::MAX));
                let batch = self.queue.journal.receive(now(), until, BATCH_SIZE)?;
                if !batch.is_empty() {
                    let (journal, invoker) = (Arc::clone(&self.queue.journal), self.invoker.clone());
                    batches.spawn(async move {
                        let done = work_on(&journal, &invoker, batch).await;
                        drop(slot);
                        done
                    });
                    continue;
                }
            }
            if is_filled {
                continue;
            }
            let due = self.queue.journal.next_due()?.map(|due| due.saturating_sub(now()));
            // While the deliveries are disabled or all slots are busy, a due message must not wake the loop.
            let waits = Duration::from_millis(due.unwrap_or(u64::MAX).clamp(1, 60_000));
            let is_busy = slots.available_permits() == 0 || !*self.enabled.borrow();
            tokio::select! {
                _ = self.published.changed() => {}
                _ = changed.changed() => {}
                _ = self.enabled.changed() => {}
                Some(ended) = batches.join_next(), if !batches.is_empty() => ended.unwrap_or(Ok(()))?,
                () = tokio::time::sleep(waits), if !is_busy => {}
                _ = self.stop.wait_for(|stop| *stop) => return Ok(()),
            }
        }
    }

    /// Moves the next events of the bus into the queue, and returns whether there were any.
    fn fill(&mut self) -> Result<bool, journal::Error> {
        let events = self.queue.journal.events(self.position, READ_MAX)?;
        let Some((last, _)) = events.last() else { return Ok(false) };
        self.position = *last;
        let wanted = events.iter().filter(|(_, envelope)| self.pattern.matches(envelope));
        // A rule of the bus sets no group.
        let message = |envelope: &Value| Message { due: now(), group: None, body: envelope.to_string() };
        let messages: Vec<Message> = wanted.map(|(_, envelope)| message(envelope)).collect();
        // One transaction stores the messages and the position, so a crash neither loses nor repeats an event.
        self.queue.journal.enqueue(&messages, Some(self.position))?;
        Ok(true)
    }
}

/// Invokes the function with a batch. Failed messages are delivered again up to [`RECEIVES_MAX`] times.
async fn work_on(journal: &Journal, invoker: &Invoker, batch: Vec<Received>) -> Result<(), journal::Error> {
    let response = match invoker.invoke(FUNCTION, json!(event(&batch))).await {
        // Like Lambda, an unreadable response fails all messages.
        Ok(response) => serde_json::from_value(response).map_err(|error| error.to_string()),
        Err(failure) => Err(failure.to_string()),
    };
    let failed = |message: &Received| match &response {
        Err(failure) => Some(failure.clone()),
        Ok(SqsBatchResponse { batch_item_failures, .. }) => {
            let id = message.number.to_string();
            let is_failed = batch_item_failures.iter().any(|failure| failure.item_identifier == id);
            is_failed.then(|| "the function reported a failure".to_owned())
        }
    };
    for message in &batch {
        match failed(message) {
            None => journal.remove_message(message.number, None)?,
            // SQS moves such a message to a dead-letter queue. Here it joins the failed batches.
            Some(reason) if message.receives >= RECEIVES_MAX => {
                let payload = json!(event(slice::from_ref(message))).to_string();
                let record = json!({"version": "1.0", "payload": payload});
                let batch = FailedBatch { function: FUNCTION.to_owned(), reason, record };
                journal.remove_message(message.number, Some(&batch))?;
            }
            // The message becomes visible again at the end of its time.
            Some(_) => {}
        }
    }
    Ok(())
}

/// Returns the event with these messages.
fn event(messages: &[Received]) -> SqsEvent {
    let mut event = SqsEvent::default();
    event.records.extend(messages.iter().map(|message| {
        let mut record = SqsMessage::default();
        record.message_id = Some(message.number.to_string());
        record.body = Some(message.body.clone());
        record.event_source = Some("aws:sqs".to_owned());
        let receives = message.receives.to_string();
        record.attributes.insert("ApproximateReceiveCount".to_owned(), receives);
        record
    }));
    event
}

#[cfg(test)]
mod tests;
