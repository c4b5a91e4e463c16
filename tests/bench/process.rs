//! CPU time and memory of whole processes, measured by `/usr/bin/time`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Mean CPU time and maximum memory of a repeated process.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// User and system time, in seconds.
    pub cpu: f64,
    /// Peak of resident memory, in bytes.
    pub memory: f64,
}

const TIME: &str = "/usr/bin/time";

/// File in the working directory with the output of the process.
pub const OUTPUT_FILE: &str = "output.txt";

/// Shell script that runs a command repeatedly. Status 2 is the status of a plan with changes.
const REPEAT_SCRIPT: &str = r#"runs=$1; shift; while [ "$runs" -gt 0 ]; do
    "$@" > output.txt || [ $? = 2 ] || exit 1
    runs=$((runs - 1))
done"#;

/// Returns whether a program and `/usr/bin/time` exist.
pub fn is_there(program: &str) -> bool {
    let runs = |mut command: Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let mut version = Command::new(program);
    version.arg("--version");
    Path::new(TIME).exists() && runs(version)
}

/// Runs a command this number of times in a directory, and measures it.
pub fn taken(runs: u32, directory: &Path, command: &[&str]) -> Taken {
    let counted = tempfile::NamedTempFile::new().unwrap();
    let status = Command::new(TIME)
        .args(["-q", "-f", "%U %S %M", "-o"])
        .arg(counted.path())
        .args(["sh", "-c", REPEAT_SCRIPT, "sh", &runs.to_string()])
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
