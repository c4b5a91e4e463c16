//! The names of files in reports.

use std::{
    env,
    path::{Component, Path, PathBuf},
};

/// Variables of pipelines with the root of the repository. Reports name files from there.
const ROOT_VARIABLES: [&str; 2] = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"];

/// Returns the path of a file from the root of the repository, with `/` between its parts.
pub(super) fn from_root(path: &Path) -> String {
    let root = ROOT_VARIABLES.iter().find_map(env::var_os).map(PathBuf::from);
    let current = env::current_dir().unwrap_or_default();
    let absolute = current.join(path);
    let root = root.filter(|root| absolute.starts_with(root)).unwrap_or(current);
    let path = absolute.strip_prefix(root).unwrap_or(path);
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
