//! The command line: parses the arguments and fills in the defaults.

use std::{ffi::OsString, net::SocketAddr, ops::RangeInclusive, path::PathBuf};

use hyper::Uri;
use lexopt::{Arg, Parser, ValueExt as _};

use crate::{
    audit, load, plan,
    settings::{DATA, LISTEN, Settings, TABLE, WorldChoice},
};
use dovetail_emulator::engine::Storage;
use dovetail_table::ACTIONS_MAX;

// DynamoDB allows 255 bytes, and the name of the keys table adds five. The embedded engine cannot name the stream of
// a table with fewer than 11 bytes.
const TABLE_BYTES: RangeInclusive<usize> = 11..=250;
// The name of a deployed table only has the limits of DynamoDB.
const DEPLOYED_TABLE_BYTES: RangeInclusive<usize> = 3..=255;

/// The name of the command `audit`.
pub const AUDIT: &str = "audit";

/// The help text of `--help`.
pub const HELP: &str = "\
Runs the whole system in one process, with an embedded database or a separate DynamoDB engine.

Usage: dovetail [OPTIONS]
       dovetail plan --old FILE --new FILE [--json]
       dovetail audit (--data DIR | --table NAME | --export DIR) [--repair]
       dovetail load --world FILE --table NAME

`plan` compares two declarations and starts no system; see `plan --help`.
`audit` checks every invariant of a table or an export; see `audit --help`.
`load` adds teams, keys and services to a deployed stack; see `load --help`.

Options:
  --listen ADDR      address and port of the server; port 0 selects a free port [default: 127.0.0.1:9000]
  --data DIR         directory of the database, created if missing [default: .dovetail]
  --memory           use a new database, and delete it at exit
  --endpoint URL     DynamoDB engine to use instead of the embedded one; positions and messages stay in DIR
  --table NAME       name of the table; API keys are in NAME-keys [default: dovetail-local]
  --world FILE       JSON file of teams, keys and services; missing ones are added; `demo` is a small example
                     [default: demo if no team exists]
  --functions URL    base URL of generate, notify and sweep, as `cargo lambda watch` serves them
  --issuer URL       OIDC issuer of user tokens, in addition to API keys; requires --audience
  --audience NAME    audience that a user token must have; requires --issuer
  --actions-max N    maximum writes of one transaction; a larger submission is staged [default: 100]
  --env-file FILE    write the environment for separate functions to this file, as KEY=value lines
  --ready-file FILE  write the base URL to this file when the system is ready
  --help             print this help
";

/// A parsed command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Help,
    Serve(Settings),
    Plan(plan::Settings),
    PlanHelp,
    Audit(audit::Settings),
    AuditHelp,
    /// Load a world into the tables of a stack.
    Load(load::Settings),
    LoadHelp,
}

/// The value of `--world` for the demo world.
const DEMO: &str = "demo";

/// Interprets the value of `--world`. A file with the name `demo` needs the path `./demo`.
fn world_choice(value: PathBuf) -> WorldChoice {
    if value.as_os_str() == DEMO { WorldChoice::Demo } else { WorldChoice::File(value) }
}

/// Parses the arguments without the program name.
pub fn parse<A>(args: A) -> Result<Command, String>
where
    A: IntoIterator,
    A::Item: Into<OsString>,
{
    read(Parser::from_args(args)).map_err(|error| format!("{error}; see --help"))
}

fn read(mut parser: Parser) -> Result<Command, lexopt::Error> {
    if is_first(&mut parser, "plan")? {
        return read_plan(parser);
    }
    if is_first(&mut parser, AUDIT)? {
        return read_audit(parser);
    }
    if is_first(&mut parser, "load")? {
        return read_load(parser);
    }
    let mut listen = LISTEN;
    let mut data = None;
    let mut memory = false;
    let mut endpoint = None;
    let mut table = TABLE.to_owned();
    let mut world = WorldChoice::DemoIfEmpty;
    let mut functions = None;
    let mut actions_max = ACTIONS_MAX;
    let (mut issuer, mut audience) = (None, None);
    let mut env_file = None;
    let mut ready_file = None;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("listen") => listen = address(parser.value()?)?,
            Arg::Long("data") => data = Some(path(&mut parser, "--data")?),
            Arg::Long("memory") => memory = true,
            Arg::Long("endpoint") => endpoint = Some(url("--endpoint", parser.value()?)?),
            Arg::Long("table") => table = table_name(parser.value()?, TABLE_BYTES)?,
            Arg::Long("world") => world = world_choice(path(&mut parser, "--world")?),
            Arg::Long("functions") => functions = Some(url("--functions", parser.value()?)?),
            Arg::Long("actions-max") => actions_max = actions(parser.value()?)?,
            Arg::Long("issuer") => issuer = Some(parser.value()?.string()?),
            Arg::Long("audience") => audience = Some(parser.value()?.string()?),
            Arg::Long("env-file") => env_file = Some(path(&mut parser, "--env-file")?),
            Arg::Long("ready-file") => ready_file = Some(path(&mut parser, "--ready-file")?),
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            Arg::Long(_) | Arg::Short(_) | Arg::Value(_) => return Err(arg.unexpected()),
        }
    }
    let storage = match (data, memory) {
        (Some(_), true) => return Err("--data must not be combined with --memory".into()),
        (None, true) => Storage::Memory,
        (Some(data), false) => Storage::Directory(data),
        (None, false) => Storage::Directory(DATA.into()),
    };
    let issuer = match (issuer, audience) {
        (None, None) => None,
        (Some(issuer), Some(audience)) => Some(dovetail_issuer::Settings::new(&issuer, &audience)?),
        _ => return Err("--issuer and --audience must be set together".into()),
    };
    Ok(Command::Serve(Settings {
        listen,
        storage,
        endpoint,
        table,
        world,
        functions,
        actions_max,
        issuer,
        env_file,
        ready_file,
    }))
}

fn is_first(parser: &mut Parser, word: &str) -> Result<bool, lexopt::Error> {
    Ok(parser.raw_args()?.peek().is_some_and(|first| first == word))
}

fn read_plan(mut parser: Parser) -> Result<Command, lexopt::Error> {
    let mut old = None;
    let mut new = None;
    let mut json = false;
    parser.next()?;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("old") => old = Some(path(&mut parser, "--old")?),
            Arg::Long("new") => new = Some(path(&mut parser, "--new")?),
            Arg::Long("json") => json = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::PlanHelp),
            Arg::Long(_) | Arg::Short(_) | Arg::Value(_) => return Err(arg.unexpected()),
        }
    }
    match (old, new) {
        (Some(old), Some(new)) => Ok(Command::Plan(plan::Settings { old, new, json })),
        (None, _) | (_, None) => Err("plan requires --old FILE and --new FILE".into()),
    }
}

fn read_audit(mut parser: Parser) -> Result<Command, lexopt::Error> {
    let mut sources = Vec::new();
    let mut given = None;
    let mut repair = false;
    parser.next()?;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("data") => sources.push(audit::Source::Data(path(&mut parser, "--data")?)),
            Arg::Long("export") => sources.push(audit::Source::Export(path(&mut parser, "--export")?)),
            Arg::Long("table") => {
                let name = table_name(parser.value()?, DEPLOYED_TABLE_BYTES)?;
                sources.push(audit::Source::Table { name, endpoint: None });
            }
            Arg::Long("endpoint") => given = Some(url("--endpoint", parser.value()?)?),
            Arg::Long("repair") => repair = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::AuditHelp),
            Arg::Long(_) | Arg::Short(_) | Arg::Value(_) => return Err(arg.unexpected()),
        }
    }
    let (Some(mut source), true) = (sources.pop(), sources.is_empty()) else {
        return Err("audit requires exactly one of --data DIR, --table NAME and --export DIR".into());
    };
    match (&mut source, given) {
        (audit::Source::Table { endpoint, .. }, given) => *endpoint = given,
        (audit::Source::Data(_) | audit::Source::Export(_), None) => {}
        (audit::Source::Data(_) | audit::Source::Export(_), Some(_)) => {
            return Err("--endpoint requires --table".into());
        }
    }
    if repair && matches!(source, audit::Source::Export(_)) {
        return Err("--repair must not be combined with --export".into());
    }
    Ok(Command::Audit(audit::Settings { source, repair }))
}

fn read_load(mut parser: Parser) -> Result<Command, lexopt::Error> {
    let mut world = None;
    let mut table = None;
    let mut endpoint = None;
    let mut is_dry_run = false;
    parser.next()?;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("world") => world = Some(path(&mut parser, "--world")?),
            Arg::Long("table") => table = Some(table_name(parser.value()?, DEPLOYED_TABLE_BYTES)?),
            Arg::Long("endpoint") => endpoint = Some(url("--endpoint", parser.value()?)?),
            Arg::Long("dry-run") => is_dry_run = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::LoadHelp),
            Arg::Long(_) | Arg::Short(_) | Arg::Value(_) => return Err(arg.unexpected()),
        }
    }
    match (world, table) {
        (Some(world), Some(table)) => {
            Ok(Command::Load(load::Settings { world, table, endpoint, is_dry_run }))
        }
        (None, _) | (_, None) => Err("load requires --world FILE and --table NAME".into()),
    }
}

fn address(value: OsString) -> Result<SocketAddr, lexopt::Error> {
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| {
        let given = value.to_string_lossy();
        format!("--listen must be an IP address and a port, such as 127.0.0.1:9000, not `{given}`").into()
    })
}

fn actions(value: OsString) -> Result<usize, lexopt::Error> {
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    parsed.filter(|actions| (1..=ACTIONS_MAX).contains(actions)).ok_or_else(|| {
        let given = value.to_string_lossy();
        format!("--actions-max must be a number from 1 to {ACTIONS_MAX}, not `{given}`").into()
    })
}

fn url(option: &str, value: OsString) -> Result<String, lexopt::Error> {
    let given = value.to_string_lossy();
    match given.parse::<Uri>() {
        Ok(url) if url.scheme_str() == Some("http") => Ok(given.into_owned()),
        Ok(_) | Err(_) => {
            Err(format!("{option} must be a URL, such as http://127.0.0.1:9001, not `{given}`").into())
        }
    }
}

fn table_name(value: OsString, bytes: RangeInclusive<usize>) -> Result<String, lexopt::Error> {
    let given = value.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if bytes.contains(&given.len()) && given.bytes().all(is_plain) {
        Ok(given.into_owned())
    } else {
        let (least, most) = (bytes.start(), bytes.end());
        Err(format!("--table must be {least} to {most} letters, digits and `_.-`, not `{given}`").into())
    }
}

fn path(parser: &mut Parser, option: &str) -> Result<PathBuf, lexopt::Error> {
    let value = parser.value()?;
    if value.is_empty() { Err(format!("{option} must not be empty").into()) } else { Ok(value.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(args: &[&str]) -> Settings {
        match parse(args).unwrap() {
            Command::Serve(settings) => settings,
            other @ (Command::Help
            | Command::Plan(_)
            | Command::PlanHelp
            | Command::Audit(_)
            | Command::AuditHelp
            | Command::Load(_)
            | Command::LoadHelp) => panic!("{other:?}"),
        }
    }

    fn refused(args: &[&str]) -> String {
        parse(args).unwrap_err()
    }

    #[test]
    fn no_arguments_mean_the_defaults() {
        let expected = Settings {
            listen: "127.0.0.1:9000".parse().unwrap(),
            storage: Storage::Directory(".dovetail".into()),
            endpoint: None,
            table: "dovetail-local".to_owned(),
            world: WorldChoice::DemoIfEmpty,
            functions: None,
            actions_max: 100,
            issuer: None,
            env_file: None,
            ready_file: None,
        };
        assert_eq!(settings(&[]), expected);
    }

    #[test]
    fn every_option_is_parsed() {
        let expected = Settings {
            listen: "[::1]:0".parse().unwrap(),
            storage: Storage::Memory,
            endpoint: Some("http://127.0.0.1:8000".to_owned()),
            table: "another-name".to_owned(),
            world: WorldChoice::File("w.json".into()),
            functions: Some("http://127.0.0.1:9001".to_owned()),
            actions_max: 7,
            issuer: Some(dovetail_issuer::Settings::new("https://id.example", "dovetail").unwrap()),
            env_file: Some("env".into()),
            ready_file: Some("ready".into()),
        };
        let args = ["--listen", "[::1]:0", "--memory", "--world=w.json", "--ready-file", "ready"];
        let elsewhere = ["--functions", "http://127.0.0.1:9001", "--env-file=env", "--actions-max", "7"];
        let engine = ["--endpoint", "http://127.0.0.1:8000", "--table", "another-name"];
        let people = ["--issuer", "https://id.example", "--audience", "dovetail"];
        assert_eq!(settings(&[&args[..], &elsewhere, &engine, &people].concat()), expected);
        assert_eq!(settings(&["--data", "kept"]).storage, Storage::Directory("kept".into()));
        assert_eq!(settings(&["--world", "demo"]).world, WorldChoice::Demo);
        assert_eq!(settings(&["--world=./demo"]).world, WorldChoice::File("./demo".into()));
        for args in [&["--help"], &["-h"]] {
            assert_eq!(parse(args).unwrap(), Command::Help);
        }
    }

    #[test]
    fn a_plan_names_two_files() {
        let plan = |json| plan::Settings { old: "a.json".into(), new: "b.json".into(), json };
        let args = ["plan", "--old", "a.json", "--new=b.json"];
        assert_eq!(parse(args).unwrap(), Command::Plan(plan(false)));
        assert_eq!(
            parse(["plan", "--json", "--new", "b.json", "--old=a.json"]).unwrap(),
            Command::Plan(plan(true))
        );
        for args in [&["plan", "--help"][..], &["plan", "--old=a.json", "-h"]] {
            assert_eq!(parse(args).unwrap(), Command::PlanHelp);
        }
        for args in [&["plan"][..], &["plan", "--old", "a.json"], &["plan", "--new", "b.json"]] {
            assert_eq!(refused(args), "plan requires --old FILE and --new FILE; see --help");
        }
        assert!(refused(&["plan", "--old="]).starts_with("--old must not be empty"));
        assert!(refused(&["plan", "--memory"]).contains("--memory"));
        assert!(refused(&["plan", "a.json", "b.json"]).contains("a.json"));
        assert!(refused(&["--memory", "plan"]).contains("plan"));
        assert!(refused(&["--json"]).contains("--json"));
    }

    #[test]
    fn an_audit_names_one_source() {
        let of = |args: &[&str]| parse([&["audit"], args].concat());
        let audit = |source, repair| Ok(Command::Audit(audit::Settings { source, repair }));
        let table = |endpoint: Option<&str>| audit::Source::Table {
            name: "main".to_owned(),
            endpoint: endpoint.map(str::to_owned),
        };
        assert_eq!(of(&["--data", "d"]), audit(audit::Source::Data("d".into()), false));
        assert_eq!(of(&["--repair", "--data=d"]), audit(audit::Source::Data("d".into()), true));
        assert_eq!(of(&["--export", "e"]), audit(audit::Source::Export("e".into()), false));
        assert_eq!(of(&["--table", "main"]), audit(table(None), false));
        let elsewhere = ["--endpoint", "http://127.0.0.1:8000", "--table", "main", "--repair"];
        assert_eq!(of(&elsewhere), audit(table(Some("http://127.0.0.1:8000")), true));
        assert_eq!(of(&["--help"]), Ok(Command::AuditHelp));
        for (wrong, message) in [
            (&[][..], "audit requires exactly one of --data DIR, --table NAME and --export DIR"),
            (&["--data", "d", "--table", "main"], "audit requires exactly one of"),
            (&["--data", "d", "--endpoint", "http://127.0.0.1:8000"], "--endpoint requires --table"),
            (&["--table", "ab"], "--table must be 3 to 255 letters, digits and `_.-`, not `ab`"),
            (&["--table", "main", "--endpoint", "u"], "--endpoint must be a URL, such as"),
            (&["--export", "e", "--repair"], "--repair must not be combined with --export"),
            (&["--memory"], "--memory"),
            (&["--data="], "--data must not be empty"),
        ] {
            let error = of(wrong).unwrap_err();
            assert!(error.contains(message), "{wrong:?}: {error}");
        }
    }

    #[test]
    fn a_world_is_loaded_into_a_table() {
        let load = |endpoint: Option<&str>, is_dry_run| {
            let (world, table, endpoint) = ("w.json".into(), "main".to_owned(), endpoint.map(str::to_owned));
            Ok(Command::Load(load::Settings { world, table, endpoint, is_dry_run }))
        };
        let args = ["load", "--world", "w.json", "--table=main"];
        assert_eq!(parse(args), load(None, false));
        assert_eq!(parse([&args[..], &["--dry-run"]].concat()), load(None, true));
        let elsewhere = ["--endpoint", "http://127.0.0.1:8000"];
        assert_eq!(parse([&args[..], &elsewhere].concat()), load(Some("http://127.0.0.1:8000"), false));
        assert_eq!(parse(["load", "-h"]), Ok(Command::LoadHelp));
        for missing in [&args[..3], &["load", "--table=main"], &["load"]] {
            assert_eq!(refused(missing), "load requires --world FILE and --table NAME; see --help");
        }
        assert!(refused(&["load", "--table", "t"]).starts_with("--table must be 3 to 255 letters"));
        assert!(refused(&["load", "--memory"]).contains("--memory"));
    }

    #[test]
    fn every_error_is_listed() {
        assert_eq!(
            refused(&["--memory", "--data", "d"]),
            "--data must not be combined with --memory; see --help"
        );
        assert_eq!(
            refused(&["--listen", "9000"]),
            "--listen must be an IP address and a port, such as 127.0.0.1:9000, not `9000`; \
             see --help"
        );
        for option in ["--functions", "--endpoint"] {
            for wrong in ["127.0.0.1:9001", "https://host", "http:", "/functions"] {
                assert_eq!(
                    refused(&[option, wrong]),
                    format!(
                        "{option} must be a URL, such as http://127.0.0.1:9001, not `{wrong}`; \
                         see --help"
                    )
                );
            }
        }
        let long = "a".repeat(251);
        for wrong in ["too-short", "with space or two", "d\u{e9}partement-un", &long] {
            assert_eq!(
                refused(&["--table", wrong]),
                format!("--table must be 11 to 250 letters, digits and `_.-`, not `{wrong}`; see --help")
            );
        }
        for wrong in ["0", "101", "many"] {
            assert_eq!(
                refused(&["--actions-max", wrong]),
                format!("--actions-max must be a number from 1 to 100, not `{wrong}`; see --help")
            );
        }
        assert!(
            refused(&["--issuer", "https://id.example"])
                .starts_with("--issuer and --audience must be set together")
        );
        assert!(refused(&["--issuer", "http://id.example", "--audience", "a"]).contains("https"));
        assert!(refused(&["--env-file="]).starts_with("--env-file must not be empty"));
        assert!(refused(&["--data="]).starts_with("--data must not be empty"));
        assert!(refused(&["--world"]).contains("--world"));
        assert!(refused(&["--port", "1"]).contains("--port"));
        assert!(refused(&["serve"]).contains("serve"));
        assert!(refused(&["--memory=yes"]).contains("--memory"));
    }
}
