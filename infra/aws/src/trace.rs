//! Traces for AWS X-Ray: a subsegment for each invocation and each call of the tables, below Lambda's own segment.
//!
//! Lambda decides with each invocation whether it is traced (parameter `Tracing` of the template), and names the
//! address of the daemon. Segments hold names and codes, and no content of a request (decision record 18).
//!
//! In 2026 AWS put its X-Ray SDKs and the daemon into maintenance, and recommends OpenTelemetry. The way out is the
//! ADOT layer for Lambda or the OTLP endpoint of X-Ray. Only [`Tracer`] would change, because [`Trace`] has all data of
//! the spans.

use serde_json::{Map, Value, json};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most calls with a subsegment of their own; further calls are only counted. A datagram has at most 64 KB.
const CALLS_MAX: usize = 100;
/// The header line of each segment document.
const HEADER: &str = "{\"format\": \"json\", \"version\": 1}\n";

/// The calls of a request.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Start of the request, since 1970.
    began: Duration,
    calls: Vec<Span>,
    /// Number of calls that are not in `calls`.
    more: u64,
}

/// A finished call, with times since 1970.
#[derive(Clone, Debug)]
struct Span {
    operation: String,
    began: Duration,
    ended: Duration,
}

impl Trace {
    pub(crate) fn begin() -> Self {
        Self { began: since_epoch(), ..Self::default() }
    }

    /// Adds a call that ends now.
    pub(crate) fn add(&mut self, operation: &str, began: Duration) {
        if self.calls.len() == CALLS_MAX {
            self.more += 1;
        } else {
            self.calls.push(Span { operation: operation.to_owned(), began, ended: since_epoch() });
        }
    }

    #[cfg(test)]
    pub(crate) const fn calls(&self) -> usize {
        self.calls.len()
    }
}

/// The connection to the X-Ray daemon, if there is one.
#[derive(Debug)]
pub struct Tracer {
    socket: Option<UdpSocket>,
}

impl Tracer {
    /// Connects to the daemon in `AWS_XRAY_DAEMON_ADDRESS`. If the variable is not set, the tracer sends nothing.
    pub fn from_env() -> Self {
        std::env::var("AWS_XRAY_DAEMON_ADDRESS")
            .map_or_else(|_| Self { socket: None }, |address| Self::to(&address))
    }

    /// Connects to the daemon at an address.
    pub fn to(address: &str) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok();
        Self { socket: socket.filter(|socket| socket.connect(address).is_ok()) }
    }

    /// Sends the segment of an invocation that ends now, if `header` says that it is traced.
    ///
    /// X-Ray accepts no annotation that is `null`, so the segment leaves it out.
    pub fn send(&self, name: &str, header: Option<String>, trace: &Trace, annotations: &[(&str, Value)]) {
        let traced = header.as_deref().and_then(sampled);
        let (Some(socket), Some((root, parent))) = (&self.socket, traced) else { return };
        let annotations = annotations.iter().filter(|(_, value)| !value.is_null());
        let annotations: Map<_, _> =
            annotations.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let mut segment = span(name, trace.began, since_epoch());
        segment.extend([
            ("type".to_owned(), json!("subsegment")),
            ("trace_id".to_owned(), json!(root)),
            ("parent_id".to_owned(), json!(parent)),
            ("metadata".to_owned(), json!({"more_calls": trace.more})),
            ("annotations".to_owned(), Value::Object(annotations)),
            ("subsegments".to_owned(), trace.calls.iter().map(subsegment).collect()),
        ]);
        // A lost datagram is a lost trace and must not affect the request.
        drop(socket.send(format!("{HEADER}{}", Value::Object(segment)).as_bytes()));
    }
}

/// Returns the trace id and the parent segment of a header `Root=1-…;Parent=…;Sampled=1`, if it is sampled.
fn sampled(header: &str) -> Option<(&str, &str)> {
    let field =
        |name: &str| header.split(';').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
    if field("Sampled") == Some("1") { Some((field("Root")?, field("Parent")?)) } else { None }
}

fn subsegment(call: &Span) -> Value {
    let mut segment = span("DynamoDB", call.began, call.ended);
    segment.insert("namespace".to_owned(), json!("aws"));
    segment.insert("aws".to_owned(), json!({"operation": call.operation}));
    Value::Object(segment)
}

fn span(name: &str, began: Duration, ended: Duration) -> Map<String, Value> {
    Map::from_iter([
        ("id".to_owned(), json!(format!("{:016x}", fastrand::u64(..)))),
        ("name".to_owned(), json!(name)),
        ("start_time".to_owned(), json!(began.as_secs_f64())),
        ("end_time".to_owned(), json!(ended.as_secs_f64())),
    ])
}

/// Returns the time since 1970, by the system clock.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
