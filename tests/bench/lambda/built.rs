//! The programs of the functions, built as they are deployed.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The programs by name.
pub(super) struct Built(BTreeMap<String, PathBuf>);

impl Built {
    /// Builds all functions, as one build of a release does, and hello.
    pub(super) fn release() -> Self {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let built = Command::new(cargo)
            .args([
                "build",
                "--release",
                "--workspace",
                "--exclude",
                "dovetail-local",
                "--bins",
                "--examples",
            ])
            .args(["--message-format", "json-render-diagnostics"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(built.status.success(), "the programs can't be built");
        let messages = String::from_utf8(built.stdout).unwrap();
        Self(messages.lines().filter_map(program).collect())
    }

    pub(super) fn program(&self, name: &str) -> &PathBuf {
        &self.0[name]
    }

    pub(super) fn bytes(&self, name: &str) -> u64 {
        fs::metadata(self.program(name)).unwrap().len()
    }
}

/// The program that a message of the build tells of.
fn program(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let path = message["executable"].as_str()?;
    Some((message["target"]["name"].as_str()?.to_owned(), path.into()))
}
