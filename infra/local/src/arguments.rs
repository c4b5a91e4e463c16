//! The command line: what it may say, and what is meant when it says nothing.

use std::{
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use lexopt::{Arg, Parser};

use crate::engine::Place;

const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9000);
const DATA: &str = ".dovetail";

/// What `--help` prints.
pub const HELP: &str = "\
Runs the whole system in one process, on an embedded database.

Usage: dovetail [OPTIONS]

Options:
  --listen ADDR      address and port to serve on; port 0 takes a free one [default: 127.0.0.1:9000]
  --data DIR         directory of the database, created when missing [default: .dovetail]
  --memory           keep nothing: a fresh database that is removed at the end
  --world FILE       teams, keys and services to begin with, as JSON [default: a small example]
  --ready-file FILE  file to write the base URL to, once requests are answered
  --help             print this
";

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print [`HELP`].
    Help,
    /// Serve.
    Serve(Settings),
}

/// How to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Where the database is.
    pub place: Place,
    /// The file with the teams, keys and services to begin with; none is the demo world.
    pub world: Option<PathBuf>,
    /// The file that gets the base URL when requests are answered.
    pub ready_file: Option<PathBuf>,
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
    let mut listen = LISTEN;
    let mut data = None;
    let mut memory = false;
    let mut world = None;
    let mut ready_file = None;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("listen") => listen = address(parser.value()?)?,
            Arg::Long("data") => data = Some(path(&mut parser, "--data")?),
            Arg::Long("memory") => memory = true,
            Arg::Long("world") => world = Some(path(&mut parser, "--world")?),
            Arg::Long("ready-file") => ready_file = Some(path(&mut parser, "--ready-file")?),
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            Arg::Long(_) | Arg::Short(_) | Arg::Value(_) => return Err(arg.unexpected()),
        }
    }
    let place = match (data, memory) {
        (Some(_), true) => return Err("--data and --memory exclude each other".into()),
        (None, true) => Place::Memory,
        (Some(data), false) => Place::Directory(data),
        (None, false) => Place::Directory(DATA.into()),
    };
    Ok(Command::Serve(Settings { listen, place, world, ready_file }))
}

fn address(value: OsString) -> Result<SocketAddr, lexopt::Error> {
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| {
        let given = value.to_string_lossy();
        format!("--listen takes an IP address and a port such as 127.0.0.1:9000, not `{given}`").into()
    })
}

fn path(parser: &mut Parser, option: &str) -> Result<PathBuf, lexopt::Error> {
    let value = parser.value()?;
    if value.is_empty() {
        Err(format!("{option} takes a path, not nothing").into())
    } else {
        Ok(value.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(args: &[&str]) -> Settings {
        match parse(args).unwrap() {
            Command::Serve(settings) => settings,
            Command::Help => panic!("help was not asked for"),
        }
    }

    fn refused(args: &[&str]) -> String {
        parse(args).unwrap_err()
    }

    #[test]
    fn no_arguments_mean_the_defaults() {
        let expected = Settings {
            listen: "127.0.0.1:9000".parse().unwrap(),
            place: Place::Directory(".dovetail".into()),
            world: None,
            ready_file: None,
        };
        assert_eq!(settings(&[]), expected);
    }

    #[test]
    fn every_option_is_heard() {
        let expected = Settings {
            listen: "[::1]:0".parse().unwrap(),
            place: Place::Memory,
            world: Some("w.json".into()),
            ready_file: Some("ready".into()),
        };
        let args = ["--listen", "[::1]:0", "--memory", "--world=w.json", "--ready-file", "ready"];
        assert_eq!(settings(&args), expected);
        assert_eq!(settings(&["--data", "kept"]).place, Place::Directory("kept".into()));
        for args in [&["--help"], &["-h"]] {
            assert_eq!(parse(args).unwrap(), Command::Help);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(
            refused(&["--memory", "--data", "d"]),
            "--data and --memory exclude each other; --help tells the options"
        );
        assert_eq!(
            refused(&["--listen", "9000"]),
            "--listen takes an IP address and a port such as 127.0.0.1:9000, not `9000`; \
             --help tells the options"
        );
        assert!(refused(&["--data="]).starts_with("--data takes a path, not nothing"));
        assert!(refused(&["--world"]).contains("--world"));
        assert!(refused(&["--port", "1"]).contains("--port"));
        assert!(refused(&["serve"]).contains("serve"));
        assert!(refused(&["--memory=yes"]).contains("--memory"));
    }
}
