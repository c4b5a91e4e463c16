//! The event bus in EventBridge's place: it takes events as `PutEvents` sends them, and keeps them for who asks.

use std::{convert::Infallible, io, net::SocketAddr};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use crate::journal::Journal;

/// The one bus that there is.
pub const NAME: &str = "dovetail-local";

/// How many entries one request has at most.
const ENTRIES_MAX: usize = 10;
/// How large an entry may be, in bytes.
const ENTRY_BYTES_MAX: usize = 1024 * 1024;
/// How large a request may be, in bytes.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;
const PUT_EVENTS: &str = "AWSEvents.PutEvents";

/// The bus.
#[derive(Debug)]
pub struct Bus {
    listener: TcpListener,
    journal: Journal,
    taken: watch::Sender<()>,
}

impl Bus {
    /// Listens on a free port of this machine.
    pub async fn open(journal: Journal) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        Ok(Self { listener, journal, taken: watch::Sender::new(()) })
    }

    /// The URL that a client is pointed at.
    pub fn endpoint(&self) -> io::Result<String> {
        self.listener.local_addr().map(|address: SocketAddr| format!("http://{address}"))
    }

    /// Changes whenever events were taken.
    pub fn taken(&self) -> watch::Receiver<()> {
        self.taken.subscribe()
    }

    /// Takes events for ever.
    pub async fn serve(&self) -> Infallible {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                Some(_) = connections.join_next() => {}
                Ok((stream, _)) = self.listener.accept() => {
                    let (journal, taken) = (self.journal.clone(), self.taken.clone());
                    let service = service_fn(move |request| {
                        let (journal, taken) = (journal.clone(), taken.clone());
                        async move { Ok::<_, Infallible>(respond(request, &journal, &taken).await) }
                    });
                    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    connections.spawn(async move { drop(served.await) });
                }
            }
        }
    }
}

async fn respond(
    request: Request<Incoming>,
    journal: &Journal,
    taken: &watch::Sender<()>,
) -> Response<Full<Bytes>> {
    let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
    if target != Some(PUT_EVENTS) {
        return refusal("UnknownOperationException", "the local bus takes PutEvents only");
    }
    let Ok(body) = Limited::new(request.into_body(), REQUEST_BYTES_MAX).collect().await else {
        return refusal("ValidationException", "the request cannot be read");
    };
    match put_events(&body.to_bytes(), journal) {
        Ok(reply) => {
            taken.send_replace(());
            response(StatusCode::OK, &reply)
        }
        Err(message) => refusal("ValidationException", &message),
    }
}

/// Takes the entries of a request, each on its own; they are kept before this returns.
fn put_events(body: &[u8], journal: &Journal) -> Result<Value, String> {
    let body: Value = serde_json::from_slice(body).map_err(|_| "the request is no JSON".to_owned())?;
    let entries = body.get("Entries").and_then(Value::as_array).ok_or("the request has no Entries")?;
    if entries.is_empty() || entries.len() > ENTRIES_MAX {
        return Err(format!("a request has 1 to {ENTRIES_MAX} entries"));
    }
    let mut answers = Vec::new();
    for entry in entries {
        let taken = envelope(entry).and_then(|envelope| {
            let kept = journal.publish(&envelope).map_err(|error| ("InternalFailure", error.to_string()));
            kept.map(|()| envelope.get("id").cloned().unwrap_or_default())
        });
        answers.push(match taken {
            Ok(id) => json!({"EventId": id}),
            Err((code, message)) => json!({"ErrorCode": code, "ErrorMessage": message}),
        });
    }
    let failed = answers.iter().filter(|answer| answer.get("ErrorCode").is_some()).count();
    Ok(json!({"FailedEntryCount": failed, "Entries": answers}))
}

/// The event as it is delivered.
fn envelope(entry: &Value) -> Result<Value, (&'static str, String)> {
    let invalid = |message: &str| ("InvalidArgument", message.to_owned());
    let text = |name: &str| entry.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if text("EventBusName").is_some_and(|name| name != NAME) {
        return Err(("ResourceNotFoundException", format!("the local bus is {NAME}")));
    }
    let source = text("Source").ok_or_else(|| invalid("Source is required"))?;
    let detail_type = text("DetailType").ok_or_else(|| invalid("DetailType is required"))?;
    let detail = text("Detail").ok_or_else(|| invalid("Detail is required"))?;
    if entry.to_string().len() > ENTRY_BYTES_MAX {
        return Err(invalid("the entry is too large"));
    }
    let detail: Map<String, Value> = serde_json::from_str(detail)
        .map_err(|_| ("MalformedDetail", "Detail is no JSON object".to_owned()))?;
    let time = entry.get("Time").and_then(Value::as_f64).map_or_else(OffsetDateTime::now_utc, at);
    Ok(json!({
        "version": "0",
        "id": uuid(),
        "source": source,
        "detail-type": detail_type,
        "account": "000000000000",
        "time": time.format(&Rfc3339).unwrap_or_default(),
        "region": "local",
        "resources": entry.get("Resources").cloned().unwrap_or_else(|| json!([])),
        "detail": detail,
    }))
}

/// A time in whole seconds since 1970, as the protocol sends it.
fn at(seconds: f64) -> OffsetDateTime {
    let since = std::time::Duration::try_from_secs_f64(seconds.trunc()).unwrap_or_default();
    OffsetDateTime::UNIX_EPOCH + since
}

/// A random UUID (version 4).
fn uuid() -> String {
    let (high, low) = (fastrand::u64(..), fastrand::u64(..));
    let (first, second, third) = (high >> 32, high >> 16 & 0xffff, high & 0x0fff);
    let (fourth, fifth) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
    format!("{first:08x}-{second:04x}-4{third:03x}-{fourth:04x}-{fifth:012x}")
}

fn refusal(code: &str, message: &str) -> Response<Full<Bytes>> {
    response(StatusCode::BAD_REQUEST, &json!({"__type": code, "message": message}))
}

fn response(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    let json = hyper::header::HeaderValue::from_static("application/x-amz-json-1.1");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(entries: &Value) -> (Result<Value, String>, Vec<Value>) {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::open(directory.path()).unwrap();
        let reply = put_events(json!({"Entries": entries}).to_string().as_bytes(), &journal);
        let kept = journal.events(0, 100).unwrap().into_iter().map(|event| event.value).collect();
        (reply, kept)
    }

    fn entry(detail: &str) -> Value {
        json!({"Source": "s", "DetailType": "t", "Detail": detail, "EventBusName": NAME, "Time": 1_740_748_711.0,
            "Resources": ["r"]})
    }

    #[test]
    fn an_event_is_kept_in_its_envelope() {
        let (reply, kept) = put(&json!([entry(r#"{"a": 1}"#)]));
        let [envelope] = kept.as_slice() else { panic!("one") };
        let id = envelope["id"].as_str().unwrap();
        assert_eq!(reply.unwrap(), json!({"FailedEntryCount": 0, "Entries": [{"EventId": id}]}));
        let uuid: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!((uuid, id.as_bytes()[14]), (vec![8, 4, 4, 4, 12], b'4'));
        let expected = json!({"version": "0", "id": id, "source": "s", "detail-type": "t", "account": "000000000000",
            "time": "2025-02-28T13:18:31Z", "region": "local", "resources": ["r"], "detail": {"a": 1}});
        assert_eq!(*envelope, expected);
    }

    #[test]
    fn each_entry_is_taken_or_refused_on_its_own() {
        let mut elsewhere = entry("{}");
        elsewhere["EventBusName"] = json!("default");
        let large = entry(&json!({"a": "x".repeat(ENTRY_BYTES_MAX)}).to_string());
        let entries = [
            entry("{}"),
            entry("[]"),
            entry("{"),
            json!({"DetailType": "t", "Detail": "{}"}),
            json!({"Source": "s", "Detail": "{}"}),
            elsewhere,
            large,
            entry("{}"),
        ];
        let (reply, kept) = put(&json!(entries));
        let reply = reply.unwrap();
        let codes = reply["Entries"].as_array().unwrap().iter().map(|answer| answer["ErrorCode"].as_str());
        let expected = [
            None,
            Some("MalformedDetail"),
            Some("MalformedDetail"),
            Some("InvalidArgument"),
            Some("InvalidArgument"),
            Some("ResourceNotFoundException"),
            Some("InvalidArgument"),
            None,
        ];
        assert_eq!(codes.collect::<Vec<_>>(), expected);
        assert_eq!((&reply["FailedEntryCount"], kept.len()), (&json!(6), 2));
    }

    #[test]
    fn a_request_that_is_none_is_refused_whole() {
        assert!(put(&json!([])).0.is_err());
        assert!(put(&json!(vec![entry("{}"); 11])).0.is_err());
        assert!(put(&json!("x")).0.is_err());
    }
}
