//! Time and memory of the functions at start, idle and under load, and of a function without work.
//!
//! The programs are the deployed ones. The table is the engine of this process, so network and DynamoDB come on top.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_arithmetic,
    reason = "measurements"
)]

mod events;
mod function;
pub mod gone;
pub mod instructions;
mod load;
mod overhead;

use self::events::Simple;
use self::function::Function;
use crate::built::Built;
use crate::figure::{Figure, table};
use crate::session::{Page, Session};
use capacity::text::markdown;
use std::time::{Duration, Instant};
use support::source::Method;
use support::{Running, Tls};

/// Maximum size of a function's package, in bytes.
const ZIP_MAX: u64 = 6_000_000;
/// Configured memory of a function, in bytes.
const MEMORY_MAX: u64 = 128 * 1024 * 1024;
/// Number of starts of each program.
const STARTS: usize = 20;
/// Number of invocations of each running program.
const INVOCATIONS: usize = 200;
const HELLO: &str = "hello";

/// Measures the functions at start, and writes their block.
pub fn renew_starts(session: &Session) {
    session.renew(Page::Performance, "starts", Method::Measured, &at_start(session.functions()));
}

/// Stops functions of a system, because the measured processes do this work.
fn disable(system: &Running, functions: &[&str]) {
    for function in functions {
        system.enable(function, false);
    }
}

/// Measures the functions of submissions under load, and writes their block.
pub fn renew_large(session: &Session) {
    let built = session.functions();
    let mut figures = overhead::measure(built);
    figures.extend(load::measure(built));
    session.renew(Page::Performance, "large", Method::Measured, &table(&figures));
}

/// Times of one cold start.
struct Start {
    /// From the start to the first request for an event.
    ready: Duration,
    /// From the start to the complete TLS handshake, if there was one.
    connected: Option<Duration>,
    /// From the start to the response to the first event.
    cold: Duration,
    /// Part of `cold` with a table call in progress.
    table: Duration,
}

/// Measurements of one function or of `hello`.
struct Taken {
    starts: Vec<Start>,
    warm: Duration,
    memory: u64,
}

impl Taken {
    fn median(&self, of: impl Fn(&Start) -> Duration) -> String {
        ms(median(self.starts.iter().map(of).collect()))
    }
}

/// Measures cold starts as on AWS, where table and bus have TLS endpoints, and returns a table.
fn at_start(built: &Built) -> String {
    let world = Started::new();
    let events = [Simple { function: HELLO, operation: "nothing", event: "{}".to_owned() }];
    let events = events.into_iter().chain(events::simple(&world.system));
    let rows = events.map(|event| row(built, event.function, &measure(built, &world, &event)));
    let head = "function | first response | until ready | until TLS is ready | table calls | warm | \
        memory | program | zip | result";
    markdown(head, rows)
}

/// A system with TLS endpoints.
struct Started {
    system: Running,
    table: Tls,
    bus: Tls,
}

impl Started {
    fn new() -> Self {
        let system = Running::demo();
        let table = Tls::before(&system.engine, &system);
        let bus = system.environment.lines().find_map(|line| line.strip_prefix("DOVETAIL_BUS_ENDPOINT="));
        let bus = Tls::before(bus.unwrap(), &system);
        // Only the measured processes receive messages.
        system.enable("deliver", false);
        Self { system, table, bus }
    }

    fn tls(&self, function: &str) -> &Tls {
        if function == "notify" { &self.bus } else { &self.table }
    }

    fn environment(&self, function: &str) -> String {
        self.tls(function).environment(&self.system.environment)
    }
}

/// Starts a program many times, then invokes it many times.
fn measure(built: &Built, world: &Started, event: &Simple) -> Taken {
    let starts = (0..STARTS).map(|_| start(built, world, event).0).collect();
    let (_, mut running) = start(built, world, event);
    let memory = running.memory_peak();
    let invoke = |_| {
        let began = Instant::now();
        running.invoke(&event.event);
        began.elapsed()
    };
    let warm = median((0..INVOCATIONS).map(invoke).collect());
    Taken { starts, warm, memory }
}

/// Starts a program and invokes it once. Returns the times and the running function.
fn start(built: &Built, world: &Started, event: &Simple) -> (Start, Function) {
    let environment = world.environment(event.function);
    let began = Instant::now();
    let mut function = Function::start(built.program(event.function), &environment);
    let reply = function.invoke(&event.event);
    let cold = began.elapsed();
    if event.function != HELLO {
        events::assert_answered(event.function, &reply);
    }
    let stood = world.tls(event.function).stood();
    let connected = stood.and_then(|stood| stood.checked_duration_since(began));
    let table = function.table_times().into_iter().sum();
    (Start { ready: function.until_ready(), connected, cold, table }, function)
}

/// Returns a row with the result of the goals: memory and zip.
fn row(built: &Built, name: &str, taken: &Taken) -> Vec<String> {
    let zipped = built.zipped(name);
    let is_connected = taken.starts.iter().all(|start| start.connected.is_some());
    let passes = zipped <= ZIP_MAX && taken.memory < MEMORY_MAX;
    vec![
        format!("`{name}`"),
        taken.median(|start| start.cold),
        taken.median(|start| start.ready),
        if is_connected { taken.median(|start| start.connected.unwrap_or_default()) } else { String::new() },
        taken.median(|start| start.table),
        ms(taken.warm),
        mb(taken.memory),
        mb(built.bytes(name)),
        format!("{:.2} MB", ratio(zipped, 1_000_000)),
        if passes { "pass" } else { "fail" }.to_owned(),
    ]
}

/// Returns the figure of a function's peak memory. The goal is its configured memory.
fn memory(what: String, bytes: u64) -> Figure {
    Figure::with_goal(what, format!("memory < {}", mb(MEMORY_MAX)), mb(bytes), bytes < MEMORY_MAX)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ratio(one: u64, other: u64) -> f64 {
    Duration::from_micros(one).div_duration_f64(Duration::from_micros(other))
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1_000.0)
}

fn kb(bytes: u64) -> String {
    format!("{:.0} KB", ratio(bytes, 1024))
}

fn mb(bytes: u64) -> String {
    format!("{:.1} MB", ratio(bytes, 1024 * 1024))
}
