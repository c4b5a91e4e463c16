//! The command `dovetail plan`: compares two files, and needs no running system.

mod json;
mod table;

use std::{
    fmt::{self, Display},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use domain::{
    compare::{Differences, Refused, compare},
    problem::Problem,
};

/// The help text of `plan --help`.
pub const HELP: &str = "\
Prints what a submission would change, from two files alone. Nothing is asked of a running system.

Usage: dovetail plan --old FILE --new FILE [--json]

Options:
  --old FILE  the declaration that was submitted last
  --new FILE  the declaration to be submitted, whole
  --json      print one JSON object instead of a table
  --help      print this

Both files are declarations, or both are lists of items: {\"items\": {NAME: {...}}}.
Exit status: 0 nothing changes, 2 something does, 1 a file can't be read or is not valid.

Two files don't tell
- what the services' schemas and references say: a submission may still be refused;
- which change instances follow for dependent teams, and for items that reference a modified one;
- that a change to what is not in service yet is a CREATE, not a MODIFY;
- what waits for an answer, or was submitted in between.
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
    Read {
        /// Which.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The files are not valid, by themselves or together.
    #[error("the files can't be compared\n{0}")]
    Refused(Told),
    /// The plan can't be printed.
    #[error("the plan can't be printed: {0}")]
    Print(#[from] io::Error),
}

/// Prints the plan and returns whether there are changes.
pub fn run(settings: &Settings, out: &mut impl Write) -> Result<bool, Error> {
    let old = read(&settings.old)?;
    let new = read(&settings.new)?;
    let differences = compare(&old, &new).map_err(|refused| Error::Refused(Told::new(settings, refused)))?;
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
pub struct Told(Vec<(PathBuf, Problem)>);

impl Told {
    fn new(settings: &Settings, refused: Refused) -> Self {
        let old = refused.old.into_iter().map(|problem| (settings.old.clone(), problem));
        let new = refused.new.into_iter().map(|problem| (settings.new.clone(), problem));
        Self(old.chain(new).collect())
    }
}

impl Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (file, problem)) in self.0.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            let Problem { pointer, rule, message, .. } = problem;
            write!(f, "{end}{}: \"{}\": {message} ({rule})", file.display(), pointer.escape_debug())?;
        }
        Ok(())
    }
}
