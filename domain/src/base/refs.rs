//! References by id or name: teams, services and service items.

use crate::base::id::{ItemId, ServiceId, TeamId};

/// A team by id and name; names never change, so records hold them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TeamRef {
    pub id: TeamId,
    pub name: String,
}

/// A service by id and title; neither changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceRef {
    pub id: ServiceId,
    /// The title: the service's name in declarations.
    pub title: String,
}

/// A reference to an item of another service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The title of the other service.
    pub service: String,
    /// The name of the other item.
    pub name: String,
}

/// A reference of a declared item to another item of the same application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemReference {
    /// The title of the other service.
    pub service: String,
    /// The name of the other item.
    pub name: String,
    /// The item that had this name at the submission; none in records of an earlier release. It may be gone by now, so a
    /// reader compares the name.
    pub item: Option<ItemId>,
}

impl ItemReference {
    /// Returns the service and the name, without the item.
    pub fn to_reference(&self) -> Reference {
        Reference { service: self.service.clone(), name: self.name.clone() }
    }
}

impl From<Reference> for ItemReference {
    fn from(Reference { service, name }: Reference) -> Self {
        Self { service, name, item: None }
    }
}
