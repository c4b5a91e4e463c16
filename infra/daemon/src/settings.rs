//! The settings of a server with their defaults and options.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use clap::{
    Args,
    builder::{PathBufValueParser, TypedValueParser as _},
};
use dovetail_emulator::engine::Storage;
use dovetail_http::TEAM_BURST;
use dovetail_table::ACTIONS_MAX;

use crate::functions::ConsoleSettings;
use crate::option::{LOCAL_TABLE_BYTES, actions_max, address, reuse_from, table_name, url};
use domain::rules::plan::REUSE_FROM;

/// The default address of the server.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9000);
/// The default number of requests of a team at work at once.
///
/// The embedded engine runs one statement at a time, so more requests would only queue there, before other teams.
const TEAM_AT_ONCE: u16 = 2;
/// The default directory of the database.
const DATA: &str = ".dovetail";
/// The default name of the table.
pub const TABLE: &str = "dovetail-local";
/// The value of `--world` for the demo world. A file with this name needs the path `./demo`.
const DEMO: &str = "demo";

/// The world that a system loads at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorldChoice {
    Demo,
    /// The world of a file.
    File(PathBuf),
}

impl From<PathBuf> for WorldChoice {
    fn from(value: PathBuf) -> Self {
        if value.as_os_str() == DEMO { Self::Demo } else { Self::File(value) }
    }
}

/// The settings of a server. Their comments are the help texts of the options.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// IP address and port; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value_t = LISTEN, value_parser = address)]
    pub listen: SocketAddr,
    /// Directory of the database, created if missing
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub data: PathBuf,
    /// Use a new database, and delete it at exit
    #[arg(long, conflicts_with = "data")]
    pub memory: bool,
    /// DynamoDB engine that replaces the embedded one; positions and messages stay in DIR
    #[arg(long, value_name = "URL", value_parser = url)]
    pub endpoint: Option<String>,
    /// Name of the table; API keys are in NAME-keys
    #[arg(long, value_name = "NAME", default_value = TABLE, value_parser = table_name(LOCAL_TABLE_BYTES))]
    pub table: String,
    /// JSON file of teams, keys and services to add; `demo` is an example
    /// [default: demo if no team exists]
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(WorldChoice::from))]
    #[arg(verbatim_doc_comment)]
    pub world: Option<WorldChoice>,
    /// Base URL of generate, notify and sweep under `cargo lambda watch`
    #[arg(long, value_name = "URL", value_parser = url)]
    pub functions: Option<String>,
    /// Issuer of user tokens; `None` means that only API keys are valid.
    #[arg(skip)]
    pub issuer: Option<dovetail_issuer::Settings>,
    /// Secret for positions in lists and for masks; `None` means that of the environment, or a random one.
    #[arg(skip)]
    pub cursor_secret: Option<String>,
    /// Sign-in of people in the web console.
    #[arg(skip = ConsoleSettings::NONE)]
    pub console: ConsoleSettings,
    /// Maximum writes of a transaction; Dovetail stages a larger submission
    #[arg(long, value_name = "N", default_value_t = ACTIONS_MAX, value_parser = actions_max)]
    pub actions_max: usize,
    /// Number of applications of a team from which numbers of empty ones are used again
    #[arg(long, value_name = "N", default_value_t = REUSE_FROM, value_parser = reuse_from)]
    pub reuse_from: usize,
    /// Maximum rate of requests of a team; 0 means no limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub team_requests_per_second: u32,
    /// Maximum burst of requests of a team
    #[arg(long, value_name = "N", default_value_t = TEAM_BURST)]
    pub team_requests_burst: u32,
    /// Maximum requests of a team at work at once, further ones wait; 0 means no limit
    #[arg(long, value_name = "N", default_value_t = TEAM_AT_ONCE)]
    pub team_requests_at_once: u16,
    /// File for the environment of separate functions, as KEY=value lines
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// File for the base URL, written when the system is ready
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
}

impl Settings {
    /// Returns the location of the database, unless the engine is external, and of the journal.
    pub(crate) fn storage(&self) -> Storage {
        if self.memory { Storage::Memory } else { Storage::Directory(self.data.clone()) }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: LISTEN,
            data: DATA.into(),
            memory: false,
            endpoint: None,
            table: TABLE.to_owned(),
            world: None,
            functions: None,
            actions_max: ACTIONS_MAX,
            reuse_from: REUSE_FROM,
            team_requests_per_second: 0,
            team_requests_burst: TEAM_BURST,
            team_requests_at_once: TEAM_AT_ONCE,
            issuer: None,
            cursor_secret: None,
            console: ConsoleSettings::NONE,
            env_file: None,
            ready_file: None,
        }
    }
}
