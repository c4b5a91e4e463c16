//! References by id or name: teams, services and service items.

use crate::base::id::{ServiceId, TeamId};

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
