//! What whole processes take, as the system counts it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The mean CPU time of a process, and the most memory that one had.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Of the user and of the system, in seconds.
    pub cpu: f64,
    /// The peak of what is resident, in bytes.
    pub memory: f64,
}

const TIME: &str = "/usr/bin/time";

/// Where a process says what it says, in its directory.
pub const SAID: &str = "said.txt";

/// Runs a command so many times; status 2 is that of a plan with changes.
const AGAIN: &str = r#"runs=$1; shift; while [ "$runs" -gt 0 ]; do
    "$@" > said.txt || [ $? = 2 ] || exit 1
    runs=$((runs - 1))
done"#;

/// Whether there is a program of this name, and one that counts what others take.
pub fn is_there(program: &str) -> bool {
    let runs = |mut command: Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let mut version = Command::new(program);
    version.arg("--version");
    Path::new(TIME).exists() && runs(version)
}

/// Runs a command in a directory so many times, and counts.
pub fn taken(runs: u32, directory: &Path, command: &[&str]) -> Taken {
    let counted = tempfile::NamedTempFile::new().unwrap();
    let status = Command::new(TIME)
        .args(["-q", "-f", "%U %S %M", "-o"])
        .arg(counted.path())
        .args(["sh", "-c", AGAIN, "sh", &runs.to_string()])
        .args(command)
        .current_dir(directory)
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{command:?}: {status}");
    let text = fs::read_to_string(counted.path()).unwrap();
    let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [user, system, kilobytes] = numbers[..] else { panic!("{text}") };
    Taken { cpu: (user + system) / f64::from(runs), memory: kilobytes * 1_024.0 }
}
