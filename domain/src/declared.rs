//! What a submission makes of an item's declaration, apart from the item as it is: so that it can be applied at once,
//! or later to an item on which its owners have decided meanwhile.

use crate::actor::TeamRef;
use crate::change::Version;
use crate::charge::Charges;
use crate::id::{ChangeId, ItemId};
use crate::item::{Item, RuntimeState};
use crate::schema::Reference;
use crate::service::ServiceRef;
use crate::timestamp::Timestamp;
use std::collections::BTreeMap;

/// An item's declaration as a submission leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The newest declaration; of an item that is removed, the last one.
    pub version: Version,
    /// Whether the item stays declared.
    pub stays: bool,
    /// The items that it refers to, in the same application (R17).
    pub references: Vec<Reference>,
    /// The schema version that the newest declaration was checked against; 0 of one that nobody has noted it of.
    pub schema_version: u64,
    /// Which item it is, when it does not exist yet.
    pub new: Option<Identity>,
}

/// Which item it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its application's name.
    pub application: String,
    /// Its service.
    pub service: ServiceRef,
}

/// Where an item comes from that does not exist yet.
pub(crate) struct Origin<'a> {
    pub(crate) id: ItemId,
    pub(crate) consumer: &'a TeamRef,
    pub(crate) service_owner: &'a TeamRef,
    /// The change instance that is about to land.
    pub(crate) change: ChangeId,
    pub(crate) now: Timestamp,
}

impl Declared {
    /// The item with this declaration, before anything lands on it; none when it should exist and does not.
    pub(crate) fn applied(&self, before: Option<&Item>, origin: &Origin<'_>) -> Option<Item> {
        let before = match (before, &self.new) {
            (Some(before), _) => before.clone(),
            (None, Some(identity)) => self.created(identity, origin),
            (None, None) => return None,
        };
        let references = self.references.clone();
        Some(Item {
            version: self.version,
            declared: self.stays,
            references,
            schema_version: self.schema_version,
            ..before
        })
    }

    fn created(&self, identity: &Identity, origin: &Origin<'_>) -> Item {
        Item {
            id: origin.id,
            name: identity.name.clone(),
            application: identity.application.clone(),
            service: identity.service.clone(),
            service_owner: origin.service_owner.clone(),
            consumer: origin.consumer.clone(),
            revision: 0,
            runtime_state: RuntimeState::Requested,
            version: self.version,
            declared: self.stays,
            settled: None,
            references: Vec::new(),
            schema_version: self.schema_version,
            stacks: BTreeMap::new(),
            deployed: None,
            next_deployed: 0,
            latest_change: origin.change,
            charges: Charges::NONE,
            created: origin.now,
            modified: origin.now,
        }
    }
}
