//! Items of other applications and teams that a declaration refers to, and the items that refer to one (R71).

use super::batch::Consistency;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::{self, ApplicationRecord, ItemRecord, Record as _, UseRecord};
use domain::base::id::ApplicationId;
use domain::model::team::Application;
use domain::model::wait::Wait;
use domain::rules::plan::Target;
use domain::views::related::Related;
use domain::{Change, Item, ItemId};
use futures_util::future::try_join;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of users of an item that a submission reads. A problem names at most 20 of them.
const OWN_USERS_MAX: i32 = 100;

impl Table {
    /// Returns the live items with these ids, each with its application, in one round.
    pub async fn targets(&self, ids: &BTreeSet<ItemId>) -> Result<BTreeMap<ItemId, Target>, Error> {
        // A live item belongs to the application that has the number now.
        let applications: BTreeSet<ApplicationId> = ids.iter().map(|id| id.application(0)).collect();
        let keys = ids.iter().map(|id| key::item(*id)).chain(applications.into_iter().map(key::application));
        let (mut items, mut applications) = (Vec::new(), BTreeMap::new());
        for row in self.batch_get_rows(keys, Consistency::Strong).await? {
            if record::type_of(&row) == Some(ItemRecord::TYPE) {
                items.push(record::read::<ItemRecord>(row)?);
            } else {
                let application: Application = record::read::<ApplicationRecord>(row)?;
                applications.insert((application.id.team(), application.id.number()), application);
            }
        }
        let target = |item: Item| {
            let application = applications.get(&(item.consumer.id, item.id.application_number()))?;
            Some((item.id, Target { item, application: application.clone() }))
        };
        Ok(items.into_iter().filter_map(target).collect())
    }

    /// Returns live items to which items of their applications refer, and the services of such items, in one round.
    ///
    /// The items may be a moment old, at half the price. The settings of the services are those of now.
    pub async fn referenced(
        &self,
        items: &BTreeSet<ItemId>,
        services: &BTreeSet<String>,
    ) -> Result<Related, Error> {
        let items = items.iter().map(|id| key::item(*id));
        let services = services.iter().map(|title| key::service(title));
        let (mut related, services) = try_join(
            self.batch_get_related(items, Consistency::Complete),
            self.batch_get_related(services, Consistency::Strong),
        )
        .await?;
        related.add(services);
        Ok(related)
    }

    /// Returns the items for which change instances wait, as they are now, also gone ones. An item of a staged submission
    /// may be missing.
    pub async fn awaited<'a>(
        &self,
        changes: impl IntoIterator<Item = &'a Change>,
    ) -> Result<BTreeMap<ItemId, Item>, Error> {
        let ids: BTreeSet<ItemId> =
            changes.into_iter().flat_map(|change| &change.waits).flat_map(Wait::items).collect();
        self.items_with_gone(ids).await
    }

    /// Returns the items with these ids that exist, also gone ones.
    pub(super) async fn items_with_gone(
        &self,
        ids: BTreeSet<ItemId>,
    ) -> Result<BTreeMap<ItemId, Item>, Error> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let ids: Vec<ItemId> = ids.into_iter().collect();
        Ok(self.items(&ids, &ids).await?.into_iter().map(|item| (item.id, item)).collect())
    }

    /// Returns the first items of the same team that refer to an item from other applications.
    pub async fn own_users_of(&self, target: ItemId) -> Result<Vec<Item>, Error> {
        let partition = key::use_partition(target.team());
        let query = self.partition_query(&self.name, &partition, &key::uses_prefix(target, target.team()));
        let rows = query.limit(OWN_USERS_MAX).call().await?.items.unwrap_or_default();
        let user = |row| Ok(key::item(record::read::<UseRecord>(row)?.user));
        let users = rows.into_iter().map(user).collect::<Result<Vec<Key>, Error>>()?;
        self.batch_get::<ItemRecord>(users, Consistency::Strong).await
    }
}
