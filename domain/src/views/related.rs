//! The records that a response includes next to the requested one, by key.

use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ChangeId, DeployedId, ItemId, ServiceId, TeamId};
use crate::catalog::schema::Part;
use crate::catalog::service::Service;
use crate::model::claim::Claim;
use crate::model::deployed::Deployed;
use crate::model::item::Item;
use crate::model::team::{Application, Team};
use crate::model::write::Write;
use crate::outreach::healthcheck::Health;
use crate::outreach::healthcheck::run::CheckSchedule;
use crate::rules::check::Upgrades;
use crate::rules::decide::Decided;
use crate::rules::plan::Target;
use crate::views::causes::Cause;
use crate::views::derived_values::Derived;
use crate::views::tally::Tally;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A reference of an item: the JSON pointer in its declaration, and the item that it names.
pub type Position = (String, ItemId);

/// The loaded records by key.
///
/// The records hold declarations, which never reach a log.
#[derive(Clone, derive_more::Debug, Default)]
#[debug("Related {{ .. }}")]
pub struct Related {
    pub teams: BTreeMap<TeamId, Team>,
    pub applications: BTreeMap<ApplicationId, Application>,
    pub items: BTreeMap<ItemId, Item>,
    /// Services by title.
    pub services: BTreeMap<String, Service>,
    /// Claims on the work of owners. Work that was never claimed has none.
    pub claims: BTreeMap<(ItemId, TeamId), Claim>,
    /// Declarations as canonical JSON.
    pub declarations: BTreeMap<(TeamId, Hash), String>,
    pub deployed: BTreeMap<DeployedId, Deployed>,
    /// The paths of definitions with words, by title and version.
    pub definitions: BTreeMap<(String, u64), Arc<Part>>,
    /// The upgrades of deployed versions to later versions of definitions, by title, earlier and later version.
    pub upgrades: BTreeMap<(String, Option<u64>, u64), Upgrades>,
    /// The derived values of items whose definition has some (R70).
    pub derived: BTreeMap<ItemId, Derived>,
    /// The item counts of applications by state.
    pub tallies: BTreeMap<ApplicationId, Tally>,
    /// The latest health of each item.
    pub healths: BTreeMap<ItemId, Health>,
    /// The references of items, with their JSON pointers.
    pub references: BTreeMap<ItemId, Vec<Position>>,
    /// The changes of referenced items that change instances follow.
    pub causes: BTreeMap<ChangeId, Cause>,
    /// The referenced items of other applications and teams.
    pub targets: BTreeMap<ItemId, Target>,
    /// The healthcheck schedules of services.
    pub check_schedules: BTreeMap<ServiceId, CheckSchedule>,
}

impl Related {
    /// Adds the item of a decision with its new deployed version, and the new plan.
    pub fn add_decided(&mut self, Decided { item, deployed, writes, .. }: &Decided) {
        self.items.insert(item.id, item.clone());
        for write in writes {
            if let Write::StoreDeclaration { team, hash, text } = write {
                self.declarations.insert((*team, *hash), text.clone());
            }
        }
        self.deployed.extend(deployed.iter().map(|brought| (brought.id, brought.clone())));
    }

    /// Returns an item to which an item of the response refers, if it is live.
    pub fn referenced(&self, id: ItemId) -> Option<&Item> {
        self.targets.get(&id).map(|target| &target.item).or_else(|| self.items.get(&id))
    }

    /// Adds the items, services, texts and definitions of other records.
    pub fn add(&mut self, more: Self) {
        self.items.extend(more.items);
        self.services.extend(more.services);
        self.declarations.extend(more.declarations);
        self.deployed.extend(more.deployed);
        self.definitions.extend(more.definitions);
        self.upgrades.extend(more.upgrades);
    }

    /// Returns the health of an item by its service's present healthcheck; none without a result.
    pub fn health(&self, item: &Item) -> Option<&Health> {
        let schedule = self.check_schedules.get(&item.service.id)?;
        // Results of a replaced healthcheck stay in the table, and must not be shown for the new one (R40).
        self.healths.get(&item.id).filter(|health| health.at >= schedule.since)
    }
}
