//! Access to the tables of a deployed stack, with the caller's credentials and region.

use domain::rules::plan::REUSE_FROM;
use std::{env, fmt};

use aws_config::{BehaviorVersion, SdkConfig};
use dovetail_aws::{Endpoint, Trust, credential_source, https};
use dovetail_table::{ACTIONS_MAX, Settings, Table};

/// The location of a table. Every failure shows all of it, so that a wrong profile or region is obvious.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    table: String,
    region: String,
    endpoint: String,
    credentials: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, region, endpoint, credentials } = self;
        write!(f, "table {table}, region {region}, endpoint {endpoint}, credentials: {credentials}")
    }
}

/// The reason why a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no region is set: set AWS_REGION, or a region in the profile ({0})")]
    NoRegion(Box<Location>),
    #[error("no credentials were found: {reason} ({location})")]
    NoCredentials {
        /// The reason of the last provider.
        reason: String,
        location: Box<Location>,
    },
    #[error("{source} ({location})")]
    Table { source: dovetail_table::Error, location: Box<Location> },
}

/// A table with its location.
pub(crate) struct Reached {
    pub(crate) table: Table,
    location: Box<Location>,
}

impl Reached {
    /// Adds the location to a failure of the table.
    pub(crate) fn failure(&self, source: dovetail_table::Error) -> Error {
        Error::Table { source, location: self.location.clone() }
    }
}

/// Returns the main table with this name and its table of API keys, of AWS or of an engine.
pub(crate) async fn reach(name: &str, endpoint: Option<&str>) -> Result<Reached, Error> {
    let (endpoint, location) = match endpoint {
        Some(endpoint) => (Endpoint::Engine(endpoint.to_owned()), at_engine(name, endpoint)),
        None => of_account(name).await?,
    };
    Ok(Reached { table: connect(name, endpoint), location })
}

/// Returns the table of an engine, which needs no credentials.
pub(crate) fn of_engine(name: &str, endpoint: &str) -> Table {
    connect(name, Endpoint::Engine(endpoint.to_owned()))
}

fn connect(name: &str, endpoint: Endpoint) -> Table {
    let settings = Settings {
        table: name.to_owned(),
        keys_table: format!("{name}-keys"),
        endpoint: None,
        actions_max: ACTIONS_MAX,
        reuse_from: REUSE_FROM,
    };
    Table::connect_by(settings, endpoint)
}

fn at_engine(table: &str, endpoint: &str) -> Box<Location> {
    let [region, credentials] = ["us-east-1", "none needed"].map(str::to_owned);
    Box::new(Location { table: table.to_owned(), region, endpoint: endpoint.to_owned(), credentials })
}

async fn of_account(name: &str) -> Result<(Endpoint, Box<Location>), Error> {
    let account = aws_config::defaults(BehaviorVersion::latest());
    // A person may be behind a proxy with certificates of its own, so a command trusts the machine, unlike a function
    // (decision record 14).
    let account = account.http_client(https(&Trust::Machine.with_env_override())).load().await;
    let mut location = Box::new(Location {
        table: name.to_owned(),
        region: account.region().map_or("none", |region| region.as_ref()).to_owned(),
        endpoint: endpoint(&account),
        credentials: "none".to_owned(),
    });
    if account.region().is_none() {
        return Err(Error::NoRegion(location));
    }
    match credential_source(&account).await {
        Ok(source) => location.credentials = source,
        Err(reason) => return Err(Error::NoCredentials { reason, location }),
    }
    Ok((Endpoint::Account(Box::new(account)), location))
}

/// Returns the endpoint that the SDK uses, for messages.
fn endpoint(account: &SdkConfig) -> String {
    let set = env::var("AWS_ENDPOINT_URL_DYNAMODB").ok();
    let set = set.or_else(|| account.endpoint_url().map(str::to_owned));
    set.unwrap_or_else(|| match account.region() {
        Some(region) => format!("https://dynamodb.{region}.amazonaws.com"),
        None => "none".to_owned(),
    })
}
