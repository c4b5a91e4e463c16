//! The command `list`: objects of a kind.

use crate::{
    api::{
        client::{Api, ORCABASE},
        filter,
        kinds::{APPLICATIONS, CHANGES, ITEMS, Kind, SERVICES, SUBMISSIONS},
    },
    base::failure::{Done, Failure},
    output::{Output, changes},
};
use clap::Args;

/// Whose objects to read.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Side {
    /// Read as the service owner: objects that other teams declared for your services
    #[arg(long)]
    owner: bool,
}

impl Side {
    /// Returns the part of the path for the side.
    pub(super) const fn name(self) -> &'static str {
        if self.owner { "serviceowner" } else { "consumer" }
    }
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

/// Executes `list`.
pub(crate) fn list(api: &Api, command: &List, out: &mut Output) -> Result<Done, Failure> {
    let List { kind, side, filters, limit } = command;
    let side = if *kind == Kind::Submissions { Side { owner: false } } else { *side };
    let path = format!("{ORCABASE}/{}/{}/{}", side.name(), kind.path(), filter::query(filters));
    let found = api.list(&path, *limit)?;
    match kind {
        Kind::Applications => out.list(&found, &APPLICATIONS),
        Kind::Items => out.list(&found, &ITEMS),
        Kind::Changes => changes::list(&found, &CHANGES, out),
        Kind::Submissions => out.list(&found, &SUBMISSIONS),
        Kind::Services => out.list(&found, &SERVICES),
    }?;
    Ok(Done::Success)
}
