//! The command `get`: one object of the API.

use crate::{
    api::{
        client::Api,
        kinds::Kind,
        object::{self, Found},
    },
    base::failure::{Done, Failure},
    output::Output,
};
use clap::Args;

/// Reads one object
#[derive(Args, Clone, Debug)]
pub(crate) struct Get {
    /// What to read
    #[arg(value_enum)]
    kind: Kind,
    /// Its id, or its name: APPLICATION/SERVICE/ITEM of an item or its newest change
    #[arg(value_name = "ID_OR_NAME")]
    object: String,
    /// State at a time, such as `2026-01-31T12:00:00Z`, or after the submission with this id
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
}

/// Executes `get`.
pub(crate) fn get(api: &Api, command: &Get, out: &mut Output) -> Result<Done, Failure> {
    let Found { value, .. } = object::read(api, command.kind, &command.object, command.as_of.as_deref())?;
    if !out.json(&value)? {
        out.text(&format!("{value:#}\n"))?;
    }
    Ok(Done::Success)
}
