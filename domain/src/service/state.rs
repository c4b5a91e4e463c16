//! The states of a service: what of it may still be declared (R31).

use crate::change::ChangeType;

/// How far a service is open to its consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceState {
    /// Everything may be declared.
    InService,
    /// No new items.
    NoNewServiceItem,
    /// No new items, and no other declarations of those that exist; they may be removed.
    NoModifyExistingServiceItem,
    /// The same, and consumers do not find it in their catalogue.
    Decommissioned,
}

/// The rule that a service's state sets up against a declaration, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The rule's name.
    pub rule: &'static str,
    /// What is to be read after the service's title.
    pub message: &'static str,
}

const NO_NEW: Closed = Closed { rule: "no_new_items", message: "takes no new items" };
const NO_MODIFICATIONS: Closed = Closed {
    rule: "no_modifications",
    message: "takes no changes: an item stays as it is declared, or is removed",
};
const DECOMMISSIONED: Closed = Closed {
    rule: "decommissioned",
    message: "is decommissioned: an item stays as it is declared, or is removed",
};

impl ServiceState {
    /// Every state.
    pub const ALL: [Self; 4] =
        [Self::InService, Self::NoNewServiceItem, Self::NoModifyExistingServiceItem, Self::Decommissioned];

    /// The one name of the state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InService => "IN_SERVICE",
            Self::NoNewServiceItem => "NO_NEW_SERVICE_ITEM",
            Self::NoModifyExistingServiceItem => "NO_MODIFY_EXISTING_SERVICE_ITEM",
            Self::Decommissioned => "DECOMMISSIONED",
        }
    }

    /// Reads a state's name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// What stands against a consumer's declaring an item new or again, another declaration of it, or its removal.
    pub const fn against(self, declared: ChangeType) -> Option<Closed> {
        match (self, declared) {
            (Self::InService, _) | (_, ChangeType::Delete) | (Self::NoNewServiceItem, ChangeType::Modify) => {
                None
            }
            (Self::NoNewServiceItem | Self::NoModifyExistingServiceItem, ChangeType::Create) => Some(NO_NEW),
            (Self::NoModifyExistingServiceItem, ChangeType::Modify) => Some(NO_MODIFICATIONS),
            (Self::Decommissioned, ChangeType::Create | ChangeType::Modify) => Some(DECOMMISSIONED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::ChangeType::{Create, Delete, Modify};

    #[test]
    fn each_state_closes_the_service_further_and_none_keeps_an_item_from_being_removed() {
        let rules = |state: ServiceState| {
            [Create, Modify, Delete].map(|declared| state.against(declared).map_or("", |closed| closed.rule))
        };
        assert_eq!(rules(ServiceState::InService), ["", "", ""]);
        assert_eq!(rules(ServiceState::NoNewServiceItem), ["no_new_items", "", ""]);
        let closed = rules(ServiceState::NoModifyExistingServiceItem);
        assert_eq!(closed, ["no_new_items", "no_modifications", ""]);
        assert_eq!(rules(ServiceState::Decommissioned), ["decommissioned", "decommissioned", ""]);
    }

    #[test]
    fn every_name_reads_back() {
        for state in ServiceState::ALL {
            assert_eq!(ServiceState::parse(state.name()), Some(state));
        }
        assert_eq!(ServiceState::parse("PUBLISHED"), None);
    }
}
