//! The files of a directory that can declare applications, and what is left out.

use crate::{base::failure::Failure, document::json};
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};

/// The file of a directory with patterns of files that are no declarations, in the form of `.gitignore`.
pub(crate) const IGNORE: &str = ".dovetailignore";

/// A file or a directory that is not read, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// A directory with files, below the one that is read.
    Directory(PathBuf),
    /// A file with a text, a number or a list at the place of an application.
    File(PathBuf),
    /// A file that is a list or a text as a whole.
    Other(PathBuf),
}

impl LeftOut {
    /// Returns whether there can be an application that the user meant to declare.
    pub(crate) const fn can_declare(&self) -> bool {
        match self {
            Self::Directory(_) | Self::File(_) => true,
            Self::Other(_) => false,
        }
    }

    /// Returns the path, and why it is left out.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Directory(path) => format!("{} (a directory: --recursive reads it)", path.display()),
            Self::File(path) | Self::Other(path) => {
                format!("{} (it declares no application)", path.display())
            }
        }
    }
}

/// The files of a directory.
#[derive(Default)]
pub(super) struct Found {
    /// The files of YAML and JSON, in the order of their paths.
    pub(super) files: Vec<PathBuf>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Returns the files of YAML and JSON in a directory, and in those below it if `recursive`.
///
/// Hidden files and those of [`IGNORE`] do not count. No link to a directory is followed.
pub(super) fn files(directory: &Path, recursive: bool) -> Result<Found, Failure> {
    let mut walk = WalkBuilder::new(directory);
    walk.standard_filters(false).hidden(true).add_custom_ignore_filename(IGNORE).sort_by_file_path(Path::cmp);
    if !recursive {
        // The level below is walked only to name what is left out.
        walk.max_depth(Some(2));
    }
    let mut found = Found::default();
    for entry in walk.build() {
        let entry = entry.map_err(|error| Failure::Failed(format!("{}: {error}", directory.display())))?;
        let (depth, path) = (entry.depth(), entry.into_path());
        if !json::is_data(&path) || !path.is_file() {
            continue;
        }
        match path.parent() {
            Some(parent) if depth > 1 && !recursive => {
                let left_out = LeftOut::Directory(parent.to_owned());
                if !found.left_out.contains(&left_out) {
                    found.left_out.push(left_out);
                }
            }
            _ => found.files.push(path),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns the names of the files and directories that are read, and of those that are left out.
    fn names(directory: &Path, recursive: bool) -> (Vec<String>, Vec<String>) {
        let name = |path: &Path| path.strip_prefix(directory).unwrap().display().to_string();
        let found = files(directory, recursive).unwrap();
        let left_out = found.left_out.iter().map(|left_out| match left_out {
            LeftOut::Directory(path) | LeftOut::File(path) | LeftOut::Other(path) => name(path),
        });
        (found.files.iter().map(|path| name(path)).collect(), left_out.collect())
    }

    fn directory(paths: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for path in paths {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        directory
    }

    #[test]
    fn directories_below_are_read_or_named() {
        let directory =
            directory(&["one.yaml", "TWO.YML", "notes.md", ".hidden.yaml", "prod/three.json", "docs/a.md"]);
        let one = ["TWO.YML", "one.yaml"].map(str::to_owned);
        assert_eq!(names(directory.path(), false), (one.to_vec(), vec!["prod".to_owned()]));
        let all = ["TWO.YML", "one.yaml", "prod/three.json"].map(str::to_owned);
        assert_eq!(names(directory.path(), true), (all.to_vec(), Vec::new()));
    }

    #[test]
    fn files_of_the_list_of_ignored_ones_do_not_count() {
        let directory = directory(&["one.yaml", "package.json", "modules/a/b.json"]);
        fs::write(directory.path().join(IGNORE), "package.json\nmodules/\n").unwrap();
        for recursive in [false, true] {
            assert_eq!(names(directory.path(), recursive), (vec!["one.yaml".to_owned()], Vec::new()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_directory_is_not_followed() {
        let [directory, other] = [directory(&["one.yaml"]), directory(&["two.yaml"])];
        std::os::unix::fs::symlink(other.path(), directory.path().join("prod")).unwrap();
        assert_eq!(names(directory.path(), true).0, ["one.yaml"]);
    }
}
