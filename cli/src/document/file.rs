//! Reads and writes files. Each error names its file.

use crate::base::failure::Failure;
use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// Permissions of a file for all users, as far as the settings of the process allow them.
const PUBLIC: u32 = 0o666;

/// Permissions of a file for its owner alone.
const PRIVATE: u32 = 0o600;

/// The byte order mark, with which editors on Windows begin a text.
const MARK: char = '\u{feff}';

/// Reads a text, without a byte order mark. The path `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let text =
        if is_standard_input(path) { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let text = text.map_err(Failure::file(path))?;
    Ok(text.strip_prefix(MARK).map(str::to_owned).unwrap_or(text))
}

/// Returns whether a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads the first line of a file, without its end.
pub(crate) fn first_line(path: &Path) -> Result<String, Failure> {
    Ok(read(path)?.lines().next().unwrap_or_default().trim().to_owned())
}

/// Writes a text to a path, which may also be a pipe.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(Failure::file(path))
}

/// Replaces a file, or a link to one. A crash leaves the old file or the new one.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    exchange(path, text, PUBLIC)
}

/// Replaces a file by one that no other user can read at any time.
pub(crate) fn replace_private(path: &Path, text: &str) -> Result<(), Failure> {
    exchange(path, text, PRIVATE)
}

/// Creates an empty file that no other user can read. It must not exist.
pub(crate) fn create_private(path: &Path) -> Result<(), Failure> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(PRIVATE);
    }
    options.open(path).map(drop).map_err(Failure::file(path))
}

/// Writes a new file next to the old one, and gives it the name of the old one.
///
/// The new file has a random name, so that no link can be in its place.
fn exchange(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let mut options = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        options.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    let write = || {
        let mut new = options.tempfile_in(directory.unwrap_or(Path::new(".")))?;
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(path).map_err(|failed| failed.error)
    };
    write().map(drop).map_err(Failure::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("shop.json");
        fs::write(&path, "\u{feff}{}").unwrap();
        assert_eq!(read(&path).unwrap(), "{}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_a_repository_leads_no_write_elsewhere() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let directory = tempfile::tempdir().unwrap();
        let own = directory.path().join("own");
        fs::write(&own, "private").unwrap();
        for (link, written) in [("Shop.yaml.new", "Shop.yaml"), ("Lab.yaml", "Lab.yaml")] {
            symlink(&own, directory.path().join(link)).unwrap();
            let written = directory.path().join(written);
            replace(&written, "Shop: {}\n").unwrap();
            assert_eq!(fs::read_to_string(&written).unwrap(), "Shop: {}\n");
            assert_eq!(fs::read_to_string(&own).unwrap(), "private", "{link} leads to this file");
        }
        let profile = directory.path().join("profile");
        replace_private(&profile, "key").unwrap();
        assert_eq!(fs::metadata(&profile).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
