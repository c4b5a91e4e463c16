//! The command line options and their defaults.

use lexopt::{Arg, Parser, ValueExt};
use std::ffi::OsString;

/// Output of `--help`.
pub const HELP: &str = "\
Searches small worlds for a state that breaks a rule.

Usage: model [OPTIONS]

Options:
  --states N     how many states are visited in all [default: 10000000]
  --only NAME    search one configuration only
  --help         print this
";

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Prints [`HELP`].
    Help,
    /// Searches the configurations.
    Search {
        /// Maximum number of states in total.
        states: usize,
        /// Name of the only configuration. `None` selects all.
        only: Option<String>,
    },
}

/// Parses the arguments, without the program's name.
pub fn parse<A>(args: A) -> Result<Command, String>
where
    A: IntoIterator,
    A::Item: Into<OsString>,
{
    read(Parser::from_args(args)).map_err(|error| format!("{error}; see --help"))
}

fn read(mut parser: Parser) -> Result<Command, lexopt::Error> {
    let (mut states, mut only) = (10_000_000, None);
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("states") => states = parser.value()?.parse()?,
            Arg::Long("only") => only = Some(parser.value()?.string()?),
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            Arg::Long(_) | Arg::Short(_) | Arg::Value(_) => return Err(arg.unexpected()),
        }
    }
    Ok(Command::Search { states, only })
}
