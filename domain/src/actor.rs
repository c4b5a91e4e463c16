//! Who does something: the caller of a request, or the system itself.

use crate::id::TeamId;

/// A team by id and name; names never change, so records carry them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TeamRef {
    /// The team's id.
    pub id: TeamId,
    /// The team's name.
    pub name: String,
}

/// What a caller may do in its team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Everything, settings included.
    Admin,
    /// Submitting and deciding.
    General,
    /// Reading.
    ReadOnly,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Admin, Self::General, Self::ReadOnly];

    /// The one name of the role.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "ADMIN",
            Self::General => "GENERAL",
            Self::ReadOnly => "READ_ONLY",
        }
    }

    /// Reads a role's name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// An authenticated caller: a team's API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The team that the key belongs to.
    pub team: TeamRef,
    /// What the key may do.
    pub role: Role,
    /// The key's name, which is not secret.
    pub key: String,
}

/// Who brought a history entry about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A caller with an API key.
    Key {
        /// The key's name.
        name: String,
        /// The key's team.
        team: TeamRef,
    },
    /// Dovetail itself, by a rule.
    System,
}

impl Actor {
    /// The name that the history shows: `<key name> (Api Key)` or `SYSTEM` (docs/wire.md).
    pub fn changed_by(&self) -> String {
        match self {
            Self::Key { name, .. } => format!("{name} (Api Key)"),
            Self::System => "SYSTEM".to_owned(),
        }
    }

    /// The team that acted, if one did.
    pub const fn team(&self) -> Option<&TeamRef> {
        match self {
            Self::Key { team, .. } => Some(team),
            Self::System => None,
        }
    }
}

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Self {
        Self::Key { name: caller.key.clone(), team: caller.team.clone() }
    }
}
