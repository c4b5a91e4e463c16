//! The command `dovetail plan`: compares two files, and needs no running system.

mod json;
mod table;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use domain::base::problem::Problem;
use domain::views::compare::{Differences, Refused, compare};

use crate::{
    error::{Error, printed},
    option::EXIT_CODES,
};

/// Prints the changes that a submission would make, from two files
///
/// Both files are declarations, or both are lists of items: {"items": {NAME: {...}}}.
///
/// The plan does not consider
/// - schemas of services and references: the submission may still be rejected;
/// - change instances for dependent teams, and for items that reference a modified item;
/// - that a change to an item that is not in service yet is a CREATE, not a MODIFY;
/// - rejected or failed change instances, and other submissions in the meantime.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(verbatim_doc_comment, after_help = EXIT_CODES)]
pub struct Settings {
    /// The last submitted declaration
    #[arg(long, value_name = "FILE")]
    pub old: PathBuf,
    /// The next whole declaration
    #[arg(long, value_name = "FILE")]
    pub new: PathBuf,
    /// Print a JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Prints the plan and returns whether there are changes.
pub fn run(settings: &Settings, out: &mut impl Write) -> Result<bool, Error> {
    let old = read(&settings.old)?;
    let new = read(&settings.new)?;
    let differences = compare(&old, &new).map_err(|refused| Error::Plan(problems(settings, refused)))?;
    printed(print(settings, &differences, out))?;
    Ok(!differences.is_empty())
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    fs::read(file).map_err(Error::io(file.display().to_string()))
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

/// Returns the problems of both files, one line each.
fn problems(settings: &Settings, refused: Refused) -> String {
    let old = refused.old.into_iter().map(|problem| (&settings.old, problem));
    let new = refused.new.into_iter().map(|problem| (&settings.new, problem));
    let line = |(file, problem): (&PathBuf, Problem)| {
        let Problem { pointer, rule, message, .. } = problem;
        format!("{}: \"{}\": {message} ({rule})", file.display(), pointer.escape_debug())
    };
    old.chain(new).map(line).collect::<Vec<_>>().join("\n")
}
