//! One run: a seed draws the world, the faults and the commands. After the last fault, the system must become idle
//! and correct.

use crate::ablation::Fence;
use crate::checks;
use crate::client::{Client, ClientLog};
use crate::cloud::{Cloud, Indexes};
use crate::command::{CLIENTS, Command, commands};
use crate::faults::Faults;
use crate::references::Observer;
use crate::shape::Shape;
use crate::stream::Stream;
use crate::system::System;
use fastrand::Rng;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of sweeps until the system must be idle.
const SWEEPS_MAX: u32 = 20;

/// Stack size of a run's thread, in bytes.
const STACK_BYTES: usize = 32 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct Run {
    /// Seed of all random numbers.
    pub seed: u64,
    pub shape: Shape,
    pub faults: Faults,
    /// Commands, each with the index of its client.
    pub commands: Vec<(usize, Command)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Numbers of operations and faults, by name.
    pub counts: BTreeMap<String, u64>,
    /// Number of operations of storage and bus while faults were possible.
    pub operations: u64,
    /// Digest of all operations.
    pub trace: String,
}

/// Returns the random test runner of a seed.
pub fn runner(seed: u64, config: Config) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

impl Run {
    /// Draws the run of a seed, with at most this number of commands.
    pub fn of(seed: u64, most: usize) -> Self {
        let mut runner = runner(seed, Config::default());
        let commands = commands(most).new_tree(&mut runner).unwrap().current();
        Self::with(seed, commands)
    }

    /// Creates the run of a seed with these commands.
    pub fn with(seed: u64, commands: Vec<(usize, Command)>) -> Self {
        let mut dice = Rng::with_seed(seed);
        let (shape, faults) = (Shape::drawn(seed, &mut dice), Faults::drawn(&mut dice));
        Self { seed, shape, faults, commands }
    }

    /// Executes and checks the run.
    pub fn run(&self, fence_removed: Option<Fence>) -> Result<Ran, String> {
        let run = self.clone();
        in_virtual_time(run.seed, move || async move { run.play(fence_removed).await })
    }

    async fn play(&self, fence_removed: Option<Fence>) -> Ran {
        let dice = Rng::with_seed(self.seed);
        let indexes = if self.faults.lag.is_zero() { Indexes::Exact } else { Indexes::Lagging };
        let cloud = Cloud::new(dice, indexes, fence_removed);
        let system = System::start(&self.shape.world(), self.shape.limits, cloud).await;
        let (client_log, stream) = (Arc::new(ClientLog::default()), Arc::new(Stream::whole(&system)));
        if self.shape.has_references {
            client_log.observer.get_or_init(|| Observer::new(&system));
        }
        system.cloud.suffer(self.faults.clone());
        let mut flowing = stream.flow(&system);

        let clients = (0..CLIENTS).map(|client| {
            let (system, client_log) = (Arc::clone(&system), Arc::clone(&client_log));
            let shape = self.shape.clone();
            let own: Vec<(usize, Command)> = self
                .commands
                .iter()
                .enumerate()
                .filter(|(_, (of, _))| *of == client)
                .map(|(number, (_, command))| (number, command.clone()))
                .collect();
            tokio::spawn(async move {
                let client = Client { system: &system, log: &client_log, shape: &shape };
                for (number, command) in own {
                    client.act(number, &command).await;
                }
            })
        });
        for client in clients.collect::<Vec<_>>() {
            client.await.unwrap();
        }

        let operations = system.cloud.operations();
        // Two hours exceed every delay of the stream and every error of a clock.
        system.cloud.suffer(Faults::none());
        tokio::time::sleep(2 * Duration::from_secs(3_600)).await;
        wait_idle(&system, &stream).await;
        assert!(flowing.try_join_next().is_none(), "each function is fed until the end");
        drop(flowing);
        assert_eq!(system.cloud.complaint(), None);
        checks::everything(&self.shape, &system, &stream, &client_log).await;
        Ran { counts: system.cloud.counts(), operations, trace: system.cloud.trace() }
    }
}

/// Compares this number of command sequences with the oracle. Shrinks a failed sequence and returns its error.
pub fn holds(seed: u64, cases: u32, most: usize) -> Result<(), String> {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let check = |(dice, commands)| Run::with(dice, commands).run(None).map(drop).map_err(TestCaseError::fail);
    runner(seed, config).run(&(any::<u64>(), commands(most)), check).map_err(|failed| format!("{failed:#}"))
}

/// Shrinks the commands of a seed. Returns the smallest failure, if any.
pub fn smallest(seed: u64, most: usize, fence_removed: Option<Fence>) -> Option<String> {
    let config = Config { failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let mut runner = runner(seed, config);
    // This draws the same commands as `Run::of`.
    let tree = commands(most).new_tree(&mut runner).unwrap();
    let check =
        |commands| Run::with(seed, commands).run(fence_removed).map(drop).map_err(TestCaseError::fail);
    runner.run_one(tree, check).err().map(|failed| format!("{failed:#}"))
}

/// Runs code in virtual time with the random numbers of a seed. Returns its result, or the text of its panic.
pub fn in_virtual_time<T: Send + 'static, F: Future<Output = T>>(
    seed: u64,
    what: impl FnOnce() -> F + Send + 'static,
) -> Result<T, String> {
    let here = move || {
        // This seeds the random numbers of the functions and of the AWS client.
        fastrand::seed(seed);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(what())
    };
    // Random numbers belong to a thread, so each run has a new one. The SDK's futures need more stack than a test
    // has.
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(here).unwrap();
    thread.join().map_err(|panic| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).unwrap_or_default(),
    })
}

/// Waits until the stream is delivered and no work is pending. Panics if this never happens.
async fn wait_idle(system: &Arc<System>, stream: &Arc<Stream>) {
    let mut last = None;
    for _ in 0..SWEEPS_MAX {
        let mut waited = 0;
        loop {
            stream.read(system);
            if stream.is_delivered() {
                break;
            }
            waited += 1;
            assert!(waited < 100_000, "the functions take the stream");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        // Faults can put work into quarantine, so the sweep redrives it.
        let swept = system.sweep_all().await.unwrap();
        stream.read(system);
        if swept.pending == 0 && swept.quarantined == 0 && stream.is_delivered() {
            return;
        }
        last = Some(swept);
    }
    panic!("the system becomes idle: {last:?}");
}
