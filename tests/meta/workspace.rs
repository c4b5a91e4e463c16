//! The files of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| format!("{}: {error}", path.display()))
}

/// Returns a path relative to the root.
pub(crate) fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// Returns all files below a directory with this ending, in order.
pub(crate) fn files(below: &Path, ending: &str) -> Vec<PathBuf> {
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

pub(crate) fn sources() -> Vec<PathBuf> {
    files(&root(), ".rs")
}
