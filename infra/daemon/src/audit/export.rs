//! Reads a downloaded S3 export of a table: `AWSDynamoDB/<id>/data/*.json.gz`, one row in each line.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use serde_json::Value;

/// The file name suffix of data files.
const ROWS: &str = ".json.gz";
/// The file name of the summary, which has the number of rows.
const SUMMARY: &str = "manifest-summary.json";

/// The reason why an export cannot be audited.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file can't be read.
    #[error("{}: {source}", file.display())]
    Read { file: PathBuf, source: io::Error },
    /// The directory has no export, or several.
    #[error("{}: must contain exactly one export, not {exports}", directory.display())]
    NotOne {
        directory: PathBuf,
        /// The number of exports.
        exports: usize,
    },
    /// The export has no data file, although even an empty table has some.
    #[error("{}: must contain a file of rows (*{ROWS})", directory.display())]
    NoRows { directory: PathBuf },
    /// A line does not hold a row.
    #[error("{}, line {line}: {source}", file.display())]
    Line {
        file: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// The error of the row.
        source: dovetail_table::Error,
    },
    /// The manifest lacks the number of rows.
    #[error("{}: must contain the number of rows (itemCount)", file.display())]
    NoCount { file: PathBuf },
    /// The number of rows differs from the manifest.
    #[error("{}: must contain {expected} rows, as in its manifest, not {rows}", directory.display())]
    NotWhole {
        directory: PathBuf,
        /// Rows in the data files.
        rows: u64,
        /// Rows according to the manifest.
        expected: u64,
    },
}

impl Error {
    fn read(file: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Read { file, source }
    }
}

/// Passes the line of each row to `take`, and fails if the export is incomplete.
pub(super) fn each_line(
    directory: &Path,
    mut take: impl FnMut(&str) -> Result<(), dovetail_table::Error>,
) -> Result<(), Error> {
    let export = the_export(directory)?;
    let mut rows = 0_u64;
    for file in rows_in(&export.join("data"))? {
        rows = rows.saturating_add(lines_of(&file, &mut take)?);
    }
    // A missing file would look like deleted records, and most invariants would fail for no reason.
    match manifest_rows(&export)? {
        Some(expected) if expected != rows => Err(Error::NotWhole { directory: export, rows, expected }),
        Some(_) | None => Ok(()),
    }
}

/// Passes each line of a file to `take`, and returns the number of lines.
fn lines_of(
    file: &Path,
    mut take: impl FnMut(&str) -> Result<(), dovetail_table::Error>,
) -> Result<u64, Error> {
    let open = File::open(file).map_err(Error::read(file))?;
    let mut number = 0_u64;
    for line in BufReader::new(MultiGzDecoder::new(open)).lines() {
        number = number.saturating_add(1);
        let no_row = |source| Error::Line { file: file.to_owned(), line: number, source };
        take(&line.map_err(Error::read(file))?).map_err(no_row)?;
    }
    Ok(number)
}

/// Returns the only export in a directory: below `AWSDynamoDB`, or the directory itself.
fn the_export(directory: &Path) -> Result<PathBuf, Error> {
    let below = directory.join("AWSDynamoDB");
    let candidates = if below.is_dir() { entries(&below)? } else { vec![directory.to_owned()] };
    let mut exports: Vec<PathBuf> =
        candidates.into_iter().filter(|export| export.join("data").is_dir()).collect();
    match (exports.pop(), exports.len()) {
        (Some(export), 0) => Ok(export),
        (last, others) => {
            let export_count = others.saturating_add(usize::from(last.is_some()));
            Err(Error::NotOne { directory: directory.to_owned(), exports: export_count })
        }
    }
}

fn rows_in(data: &Path) -> Result<Vec<PathBuf>, Error> {
    let is_rows = |path: &PathBuf| path.to_string_lossy().ends_with(ROWS);
    let files: Vec<PathBuf> = entries(data)?.into_iter().filter(is_rows).collect();
    if files.is_empty() { Err(Error::NoRows { directory: data.to_owned() }) } else { Ok(files) }
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = || fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = read().map_err(Error::read(directory))?;
    paths.sort();
    Ok(paths)
}

/// Returns the number of rows in the manifest, if the manifest was downloaded too.
fn manifest_rows(export: &Path) -> Result<Option<u64>, Error> {
    let file = export.join(SUMMARY);
    if !file.exists() {
        return Ok(None);
    }
    let text = fs::read(&file).map_err(Error::read(&file))?;
    let summary: Value = serde_json::from_slice(&text).map_err(|error| Error::read(&file)(error.into()))?;
    let item_count = summary.get("itemCount").and_then(Value::as_u64);
    item_count.ok_or(Error::NoCount { file }).map(Some)
}
