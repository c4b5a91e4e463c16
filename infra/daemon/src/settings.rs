//! The settings of a server with their defaults.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use dovetail_emulator::engine::Storage;
use dovetail_table::ACTIONS_MAX;

/// The default address of the server.
pub(crate) const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9000);
/// The default directory of the database.
pub(crate) const DATA: &str = ".dovetail";
/// The default name of the table.
pub const TABLE: &str = "dovetail-local";

/// The world that a system loads at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorldChoice {
    /// The demo world, unless the table already has a team.
    DemoIfEmpty,
    Demo,
    /// The world of a file.
    File(PathBuf),
}

/// The settings of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Address and port of the server; default 127.0.0.1:9000.
    pub listen: SocketAddr,
    /// Location of the database, unless the engine is external, and of the journal.
    pub storage: Storage,
    /// Endpoint of an external engine; `None` means the embedded one.
    pub endpoint: Option<String>,
    /// Name of the main table.
    pub table: String,
    /// World whose missing objects are added.
    pub world: WorldChoice,
    /// Base URL of the stream's and the schedule's functions; `None` means this process.
    pub functions: Option<String>,
    /// Most writes of a submission in one transaction; a larger one is staged.
    pub actions_max: usize,
    /// Issuer of user tokens; `None` means that only API keys are valid.
    pub issuer: Option<dovetail_issuer::Settings>,
    /// File for the environment of functions in other processes.
    pub env_file: Option<PathBuf>,
    /// File for the base URL, written when the system is ready.
    pub ready_file: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: LISTEN,
            storage: Storage::Directory(DATA.into()),
            endpoint: None,
            table: TABLE.to_owned(),
            world: WorldChoice::DemoIfEmpty,
            functions: None,
            actions_max: ACTIONS_MAX,
            issuer: None,
            env_file: None,
            ready_file: None,
        }
    }
}
