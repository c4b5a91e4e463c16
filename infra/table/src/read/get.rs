//! Strongly consistent reads by id: one record, or the few records of a decision.

use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::{
    self, ApplicationRecord, Attributes, ChangeRecord, ChargeRecord, DeployedRecord, HeadRecord, ItemRecord,
    Record, RememberedRecord, ServiceRecord, ShareRecord, SubmissionRecord, TeamRecord,
};
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use domain::base::id::{ApplicationId, ChargeId, DeployedId, ServiceId};
use domain::catalog::service::Service;
use domain::model::charge::Charge;
use domain::model::deployed::Deployed;
use domain::model::submission::{IdempotencyRecord, Submission};
use domain::model::team::{Application, Head, Team};
use domain::rules::plan::Stored;
use domain::{Change, ChangeId, Item, ItemId, SubmissionId, TeamId, Timestamp};
use dovetail_aws::retry;
use futures_util::future::try_join_all;
use std::collections::BTreeSet;

/// The most records of one `BatchGetItem`, a limit of DynamoDB.
const BATCH_MAX: usize = 100;

impl Table {
    /// Returns the team, its head and its applications, or `None` for an unknown team.
    ///
    /// A query is not a transaction: the records may be of different moments. The plan detects this by the digests
    /// (docs/explanation/concurrency.md).
    pub async fn stored_team(&self, team: TeamId) -> Result<Option<Stored>, Error> {
        let rows = self.partition(&key::team_partition(team), None).await?;
        let (mut found, mut head, mut applications) = (None, None, Vec::new());
        for row in rows {
            match record::type_of(&row) {
                Some(TeamRecord::TYPE) => found = Some(record::read::<TeamRecord>(row)?),
                Some(HeadRecord::TYPE) => head = Some(record::read::<HeadRecord>(row)?),
                Some(ApplicationRecord::TYPE) => applications.push(record::read::<ApplicationRecord>(row)?),
                other => {
                    return Err(Error::corrupt(
                        record::place(&row),
                        format!("unexpected record type {other:?} in a team"),
                    ));
                }
            }
        }
        Ok(found.zip(head).map(|(team, head)| Stored { team, head, applications }))
    }

    /// Returns all items of an application, removed ones included.
    pub async fn items_of(&self, application: ApplicationId) -> Result<Vec<Item>, Error> {
        let pk = key::item_partition(application.team());
        let rows = self.partition(&pk, Some(&key::item_prefix(application))).await?;
        rows.into_iter().map(record::read::<ItemRecord>).collect()
    }

    /// Returns the team with this id.
    pub async fn team(&self, id: TeamId) -> Result<Option<Team>, Error> {
        self.get::<TeamRecord>(key::team(id)).await
    }

    /// Returns the head of a team.
    pub async fn head(&self, team: TeamId) -> Result<Option<Head>, Error> {
        self.get::<HeadRecord>(key::head(team)).await
    }

    /// Returns the application with this id.
    pub async fn application(&self, id: ApplicationId) -> Result<Option<Application>, Error> {
        self.get::<ApplicationRecord>(key::application(id)).await
    }

    /// Returns the service item with this id.
    pub async fn item(&self, id: ItemId) -> Result<Option<Item>, Error> {
        self.get::<ItemRecord>(key::item(id)).await
    }

    /// Returns whether a team has a share in an item as a dependent team. Shares are separate records.
    pub async fn has_share(&self, item: ItemId, owner: TeamId) -> Result<bool, Error> {
        Ok(self.get::<ShareRecord>(key::share(item, owner)).await?.is_some())
    }

    /// Returns the change instance with this id.
    pub async fn change(&self, id: ChangeId) -> Result<Option<Change>, Error> {
        self.get::<ChangeRecord>(key::change(id)).await
    }

    /// Returns the change instances that exist under these ids, in the order of the ids.
    pub async fn changes(&self, ids: &[ChangeId]) -> Result<Vec<Change>, Error> {
        let rows = self.batch(ids.iter().map(|id| key::change(*id)).collect()).await?;
        let mut changes =
            rows.into_iter().map(record::read::<ChangeRecord>).collect::<Result<Vec<_>, _>>()?;
        changes.sort_by_key(|change| change.id);
        Ok(changes)
    }

    /// Returns the service items that exist under these ids, in no order.
    pub async fn items(&self, ids: &[ItemId]) -> Result<Vec<Item>, Error> {
        let rows = self.batch(ids.iter().map(|id| key::item(*id)).collect()).await?;
        rows.into_iter().map(record::read::<ItemRecord>).collect()
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
        let found = self.get::<RememberedRecord>(key::remembered(team, key)).await?;
        Ok(found.map(|(_, remembered)| remembered).filter(|remembered| remembered.expires > now))
    }

    /// Returns the service with this title.
    pub async fn service(&self, title: &str) -> Result<Option<Service>, Error> {
        self.get::<ServiceRecord>(key::service(title)).await
    }

    /// Returns the service with this id. The id is stored in a pointer record, so this takes two reads.
    pub async fn service_by_id(&self, id: ServiceId) -> Result<Option<Service>, Error> {
        let Some(pointer) = self.attributes(key::service_id(id)).await? else { return Ok(None) };
        match record::text(&pointer, "to") {
            Some(title) => self.service(title).await,
            None => Err(Error::corrupt(record::place(&pointer), "the pointer has no valid target")),
        }
    }

    /// Returns the team with this name. The name is stored in a pointer record, so this takes two reads.
    pub async fn team_by_name(&self, name: &str) -> Result<Option<Team>, Error> {
        let Some(pointer) = self.attributes(key::team_name(name)).await? else { return Ok(None) };
        let id = pointer.get("to").and_then(|to| to.as_n().ok()).and_then(|n| n.parse().ok());
        match id.and_then(TeamId::new) {
            Some(id) => self.team(id).await,
            None => Err(Error::corrupt(record::place(&pointer), "the pointer has no valid target")),
        }
    }

    pub(crate) async fn attributes(&self, key: Key) -> Result<Option<Attributes>, Error> {
        let request = self.client.get_item().table_name(&self.name).consistent_read(true);
        Ok(request.set_key(Some(key.into())).call().await?.item)
    }

    pub(crate) async fn get<R: Record>(&self, key: Key) -> Result<Option<R::Value>, Error> {
        self.attributes(key).await?.map(record::read::<R>).transpose()
    }

    /// Returns all rows of a partition, or those with sort keys that begin with `prefix`.
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

    /// Returns the key of the last row of a partition.
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

    /// Returns the records that exist under these keys, strongly consistent, in no order.
    pub(crate) async fn batch(&self, keys: Vec<Key>) -> Result<Vec<Attributes>, Error> {
        self.batches(keys.into_iter().collect(), true).await
    }

    /// Returns records that never change, or may be a moment old. It costs half a strongly consistent read.
    pub(crate) async fn lasting(&self, keys: Vec<Key>) -> Result<Vec<Attributes>, Error> {
        self.lasting_and(keys, Vec::new()).await
    }

    /// Returns `keys` as [`Table::lasting`] does, and in the same round those of `more` that exist.
    pub(crate) async fn lasting_and(&self, keys: Vec<Key>, more: Vec<Key>) -> Result<Vec<Attributes>, Error> {
        let mut missing: BTreeSet<Key> = keys.into_iter().collect();
        let all = missing.iter().cloned().chain(more).collect();
        let mut rows = self.batches(all, false).await?;
        for key in rows.iter().filter_map(record::key) {
            missing.remove(&key);
        }
        // An eventually consistent read may miss a record that was just written. Only `keys` must exist, so only the
        // missing ones among them are read again.
        rows.extend(self.batches(missing, true).await?);
        Ok(rows)
    }

    /// Returns the records that exist under these keys, with one request for each 100 keys, all at once.
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
        let mut rows = Vec::new();
        let mut attempts = retry::BATCH.attempts();
        while attempts.next().await.is_some() {
            let wanted = KeysAndAttributes::builder()
                .set_keys(Some(keys))
                .consistent_read(consistent)
                .build()
                .map_err(|error| Error::corrupt("batch", error))?;
            let reply = self.client.batch_get_item().request_items(&self.name, wanted).call().await?;
            rows.extend(reply.responses.into_iter().flat_map(|mut all| all.remove(&self.name)).flatten());
            // DynamoDB returns at most 16 MB and whatever fits its capacity. Only the unprocessed keys are read
            // again.
            let left = reply.unprocessed_keys.and_then(|mut left| left.remove(&self.name));
            keys = left.map(|left| left.keys).unwrap_or_default();
            if keys.is_empty() {
                return Ok(rows);
            }
        }
        Err(Error::Unavailable("DynamoDB did not process a batch of reads".to_owned()))
    }
}
