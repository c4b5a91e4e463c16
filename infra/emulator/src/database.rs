//! Checks database files before use: a damaged or foreign file must not be served as an empty one.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};

/// The reason why a file is rejected.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file belongs to another program, or is not a database.
    #[error("{} is not a Dovetail database, or its header is damaged; nothing was changed", .0.display())]
    Foreign(PathBuf),
    #[error("{} is damaged: {reason}; restore a copy, or delete its directory to start over", path.display())]
    Damaged {
        path: PathBuf,
        /// The message of the check.
        reason: String,
    },
    /// A table is missing although this program created it.
    #[error(
        "{} has lost its table {table}; restore a copy, or delete its directory to start over",
        path.display()
    )]
    NoTable { path: PathBuf, table: String },
}

/// Fails unless the file is absent, empty, or an intact database with `table`.
pub(crate) fn check(path: &Path, table: &str) -> Result<(), Error> {
    if !path.exists() {
        return Ok(());
    }
    let tables = tables(path).map_err(|error| of(path, &error))?;
    // A crash right after the creation leaves an empty database, which is as good as none.
    if tables.is_empty() || tables.iter().any(|name| name == table) {
        Ok(())
    } else {
        Err(Error::Foreign(path.to_owned()))
    }
}

/// Returns the tables of an intact database.
fn tables(path: &Path) -> rusqlite::Result<Vec<String>> {
    let connection = Connection::open(path)?;
    // The quick check does not compare indexes with their tables. A full check would delay each start of a large
    // database.
    let result: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if result != "ok" {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        return Err(rusqlite::Error::SqliteFailure(code, Some(result)));
    }
    let mut select = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    select.query_map([], |row| row.get(0))?.collect()
}

fn of(path: &Path, error: &rusqlite::Error) -> Error {
    let path = path.to_owned();
    if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
        Error::Foreign(path)
    } else {
        Error::Damaged { path, reason: error.to_string() }
    }
}
