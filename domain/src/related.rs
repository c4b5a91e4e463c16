//! What a reader is told beside the record that was asked for: the records it points to, by key.

use crate::deployed::Deployed;
use crate::healthcheck::{Health, run::Course};
use crate::id::{ApplicationId, DeployedId, ItemId, ServiceId, TeamId};
use crate::item::Item;
use crate::json::Hash;
use crate::service::Service;
use crate::tally::Tally;
use crate::team::{Application, Team};
use std::collections::BTreeMap;
use std::fmt;

/// Records by their keys, as far as they were loaded.
#[derive(Clone, Default)]
pub struct Related {
    /// Consumer teams.
    pub teams: BTreeMap<TeamId, Team>,
    /// Applications.
    pub applications: BTreeMap<ApplicationId, Application>,
    /// Items.
    pub items: BTreeMap<ItemId, Item>,
    /// Services by title.
    pub services: BTreeMap<String, Service>,
    /// Declarations, canonical JSON.
    pub declarations: BTreeMap<(TeamId, Hash), String>,
    /// Deployed items.
    pub deployed: BTreeMap<DeployedId, Deployed>,
    /// The items of applications, counted by their states.
    pub tallies: BTreeMap<ApplicationId, Tally>,
    /// How items were when somebody was last asked.
    pub healths: BTreeMap<ItemId, Health>,
    /// Where the healthchecks of services stand.
    pub courses: BTreeMap<ServiceId, Course>,
}

impl Related {
    /// How an item is, as far as its service's healthcheck tells.
    pub fn health(&self, item: &Item) -> Option<&Health> {
        let course = self.courses.get(&item.service.id)?;
        self.healths.get(&item.id).filter(|health| health.at >= course.since)
    }
}

impl fmt::Debug for Related {
    // Holds declarations: never in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Related").finish_non_exhaustive()
    }
}
