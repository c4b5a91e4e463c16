//! Actors: the caller of a request, or the system itself.

use crate::base::refs::TeamRef;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The role of a caller in its team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Role {
    /// All permissions, including settings.
    Admin,
    /// Submissions and decisions.
    General,
    /// Reads only.
    ReadOnly,
    /// Reads of all teams' queues and of the system's state, and the creation of teams. Within its team, the caller
    /// only reads.
    Platform,
}

crate::named!(Role);

impl Role {
    /// The roles that an ADMIN gives to keys and members. Only the operator of a deployment makes PLATFORM keys.
    pub const OF_TEAMS: [Self; 3] = [Self::Admin, Self::General, Self::ReadOnly];

    /// Returns whether the role only reads the objects of its team.
    pub const fn only_reads(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Platform)
    }

    /// Parses a role that an ADMIN may give.
    pub fn parse_of_teams(name: &str) -> Option<Self> {
        Self::parse(name).filter(|role| Self::OF_TEAMS.contains(role))
    }
}

/// An authenticated caller, acting for one team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub team: TeamRef,
    pub role: Role,
    pub identity: Identity,
}

/// The identity of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// An API key of the team, by its name, which is not secret.
    Key(String),
    /// A member of the team, by the member's name there.
    Person(String),
}

/// The author of a history entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A caller with an API key.
    Key {
        /// The key's name, which is not secret.
        name: String,
        team: TeamRef,
    },
    /// A member of a team.
    Person {
        /// The member's name in the team.
        name: String,
        /// The team for which the member acts.
        team: TeamRef,
    },
    /// Dovetail itself, by a rule.
    System,
}

/// The end of the name of a key in histories.
const KEY: &str = "(Api Key)";
/// The name of Dovetail itself in histories.
const SYSTEM: &str = "SYSTEM";

/// Returns whether a name, in any case, is one that histories show for a key or for Dovetail itself.
pub fn imitates(name: &str) -> bool {
    let name = name.to_lowercase();
    name == SYSTEM.to_lowercase() || name.ends_with(&KEY.to_lowercase())
}

impl Actor {
    /// Returns the name in histories: `<key name> (Api Key)`, a member's name or `SYSTEM`
    /// (docs/reference/http/README.md).
    pub fn changed_by(&self) -> String {
        match self {
            // The hash chain of a history covers this text, so its form must never change (I3).
            Self::Key { name, .. } => format!("{name} {KEY}"),
            Self::Person { name, .. } => name.clone(),
            Self::System => SYSTEM.to_owned(),
        }
    }

    /// Returns the team of the actor; none for the system.
    pub const fn team(&self) -> Option<&TeamRef> {
        match self {
            Self::Key { team, .. } | Self::Person { team, .. } => Some(team),
            Self::System => None,
        }
    }
}

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Self {
        let team = caller.team.clone();
        match caller.identity.clone() {
            Identity::Key(name) => Self::Key { name, team },
            Identity::Person(name) => Self::Person { name, team },
        }
    }
}
