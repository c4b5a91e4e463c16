//! What an owner has in place: the declaration that exists in the owner's system (R60).

use crate::model::change::Version;

/// What an owner has in place, by its approvals and completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A record of an earlier release does not tell, so no rule about the place applies until the next approval.
    Unknown,
    Nothing,
    /// A declaration, or a part of it.
    Declared {
        version: Version,
        /// Whether the owner has completed it, and has approved nothing since.
        is_certain: bool,
    },
}

impl Place {
    /// Returns the place of a declaration; of none, nothing.
    pub fn of(version: Option<Version>, is_certain: bool) -> Self {
        version.map_or(Self::Nothing, |version| Self::Declared { version, is_certain })
    }

    /// Returns the declaration in place, if it is known and there is one.
    pub const fn version(self) -> Option<Version> {
        match self {
            Self::Declared { version, .. } => Some(version),
            Self::Unknown | Self::Nothing => None,
        }
    }

    /// Returns the same place while the owner works on it.
    pub fn uncertain(self) -> Self {
        match self {
            Self::Declared { version, .. } => Self::Declared { version, is_certain: false },
            Self::Unknown | Self::Nothing => self,
        }
    }
}
