//! Strongly consistent reads by id: one record, or the few records of a decision.

use super::batch::Consistency;
use super::partition::for_each_page;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::{
    self, ApplicationRecord, Attributes, ChangeRecord, ChargeRecord, DeployedRecord, HeadRecord, ItemRecord,
    Record, RememberedRecord, ServiceRecord, ShareRecord, SubmissionRecord, TeamRecord,
};
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use domain::base::id::{ApplicationId, ChargeId, DeployedId, ServiceId};
use domain::catalog::service::Service;
use domain::model::charge::Charge;
use domain::model::deployed::Deployed;
use domain::model::submission::{IdempotencyRecord, Submission};
use domain::model::team::{Application, Head, Team};
use domain::rules::plan::Stored;
use domain::{Change, ChangeId, Item, ItemId, SubmissionId, TeamId, Timestamp};
use futures_util::future::try_join_all;
use std::collections::BTreeSet;
use std::ops::Range;

impl Table {
    /// Returns the team, its head and its applications, or `None` for an unknown team.
    ///
    /// A query is not a transaction: the records may be of different moments. The plan detects this by the digests
    /// (docs/explanation/concurrency.md).
    pub async fn stored_team(&self, team: TeamId) -> Result<Option<Stored>, Error> {
        let rows = self.partition(&key::team_partition(team), "").await?;
        let (mut team_record, mut head, mut applications) = (None, None, Vec::new());
        for row in rows {
            match record::type_of(&row) {
                Some(TeamRecord::TYPE) => team_record = Some(record::read::<TeamRecord>(row)?),
                Some(HeadRecord::TYPE) => head = Some(record::read::<HeadRecord>(row)?),
                Some(ApplicationRecord::TYPE) => applications.push(record::read::<ApplicationRecord>(row)?),
                other => {
                    return Err(Error::corrupt(
                        record::key_text(&row),
                        format!("unexpected record type {other:?} in a team"),
                    ));
                }
            }
        }
        Ok(team_record.zip(head).map(|(team, head)| Stored { team, head, applications }))
    }

    /// Returns the items of an application that are not gone and pass a test, removed ones included.
    ///
    /// A retired application has no live items (R45). The items under its number belong to another application.
    pub async fn items_of(
        &self,
        application: ApplicationId,
        is_wanted: impl Fn(&Item) -> bool,
    ) -> Result<Vec<Item>, Error> {
        let query = self.live_items_query(application);
        let mut items = Vec::new();
        for_each_page(query, |page| {
            for row in page {
                let item = record::read::<ItemRecord>(row)?;
                items.extend(
                    Some(item).filter(|item| item.application_id() == application && is_wanted(item)),
                );
            }
            Ok(())
        })
        .await?;
        Ok(items)
    }

    /// Returns the applications among these that have no live item, in the same order (R45).
    ///
    /// The caller passes applications that still have their number.
    pub async fn vacant(&self, applications: &[ApplicationId]) -> Result<Vec<ApplicationId>, Error> {
        let has_item = async |id: &ApplicationId| {
            let page = self.live_items_query(*id).limit(1).call().await?;
            Ok::<_, Error>(page.items.is_some_and(|items| !items.is_empty()))
        };
        let have_items = try_join_all(applications.iter().map(has_item)).await?;
        let vacant = applications.iter().zip(have_items).filter(|(_, has_item)| !has_item);
        Ok(vacant.map(|(id, _)| *id).collect())
    }

    fn live_items_query(&self, application: ApplicationId) -> QueryFluentBuilder {
        let (pk, prefix) = (key::item_partition(application.team()), key::item_prefix(application.number()));
        self.partition_query(&self.name, &pk, &prefix)
    }

    /// Returns the number of applications of a team from which numbers are used again (R45).
    pub const fn reuse_from(&self) -> usize {
        self.reuse_from
    }

    /// Returns the team with this id.
    pub async fn team(&self, id: TeamId) -> Result<Option<Team>, Error> {
        self.get::<TeamRecord>(key::team(id)).await
    }

    /// Returns the head of a team.
    pub async fn head(&self, team: TeamId) -> Result<Option<Head>, Error> {
        self.get::<HeadRecord>(key::head(team)).await
    }

    /// Returns the application with this id, retired or not.
    pub async fn application(&self, id: ApplicationId) -> Result<Option<Application>, Error> {
        match self.get::<ApplicationRecord>(key::application(id)).await? {
            // The reads come in this order, because an application moves to its retired key and never back (R45).
            Some(other) if other.id != id => self.get::<ApplicationRecord>(key::retired(id)).await,
            found => Ok(found),
        }
    }

    /// Returns the service item with this id, gone or not.
    pub async fn item(&self, id: ItemId) -> Result<Option<Item>, Error> {
        match self.get::<ItemRecord>(key::item(id)).await? {
            Some(item) => Ok(Some(item)),
            // The reads come in this order, because an item moves to its gone key and never back (R44).
            None => self.get::<ItemRecord>(key::gone(id)).await,
        }
    }

    /// Returns whether a team has a share, which is a record of its own, in an item as a dependent team.
    pub async fn has_share(&self, item: ItemId, owner: TeamId) -> Result<bool, Error> {
        Ok(self.get::<ShareRecord>(key::share(item, owner)).await?.is_some())
    }

    /// Returns the change instance with this id.
    pub async fn change(&self, id: ChangeId) -> Result<Option<Change>, Error> {
        self.get::<ChangeRecord>(key::change(id)).await
    }

    /// Returns the change instances that exist under these ids, in the order of the ids.
    pub async fn changes(&self, ids: &[ChangeId]) -> Result<Vec<Change>, Error> {
        let keys = ids.iter().map(|id| key::change(*id));
        let mut changes = self.batch_get::<ChangeRecord>(keys, Consistency::Strong).await?;
        changes.sort_by_key(|change| change.id);
        Ok(changes)
    }

    /// Returns the service items that exist under these ids, in no order. Gone items come from `may_be_gone` alone.
    pub async fn items(&self, ids: &[ItemId], may_be_gone: &[ItemId]) -> Result<Vec<Item>, Error> {
        let live = ids.iter().map(|id| key::item(*id));
        let mut items = self.batch_get::<ItemRecord>(live, Consistency::Strong).await?;
        let found: BTreeSet<ItemId> = items.iter().map(|item| item.id).collect();
        let missing = may_be_gone.iter().filter(|id| !found.contains(id)).map(|id| key::gone(*id));
        items.extend(self.batch_get::<ItemRecord>(missing, Consistency::Strong).await?);
        Ok(items)
    }

    /// Returns the deployed item with this id.
    pub async fn deployed(&self, id: DeployedId) -> Result<Option<Deployed>, Error> {
        self.get::<DeployedRecord>(key::deployed(id)).await
    }

    /// Returns the charge with this id.
    pub async fn charge(&self, id: ChargeId) -> Result<Option<Charge>, Error> {
        self.get::<ChargeRecord>(key::charge(id)).await
    }

    /// Returns the submission with this id.
    pub async fn submission(&self, id: SubmissionId) -> Result<Option<Submission>, Error> {
        self.get::<SubmissionRecord>(key::submission(id)).await
    }

    /// Returns the stored submission of an idempotency key, unless the key has expired.
    pub async fn remembered(
        &self,
        team: TeamId,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, Error> {
        // DynamoDB deletes expired records up to a few days late, so the age must be checked here.
        let row = self.get::<RememberedRecord>(key::remembered(team, key)).await?;
        Ok(row.map(|(_, remembered)| remembered).filter(|remembered| remembered.expires > now))
    }

    /// Returns the service with this title.
    pub async fn service(&self, title: &str) -> Result<Option<Service>, Error> {
        self.get::<ServiceRecord>(key::service(title)).await
    }

    /// Returns the services that exist under these titles, in no order.
    pub async fn services(&self, titles: &BTreeSet<&str>) -> Result<Vec<Service>, Error> {
        self.batch_get::<ServiceRecord>(titles.iter().map(|title| key::service(title)), Consistency::Complete)
            .await
    }

    /// Returns the service with this id. The id is stored in a pointer record, so this takes two reads.
    pub async fn service_by_id(&self, id: ServiceId) -> Result<Option<Service>, Error> {
        let Some(pointer) = self.attributes(key::service_id(id)).await? else { return Ok(None) };
        match record::text(&pointer, "to") {
            Some(title) => self.service(title).await,
            None => Err(Error::corrupt(record::key_text(&pointer), "the pointer has no valid target")),
        }
    }

    /// Returns the titles of the services with these ids, in no order.
    pub(crate) async fn titles(&self, ids: Range<u64>) -> Result<Vec<String>, Error> {
        let keys = ids.filter_map(ServiceId::new).map(key::service_id);
        let pointers = self.batch_get_rows(keys, Consistency::Complete).await?;
        Ok(pointers.iter().filter_map(|pointer| record::text(pointer, "to")).map(str::to_owned).collect())
    }

    /// Returns the team with this name. The name is stored in a pointer record, so this takes two reads.
    pub async fn team_by_name(&self, name: &str) -> Result<Option<Team>, Error> {
        let Some(pointer) = self.attributes(key::team_name(name)).await? else { return Ok(None) };
        let id = pointer.get("to").and_then(|to| to.as_n().ok()).and_then(|n| n.parse().ok());
        match id.and_then(TeamId::new) {
            Some(id) => self.team(id).await,
            None => Err(Error::corrupt(record::key_text(&pointer), "the pointer has no valid target")),
        }
    }

    pub(crate) async fn attributes(&self, key: Key) -> Result<Option<Attributes>, Error> {
        let request = self.client.get_item().table_name(&self.name).consistent_read(true);
        Ok(request.set_key(Some(key.into())).call().await?.item)
    }

    pub(crate) async fn get<R: Record>(&self, key: Key) -> Result<Option<R::Value>, Error> {
        self.attributes(key).await?.map(record::read::<R>).transpose()
    }
}
