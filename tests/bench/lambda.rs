//! Time and memory of the functions at start, idle and under load, compared with a function without work.
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

use self::function::Function;
use crate::built::Built;
use crate::figure::Figure;
use std::time::{Duration, Instant};
use support::{Running, Tls};

/// Maximum ratio of a function's cold start to the cold start of `hello`.
const COLD_MAX: f64 = 1.6;
/// Maximum size of a function's package, in bytes.
const ZIP_MAX: u64 = 6_000_000;
/// Configured memory of a function, in bytes.
const MEMORY_MAX: u64 = 128 * 1024 * 1024;
/// Number of starts of each program.
const STARTS: usize = 20;
/// Number of invocations of each running program.
const INVOCATIONS: usize = 200;
const HELLO: &str = "hello";
/// End of the name of each figure of a start.
pub const OVER_TLS: &str = " / hello, first event, over TLS";

/// Measures the functions at start.
pub fn starts() -> Vec<Figure> {
    at_start(&Built::functions())
}

/// Measures the functions of submissions under load.
pub fn loads() -> Vec<Figure> {
    let built = Built::functions();
    let mut figures = overhead::measure(&built);
    figures.extend(load::measure(&built));
    figures
}

/// Measures the memory of a submission with many gone items.
pub fn with_gone_items() -> Figure {
    gone::measure(&Built::functions())
}

/// Counts the instructions of warm invocations.
pub fn count() -> Vec<Figure> {
    instructions::measure(&Built::functions())
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
    fn median(&self, of: impl Fn(&Start) -> Duration) -> Duration {
        median(self.starts.iter().map(of).collect())
    }
}

/// Measures cold starts as on AWS: table and bus have TLS endpoints.
fn at_start(built: &Built) -> Vec<Figure> {
    let system = Running::demo();
    let table = Tls::before(&system.engine, &system);
    let bus =
        system.environment.lines().find_map(|line| line.strip_prefix("DOVETAIL_BUS_ENDPOINT=")).unwrap();
    let bus = Tls::before(bus, &system);
    let measure = |(name, event): (&'static str, String)| {
        let tls = if name == "notify" { &bus } else { &table };
        let environment = tls.environment(&system.environment);
        let taken = measure_with_hello(built, name, tls, &environment, &event);
        compared(built, name, taken)
    };
    events::simple(&system).into_iter().map(measure).collect()
}

/// Starts both programs in turns, then invokes both in turns. So other load of the machine affects both equally.
fn measure_with_hello(built: &Built, name: &str, tls: &Tls, environment: &str, event: &str) -> [Taken; 2] {
    let programs = [HELLO, name];
    let mut starts = [const { Vec::new() }; 2];
    for _ in 0..STARTS {
        for (program, starts) in programs.iter().zip(&mut starts) {
            starts.push(start(built, program, tls, environment, event).0);
        }
    }
    let mut running = programs.map(|program| start(built, program, tls, environment, event).1);
    let memory = running.each_ref().map(Function::memory_peak);
    let mut warms = [const { Vec::new() }; 2];
    for _ in 0..INVOCATIONS {
        for (function, warms) in running.iter_mut().zip(&mut warms) {
            let began = Instant::now();
            function.invoke(event);
            warms.push(began.elapsed());
        }
    }
    let [hello, taken] = starts;
    let [hello_warm, warm] = warms.map(median);
    let [hello_memory, memory] = memory;
    [Taken { starts: hello, warm: hello_warm, memory: hello_memory }, Taken { starts: taken, warm, memory }]
}

/// Starts a program and invokes it once. Returns the times and the running function.
fn start(built: &Built, name: &str, tls: &Tls, environment: &str, event: &str) -> (Start, Function) {
    let began = Instant::now();
    let mut function = Function::start(built.program(name), environment);
    let reply = function.invoke(event);
    let cold = began.elapsed();
    if name != HELLO {
        events::assert_answered(name, &reply);
    }
    let connected = tls.stood().and_then(|stood| stood.checked_duration_since(began));
    let table = function.table_times().into_iter().sum();
    (Start { ready: function.until_ready(), connected, cold, table }, function)
}

/// Compares a function with `hello` and with its goals.
fn compared(built: &Built, name: &str, [hello, taken]: [Taken; 2]) -> Figure {
    let [bytes, hello_bytes] = [name, HELLO].map(|name| built.bytes(name));
    let zipped = built.zipped(name);
    let with_ratio = |ratio: f64, taken: String| format!("{ratio:.1} × ({taken})");
    let hello_cold = hello.median(|start| start.cold);
    let cold = taken.median(|start| start.cold);
    let times = cold.div_duration_f64(hello_cold);
    let of_cold = |time: Duration| format!("{:.2} × ({})", time.div_duration_f64(hello_cold), ms(time));
    let mut measured =
        vec![("cold start", of_cold(cold)), ("until ready", of_cold(taken.median(|start| start.ready)))];
    if taken.starts.iter().all(|start| start.connected.is_some()) {
        let connected = taken.median(|start| start.connected.unwrap_or_default());
        measured.push(("until TLS is ready", of_cold(connected)));
    }
    measured.extend([
        ("table calls", ms(taken.median(|start| start.table))),
        ("zip", format!("{:.2} MB", ratio(zipped, 1_000_000))),
        ("memory", with_ratio(ratio(taken.memory, hello.memory), mb(taken.memory))),
        ("warm", with_ratio(taken.warm.div_duration_f64(hello.warm), ms(taken.warm))),
        ("program", with_ratio(ratio(bytes, hello_bytes), mb(bytes))),
    ]);
    let measured: Vec<String> = measured.iter().map(|(of, figure)| format!("{of} {figure}")).collect();
    Figure {
        what: format!("{name}{OVER_TLS}"),
        goal: format!("cold start ≤ {COLD_MAX:.1} ×, zip ≤ {} MB, {}", ZIP_MAX / 1_000_000, memory_goal()),
        measured: measured.join(", "),
        passes: Some(times <= COLD_MAX && zipped <= ZIP_MAX && taken.memory < MEMORY_MAX),
        value: Some(times),
    }
}

fn memory_goal() -> String {
    format!("memory < {}", mb(MEMORY_MAX))
}

/// Returns the figure of a function's peak memory. The goal is its configured memory.
fn memory(what: String, bytes: u64) -> Figure {
    Figure {
        what,
        goal: memory_goal(),
        measured: mb(bytes),
        passes: Some(bytes < MEMORY_MAX),
        value: Some(ratio(bytes, 1024 * 1024)),
    }
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
