//! The command line: the program and its commands.

use std::{ffi::OsString, sync::LazyLock};

use about::{COMMIT, CONTRACT_VERSION};
use clap::{CommandFactory as _, Parser, Subcommand, builder::NonEmptyStringValueParser, error::ErrorKind};
use dovetail_table::RECORD_FORMAT;

use crate::{
    audit, functions::ConsoleSettings, load, move_gone_items, option::EXIT_CODES, settings::Settings,
};

/// The output of `--version`, without the name of the program.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = about::VERSION;
    format!("{version}\ncommit {COMMIT}\ncontract {CONTRACT_VERSION}\nrecord format {RECORD_FORMAT}")
});

/// Runs the whole system in one process, with an embedded database or a separate DynamoDB engine.
#[derive(Parser)]
#[command(name = "dovetaild", bin_name = "dovetaild", version = VERSION.as_str(), no_binary_name = true, after_help = EXIT_CODES)]
#[command(args_conflicts_with_subcommands = true, args_override_self = true, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    settings: Settings,
    /// OIDC issuer of user tokens, in addition to API keys
    #[arg(long, value_name = "URL", requires = "audience")]
    issuer: Option<String>,
    /// Audience that a user token must have
    #[arg(long, value_name = "NAME", requires = "issuer")]
    audience: Option<String>,
    /// Id of the web console at the issuer, for people who sign in there
    #[arg(long, value_name = "ID", requires = "issuer", value_parser = NonEmptyStringValueParser::new())]
    console_client_id: Option<String>,
}

/// A parsed command.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Runs the system; the command without a name.
    #[command(skip)]
    Serve(Box<Settings>),
    Audit(audit::Options),
    Load(load::Settings),
    Bury(move_gone_items::Settings),
}

/// Parses the arguments without the program name.
///
/// An error is also a request for help or for the version.
pub fn parse<A>(args: A) -> Result<Command, clap::Error>
where
    A: IntoIterator,
    A::Item: Into<OsString> + Clone,
{
    let Arguments { command, mut settings, issuer, audience, console_client_id } =
        Arguments::try_parse_from(args)?;
    if let (Some(issuer), Some(audience)) = (issuer, audience) {
        let checked = dovetail_issuer::Settings::new(&issuer, &audience);
        let invalid = |problem| command_line().error(ErrorKind::ValueValidation, problem);
        settings.issuer = Some(checked.map_err(invalid)?);
        let client_id = console_client_id.unwrap_or_default();
        settings.console = ConsoleSettings::new(settings.issuer.as_ref(), &client_id, "").map_err(invalid)?;
    }
    Ok(command.unwrap_or_else(|| Command::Serve(Box::new(settings))))
}

/// Returns the options of all commands.
pub fn command_line() -> clap::Command {
    Arguments::command()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{audit::Source, settings::WorldChoice};

    fn serve(args: &[&str]) -> Settings {
        let command = parse(args).unwrap();
        let Command::Serve(settings) = command else { panic!("{command:?}") };
        *settings
    }

    fn audit(args: &[&str]) -> audit::Settings {
        let command = parse([&["audit"], args].concat()).unwrap();
        let Command::Audit(options) = command else { panic!("{command:?}") };
        options.into()
    }

    /// Asserts that the arguments are invalid, with this part of the message.
    fn assert_invalid(args: &[&str], part: &str) {
        let error = parse(args).unwrap_err();
        assert!(error.use_stderr() && error.to_string().contains(part), "{args:?}: {error}");
    }

    #[test]
    fn the_definition_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn no_arguments_mean_the_defaults() {
        assert_eq!(serve(&[]), Settings::default());
    }

    #[test]
    fn every_option_has_an_effect() {
        let issuer = dovetail_issuer::Settings::new("https://id.example", "dovetail").unwrap();
        let expected = Settings {
            listen: "[::1]:0".parse().unwrap(),
            data: ".dovetail".into(),
            memory: true,
            endpoint: Some("http://127.0.0.1:8000".to_owned()),
            table: "another-name".to_owned(),
            world: Some(WorldChoice::File("w.json".into())),
            functions: Some("http://127.0.0.1:9001".to_owned()),
            actions_max: 7,
            reuse_from: 3,
            team_requests_per_second: 5,
            team_requests_burst: 9,
            team_requests_at_once: 3,
            console: ConsoleSettings::new(Some(&issuer), "console", "").unwrap(),
            issuer: Some(issuer),
            cursor_secret: None,
            env_file: Some("env".into()),
            ready_file: Some("ready".into()),
        };
        let args = ["--listen", "[::1]:0", "--memory", "--world=w.json", "--ready-file", "ready"];
        let elsewhere = [
            "--functions",
            "http://127.0.0.1:9001",
            "--env-file=env",
            "--actions-max",
            "7",
            "--reuse-from=3",
        ];
        let engine = ["--endpoint", "http://127.0.0.1:8000", "--table", "another-name"];
        let people =
            ["--issuer", "https://id.example", "--audience", "dovetail", "--console-client-id", "console"];
        let limits =
            ["--team-requests-per-second", "5", "--team-requests-burst=9", "--team-requests-at-once=3"];
        assert_eq!(serve(&[&args[..], &elsewhere, &engine, &people, &limits].concat()), expected);
        assert_eq!(serve(&["--data", "stored"]).data.to_str(), Some("stored"));
        assert_eq!(serve(&["--world", "demo"]).world, Some(WorldChoice::Demo));
        assert_eq!(serve(&["--world=./demo"]).world, Some(WorldChoice::File("./demo".into())));
        assert_eq!(serve(&["--actions-max", "1", "--actions-max=2"]).actions_max, 2, "the last one counts");
    }

    #[test]
    fn an_audit_names_one_source() {
        let settings = |source, repair| audit::Settings { source, repair, record: false };
        let table = |endpoint: Option<&str>| Source::Table {
            name: "main".to_owned(),
            endpoint: endpoint.map(str::to_owned),
        };
        assert_eq!(audit(&["--data", "d"]), settings(Source::Data("d".into()), false));
        assert_eq!(audit(&["--repair", "--data=d"]), settings(Source::Data("d".into()), true));
        assert_eq!(audit(&["--export", "e"]), settings(Source::Export("e".into()), false));
        let with_record = audit::Settings { record: true, ..settings(Source::Data("d".into()), false) };
        assert_eq!(audit(&["--data", "d", "--record"]), with_record);
        assert_eq!(audit(&["--table", "main"]), settings(table(None), false));
        let elsewhere = ["--endpoint", "http://127.0.0.1:8000", "--table", "main", "--repair"];
        assert_eq!(audit(&elsewhere), settings(table(Some("http://127.0.0.1:8000")), true));
        for (wrong, part) in [
            (&[][..], "<--data <DIR>|--table <NAME>|--export <DIR>>"),
            (&["--data", "d", "--table", "main"], "cannot be used with"),
            (&["--data", "d", "--endpoint", "http://127.0.0.1:8000"], "cannot be used with"),
            (&["--table", "ab"], "must be 3 to 255 letters, digits and `_.-`"),
            (&["--export", "e", "--repair"], "cannot be used with"),
        ] {
            assert_invalid(&[&["audit"], wrong].concat(), part);
        }
    }

    #[test]
    fn a_world_is_loaded_into_a_table() {
        let load = |endpoint: Option<&str>, dry_run| {
            let (world, table, endpoint) = ("w.json".into(), "main".to_owned(), endpoint.map(str::to_owned));
            Command::Load(load::Settings { world, table, endpoint, dry_run })
        };
        let args = ["load", "--world", "w.json", "--table=main"];
        assert_eq!(parse(args).unwrap(), load(None, false));
        assert_eq!(parse([&args[..], &["--dry-run"]].concat()).unwrap(), load(None, true));
        let elsewhere = ["--endpoint", "http://127.0.0.1:8000"];
        let loaded = parse([&args[..], &elsewhere].concat()).unwrap();
        assert_eq!(loaded, load(Some("http://127.0.0.1:8000"), false));
        assert_invalid(&args[..3], "--table <NAME>");
        assert_invalid(&["load", "--world", "w.json", "--table", "t"], "must be 3 to 255 letters");
    }

    #[test]
    fn values_are_checked() {
        for (args, part) in [
            (&["--memory", "--data", "d"][..], "'--memory' cannot be used with '--data <DIR>'"),
            (&["--listen", "9000"], "must be an IP address and a port, such as 127.0.0.1:9000"),
            (&["--issuer", "https://id.example"], "--audience <NAME>"),
            (&["--audience", "a"], "--issuer <URL>"),
            (&["--console-client-id", "c"], "--issuer <URL>"),
            (&["--issuer", "http://id.example", "--audience", "a"], "must be an https URL"),
            (&["--data="], "--data <DIR>"),
            (&["--world="], "--world <FILE>"),
            (&["--memori"], "'--memory'"),
            (&["serve"], "serve"),
        ] {
            assert_invalid(args, part);
        }
        for option in ["--functions", "--endpoint"] {
            for wrong in ["127.0.0.1:9001", "https://host", "http:", "/functions"] {
                assert_invalid(&[option, wrong], "must be a URL, such as http://127.0.0.1:9001");
            }
        }
        for wrong in ["too-short", "with space or two", "d\u{e9}partement-un", &"a".repeat(251)] {
            assert_invalid(&["--table", wrong], "must be 11 to 250 letters, digits and `_.-`");
        }
        for wrong in ["0", "101", "many"] {
            assert_invalid(&["--actions-max", wrong], "must be a number from 1 to 100");
        }
    }
}
