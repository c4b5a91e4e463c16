//! Builds the deployed functions and the measured programs with Cargo.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Names of the deployed functions.
const FUNCTIONS: [&str; 12] = [
    "submit",
    "list",
    "update-state",
    "history",
    "catalog",
    "about",
    "web-console",
    "account",
    "authorize",
    "generate",
    "notify",
    "sweep",
];

/// Paths of the built programs, by name.
pub struct Built(BTreeMap<String, PathBuf>);

impl Built {
    /// Builds all functions and `hello`, without the features of the local system and the tests.
    pub fn functions() -> Self {
        let packages = FUNCTIONS.iter().chain(&["hello"]).flat_map(|name| ["--package", name]);
        Self::of(&packages.collect::<Vec<_>>())
    }

    fn of(what: &[&str]) -> Self {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let mut building = Command::new(cargo);
        for (name, _) in std::env::vars_os() {
            // With Cargo's variables of this package, build scripts would run again, and Cargo would rebuild their
            // dependants.
            if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|own| name.to_string_lossy().starts_with(own)) {
                building.env_remove(name);
            }
        }
        let built = building
            .args(["build", "--release", "--message-format", "json-render-diagnostics"])
            .args(what)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(built.status.success(), "the programs can't be built");
        let messages = String::from_utf8(built.stdout).unwrap();
        Self(messages.lines().filter_map(program).collect())
    }

    /// Returns the path of a program.
    pub fn program(&self, name: &str) -> &PathBuf {
        &self.0[name]
    }

    /// Returns the size of a program's package in bytes, compressed as by `sam`.
    pub fn zipped(&self, name: &str) -> u64 {
        let mut packing = DeflateEncoder::new(Vec::new(), Compression::default());
        packing.write_all(&fs::read(self.program(name)).unwrap()).unwrap();
        packing.finish().unwrap().len().try_into().unwrap()
    }

    /// Returns the size of a program in bytes.
    pub fn bytes(&self, name: &str) -> u64 {
        fs::metadata(self.program(name)).unwrap().len()
    }
}

/// Builds the client `dovetail`, which compares two files (`dovetail plan`), and returns its path.
pub fn dovetail() -> PathBuf {
    Built::of(&["--package", "dovetail-cli", "--bin", "dovetail"]).program("dovetail").clone()
}

/// Builds the example `parse` and returns its path.
pub fn parse() -> PathBuf {
    Built::of(&["--package", "bench", "--example", "parse"]).program("parse").clone()
}

/// Returns name and path of the executable in a message of Cargo, if the message has one.
fn program(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let path = message["executable"].as_str()?;
    Some((message["target"]["name"].as_str()?.to_owned(), path.into()))
}
