//! The command `history`: the decisions about a change instance.

use crate::{
    api::{
        client::Api,
        kinds::{Kind, SIDES},
        object,
    },
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::Column,
    },
    output::Output,
};
use clap::Args;

/// The columns of the entries.
const ENTRIES: [Column; 6] = [
    ("TIME", &["/modified"]),
    ("STATE", &["/state"]),
    ("BY", &["/changed_by"]),
    ("TEAM", &["/changed_by_team"]),
    ("LOG", &["/log"]),
    ("MESSAGE", &["/message"]),
];

/// Shows who changed a change instance, when and why
#[derive(Args, Clone, Debug)]
pub(crate) struct History {
    /// Id of the change instance, or APPLICATION/SERVICE/ITEM for the newest one of an item
    #[arg(value_name = "CHANGE")]
    change: String,
}

/// Executes `history`.
pub(crate) fn history(api: &Api, command: &History, out: &mut Output) -> Result<Done, Failure> {
    let change = object::id(api, Kind::Changes, &command.change)?;
    let page = object::either_side(api, &SIDES, &format!("change_instances/{change}/history/"))?;
    out.list(page.value.list_at("/results"), &ENTRIES)?;
    Ok(Done::Success)
}
