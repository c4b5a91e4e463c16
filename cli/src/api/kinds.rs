//! The kinds of objects: their paths, words, sides and columns.

use crate::base::text::Column;
use clap::ValueEnum;

/// The two sides of the API, by their path.
pub(crate) const SIDES: [&str; 2] = ["consumer", "serviceowner"];
/// The pointers of the full name of an item in lists of items: application, service and item.
pub(crate) const NAME_OF_ITEM: &[&str] = &["/application/name", "/service/name", "/name"];
/// The pointers of the full name of the item of a change instance: application, service and item.
pub(crate) const ITEM: &[&str] = &["/application/name", "/service/name", "/service_item/name"];

/// The columns of services.
pub(crate) const SERVICES: [Column; 4] = [
    ("SERVICE", &["/name"]),
    ("OWNER", &["/owner/name"]),
    ("STATE", &["/state"]),
    ("NEEDS APPROVAL", &["/approval_required"]),
];
/// The columns of applications.
pub(crate) const APPLICATIONS: [Column; 4] =
    [("APPLICATION", &["/name"]), ("ID", &["/id"]), ("STATE", &["/state"]), ("TEAM", &["/owner/name"])];
/// The columns of service items.
pub(crate) const ITEMS: [Column; 5] = [
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
/// The columns of change instances with their claims.
pub(crate) const CLAIMS: [Column; 10] = [
    ("ID", &["/id"]),
    ("TYPE", &["/change_type"]),
    ("ITEM", ITEM),
    ("STATE", &["/state"]),
    ("OWNER", &["/owner/name"]),
    ("CONSUMER", &["/consumer_team/name"]),
    ("LOG", &["/log"]),
    ("CLAIM", &["/claim/number"]),
    ("WORKER", &["/claim/worker"]),
    ("UNTIL", &["/claim/until"]),
];
/// The columns of the change instances that a worker claims.
pub(crate) const CLAIMED: [Column; 6] = [
    ("ID", &["/id"]),
    ("TYPE", &["/change_type"]),
    ("ITEM", ITEM),
    ("STATE", &["/state"]),
    ("CLAIM", &["/claim/number"]),
    ("UNTIL", &["/claim/until"]),
];
/// The columns of submissions.
pub(crate) const SUBMISSIONS: [Column; 6] = [
    ("ID", &["/id"]),
    ("STATE", &["/state"]),
    ("CHANGES", &["/landed"]),
    ("BY", &["/submitted_by"]),
    ("COMMIT", &["/commit_id"]),
    ("MESSAGE", &["/message"]),
];

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

impl Kind {
    /// Returns the path of the list, the word for one object, and the sides that have these objects.
    const fn row(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Applications => ("applications", "application", &SIDES),
            Self::Items => ("service_items", "item", &SIDES),
            Self::Changes => ("change_instances", "change", &SIDES),
            Self::Submissions => ("submissions", "submission", &["consumer"]),
            Self::Services => ("services", "service", &SIDES),
        }
    }

    /// Returns the path of the list, below the side.
    pub(crate) const fn path(self) -> &'static str {
        self.row().0
    }

    /// Returns the word for one object.
    pub(crate) const fn word(self) -> &'static str {
        self.row().1
    }

    /// Returns the sides that have these objects.
    pub(crate) const fn sides(self) -> &'static [&'static str] {
        self.row().2
    }
}
