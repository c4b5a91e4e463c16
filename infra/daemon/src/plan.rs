//! The command `dovetail plan`: compares two files, and needs no running system.

mod json;
mod table;

use std::{
    fmt::{self, Display},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use domain::base::problem::Problem;
use domain::views::compare::{Differences, Refused, compare};

/// The help text of `plan --help`.
pub const HELP: &str = "\
Prints the changes that a submission would make. Reads two files only, and no running system.

Usage: dovetail plan --old FILE --new FILE [--json]

Options:
  --old FILE  the last submitted declaration
  --new FILE  the next whole declaration
  --json      print a JSON object instead of a table
  --help      print this help

Both files are declarations, or both are lists of items: {\"items\": {NAME: {...}}}.
Exit status: 0 no changes, 2 changes, 1 a file is unreadable or invalid.

The plan does not consider
- schemas of services and references: the submission may still be rejected;
- change instances for dependent teams, and for items that reference a modified item;
- that a change to an item that is not in service yet is a CREATE, not a MODIFY;
- rejected or failed change instances, and other submissions in the meantime.
";

/// The files of a plan and the format of its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// File of the last submitted document.
    pub old: PathBuf,
    /// File of the next document.
    pub new: PathBuf,
    /// Whether to print JSON instead of a table.
    pub json: bool,
}

/// The reason for a failed plan.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: {source}", file.display())]
    Read { file: PathBuf, source: io::Error },
    /// The files are invalid, each by itself or in comparison.
    #[error("the files could not be compared\n{0}")]
    Refused(FileProblems),
    #[error("the plan could not be printed: {0}")]
    Print(#[from] io::Error),
}

/// Prints the plan and returns whether there are changes.
pub fn run(settings: &Settings, out: &mut impl Write) -> Result<bool, Error> {
    let old = read(&settings.old)?;
    let new = read(&settings.new)?;
    let differences =
        compare(&old, &new).map_err(|refused| Error::Refused(FileProblems::new(settings, refused)))?;
    match print(settings, &differences, out) {
        // A reader such as `head` closes the pipe when it has enough. This is not a failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(!differences.is_empty()),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    fs::read(file).map_err(|source| Error::Read { file: file.to_owned(), source })
}

fn print(settings: &Settings, differences: &Differences<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    if settings.json {
        json::print(differences, &mut out)?;
    } else {
        table::print(differences, &mut out)?;
    }
    out.flush()
}

/// The problems of both files, one line each.
#[derive(Debug)]
pub struct FileProblems(Vec<(PathBuf, Problem)>);

impl FileProblems {
    fn new(settings: &Settings, refused: Refused) -> Self {
        let old = refused.old.into_iter().map(|problem| (settings.old.clone(), problem));
        let new = refused.new.into_iter().map(|problem| (settings.new.clone(), problem));
        Self(old.chain(new).collect())
    }
}

impl Display for FileProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (file, problem)) in self.0.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            let Problem { pointer, rule, message, .. } = problem;
            write!(f, "{end}{}: \"{}\": {message} ({rule})", file.display(), pointer.escape_debug())?;
        }
        Ok(())
    }
}
