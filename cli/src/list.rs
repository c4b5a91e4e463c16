//! The commands `services`, `schema`, `list`, `get` and `history`.

use crate::{
    api::{
        client::{Api, ORCABASE},
        filter,
        kinds::{APPLICATIONS, CHANGES, ITEMS, Kind, SERVICES, SIDES, SUBMISSIONS},
        object::{self, Found},
    },
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::Column,
    },
    output::Output,
};
use clap::Args;

const ENTRIES: [Column; 6] = [
    ("TIME", &["/modified"]),
    ("STATE", &["/state"]),
    ("BY", &["/changed_by"]),
    ("TEAM", &["/changed_by_team"]),
    ("LOG", &["/log"]),
    ("MESSAGE", &["/message"]),
];

/// Whose objects to read.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Side {
    /// Read as the service owner: objects that other teams declared for your services
    #[arg(long)]
    owner: bool,
}

impl Side {
    const fn name(self) -> &'static str {
        if self.owner { "serviceowner" } else { "consumer" }
    }
}

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

/// Lists objects
#[derive(Args, Clone, Debug)]
pub(crate) struct List {
    /// What to list
    #[arg(value_enum)]
    kind: Kind,
    #[command(flatten)]
    side: Side,
    /// A filter of the API, such as `state=PENDING,APPROVED`; may be repeated
    #[arg(long = "filter", value_name = "NAME=VALUE", value_parser = filter::parse)]
    filters: Vec<(String, String)>,
    /// Maximum number of objects
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

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

/// Shows who changed a change instance, when and why
#[derive(Args, Clone, Debug)]
pub(crate) struct History {
    /// Id of the change instance, or APPLICATION/SERVICE/ITEM for the newest one of an item
    #[arg(value_name = "CHANGE")]
    change: String,
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

/// Executes `list`.
pub(crate) fn list(api: &Api, command: &List, out: &mut Output) -> Result<Done, Failure> {
    let List { kind, side, filters, limit } = command;
    let side = if *kind == Kind::Submissions { Side { owner: false } } else { *side };
    let path = format!("{ORCABASE}/{}/{}/{}", side.name(), kind.path(), filter::query(filters));
    let found = api.list(&path, *limit)?;
    match kind {
        Kind::Applications => out.list(&found, &APPLICATIONS),
        Kind::Items => out.list(&found, &ITEMS),
        Kind::Changes => out.list(&found, &CHANGES),
        Kind::Submissions => out.list(&found, &SUBMISSIONS),
        Kind::Services => out.list(&found, &SERVICES),
    }?;
    Ok(Done::Success)
}

/// Executes `get`.
pub(crate) fn get(api: &Api, command: &Get, out: &mut Output) -> Result<Done, Failure> {
    let Found { value, .. } = object::read(api, command.kind, &command.object, command.as_of.as_deref())?;
    if !out.json(&value)? {
        out.text(&format!("{value:#}\n"))?;
    }
    Ok(Done::Success)
}

/// Executes `history`.
pub(crate) fn history(api: &Api, command: &History, out: &mut Output) -> Result<Done, Failure> {
    let change = object::id(api, Kind::Changes, &command.change)?;
    let page = object::either_side(api, &SIDES, &format!("change_instances/{change}/history/"))?;
    out.list(page.value.list_at("/results"), &ENTRIES)?;
    Ok(Done::Success)
}
