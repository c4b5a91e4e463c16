//! The sums of the costs of items, by application or by team.

use crate::base::id::ApplicationId;
use crate::base::money::{Amount, Prices};
use crate::base::refs::TeamRef;
use crate::base::timestamp::Timestamp;
use crate::model::charge::Charges;
use crate::model::item::Item;
use std::collections::BTreeMap;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The party or the part of a declaration whose costs form a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum GroupBy {
    Application,
    ConsumerTeam,
    ServiceOwnerTeam,
}

crate::named!(GroupBy);

/// The common part of the items of a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    Application { id: ApplicationId, name: String, consumer: TeamRef },
    ConsumerTeam(TeamRef),
    ServiceOwnerTeam(TeamRef),
}

impl Group {
    fn of(item: &Item, by: GroupBy) -> Self {
        let consumer = item.consumer.clone();
        match by {
            GroupBy::Application => {
                Self::Application { id: item.application_id(), name: item.application.clone(), consumer }
            }
            GroupBy::ConsumerTeam => Self::ConsumerTeam(consumer),
            GroupBy::ServiceOwnerTeam => Self::ServiceOwnerTeam(item.service_owner.clone()),
        }
    }

    const fn id(&self) -> u64 {
        match self {
            Self::Application { id, .. } => id.get(),
            Self::ConsumerTeam(team) | Self::ServiceOwnerTeam(team) => team.id.get(),
        }
    }
}

/// The costs of the items of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChargeSum {
    pub group: Group,
    /// Number of items with costs.
    pub items: u64,
    pub total: Prices,
    pub processed: Amount,
}

/// Returns the costs of items until `now` by group, in the order of the groups' ids. Items without costs do not count.
pub fn charge_sums(items: &[Item], by: GroupBy, now: Timestamp) -> Vec<ChargeSum> {
    let mut sums = BTreeMap::<u64, ChargeSum>::new();
    for item in items.iter().filter(|item| item.charges != Charges::NONE) {
        let group = Group::of(item, by);
        let none = |group| ChargeSum { group, items: 0, total: Prices::NONE, processed: Amount::ZERO };
        let sum = sums.entry(group.id()).or_insert_with(|| none(group));
        let total = item.charges.total(now);
        sum.items = sum.items.saturating_add(1);
        sum.total.per_change = sum.total.per_change + total.per_change;
        sum.total.monthly = sum.total.monthly + total.monthly;
        sum.processed = sum.processed + item.charges.processed.sum();
    }
    sums.into_values().collect()
}
