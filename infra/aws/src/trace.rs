//! Traces, as AWS X-Ray takes them: beneath what Lambda traces itself, what an invocation was and each call of the table.
//!
//! Lambda says with each invocation whether it is traced, which is the template's parameter `Tracing`, and where the
//! daemon listens that takes segments (X-Ray's segment documents). Names and codes are told, and nothing of a request.

use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::net::{Ipv4Addr, UdpSocket};
use std::pin::Pin;
use std::time::{SystemTime, UNIX_EPOCH};

/// How many calls are told of; beyond them they are only counted.
const CALLS_MAX: usize = 100;
/// What each document begins with.
const HEADER: &str = "{\"format\": \"json\", \"version\": 1}\n";

tokio::task_local! {
    /// What is known of the invocation under way.
    static SO_FAR: RefCell<Known>;
}

/// What is known of an invocation.
#[derive(Debug, Default)]
struct Known {
    annotations: Map<String, Value>,
    calls: Vec<Value>,
    /// Of how many calls nothing is told but that they were.
    more: u64,
}

/// The way to the daemon.
#[derive(Debug)]
pub struct Tracer {
    socket: UdpSocket,
}

impl Tracer {
    /// The daemon that Lambda names in `AWS_XRAY_DAEMON_ADDRESS`; none where it names none.
    pub fn from_env() -> Option<Self> {
        Self::to(&std::env::var("AWS_XRAY_DAEMON_ADDRESS").ok()?)
    }

    /// The daemon at an address.
    pub fn to(address: &str) -> Option<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect(address).ok()?;
        Some(Self { socket })
    }

    fn send(&self, segment: &Value) {
        // Whether anybody listens does not matter to the request.
        drop(self.socket.send(format!("{HEADER}{segment}").as_bytes()));
    }
}

/// Does the work of an invocation, and tells of it if there is a daemon and `header` says that it is traced.
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
        let (output, known) = SO_FAR.scope(RefCell::default(), working).await;
        let mut segment = span(name, began);
        segment.extend([
            ("type".to_owned(), json!("subsegment")),
            ("trace_id".to_owned(), json!(root)),
            ("parent_id".to_owned(), json!(parent)),
            ("metadata".to_owned(), json!({"more_calls": known.more})),
            ("annotations".to_owned(), Value::Object(known.annotations)),
            ("subsegments".to_owned(), json!(known.calls)),
        ]);
        tracer.send(&Value::Object(segment));
        output
    })
}

/// Notes a name or a code of the invocation under way; X-Ray knows no `null`.
pub fn annotate(name: &str, value: Value) {
    if !value.is_null() {
        note(|known| drop(known.annotations.insert(name.to_owned(), value)));
    }
}

/// Notes a call of the table that ends now.
pub fn called(operation: &str, since: SystemTime) {
    note(|known| {
        if known.calls.len() == CALLS_MAX {
            known.more += 1;
            return;
        }
        let mut call = span("DynamoDB", since);
        call.insert("namespace".to_owned(), json!("aws"));
        call.insert("aws".to_owned(), json!({"operation": operation}));
        known.calls.push(Value::Object(call));
    });
}

fn note(what: impl FnOnce(&mut Known)) {
    // Where nothing is traced there is nobody to tell.
    let _untraced = SO_FAR.try_with(|so_far| what(&mut so_far.borrow_mut()));
}

/// The trace and the segment above, if the invocation is traced: `Root=1-…;Parent=…;Sampled=1`.
fn sampled(header: &str) -> Option<(&str, &str)> {
    let told =
        |name: &str| header.split(';').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
    if told("Sampled") == Some("1") { Some((told("Root")?, told("Parent")?)) } else { None }
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
