//! Reads by id: one record, or the few that a decision needs, strongly consistent.

use crate::call::Call as _;
use crate::key::{self, Key};
use crate::record::{
    self, ApplicationRecord, Attributes, ChangeRecord, ChargeRecord, DeployedRecord, HeadRecord, ItemRecord,
    Record, RememberedRecord, ServiceRecord, ShareRecord, SubmissionRecord, TeamRecord,
};
use crate::{Error, Table};
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use domain::change::Change;
use domain::charge::Charge;
use domain::deployed::Deployed;
use domain::id::{ApplicationId, ChangeId, ChargeId, DeployedId, ItemId, ServiceId, SubmissionId, TeamId};
use domain::item::Item;
use domain::plan::Stored;
use domain::service::Service;
use domain::submission::{Remembered, Submission};
use domain::team::{Application, Head, Team};
use domain::timestamp::Timestamp;
use futures_util::future::try_join_all;
use std::collections::BTreeSet;

/// How many records one batch read takes.
const BATCH_MAX: usize = 100;

impl Table {
    /// The team, its head and its applications; none for an unknown team.
    pub async fn stored_team(&self, team: TeamId) -> Result<Option<Stored>, Error> {
        let rows = self.partition(&key::team_partition(team), None).await?;
        let (mut found, mut head, mut applications) = (None, None, Vec::new());
        for row in rows {
            match record::type_of(&row) {
                Some(TeamRecord::TYPE) => found = Some(record::read::<TeamRecord>(row)?),
                Some(HeadRecord::TYPE) => head = Some(record::read::<HeadRecord>(row)?),
                Some(ApplicationRecord::TYPE) => applications.push(record::read::<ApplicationRecord>(row)?),
                other => return Err(Error::corrupt(record::place(&row), format!("a team has no {other:?}"))),
            }
        }
        Ok(found.zip(head).map(|(team, head)| Stored { team, head, applications }))
    }

    /// All items of an application, tombstones included.
    pub async fn items_of(&self, application: ApplicationId) -> Result<Vec<Item>, Error> {
        let pk = key::item_partition(application.team());
        let rows = self.partition(&pk, Some(&key::item_prefix(application))).await?;
        rows.into_iter().map(record::read::<ItemRecord>).collect()
    }

    /// A team.
    pub async fn team(&self, id: TeamId) -> Result<Option<Team>, Error> {
        self.get::<TeamRecord>(key::team(id)).await
    }

    /// The head of a team.
    pub async fn head(&self, team: TeamId) -> Result<Option<Head>, Error> {
        self.get::<HeadRecord>(key::head(team)).await
    }

    /// An application.
    pub async fn application(&self, id: ApplicationId) -> Result<Option<Application>, Error> {
        self.get::<ApplicationRecord>(key::application(id)).await
    }

    /// A service item.
    pub async fn item(&self, id: ItemId) -> Result<Option<Item>, Error> {
        self.get::<ItemRecord>(key::item(id)).await
    }

    /// Whether a team has a share in an item as a dependent: that is noted apart from the item.
    pub async fn has_share(&self, item: ItemId, owner: TeamId) -> Result<bool, Error> {
        Ok(self.get::<ShareRecord>(key::share(item, owner)).await?.is_some())
    }

    /// A change instance.
    pub async fn change(&self, id: ChangeId) -> Result<Option<Change>, Error> {
        self.get::<ChangeRecord>(key::change(id)).await
    }

    /// Change instances by id, in the order of the ids; those that do not exist are left out.
    pub async fn changes(&self, ids: &[ChangeId]) -> Result<Vec<Change>, Error> {
        let rows = self.batch(ids.iter().map(|id| key::change(*id)).collect()).await?;
        let mut changes =
            rows.into_iter().map(record::read::<ChangeRecord>).collect::<Result<Vec<_>, _>>()?;
        changes.sort_by_key(|change| change.id);
        Ok(changes)
    }

    /// Service items by id; those that do not exist are left out.
    pub async fn items(&self, ids: &[ItemId]) -> Result<Vec<Item>, Error> {
        let rows = self.batch(ids.iter().map(|id| key::item(*id)).collect()).await?;
        rows.into_iter().map(record::read::<ItemRecord>).collect()
    }

    /// A deployed item version.
    pub async fn deployed(&self, id: DeployedId) -> Result<Option<Deployed>, Error> {
        self.get::<DeployedRecord>(key::deployed(id)).await
    }

    /// A charge.
    pub async fn charge(&self, id: ChargeId) -> Result<Option<Charge>, Error> {
        self.get::<ChargeRecord>(key::charge(id)).await
    }

    /// A submission.
    pub async fn submission(&self, id: SubmissionId) -> Result<Option<Submission>, Error> {
        self.get::<SubmissionRecord>(key::submission(id)).await
    }

    /// What is remembered of an idempotency key, unless it has expired.
    pub async fn remembered(
        &self,
        team: TeamId,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Remembered>, Error> {
        let found = self.get::<RememberedRecord>(key::remembered(team, key)).await?;
        Ok(found.map(|(_, remembered)| remembered).filter(|remembered| remembered.expires > now))
    }

    /// A service by title.
    pub async fn service(&self, title: &str) -> Result<Option<Service>, Error> {
        self.get::<ServiceRecord>(key::service(title)).await
    }

    /// A service by id.
    pub async fn service_by_id(&self, id: ServiceId) -> Result<Option<Service>, Error> {
        let Some(pointer) = self.attributes(key::service_id(id)).await? else { return Ok(None) };
        match record::text(&pointer, "to") {
            Some(title) => self.service(title).await,
            None => Err(Error::corrupt(record::place(&pointer), "it leads nowhere")),
        }
    }

    /// A team by name.
    pub async fn team_by_name(&self, name: &str) -> Result<Option<Team>, Error> {
        let Some(pointer) = self.attributes(key::team_name(name)).await? else { return Ok(None) };
        let id = pointer.get("to").and_then(|to| to.as_n().ok()).and_then(|n| n.parse().ok());
        match id.and_then(TeamId::new) {
            Some(id) => self.team(id).await,
            None => Err(Error::corrupt(record::place(&pointer), "it leads nowhere")),
        }
    }

    pub(crate) async fn attributes(&self, key: Key) -> Result<Option<Attributes>, Error> {
        let request = self.client.get_item().table_name(&self.name).consistent_read(true);
        Ok(request.set_key(Some(key.into())).call().await?.item)
    }

    pub(crate) async fn get<R: Record>(&self, key: Key) -> Result<Option<R::Value>, Error> {
        self.attributes(key).await?.map(record::read::<R>).transpose()
    }

    /// All rows of a partition, or those whose sort key begins with `prefix`.
    pub(crate) async fn partition(&self, pk: &str, prefix: Option<&str>) -> Result<Vec<Attributes>, Error> {
        let mut rows = Vec::new();
        let mut after = None;
        loop {
            let mut query = self
                .client
                .query()
                .table_name(&self.name)
                .consistent_read(true)
                .key_condition_expression("pk = :pk")
                .expression_attribute_values(":pk", AttributeValue::S(pk.to_owned()))
                .set_exclusive_start_key(after);
            if let Some(prefix) = prefix {
                query = query
                    .key_condition_expression("pk = :pk AND begins_with(sk, :prefix)")
                    .expression_attribute_values(":prefix", AttributeValue::S(prefix.to_owned()));
            }
            let page = query.call().await?;
            rows.extend(page.items.unwrap_or_default());
            after = page.last_evaluated_key;
            if after.is_none() {
                return Ok(rows);
            }
        }
    }

    /// The key of the last row of a partition.
    pub(crate) async fn last_key(&self, pk: &str) -> Result<Option<Key>, Error> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .consistent_read(true)
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", AttributeValue::S(pk.to_owned()))
            .scan_index_forward(false)
            .limit(1);
        Ok(query.call().await?.items.and_then(|rows| rows.first().and_then(record::key)))
    }

    /// The records with these keys, as far as they exist, in no order.
    pub(crate) async fn batch(&self, keys: Vec<Key>) -> Result<Vec<Attributes>, Error> {
        self.batches(keys.into_iter().collect(), true).await
    }

    /// The same for records that do not change, or whose change may be seen a moment later: for half the price.
    pub(crate) async fn lasting(&self, keys: Vec<Key>) -> Result<Vec<Attributes>, Error> {
        self.lasting_and(keys, Vec::new()).await
    }

    /// The same, and in the same round what may as well be missing.
    pub(crate) async fn lasting_and(&self, keys: Vec<Key>, more: Vec<Key>) -> Result<Vec<Attributes>, Error> {
        let mut missing: BTreeSet<Key> = keys.into_iter().collect();
        let all = missing.iter().cloned().chain(more).collect();
        let mut rows = self.batches(all, false).await?;
        for key in rows.iter().filter_map(record::key) {
            missing.remove(&key);
        }
        // What has just been written may be missing there.
        rows.extend(self.batches(missing, true).await?);
        Ok(rows)
    }

    /// The records with these keys, as far as they exist, a hundred in one read.
    pub(crate) async fn batches(
        &self,
        keys: BTreeSet<Key>,
        consistent: bool,
    ) -> Result<Vec<Attributes>, Error> {
        let keys: Vec<Attributes> = keys.into_iter().map(Into::into).collect();
        let batches = keys.chunks(BATCH_MAX).map(|some| self.batch_of(some.to_vec(), consistent));
        Ok(try_join_all(batches).await?.into_iter().flatten().collect())
    }

    async fn batch_of(&self, mut keys: Vec<Attributes>, consistent: bool) -> Result<Vec<Attributes>, Error> {
        let (mut attempt, mut rows) = (0, Vec::new());
        loop {
            let wanted = KeysAndAttributes::builder()
                .set_keys(Some(keys))
                .consistent_read(consistent)
                .build()
                .map_err(|error| Error::corrupt("batch", error))?;
            let reply = self.client.batch_get_item().request_items(&self.name, wanted).call().await?;
            rows.extend(reply.responses.into_iter().flat_map(|mut all| all.remove(&self.name)).flatten());
            let left = reply.unprocessed_keys.and_then(|mut left| left.remove(&self.name));
            keys = left.map(|left| left.keys).unwrap_or_default();
            if keys.is_empty() {
                return Ok(rows);
            }
            if attempt >= 8 {
                return Err(Error::Unavailable("a batch of reads stays unprocessed".to_owned()));
            }
            dovetail_aws::pause(attempt).await;
            attempt += 1;
        }
    }
}
