//! The source of a block of figures: version, commit and machine of the program that wrote it.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

/// Version of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Text before the version in a line of [`Source::line`].
const BY_VERSION: &str = " by version ";

/// Kilobytes of a gigabyte.
const KB_PER_GB: u64 = 1_024 * 1_024;

/// How a program gets the figures of a block. A line of figures begins with this word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Seconds, rates and memory, on one machine.
    Measured,
    /// Instructions, on one machine.
    Counted,
    /// Waits and rejections in virtual time.
    Simulated,
    /// Units and prices of recorded calls.
    Calculated,
}

/// The commit and the machine of figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Abbreviated commit, or `None` for uncommitted changes.
    commit: Option<String>,
    machine: String,
}

impl Source {
    /// Returns the source of this checkout without uncommitted changes.
    pub fn of_commit() -> Self {
        let commit = git(&["rev-parse", "--short=8", "HEAD"]);
        Self { commit: Some(commit.trim().to_owned()), machine: machine() }
    }

    /// Returns the source of a checkout with uncommitted changes.
    pub fn uncommitted() -> Self {
        Self { commit: None, machine: machine() }
    }

    /// Returns the line of a block.
    pub fn line(&self, method: Method) -> String {
        let commit = self.commit.as_ref().map_or_else(String::new, |commit| format!(", commit {commit}"));
        let by = format!("{method:?}{BY_VERSION}{VERSION}{commit}");
        match method {
            Method::Measured | Method::Counted => format!("{by}, on {}.", self.machine),
            Method::Simulated | Method::Calculated => format!("{by}. Every machine gives these figures."),
        }
    }
}

/// Returns the version in the content of a block, if a program wrote one.
pub fn version_of(content: &str) -> Option<[u64; 3]> {
    let (_, rest) = content.rsplit_once(BY_VERSION)?;
    version(rest.split([',', ' ']).next()?.trim_end_matches('.'))
}

/// Parses a version of three numbers.
pub fn version(text: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = text.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Returns the files with uncommitted changes, one per line. Documents and tables of figures do not count.
pub fn uncommitted_changes() -> String {
    git(&["status", "--porcelain", "--", ":/", ":(top,exclude)docs", ":(top,exclude)tests/bench/*.txt"])
}

fn git(arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?} runs in a checkout");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns cores, processor and memory. It contains no name of the machine.
fn machine() -> String {
    let cores = available_parallelism().map_or(1, std::num::NonZero::get);
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown model", |(_, model)| model.trim());
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    let gigabytes = memory.and_then(|kb| Some((kb.parse::<u64>().ok()? + KB_PER_GB / 2) / KB_PER_GB));
    let memory = gigabytes.map_or_else(String::new, |gigabytes| format!(" and {gigabytes} GB of memory"));
    format!("{cores} cores ({model}){memory}")
}
