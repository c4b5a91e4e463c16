//! The command line: what it may say, and what is meant when it says nothing.

use lexopt::{Arg, Parser, ValueExt};
use std::ffi::OsString;

/// What `--help` prints.
pub const HELP: &str = "\
Searches small worlds for a state that breaks a rule.

Usage: model [OPTIONS]

Options:
  --states N     how many states are visited in all [default: 10000000]
  --only NAME    search one configuration only
  --help         print this
";

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print [`HELP`].
    Help,
    /// Search.
    Search {
        /// How many states in all.
        states: usize,
        /// The only configuration to search, if not all.
        only: Option<String>,
    },
}

/// Reads the arguments, the program's name not among them.
pub fn parse<A>(args: A) -> Result<Command, String>
where
    A: IntoIterator,
    A::Item: Into<OsString>,
{
    read(Parser::from_args(args)).map_err(|error| format!("{error}; --help tells the options"))
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
