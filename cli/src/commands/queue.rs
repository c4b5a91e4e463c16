//! The command `queue`: the changes that wait for a service owner.

use crate::{
    api::{
        client::{Api, ORCABASE},
        filter,
    },
    base::failure::{Done, Failure},
    commands::watch::Watch,
    output::Output,
};
use clap::Args;

/// Lists the changes that wait for your team
#[derive(Args, Clone, Debug)]
pub(crate) struct Queue {
    /// A filter of the API, such as `service_name=VM`; may be repeated
    #[arg(long = "filter", value_name = "NAME=VALUE", value_parser = filter::parse)]
    filters: Vec<(String, String)>,
    /// Maximum number of changes
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    watch: Watch,
}

/// Executes `queue`.
pub(crate) fn queue(api: &Api, command: &Queue, out: &mut Output) -> Result<Done, Failure> {
    let mut filters = command.filters.clone();
    if !filters.iter().any(|(name, _)| name == "state") {
        filters.push(("state".to_owned(), "PENDING,APPROVED".to_owned()));
    }
    let path = format!("{ORCABASE}/serviceowner/change_instances/{}", filter::query(&filters));
    command.watch.list(api, &path, command.limit, out)
}
