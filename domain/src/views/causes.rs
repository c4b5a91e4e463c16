//! The changes of referenced items that a REFERENCED change instance follows (R73).

use crate::base::hash::Hash;
use crate::base::id::{ChangeId, ItemId, TeamId};
use crate::model::change::{Change, Version};
use crate::views::compare::{Field, between};
use std::collections::BTreeMap;

/// Maximum number of causes that a change instance shows; it counts the others.
pub const CAUSES_MAX: usize = 20;

/// A change instance of a modified item, with the differences between its two declarations.
#[derive(Clone, derive_more::Debug)]
pub struct Cause {
    pub change: ChangeId,
    pub item: ItemId,
    /// The title of the item's service.
    pub service: String,
    /// The name of the item.
    pub name: String,
    #[debug("[hidden]")]
    pub differences: Vec<Field>,
}

impl Cause {
    /// Creates the cause from the change instance of the modified item, and the texts of declarations.
    pub fn of(change: &Change, declarations: &BTreeMap<(TeamId, Hash), String>) -> Self {
        let text = |version: Option<Version>| declarations.get(&(change.consumer.id, version?.hash));
        let both = text(change.old).zip(text(change.new));
        Self {
            change: change.id,
            item: change.item,
            service: change.service.title.clone(),
            name: change.item_name.clone(),
            differences: both.and_then(|(old, new)| between(old, new).ok()).unwrap_or_default(),
        }
    }
}

/// Returns the causes that a change instance shows, oldest first.
pub fn shown(change: &Change) -> &[ChangeId] {
    change.causes.get(..CAUSES_MAX).unwrap_or(&change.causes)
}
