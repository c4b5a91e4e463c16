//! An item's declaration as a submission leaves it, separate from the stored item.
//!
//! The declaration applies at once, or later to an item on which owners have decided meanwhile.

use crate::base::id::{ChangeId, ItemId};
use crate::base::refs::{ItemReference, ServiceRef, TeamRef};
use crate::base::state::RuntimeState;
use crate::base::timestamp::Timestamp;
use crate::model::change::Version;
use crate::model::charge::Charges;
use crate::model::item::{Base, Creation, Item};
use std::collections::BTreeMap;

/// An item's declaration after a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The newest declaration; a removed item keeps its last one.
    pub version: Version,
    /// Whether the item is declared after the submission.
    pub stays: bool,
    /// The referenced items, in the same application (R17).
    pub references: Vec<ItemReference>,
    /// The referenced items of other applications and teams, sorted (R71).
    pub uses: Vec<ItemId>,
    /// The schema version of the last check of its declaration; 0 in records from before this field.
    pub schema_version: u64,
    /// The identity of an item that does not exist yet.
    pub new: Option<Identity>,
    /// The new name of an existing item, if it gets one (R75).
    pub new_name: Option<String>,
}

/// The identity of a new item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub application: String,
    /// The generation of the application with this number (R45).
    pub generation: u64,
    pub service: ServiceRef,
    /// The number of uses by items of other applications, from the same submission (R71).
    pub used_by: u64,
}

/// The context of an item that does not exist yet.
pub(crate) struct Origin<'a> {
    pub(crate) id: ItemId,
    pub(crate) consumer: &'a TeamRef,
    pub(crate) service_owner: &'a TeamRef,
    /// The change instance that creates it.
    pub(crate) change: ChangeId,
    pub(crate) now: Timestamp,
}

impl Declared {
    /// Returns the items of other applications and teams that the item refers to while it is declared.
    pub fn used(&self) -> &[ItemId] {
        if self.stays { &self.uses } else { &[] }
    }

    /// Returns whether the declaration or its new item has to do with references between applications (R71).
    pub fn has_uses(&self) -> bool {
        !self.uses.is_empty() || self.new.as_ref().is_some_and(|new| new.used_by > 0)
    }

    /// Returns the item with this declaration, before any change of its state; none if an existing item is missing.
    pub(crate) fn applied(&self, before: Option<&Item>, origin: &Origin<'_>) -> Option<Item> {
        let before = match (before, &self.new) {
            (Some(before), _) => before.clone(),
            (None, Some(identity)) => self.created(identity, origin),
            (None, None) => return None,
        };
        let returns = self.stays && !before.declared;
        let mut after = Item {
            version: self.version,
            declared: self.stays,
            references: self.references.clone(),
            uses: self.uses.clone(),
            schema_version: self.schema_version,
            ..before
        };
        if let Some(name) = &self.new_name {
            after.rename(name.clone());
        }
        if returns && after.main().creation == Creation::Never {
            after.end_life();
        }
        Some(after)
    }

    fn created(&self, identity: &Identity, origin: &Origin<'_>) -> Item {
        Item {
            id: origin.id,
            name: identity.name.clone(),
            application: identity.application.clone(),
            generation: identity.generation,
            service: identity.service.clone(),
            service_owner: origin.service_owner.clone(),
            consumer: origin.consumer.clone(),
            revision: 0,
            runtime_state: RuntimeState::Requested,
            version: self.version,
            declared: self.stays,
            completed_target: None,
            drift: None,
            references: Vec::new(),
            uses: Vec::new(),
            used_by: identity.used_by,
            former_names: Vec::new(),
            waits_for: Vec::new(),
            schema_version: self.schema_version,
            stacks: BTreeMap::new(),
            deployed: None,
            earlier_life: 0,
            base: Base::Newest,
            next_deployed: 0,
            latest_change: origin.change,
            charges: Charges::NONE,
            shares_due: 0,
            gone: false,
            created: origin.now,
            modified: origin.now,
        }
    }
}
