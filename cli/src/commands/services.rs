//! The commands `services` and `schema`: the catalogue of a team.

use crate::{
    api::{
        client::{Api, ORCABASE},
        kinds::SERVICES,
        object,
    },
    base::failure::{Done, Failure},
    commands::list::Side,
    output::Output,
};
use clap::Args;

/// Lists the services that your team may declare
#[derive(Args, Clone, Debug)]
pub(crate) struct Services {
    #[command(flatten)]
    side: Side,
}

/// Prints the definition of a service: a JSON Schema
#[derive(Args, Clone, Debug)]
pub(crate) struct Schema {
    /// Name of the service
    #[arg(value_name = "SERVICE")]
    service: String,
}

/// Executes `services`.
pub(crate) fn services(api: &Api, command: &Services, out: &mut Output) -> Result<Done, Failure> {
    let services = api.list(&format!("{ORCABASE}/{}/services/", command.side.name()), usize::MAX)?;
    out.list(&services, &SERVICES)?;
    Ok(Done::Success)
}

/// Executes `schema`.
pub(crate) fn schema(api: &Api, command: &Schema, out: &mut Output) -> Result<Done, Failure> {
    let schema = object::definition(api, &command.service)?;
    if !out.json(&schema)? {
        out.text(&format!("{schema:#}\n"))?;
    }
    Ok(Done::Success)
}
