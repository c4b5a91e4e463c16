//! What an owner has in place: the declaration that exists in the owner's system (R59).

use crate::model::change::Version;

/// What an owner has in place, by its approvals and completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A record of an earlier release lacks it, so no rule about the place applies until the next approval.
    Unknown,
    Nothing,
    /// A declaration, or a part of it.
    Declared {
        version: Version,
        /// The version of the definition that checked it; none if its words have no meaning.
        schema_version: Option<u64>,
        /// Whether the owner has completed it, and has approved nothing since.
        is_certain: bool,
    },
}

impl Place {
    /// Returns whether both are the same text, whatever its number, under the same definition.
    pub fn is_like(self, other: Self) -> bool {
        let text = |place| match place {
            Self::Declared { version: Version { hash, .. }, schema_version, is_certain } => {
                Some((hash, schema_version, is_certain))
            }
            Self::Unknown | Self::Nothing => None,
        };
        text(self).is_some() && text(self) == text(other)
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
            Self::Declared { version, schema_version, .. } => {
                Self::Declared { version, schema_version, is_certain: false }
            }
            Self::Unknown | Self::Nothing => self,
        }
    }
}
