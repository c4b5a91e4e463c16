//! How a change instance treats what its owner has in place (R60).

use crate::base::hash::Hash;
use crate::model::change::Version;

/// How a change instance with a new declaration treats the declaration in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// It modifies every one.
    #[default]
    Modify,
    /// It replaces every one.
    Replace,
    /// It modifies these, and replaces every other one.
    Unless(Vec<Hash>),
}

impl Strategy {
    /// Returns whether the change instance replaces this declaration if its owner has it in place.
    pub fn replaces(&self, in_place: Version) -> bool {
        match self {
            Self::Modify => false,
            Self::Replace => true,
            Self::Unless(modified) => !modified.contains(&in_place.hash),
        }
    }

    /// Returns whether the service may replace items.
    pub const fn may_replace(&self) -> bool {
        !matches!(self, Self::Modify)
    }
}
