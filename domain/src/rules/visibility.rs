//! Visibility: which team sees which object (R43). An invisible object counts as missing, so no response reveals it.

use crate::base::id::TeamId;
pub use crate::base::side::Side;
use crate::catalog::service::{Service, ServiceState};
use crate::model::change::Change;
use crate::model::charge::Charge;
use crate::model::deployed::Deployed;
use crate::model::item::Item;

impl Side {
    /// Returns whether objects of a consumer can be visible to a team in this role.
    ///
    /// A consumer sees only its own objects. An id contains the consumer, so a foreign object needs no read.
    pub fn may_show(self, consumer: TeamId, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => true,
            Self::Consumer => consumer == team,
        }
    }

    /// Returns whether a team sees a change instance in this role. A service owner also sees the change instances of
    /// dependent teams.
    pub fn shows_change(self, change: &Change, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => change.owner.id == team || change.service_owner.id == team,
            Self::Consumer => change.consumer.id == team,
        }
    }

    /// Returns whether a team sees an item in this role. A dependent team sees the items with a share for it.
    pub fn shows_item(self, item: &Item, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => item.service_owner.id == team || item.stacks.contains_key(&team),
            Self::Consumer => item.consumer.id == team,
        }
    }

    /// Returns whether a team sees a charge in this role.
    pub fn shows_charge(self, charge: &Charge, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => charge.service_owner.id == team,
            Self::Consumer => charge.consumer.id == team,
        }
    }

    /// Returns whether a team sees every version of a deployed item in this role.
    pub fn shows_deployed(self, deployed: &Deployed, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => deployed.service_owner.id == team,
            Self::Consumer => deployed.consumer.id == team,
        }
    }

    /// Returns whether a team sees this version as the newest of `item`. A dependent team sees no earlier version.
    pub fn shows_newest(self, deployed: &Deployed, item: &Item, team: TeamId) -> bool {
        item.shown_deployed().is_some_and(|latest| latest.id == deployed.id) && self.shows_item(item, team)
    }

    /// Returns whether a team sees a service in this role.
    ///
    /// A service owner sees its own services and those with the team as a dependent team. A consumer sees the services
    /// that are open to it (R21, R31).
    pub fn shows_service(self, service: &Service, team: TeamId) -> bool {
        let is_owner = service.owner.id == team;
        match self {
            Self::ServiceOwner => is_owner || service.settings.has_dependent(team),
            Self::Consumer => {
                // Even consumers with items of a decommissioned service no longer see the service itself (ADR 19).
                let is_offered = service.settings.state != ServiceState::Decommissioned;
                is_owner || (is_offered && service.settings.allows(team))
            }
        }
    }
}
