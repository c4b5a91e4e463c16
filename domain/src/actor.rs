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

/// An authenticated caller, acting for a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The team that is acted for.
    pub team: TeamRef,
    /// What the caller may do in it.
    pub role: Role,
    /// Who it is.
    pub identity: Identity,
}

/// Who a caller is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A team's API key, by its name, which is not secret.
    Key(String),
    /// A person, by the name that the team knows them by.
    Person(String),
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
    /// A member of a team.
    Person {
        /// The name that the team knows them by.
        name: String,
        /// The team that they acted for.
        team: TeamRef,
    },
    /// Dovetail itself, by a rule.
    System,
}

impl Actor {
    /// The name that the history shows: `<key name> (Api Key)`, a person's name or `SYSTEM` (docs/reference/http.md).
    pub fn changed_by(&self) -> String {
        match self {
            Self::Key { name, .. } => format!("{name} (Api Key)"),
            Self::Person { name, .. } => name.clone(),
            Self::System => "SYSTEM".to_owned(),
        }
    }

    /// The team that acted, if one did.
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
