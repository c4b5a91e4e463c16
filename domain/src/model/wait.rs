//! What has to happen before a change instance (R74).

use crate::base::id::{ChangeId, ItemId};

/// Maximum number of waits of a change instance.
pub const WAITS_MAX: usize = 64;

/// Maximum number of items that a change instance is known to unblock.
pub const UNBLOCKS_MAX: usize = 100;

/// A wait of a change instance for a referenced or referencing item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    pub item: ItemId,
    /// The change instance that must be COMPLETED or CLOSED, with its later attempts; none if the item must be in place.
    pub change: Option<ChangeId>,
    /// The item in reserve, which takes the place of an undeclared item that goes before its turn (R44).
    pub spare: Option<ItemId>,
}

impl Wait {
    /// Returns the items that the wait may be about.
    pub fn items(&self) -> impl Iterator<Item = ItemId> + use<> {
        [Some(self.item), self.spare].into_iter().flatten()
    }
}
