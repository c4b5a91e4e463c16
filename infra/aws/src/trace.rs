//! Traces for AWS X-Ray: a subsegment for each invocation and each call of the table, below Lambda's own segment.
//!
//! Lambda decides with each invocation whether it is traced (parameter `Tracing` of the template), and names the
//! address of the daemon. Segments hold names and codes, and no content of a request (decision record 18).

use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::net::{Ipv4Addr, UdpSocket};
use std::pin::Pin;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most calls with a subsegment of their own; further calls are only counted. A datagram has at most 64 KB.
const CALLS_MAX: usize = 100;
/// The header line of each segment document.
const HEADER: &str = "{\"format\": \"json\", \"version\": 1}\n";

tokio::task_local! {
    /// The data of the current invocation.
    static SO_FAR: RefCell<Notes>;
}

/// The collected data of an invocation.
#[derive(Debug, Default)]
struct Notes {
    annotations: Map<String, Value>,
    calls: Vec<Value>,
    /// Calls without a subsegment.
    more: u64,
}

/// The socket to the X-Ray daemon.
#[derive(Debug)]
pub struct Tracer {
    socket: UdpSocket,
}

impl Tracer {
    /// Connects to the daemon in `AWS_XRAY_DAEMON_ADDRESS`; `None` if the variable is not set.
    pub fn from_env() -> Option<Self> {
        Self::to(&std::env::var("AWS_XRAY_DAEMON_ADDRESS").ok()?)
    }

    /// Connects to the daemon at an address.
    pub fn to(address: &str) -> Option<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect(address).ok()?;
        Some(Self { socket })
    }

    fn send(&self, segment: &Value) {
        // A lost datagram is a lost trace and must not affect the request.
        drop(self.socket.send(format!("{HEADER}{segment}").as_bytes()));
    }
}

/// Runs an invocation, and sends its segment if there is a daemon and `header` says that it is traced.
pub fn traced<F: Future>(
    tracer: Option<&Tracer>,
    name: &str,
    header: Option<&str>,
    work: F,
) -> Pin<Box<impl Future<Output = F::Output>>> {
    Box::pin(async move {
        let (Some(tracer), Some((root, parent))) = (tracer, header.and_then(sampled)) else {
            return work.await;
        };
        let began = SystemTime::now();
        let working = async {
            let output = work.await;
            (output, SO_FAR.with(RefCell::take))
        };
        let (output, notes) = SO_FAR.scope(RefCell::default(), working).await;
        let mut segment = span(name, began);
        segment.extend([
            ("type".to_owned(), json!("subsegment")),
            ("trace_id".to_owned(), json!(root)),
            ("parent_id".to_owned(), json!(parent)),
            ("metadata".to_owned(), json!({"more_calls": notes.more})),
            ("annotations".to_owned(), Value::Object(notes.annotations)),
            ("subsegments".to_owned(), json!(notes.calls)),
        ]);
        tracer.send(&Value::Object(segment));
        output
    })
}

/// Adds an annotation to the current invocation. X-Ray does not accept `null`, so that is left out.
pub fn annotate(name: &str, value: Value) {
    if !value.is_null() {
        note(|notes| drop(notes.annotations.insert(name.to_owned(), value)));
    }
}

/// Adds a call of the table that ends now.
pub fn called(operation: &str, since: SystemTime) {
    note(|notes| {
        if notes.calls.len() == CALLS_MAX {
            notes.more += 1;
            return;
        }
        let mut call = span("DynamoDB", since);
        call.insert("namespace".to_owned(), json!("aws"));
        call.insert("aws".to_owned(), json!({"operation": operation}));
        notes.calls.push(Value::Object(call));
    });
}

fn note(what: impl FnOnce(&mut Notes)) {
    // Outside a traced invocation there is nothing to collect.
    let _untraced = SO_FAR.try_with(|so_far| what(&mut so_far.borrow_mut()));
}

/// Returns the trace id and the parent segment of a header `Root=1-…;Parent=…;Sampled=1`, if it is sampled.
fn sampled(header: &str) -> Option<(&str, &str)> {
    let field =
        |name: &str| header.split(';').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
    if field("Sampled") == Some("1") { Some((field("Root")?, field("Parent")?)) } else { None }
}

fn span(name: &str, began: SystemTime) -> Map<String, Value> {
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    Map::from_iter([
        ("id".to_owned(), json!(format!("{:016x}", fastrand::u64(..)))),
        ("name".to_owned(), json!(name)),
        ("start_time".to_owned(), json!(seconds(began))),
        ("end_time".to_owned(), json!(seconds(SystemTime::now()))),
    ])
}
