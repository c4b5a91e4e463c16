//! The shapes of the requests that a test sends to its engine. `tests/engines/shapes.txt` lists all of them.
//!
//! A shape is an operation with its expressions, its flags and its outcome, without keys and values.

mod answer;
mod expression;
mod recorder;
mod shape;

use dovetail_emulator::engine::{Engine, Storage};
use recorder::Recorder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::tables::elsewhere;

/// Variable with the directory of the shapes of each test, which `tests/engines/run` sets.
const RECORDING: &str = "DOVETAIL_TEST_SHAPES";
/// Read at run time, because the list changes more often than the code.
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../engines/shapes.txt");

/// The requests in the list: the shapes without their outcomes.
static LISTED: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let list = fs::read_to_string(LIST).unwrap();
    // A line has a number of tests and a shape.
    list.lines().filter_map(|line| Some(request(line.split_once(' ')?.1).to_owned())).collect()
});
/// The shapes that a test of this process has reported. So a new shape fails one test, and not each test that has it.
static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The requests of one test, by shape.
type Counts = BTreeMap<String, u64>;

/// The engine of one system. It counts the shapes of all requests. The drop fails if the list lacks a request.
pub(crate) struct TestEngine {
    /// URL for a client.
    pub(crate) endpoint: String,
    // Rust drops fields in order: the recorder, the engine.
    recorder: Option<(String, Recorder)>,
    _engine: Option<Engine>,
}

impl TestEngine {
    /// Starts an engine with this storage, or uses the one in `DOVETAIL_TEST_ENDPOINT`.
    pub(crate) fn start(storage: &Storage) -> Self {
        let elsewhere = elsewhere();
        let engine = elsewhere.is_none().then(|| Engine::start(storage).unwrap());
        let endpoint = elsewhere.or_else(|| Some(engine.as_ref()?.endpoint().to_owned())).unwrap();
        // The thread of a test has its name. Benchmarks run on other threads, and measure the engine alone.
        let test = std::thread::current().name().filter(|name| name.contains("::")).map(str::to_owned);
        let recorder = test.map(|test| (test, Recorder::start(&endpoint)));
        let endpoint = recorder.as_ref().map_or(endpoint, |(_, recorder)| recorder.endpoint.clone());
        Self { endpoint, recorder, _engine: engine }
    }
}

impl Drop for TestEngine {
    fn drop(&mut self) {
        let directory = std::env::var_os(RECORDING);
        let Some((test, mut recorder)) = self.recorder.take() else {
            assert!(
                directory.is_none() || std::thread::panicking(),
                "a system of a test must start on a thread with the name of the test"
            );
            return;
        };
        let counts = recorder.take();
        if let Some(directory) = directory {
            write(&PathBuf::from(directory), &test, &counts);
        } else if !std::thread::panicking() {
            let missing = missing(&counts);
            assert!(
                missing.is_empty(),
                "tests/engines/shapes.txt lacks shapes of requests; run `tests/engines/run choose`:\n{}",
                missing.join("\n")
            );
        }
    }
}

/// Returns a shape without its outcome.
fn request(shape: &str) -> &str {
    shape.rsplit_once(" -> ").map_or(shape, |(request, _)| request)
}

/// Returns the shapes with requests that the list lacks, unless another test has reported them.
///
/// An outcome can depend on the order of concurrent requests, so only `tests/engines/run choose` and `all` compare it.
fn missing(counts: &Counts) -> Vec<String> {
    let new = counts.keys().filter(|shape| !LISTED.contains(request(shape)));
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    new.filter(|shape| reported.insert((*shape).clone())).cloned().collect()
}

/// Appends the shapes to the file of the test. A test may start several systems.
fn write(directory: &Path, test: &str, counts: &Counts) {
    let lines: String = counts.iter().map(|(shape, count)| format!("{count} {shape}\n")).collect();
    let mut file = fs::File::options().create(true).append(true).open(directory.join(test)).unwrap();
    // One write, because systems of one test may end at the same time.
    file.write_all(lines.as_bytes()).unwrap();
}
