//! What the functions cost at start, at rest and under load, beside a function that does nothing.
//!
//! The programs are those that are deployed; the table is the engine of this process, so what the network, TLS and
//! DynamoDB take comes on top.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_arithmetic,
    reason = "measurements"
)]

mod events;
mod function;
mod load;

use self::function::Function;
use crate::built::Built;
use crate::figure::Figure;
use std::time::{Duration, Instant};
use tests::Running;

/// What a function's memory is configured to be.
const MEMORY_MAX: u64 = 128 * 1024 * 1024;
/// How often a program is started.
const STARTS: usize = 20;
/// How often a program that runs is invoked again.
const INVOCATIONS: usize = 200;
const HELLO: &str = "hello";

/// Measures the functions at start, and those that large submissions reach under load.
pub fn measure() -> Vec<Figure> {
    let built = Built::functions();
    let mut figures = at_start(&built);
    figures.extend(load::measure(&built));
    figures
}

/// What one function takes, or hello beside it.
struct Taken {
    cold: Duration,
    warm: Duration,
    memory: u64,
}

fn at_start(built: &Built) -> Vec<Figure> {
    let system = Running::demo();
    let mut figures = Vec::new();
    for (name, event) in events::simple(&system) {
        let [hello, taken] = beside_hello(built, name, &system.environment, &event);
        figures.push(size(built, name));
        figures.extend(compared(name, &hello, &taken));
    }
    // As it starts against AWS, without a call: the client that is made there speaks TLS.
    let environment = "DOVETAIL_TABLE=t\nDOVETAIL_KEYS_TABLE=k\n";
    let [hello, taken] = beside_hello(built, "authorize", environment, &events::authorization(None));
    figures.extend(compared("authorize, TLS client, no key", &hello, &taken));
    figures
}

fn size(built: &Built, name: &str) -> Figure {
    let [bytes, hello] = [name, HELLO].map(|name| built.bytes(name));
    let measured = format!("{:.1} × hello ({} beside {})", ratio(bytes, hello), mb(bytes), mb(hello));
    Figure { what: format!("{name}: size"), goal: String::new(), measured, passes: None }
}

/// Starts both in turns, then invokes both again and again.
fn beside_hello(built: &Built, name: &str, environment: &str, event: &str) -> [Taken; 2] {
    let programs = [HELLO, name];
    let mut colds = [const { Vec::new() }; 2];
    for _ in 0..STARTS {
        for (program, colds) in programs.iter().zip(&mut colds) {
            colds.push(start(built, program, environment, event).0);
        }
    }
    let mut running = programs.map(|program| start(built, program, environment, event).1);
    let memory = running.each_ref().map(Function::memory_peak);
    let mut warms = [const { Vec::new() }; 2];
    for _ in 0..INVOCATIONS {
        for (function, warms) in running.iter_mut().zip(&mut warms) {
            let began = Instant::now();
            function.invoke(event);
            warms.push(began.elapsed());
        }
    }
    let [cold, warm] = [colds, warms].map(|times| times.map(median));
    [0, 1].map(|at| Taken { cold: cold[at], warm: warm[at], memory: memory[at] })
}

/// How long it takes from nothing to the first reply, and the function that replied.
fn start(built: &Built, name: &str, environment: &str, event: &str) -> (Duration, Function) {
    let began = Instant::now();
    let mut function = Function::start(built.program(name), environment);
    let reply = function.invoke(event);
    let cold = began.elapsed();
    if name != HELLO {
        events::assert_answered(name, &reply);
    }
    (cold, function)
}

fn compared(name: &str, hello: &Taken, taken: &Taken) -> [Figure; 3] {
    let time = |what: &str, taken: Duration, hello: Duration| Figure {
        what: format!("{name}: {what}"),
        goal: String::new(),
        measured: format!(
            "{:.1} × hello ({} beside {})",
            taken.div_duration_f64(hello),
            ms(taken),
            ms(hello)
        ),
        passes: None,
    };
    let what = format!("{name}: memory after the first event");
    [
        time("cold start", taken.cold, hello.cold),
        time("warm invocation", taken.warm, hello.warm),
        memory(what, taken.memory, &format!("{:.1} × hello, ", ratio(taken.memory, hello.memory))),
    ]
}

/// The most memory that a function had, which has to stay below what it is given.
fn memory(what: String, bytes: u64, beside: &str) -> Figure {
    let goal = format!("< {}", mb(MEMORY_MAX));
    Figure { what, goal, measured: format!("{beside}{}", mb(bytes)), passes: Some(bytes < MEMORY_MAX) }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ratio(one: u64, other: u64) -> f64 {
    Duration::from_micros(one).div_duration_f64(Duration::from_micros(other))
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1_000.0)
}

fn mb(bytes: u64) -> String {
    format!("{:.1} MB", ratio(bytes, 1024 * 1024))
}
