//! The command line: what it may say, and what is meant when it says nothing.

use std::{
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use hyper::Uri;
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
  --functions URL    where the functions run that the stream wakes, as `cargo lambda watch` serves them;
                     otherwise they run in this process
  --env-file FILE    file to write the environment to that functions elsewhere need
  --help             print this
";

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print [`HELP`].
    Help,
    /// Serve.
    Serve(Box<Settings>),
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
    /// Where the functions run that the stream wakes; none is this process.
    pub functions: Option<Uri>,
    /// The file that gets the environment of functions that run elsewhere.
    pub env_file: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: LISTEN,
            place: Place::Directory(DATA.into()),
            world: None,
            ready_file: None,
            functions: None,
            env_file: None,
        }
    }
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
    let mut settings = Settings::default();
    let mut data = None;
    let mut memory = false;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("listen") => settings.listen = address(parser.value()?)?,
            Arg::Long("data") => data = Some(path(&mut parser, "--data")?),
            Arg::Long("memory") => memory = true,
            Arg::Long("world") => settings.world = Some(path(&mut parser, "--world")?),
            Arg::Long("ready-file") => settings.ready_file = Some(path(&mut parser, "--ready-file")?),
            Arg::Long("functions") => settings.functions = Some(url(parser.value()?)?),
            Arg::Long("env-file") => settings.env_file = Some(path(&mut parser, "--env-file")?),
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            Arg::Long(_) | Arg::Short(_) | Arg::Value(_) => return Err(arg.unexpected()),
        }
    }
    settings.place = match (data, memory) {
        (Some(_), true) => return Err("--data and --memory exclude each other".into()),
        (None, true) => Place::Memory,
        (Some(data), false) => Place::Directory(data),
        (None, false) => settings.place,
    };
    Ok(Command::Serve(Box::new(settings)))
}

fn url(value: OsString) -> Result<Uri, lexopt::Error> {
    let parsed = value.to_str().and_then(local_url);
    parsed.ok_or_else(|| {
        let given = value.to_string_lossy();
        format!("--functions takes a URL such as http://127.0.0.1:9001, not `{given}`").into()
    })
}

/// A URL that can be called without TLS.
pub fn local_url(text: &str) -> Option<Uri> {
    let url: Uri = text.parse().ok()?;
    (url.scheme_str() == Some("http") && url.host().is_some()).then_some(url)
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
            Command::Serve(settings) => *settings,
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
            functions: None,
            env_file: None,
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
            functions: Some("http://127.0.0.1:9001".parse().unwrap()),
            env_file: Some("env".into()),
        };
        let args = ["--listen", "[::1]:0", "--memory", "--world=w.json", "--ready-file", "ready"];
        let elsewhere = ["--functions", "http://127.0.0.1:9001", "--env-file", "env"];
        assert_eq!(settings(&[&args[..], &elsewhere].concat()), expected);
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
        assert!(
            refused(&["--functions", "https://a"]).starts_with("--functions takes a URL such as http://")
        );
        assert!(refused(&["--world"]).contains("--world"));
        assert!(refused(&["--port", "1"]).contains("--port"));
        assert!(refused(&["serve"]).contains("serve"));
        assert!(refused(&["--memory=yes"]).contains("--memory"));
    }
}
