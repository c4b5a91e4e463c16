//! The owner's settings of a service.

use super::ServiceState;
use crate::base::id::TeamId;
use crate::base::refs::TeamRef;
use crate::model::declaration::name_problem;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Maximum number of dependent teams of a service; it keeps the changes of one item within a transaction.
pub const DEPENDENT_TEAMS_MAX: usize = 15;

/// Maximum number of different dependent teams of a service in its life.
///
/// An item keeps a stack for each team that ever had a share, so this bounds the item's record (ADR 28).
pub const DEPENDENT_TEAMS_EVER_MAX: usize = 100;

/// Maximum number of allowed teams of a private service.
pub const ALLOWED_TEAMS_MAX: usize = 1_000;

/// Maximum number of tags of a service.
pub const TAGS_MAX: usize = 20;

/// Maximum length of a tag, in bytes.
pub const TAG_BYTES_MAX: usize = 64;

/// The names of the settings in requests.
///
/// Existing clients write `dependant_teams`, and so do responses. The last name is another spelling of it.
pub const SETTINGS: [&str; 14] = [
    "state",
    "approval_required",
    "allow_manual_approval",
    "allow_manual_completion",
    "update_strategy",
    "complete_unneeded",
    "claim_required",
    "references_see",
    "require_ready",
    "minimum_version",
    "tags",
    "allowed_teams",
    "dependant_teams",
    "dependent_teams",
];

/// How the owner of a service changes an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum UpdateStrategy {
    /// By a MODIFY.
    Modify,
    /// By a DELETE of what is in place, and then a CREATE (R60).
    Replace,
}

crate::named!(UpdateStrategy);

/// What a reference to an item of a service shows to the readers of the referencing item, next to names and states
/// (R72).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum ReferencesSee {
    /// Nothing more.
    #[default]
    State,
    /// The newest deployed version.
    Deployed,
    /// The newest deployed version, and the document with derived values.
    All,
}

crate::named!(ReferencesSee);

/// The owner's settings of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The state, which limits the declarations of consumers (R31).
    pub state: ServiceState,
    /// Whether change instances start in PENDING; if not, in APPROVED.
    pub approval_required: bool,
    /// Whether a person may approve; if not, only an API key (R32).
    pub allow_manual_approval: bool,
    /// Whether a person may complete; if not, only an API key (R32).
    pub allow_manual_completion: bool,
    pub update_strategy: UpdateStrategy,
    /// Whether a change instance that asks for what is in place is created in COMPLETED (R63).
    ///
    /// A service that replaces does so in any case.
    pub complete_unneeded: bool,
    /// Whether an API key needs a claim to end the work on a change instance (R64).
    pub claim_required: bool,
    /// What references to the items of this service show (R72).
    pub references_see: ReferencesSee,
    /// Whether COMPLETED requires that nothing is left of what the change instance waits for (R74).
    pub require_ready: bool,
    /// The oldest schema version that is not deprecated (R33).
    pub minimum_version: Option<u64>,
    /// Search words in the catalogue.
    pub tags: Vec<String>,
    /// The teams that get a share in each change instance of this service.
    pub dependent_teams: Vec<TeamRef>,
    /// The teams that may declare new items; empty for every team (R21).
    pub allowed_teams: Vec<TeamId>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            state: ServiceState::InService,
            approval_required: true,
            allow_manual_approval: true,
            allow_manual_completion: true,
            update_strategy: UpdateStrategy::Modify,
            complete_unneeded: false,
            claim_required: false,
            references_see: ReferencesSee::State,
            require_ready: false,
            minimum_version: None,
            tags: Vec::new(),
            dependent_teams: Vec::new(),
            allowed_teams: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns whether `team` may declare new items of the service.
    pub fn allows(&self, team: TeamId) -> bool {
        self.allowed_teams.is_empty() || self.allowed_teams.contains(&team)
    }

    /// Returns whether `team` is a dependent team.
    pub fn has_dependent(&self, team: TeamId) -> bool {
        self.dependent_teams.iter().any(|dependent| dependent.id == team)
    }

    /// Returns whether an item checked against this schema version is up to date; none without a minimum version.
    pub fn is_up_to_date(&self, checked: u64) -> Option<bool> {
        self.minimum_version.map(|minimum| checked >= minimum)
    }
}

/// Returns the reason why a text is not a valid tag; none if it is valid. A comma means OR in a filter.
pub fn tag_problem(tag: &str) -> Option<&'static str> {
    if tag.len() > TAG_BYTES_MAX {
        Some("a tag must not be longer than 64 bytes")
    } else if tag.contains(',') {
        Some("a tag must not contain a comma")
    } else {
        name_problem(tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_checked_against_the_minimum_or_later_is_up_to_date() {
        let of = |minimum_version| Settings { minimum_version, ..Settings::default() };
        assert_eq!([0, 1, 2, 3].map(|checked| of(None).is_up_to_date(checked)), [None; 4]);
        let up_to_date = [0, 1, 2, 3].map(|checked| of(Some(2)).is_up_to_date(checked));
        assert_eq!(up_to_date, [Some(false), Some(false), Some(true), Some(true)]);
    }

    #[test]
    fn a_tag_is_a_short_name_without_commas() {
        assert_eq!(tag_problem("net work"), None);
        assert_eq!(tag_problem(&"t".repeat(TAG_BYTES_MAX)), None);
        for tag in ["", " x", "a,b", "a\nb", &"t".repeat(TAG_BYTES_MAX + 1)] {
            assert!(tag_problem(tag).is_some(), "{tag:?}");
        }
    }
}
