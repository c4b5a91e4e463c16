//! The local event bus: accepts events like EventBridge's `PutEvents`, numbers them, and lists them.

use std::{sync::Arc, time::Duration};

use aws_lambda_events::encodings::Body;
use dovetail_http::{Event, EventReply};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use tokio::sync::watch;

use crate::{
    envelope,
    journal::{self, Journal},
};

/// The name of the only bus.
pub const NAME: &str = "dovetail-local";

const PUT_EVENTS: &str = "AWSEvents.PutEvents";
const ENTRIES_MAX: usize = 10;
/// The largest total size of the entries in a request, in bytes.
const BYTES_MAX: usize = 256 * 1024;
/// The size of an entry's time in bytes, as EventBridge counts it.
const TIME_BYTES: usize = 14;

/// The address of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Name of the bus.
    pub name: String,
    /// Endpoint for a client of EventBridge.
    pub endpoint: String,
}

impl Address {
    /// Returns a client of the bus, as functions use it.
    pub fn connect(&self) -> dovetail_events::Bus {
        let (bus, endpoint) = (self.name.clone(), Some(self.endpoint.clone()));
        dovetail_events::Bus::connect(dovetail_events::Settings { bus, endpoint })
    }
}

/// The bus; clones share its events.
#[derive(Clone, Debug)]
pub struct Bus {
    journal: Arc<Journal>,
    published: watch::Sender<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Request {
    #[serde(default)]
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    source: Option<String>,
    detail_type: Option<String>,
    detail: Option<String>,
    #[serde(default)]
    resources: Option<Vec<String>>,
    event_bus_name: Option<String>,
    /// Time in seconds since 1970; the default is now.
    time: Option<f64>,
}

/// An error of the whole request: status, name and message.
struct Refused(u16, &'static str, String);

/// An error of one entry: code and message.
struct Problem(&'static str, String);

impl Bus {
    /// Returns the bus of a journal.
    pub fn new(journal: Arc<Journal>) -> Self {
        Self { journal, published: watch::Sender::new(0) }
    }

    /// Returns a receiver that changes with each new event.
    pub fn published(&self) -> watch::Receiver<u64> {
        self.published.subscribe()
    }

    /// Returns at most `limit` events after a number, and the number for the next request.
    pub fn list(&self, after: u64, limit: u64) -> Result<Value, journal::Error> {
        let events = self.journal.events(after, limit)?;
        let next = events.last().map_or(after, |(number, _)| *number);
        let view = |(number, envelope)| json!({"number": number, "envelope": envelope});
        Ok(json!({"events": events.into_iter().map(view).collect::<Vec<_>>(), "next": next}))
    }

    /// Answers a request in the AWS JSON 1.1 protocol of EventBridge.
    pub fn answer(&self, event: &Event) -> EventReply {
        let target = event.headers.get("x-amz-target").and_then(|target| target.to_str().ok());
        let body = event.body.as_deref().unwrap_or_default();
        let answer = match target {
            Some(PUT_EVENTS) => self.put(body, OffsetDateTime::now_utc()),
            Some(_) | None => {
                Err(Refused(400, "UnknownOperationException", "only PutEvents is supported".to_owned()))
            }
        };
        let (status, body) = match answer {
            Ok(body) => (200, body),
            Err(Refused(status, name, message)) => (status, json!({"__type": name, "message": message})),
        };
        let mut reply = EventReply::default();
        reply.status_code = status.into();
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.1"));
        reply.body = Some(Body::Text(body.to_string()));
        reply
    }

    fn put(&self, body: &str, now: OffsetDateTime) -> Result<Value, Refused> {
        let request: Request = serde_json::from_str(body)
            .map_err(|error| Refused(400, "SerializationException", error.to_string()))?;
        check(&request.entries)?;
        let mut accepted = Vec::new();
        let mut results = Vec::new();
        for entry in &request.entries {
            match entry.envelope(now) {
                Ok(envelope) => {
                    results.push(json!({"EventId": envelope.get("id")}));
                    accepted.push(envelope);
                }
                Err(Problem(code, message)) => {
                    results.push(json!({"ErrorCode": code, "ErrorMessage": message}));
                }
            }
        }
        let failed = results.len().saturating_sub(accepted.len());
        let last = self.journal.append(&accepted);
        let last = last.map_err(|error| Refused(500, "InternalException", error.to_string()))?;
        // Receivers read the journal, so the events must be stored before the wake-up.
        self.published.send_replace(last);
        Ok(json!({"FailedEntryCount": failed, "Entries": results}))
    }
}

fn check(entries: &[Entry]) -> Result<(), Refused> {
    let invalid = |message: String| Err(Refused(400, "ValidationException", message));
    let length = |relation: &str, limit: usize| {
        invalid(format!(
            "1 validation error detected: Value at 'entries' failed to satisfy constraint: \
             Member must have length {relation} than or equal to {limit}"
        ))
    };
    if entries.is_empty() {
        return length("greater", 1);
    }
    if entries.len() > ENTRIES_MAX {
        return length("less", ENTRIES_MAX);
    }
    // EventBridge rejects the whole request for one large entry, as its recorded responses show.
    if entries.iter().map(Entry::bytes).fold(0, usize::saturating_add) > BYTES_MAX {
        return invalid("Total size of the entries in the request is over the limit.".to_owned());
    }
    Ok(())
}

impl Entry {
    /// Returns the size of an entry in bytes, as EventBridge counts it.
    fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let resources = self.resources.iter().flatten().map(String::len);
        let time = if self.time.is_some() { TIME_BYTES } else { 0 };
        [text(&self.source), text(&self.detail_type), text(&self.detail), time]
            .into_iter()
            .chain(resources)
            .fold(0, usize::saturating_add)
    }

    /// Returns the event of an entry.
    fn envelope(&self, now: OffsetDateTime) -> Result<Value, Problem> {
        let source = required("Source", self.source.as_deref())?;
        let detail_type = required("DetailType", self.detail_type.as_deref())?;
        let detail = required("Detail", self.detail.as_deref())?;
        let detail: Map<String, Value> = serde_json::from_str(detail)
            .map_err(|_| Problem("MalformedDetail", "Detail is malformed.".to_owned()))?;
        let at = self.time.map_or(Some(now), at);
        let at = at.ok_or_else(|| invalid("Time", "it must be a time before the year 10000"))?;
        let bus = self.event_bus_name.as_deref().unwrap_or("default");
        // Clients may name the bus by its ARN, which ends with the name.
        if bus.rsplit('/').next() != Some(NAME) {
            return Err(invalid("EventBusName", &format!("only the bus {NAME} exists")));
        }
        let resources = self.resources.as_deref().unwrap_or_default();
        Ok(envelope::envelope(source, detail_type, at, resources, &Value::Object(detail)))
    }
}

fn required<'t>(name: &str, value: Option<&'t str>) -> Result<&'t str, Problem> {
    let given = value.filter(|value| !value.is_empty());
    given.ok_or_else(|| invalid(name, &format!("{name} is a required argument")))
}

fn invalid(name: &str, reason: &str) -> Problem {
    Problem("InvalidArgument", format!("Parameter {name} is not valid. Reason: {reason}."))
}

fn at(seconds: f64) -> Option<OffsetDateTime> {
    let since = Duration::try_from_secs_f64(seconds).ok()?;
    OffsetDateTime::from_unix_timestamp(i64::try_from(since.as_secs()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bus() -> (tempfile::TempDir, Bus) {
        let parent = tempfile::tempdir().unwrap();
        let journal = Journal::open(&parent.path().join("journal.db")).unwrap();
        (parent, Bus::new(Arc::new(journal)))
    }

    /// Sends a body to an operation and returns the status and the response.
    fn send(bus: &Bus, target: Option<&str>, body: &str) -> (i64, Value) {
        let mut event = Event::default();
        if let Some(target) = target {
            event.headers.insert("x-amz-target", target.parse().unwrap());
        }
        event.body = Some(body.to_owned());
        let reply = bus.answer(&event);
        assert_eq!(reply.headers[CONTENT_TYPE], "application/x-amz-json-1.1");
        let Some(Body::Text(body)) = reply.body else { panic!("{reply:?}") };
        (reply.status_code, serde_json::from_str(&body).unwrap())
    }

    fn put(bus: &Bus, entries: &Value) -> (i64, Value) {
        send(bus, Some(PUT_EVENTS), &json!({ "Entries": entries }).to_string())
    }

    fn entry(changes: &Value) -> Value {
        let mut entry = json!({
            "Source": "here", "DetailType": "Thing.v1", "Detail": "{\"a\":1}", "EventBusName": NAME,
        });
        for (name, value) in changes.as_object().unwrap() {
            entry[name] = value.clone();
        }
        entry
    }

    #[test]
    fn accepted_events_are_numbered_and_listed() {
        let (_parent, bus) = bus();
        let published = bus.published();
        let time = json!({"Time": 1_583_348_638.25, "Resources": ["one"]});
        let (status, reply) = put(&bus, &json!([entry(&json!({})), entry(&time)]));
        assert_eq!((status, &reply["FailedEntryCount"]), (200, &json!(0)), "{reply}");
        assert!(published.has_changed().unwrap());
        let listed = bus.list(0, 10).unwrap();
        assert_eq!(listed["next"], 2);
        for (at, event) in listed["events"].as_array().unwrap().iter().enumerate() {
            assert_eq!(event["number"], at + 1);
            assert_eq!(event["envelope"]["id"], reply["Entries"][at]["EventId"]);
        }
        let second = &listed["events"][1]["envelope"];
        assert_eq!((&second["detail"], &second["source"]), (&json!({"a": 1}), &json!("here")));
        assert_eq!(
            (&second["time"], &second["resources"]),
            (&json!("2020-03-04T19:03:58Z"), &json!(["one"]))
        );
        assert_eq!(bus.list(1, 10).unwrap()["events"][0], listed["events"][1]);
        assert_eq!(bus.list(2, 10).unwrap(), json!({"events": [], "next": 2}));
        assert_eq!(bus.list(0, 1).unwrap()["next"], 1);
    }

    #[test]
    fn what_is_wrong_with_an_entry_fails_it_alone() {
        let missing = |name| format!("Parameter {name} is not valid. Reason: {name} is a required argument.");
        let malformed = "Detail is malformed.".to_owned();
        let rows = [
            (json!({"Source": null}), "InvalidArgument", missing("Source")),
            (json!({"Source": ""}), "InvalidArgument", missing("Source")),
            (json!({"DetailType": null}), "InvalidArgument", missing("DetailType")),
            (json!({"Detail": null}), "InvalidArgument", missing("Detail")),
            (json!({"Detail": "[1]"}), "MalformedDetail", malformed.clone()),
            (json!({"Detail": "\"text\""}), "MalformedDetail", malformed.clone()),
            (json!({"Detail": "{"}), "MalformedDetail", malformed),
            (
                json!({"EventBusName": "other"}),
                "InvalidArgument",
                "Parameter EventBusName is not valid. Reason: only the bus dovetail-local exists.".to_owned(),
            ),
        ];
        let (_parent, bus) = bus();
        for (at, (changes, code, message)) in rows.iter().enumerate() {
            let arn = format!("arn:aws:events:local:000000000000:event-bus/{NAME}");
            let sound = entry(&json!({ "EventBusName": arn }));
            let (status, reply) = put(&bus, &json!([entry(changes), sound]));
            assert_eq!((status, &reply["FailedEntryCount"]), (200, &json!(1)), "{changes}: {reply}");
            assert_eq!(reply["Entries"][0], json!({"ErrorCode": code, "ErrorMessage": message}), "{changes}");
            assert!(reply["Entries"][1]["EventId"].is_string(), "{changes}: {reply}");
            assert_eq!(bus.list(0, 100).unwrap()["next"], at + 1, "{changes}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_request_is_refused_as_a_whole() {
        let entries = |entries: Vec<Value>| json!({ "Entries": entries }).to_string();
        let large = entry(&json!({"Detail": format!("{{\"a\":\"{}\"}}", "x".repeat(BYTES_MAX))}));
        let half = entry(&json!({"Detail": format!("{{\"a\":\"{}\"}}", "x".repeat(BYTES_MAX / 2))}));
        let rows = [
            (Some("AWSEvents.PutRule"), "{}".to_owned(), "UnknownOperationException"),
            (None, "{}".to_owned(), "UnknownOperationException"),
            (Some(PUT_EVENTS), "{".to_owned(), "SerializationException"),
            (Some(PUT_EVENTS), entries(vec![json!({"Source": 1})]), "SerializationException"),
            (Some(PUT_EVENTS), "{}".to_owned(), "ValidationException"),
            (Some(PUT_EVENTS), entries(vec![entry(&json!({})); 11]), "ValidationException"),
            (Some(PUT_EVENTS), entries(vec![entry(&json!({})), large]), "ValidationException"),
            (Some(PUT_EVENTS), entries(vec![half; 2]), "ValidationException"),
        ];
        let (_parent, bus) = bus();
        for (target, body, name) in rows {
            let (status, reply) = send(&bus, target, &body);
            assert_eq!((status, &reply["__type"]), (400, &json!(name)), "{reply}");
            assert!(reply["message"].is_string(), "{reply}");
        }
        assert_eq!(bus.list(0, 1).unwrap(), json!({"events": [], "next": 0}));
        assert_eq!(put(&bus, &json!(vec![entry(&json!({})); 10])).0, 200);
    }
}
