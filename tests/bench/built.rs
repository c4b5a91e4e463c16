//! Builds the deployed functions and the measured programs with Cargo.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Packages of the measured programs. Together with this one, as in the recipe, they compile with the same features.
const TOGETHER: [&str; 6] =
    ["--package", "bench", "--package", "dovetail-cli", "--package", "dovetail-daemon"];

/// Paths of the built programs, by name.
pub struct Built(BTreeMap<String, PathBuf>);

impl Built {
    /// Builds all functions and `hello`, without the features of the local system and the tests.
    pub fn functions() -> Self {
        let names = functions();
        let names = names.iter().map(String::as_str).chain(["hello"]);
        let packages = names.flat_map(|name| ["--package", name]);
        Self::of("build", &packages.collect::<Vec<_>>())
    }

    fn of(command: &str, what: &[&str]) -> Self {
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
            .args([command, "--locked", "--release", "--message-format", "json-render-diagnostics"])
            .args(what)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(built.status.success(), "the programs can't be built");
        let messages = String::from_utf8(built.stdout).unwrap();
        Self(messages.lines().filter_map(executable).collect())
    }

    fn together(command: &str, what: &[&str]) -> Self {
        Self::of(command, &[&TOGETHER, what].concat())
    }

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

/// Returns the names of all functions, in order.
pub fn functions() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Builds `dovetail`, `dovetaild` and the example `parse`, each only once, and returns the path of one of them.
pub fn program(name: &str) -> PathBuf {
    let programs = ["--bin", "dovetail", "--bin", "dovetaild", "--example", "parse"];
    Built::together("build", &programs).program(name).clone()
}

/// Builds the tests of large submissions and returns the path of their program.
pub fn large_test() -> PathBuf {
    Built::together("test", &["--test", "large", "--no-run"]).program("large").clone()
}

/// Returns name and path of the executable in a message of Cargo, if the message has one.
fn executable(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let path = message["executable"].as_str()?;
    Some((message["target"]["name"].as_str()?.to_owned(), path.into()))
}
