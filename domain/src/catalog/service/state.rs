//! The states of a service: what consumers may still declare (R31).

use crate::base::state::ChangeType;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The state of a service towards its consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum ServiceState {
    /// No restrictions.
    InService,
    /// No new items.
    NoNewServiceItem,
    /// No new items and no modifications; removals are allowed.
    NoModifyExistingServiceItem,
    /// As before, and the catalogue hides the service from consumers.
    Decommissioned,
}

crate::named!(ServiceState);

/// The rule of a closed service against a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The name of the rule.
    pub rule: &'static str,
    /// The message, after the service's title.
    pub message: &'static str,
}

const NO_NEW: Closed = Closed { rule: "no_new_items", message: "accepts no new items" };
const NO_MODIFICATIONS: Closed = Closed {
    rule: "no_modifications",
    message: "accepts no changes: its items must stay unchanged or be removed",
};
const DECOMMISSIONED: Closed = Closed {
    rule: "decommissioned",
    message: "is decommissioned: its items must stay unchanged or be removed",
};

impl ServiceState {
    /// Returns the rule against creating or redeclaring, modifying, or removing an item; none if it is allowed.
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
    use crate::base::state::ChangeType::{Create, Delete, Modify};

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
