//! The commands `services`, `schema`, `list`, `get` and `history`.

use crate::{
    api::{Api, ORCABASE},
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::Column,
    },
    object::{self, Found, NAME_OF_ITEM, SIDES},
    output::{ITEM, Output},
};
use clap::{Args, ValueEnum};
use domain::base::suggest::did_you_mean;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

const SERVICES: [Column; 4] = [
    ("SERVICE", &["/name"]),
    ("OWNER", &["/owner/name"]),
    ("STATE", &["/state"]),
    ("NEEDS APPROVAL", &["/approval_required"]),
];
const APPLICATIONS: [Column; 4] =
    [("APPLICATION", &["/name"]), ("ID", &["/id"]), ("STATE", &["/state"]), ("TEAM", &["/owner/name"])];
const ITEMS: [Column; 5] = [
    ("ID", &["/id"]),
    ("ITEM", NAME_OF_ITEM),
    ("RUNTIME", &["/runtime_state"]),
    ("CHANGES", &["/change_state"]),
    ("OWNER", &["/service_owner_team/name"]),
];
/// The columns of change instances.
pub(crate) const CHANGES: [Column; 7] = [
    ("ID", &["/id"]),
    ("TYPE", &["/change_type"]),
    ("ITEM", ITEM),
    ("STATE", &["/state"]),
    ("OWNER", &["/owner/name"]),
    ("CONSUMER", &["/consumer_team/name"]),
    ("LOG", &["/log"]),
];
const SUBMISSIONS: [Column; 6] = [
    ("ID", &["/id"]),
    ("STATE", &["/state"]),
    ("CHANGES", &["/landed"]),
    ("BY", &["/submitted_by"]),
    ("COMMIT", &["/commit_id"]),
    ("MESSAGE", &["/message"]),
];
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

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Applications
    Applications,
    /// Service items
    Items,
    /// Change instances
    Changes,
    /// Submissions
    Submissions,
    /// Services
    Services,
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
    #[arg(long = "filter", value_name = "NAME=VALUE", value_parser = filter)]
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

impl Kind {
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Applications => "applications",
            Self::Items => "service_items",
            Self::Changes => "change_instances",
            Self::Submissions => "submissions",
            Self::Services => "services",
        }
    }

    /// Returns the word for one object.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Applications => "application",
            Self::Items => "item",
            Self::Changes => "change",
            Self::Submissions => "submission",
            Self::Services => "service",
        }
    }

    /// Returns the sides that have these objects.
    pub(crate) const fn sides(self) -> &'static [&'static str] {
        match self {
            Self::Submissions => &["consumer"],
            Self::Applications | Self::Items | Self::Changes | Self::Services => &SIDES,
        }
    }
}

pub(crate) fn filter(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns filters as the query of a URL.
pub(crate) fn query(filters: &[(String, String)]) -> String {
    let one =
        |(name, value): &(String, String)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
    let filters: Vec<String> = filters.iter().map(one).collect();
    if filters.is_empty() { String::new() } else { format!("?{}", filters.join("&")) }
}

/// Executes `services`.
pub(crate) fn services(api: &Api, command: &Services, out: &mut Output) -> Result<Done, Failure> {
    let services = api.list(&format!("{ORCABASE}/{}/services/", command.side.name()), usize::MAX)?;
    out.list(&services, &SERVICES)?;
    Ok(Done::Success)
}

/// Executes `schema`.
pub(crate) fn schema(api: &Api, command: &Schema, out: &mut Output) -> Result<Done, Failure> {
    let schema = definition(api, &command.service)?;
    if !out.json(&schema)? {
        out.text(&format!("{schema:#}\n"))?;
    }
    Ok(Done::Success)
}

/// Returns the definition of a service.
pub(crate) fn definition(api: &Api, name: &str) -> Result<Value, Failure> {
    let services = api.list(&format!("{ORCABASE}/consumer/services/"), usize::MAX)?;
    Ok(named(&services, name)?.at("/schema/schema").clone())
}

/// Returns the service with a name.
pub(crate) fn named<'a>(services: &'a [Value], name: &str) -> Result<&'a Value, Failure> {
    services.iter().find(|service| service.text_at("/name") == name).ok_or_else(|| {
        let near = did_you_mean(name, services.iter().filter_map(|service| service.at("/name").as_str()));
        Failure::Failed(format!("no service has the name `{name}`{near}"))
    })
}

/// Executes `list`.
pub(crate) fn list(api: &Api, command: &List, out: &mut Output) -> Result<Done, Failure> {
    let List { kind, side, filters, limit } = command;
    let side = if *kind == Kind::Submissions { Side { owner: false } } else { *side };
    let path = format!("{ORCABASE}/{}/{}/{}", side.name(), kind.path(), query(filters));
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
