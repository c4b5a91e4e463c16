//! The files of the repository.
#![expect(clippy::unwrap_used, reason = "test support")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root of the repository, or of the checkout in `REPOSITORY`, for `tests/meta/counts`.
pub fn root() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned();
    env::var_os("REPOSITORY").map_or_else(own, PathBuf::from)
}

/// Returns the text of a file, or why it cannot be read.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| format!("{}: {error}", path.display()))
}

/// Returns a path relative to the root.
pub fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// Returns all files below a directory with this ending, in order.
pub fn files(below: &Path, ending: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut open = vec![below.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !matches!(file.as_str(), "target" | "node_modules") && !file.starts_with('.')
            {
                open.push(path);
            } else if path.is_file() && file.ends_with(ending) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths
}

/// Returns all files with Rust code.
pub fn sources() -> Vec<PathBuf> {
    files(&root(), ".rs")
}
