//! Reads and writes files. Each error names its file.

use crate::base::failure::Failure;
use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// Reads a text.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(Failure::file(path))
}

/// Reads the first line of a file, without its end.
pub(crate) fn first_line(path: &Path) -> Result<String, Failure> {
    Ok(read(path)?.lines().next().unwrap_or_default().trim().to_owned())
}

/// Writes a text to a path, which may also be a pipe.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(Failure::file(path))
}

/// Replaces a file. A crash leaves the old file or the new one.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    exchange(path, |new| fs::write(new, text))
}

/// Replaces a file by one that no other user can read at any time.
pub(crate) fn replace_private(path: &Path, text: &str) -> Result<(), Failure> {
    exchange(path, |new| {
        let mut file = private().create(true).truncate(true).open(new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    })
}

/// Creates an empty file that no other user can read. It must not exist.
pub(crate) fn create_private(path: &Path) -> Result<(), Failure> {
    private().create_new(true).open(path).map(drop).map_err(Failure::file(path))
}

/// Writes a new file next to the old one, and gives it the name of the old one.
fn exchange(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let new = path.with_file_name(name);
    write(&new).map_err(Failure::file(&new))?;
    fs::rename(&new, path).map_err(Failure::file(path))
}

/// Returns the options of a file for its owner alone.
fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}
