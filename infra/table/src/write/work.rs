//! Pending work: reads it, counts failures, and sets records aside that fail repeatedly (decision record 10).

use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, WorkRecord};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, Select};
use domain::model::submission::Submission;
use domain::model::work::{TRIES_MAX, Work, WorkId};
use domain::{TeamId, Timestamp};
use futures_util::future::try_join_all;

/// A work record as read.
#[derive(Debug)]
pub struct PendingWork {
    pub id: WorkId,
    /// The content, or the error if it does not decode.
    pub work: Result<Work, Error>,
    /// Whether the record is set aside after too many failures.
    pub is_set_aside: bool,
}

/// A time after every other one, within the 16 digits of an index position.
pub(crate) const FOR_EVER: Timestamp = Timestamp::from_micros(9_999_999_999_999_999);

impl Table {
    /// Returns whether a work record still exists, so its work is pending.
    pub async fn is_planned(&self, id: WorkId) -> Result<bool, Error> {
        Ok(self.attributes(key::work(id)).await?.is_some())
    }

    /// Returns the first work record of a submission after the number `after`, or `None` if there is none.
    pub async fn next_work(&self, submission: &Submission, after: u64) -> Result<Option<PendingWork>, Error> {
        let team = submission.id.team();
        let prefix = key::work_prefix(submission.id, submission.staging);
        let after =
            key::work(WorkId { submission: submission.id, staging: submission.staging, number: after });
        // A number has five digits, and `~` sorts after every digit: the range begins after the record `after` and
        // ends with the last record of the prefix.
        let (after, end) = (format!("{}~", after.sk), format!("{prefix}~"));
        let Some(row) = self.first_work(team, after, end).await? else { return Ok(None) };
        let id = record::text(&row, "pk").zip(record::text(&row, "sk"));
        let id = id.and_then(|(pk, sk)| key::work_at(pk, sk));
        let id = id.ok_or_else(|| Error::corrupt(record::key_text(&row), "the record is not work"))?;
        let is_set_aside = record::text(&row, "gs3pk") == Some(key::QUARANTINE);
        Ok(Some(PendingWork { id, work: record::read::<WorkRecord>(row), is_set_aside }))
    }

    /// Returns the first work record of a team between two sort keys, both included.
    async fn first_work(
        &self,
        team: TeamId,
        after: String,
        end: String,
    ) -> Result<Option<record::Attributes>, Error> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .consistent_read(true)
            .key_condition_expression("pk = :pk AND sk BETWEEN :after AND :end")
            .expression_attribute_values(":pk", AttributeValue::S(key::work_partition(team)))
            .expression_attribute_values(":after", AttributeValue::S(after))
            .expression_attribute_values(":end", AttributeValue::S(end))
            .limit(1);
        Ok(query.call().await?.items.unwrap_or_default().pop())
    }

    /// Returns whether a team has pending work.
    pub async fn has_pending_work(&self, team: TeamId) -> Result<bool, Error> {
        // The two texts sort before and after every number. DynamoDB does not allow an empty string in a key.
        let (mut after, end) = ("0".to_owned(), "~".to_owned());
        loop {
            let Some(row) = self.first_work(team, after, end.clone()).await? else { return Ok(false) };
            let work_id = record::key(&row).and_then(|row_key| key::work_at(&row_key.pk, &row_key.sk));
            let id =
                work_id.ok_or_else(|| Error::corrupt(record::key_text(&row), "the record is not work"))?;
            // Work of a staging without a commit does not count: the sweep will remove it
            // (docs/explanation/staging.md).
            let claimed = match id.staging {
                None => true,
                Some(_) => {
                    let submission = self.submission(id.submission).await?;
                    submission.is_some_and(|submission| submission.staging == id.staging)
                }
            };
            if claimed {
                return Ok(true);
            }
            after = format!("{}~", key::work_prefix(id.submission, id.staging));
        }
    }

    /// Returns at most `limit` pending work records that were written before a time, oldest first.
    pub async fn planned(&self, before: Timestamp, limit: i32) -> Result<Vec<WorkId>, Error> {
        let partitions = key::all_pending_work();
        let reads =
            partitions.map(|partition| async move { self.rows_before(&partition, before, limit).await });
        let mut rows: Vec<_> = try_join_all(reads).await?.into_iter().flatten().collect();
        rows.sort_by(|one, other| record::text(one, "gs3sk").cmp(&record::text(other, "gs3sk")));
        rows.truncate(usize::try_from(limit).unwrap_or_default());
        Ok(works_of(&rows))
    }

    /// Returns at most `limit` work records that are set aside, oldest first.
    pub async fn quarantined(&self, limit: i32) -> Result<Vec<WorkId>, Error> {
        Ok(works_of(&self.rows_before(key::QUARANTINE, FOR_EVER, limit).await?))
    }

    /// Returns the number of pending work records, each staging counted as one, and the number set aside.
    pub async fn count_work(&self) -> Result<(u64, u64), Error> {
        let partitions = key::all_pending_work().chain([key::ALL_STAGINGS.to_owned()]);
        let planned = try_join_all(partitions.map(|partition| self.count_of(partition)));
        let (planned, quarantined) = tokio::try_join!(planned, self.count_of(key::QUARANTINE.to_owned()))?;
        Ok((planned.into_iter().sum(), quarantined))
    }

    /// Returns the time of the oldest pending work record or staging.
    pub async fn oldest_work(&self) -> Result<Option<Timestamp>, Error> {
        let partitions = key::all_pending_work().chain([key::ALL_STAGINGS.to_owned()]);
        // Staged work with the age 0 counts by its staging.
        let known = Timestamp::from_micros(1);
        let reads = partitions
            .map(|partition| async move { self.rows_between(&partition, known, FOR_EVER, 1).await });
        let firsts = try_join_all(reads).await?;
        let age = |row: &record::Attributes| key::age_at(record::text(row, "gs3sk")?);
        Ok(firsts.iter().flatten().filter_map(age).min())
    }

    /// Counts a failed attempt, sets the record aside after [`TRIES_MAX`] of them, and returns whether it is set
    /// aside.
    ///
    /// The function uses the key alone, because the record may not decode.
    pub async fn count_failure(&self, id: WorkId) -> Result<bool, Error> {
        let counted = self
            .update_work(id, "SET #tr = if_not_exists(#tr, :zero) + :one")
            .expression_attribute_names("#tr", "tr")
            .expression_attribute_values(":zero", number(0))
            .expression_attribute_values(":one", number(1))
            .return_values(ReturnValue::UpdatedNew)
            .call()
            .await;
        let counted = match counted {
            Ok(counted) => counted.attributes,
            // The work is complete meanwhile, so the failure no longer matters.
            Err(error) if is_gone(&error) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let tries = counted.and_then(|mut counted| counted.remove("tr"));
        let tries: u64 = tries.and_then(|tries| tries.as_n().ok()?.parse().ok()).unwrap_or_default();
        // A crash between the two updates is harmless: the next failure finds a count above the limit.
        if tries >= TRIES_MAX {
            self.move_work(id, key::QUARANTINE).await?;
        }
        Ok(tries >= TRIES_MAX)
    }

    /// Returns a work record that is set aside to the pending ones.
    pub async fn redrive(&self, id: WorkId) -> Result<(), Error> {
        self.move_work(id, &key::pending_work(id.submission.team())).await
    }

    /// Moves a work record to another partition of the index and resets its count of failures.
    async fn move_work(&self, id: WorkId, partition: &str) -> Result<(), Error> {
        // Staged work has no index entry until now. The entry gets the age 0, so it comes first.
        let age = key::by_age(Timestamp::from_micros(0), id.submission.get());
        let placed = self
            .update_work(id, "SET #gs3pk = :place, #gs3sk = if_not_exists(#gs3sk, :age) REMOVE #tr")
            .expression_attribute_names("#gs3sk", "gs3sk")
            .expression_attribute_values(":age", AttributeValue::S(age))
            .expression_attribute_names("#gs3pk", "gs3pk")
            .expression_attribute_names("#tr", "tr")
            .expression_attribute_values(":place", AttributeValue::S(partition.to_owned()))
            .call()
            .await;
        match placed {
            Err(error) if !is_gone(&error) => Err(error.into()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Returns an update of a work record that exists.
    fn update_work(
        &self,
        id: WorkId,
        update: &str,
    ) -> aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(key::work(id).into()))
            .update_expression(update)
            .condition_expression("attribute_exists(pk)")
    }

    /// Returns the keys of records in a partition of `gs3` before a time, oldest first.
    pub(crate) async fn keys_before(
        &self,
        partition: &str,
        before: Timestamp,
        limit: i32,
    ) -> Result<Vec<(String, String)>, Error> {
        let rows = self.rows_before(partition, before, limit).await?;
        let row_key = |row: &record::Attributes| record::key(row).map(|key| (key.pk, key.sk));
        Ok(rows.iter().filter_map(row_key).collect())
    }

    /// Returns at most `limit` rows of a partition of `gs3` before a time, oldest first.
    pub(crate) async fn rows_before(
        &self,
        partition: &str,
        before: Timestamp,
        limit: i32,
    ) -> Result<Vec<record::Attributes>, Error> {
        self.rows_between(partition, Timestamp::from_micros(0), before, limit).await
    }

    /// Returns at most `limit` rows of a partition of `gs3` from a time, before another one, oldest first.
    async fn rows_between(
        &self,
        partition: &str,
        from: Timestamp,
        before: Timestamp,
        limit: i32,
    ) -> Result<Vec<record::Attributes>, Error> {
        // No row has the id 0, so the range does not include `before`.
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .index_name("gs3")
            .key_condition_expression("gs3pk = :place AND gs3sk BETWEEN :from AND :before")
            .expression_attribute_values(":place", AttributeValue::S(partition.to_owned()))
            .expression_attribute_values(":from", AttributeValue::S(key::by_age(from, 0)))
            .expression_attribute_values(":before", AttributeValue::S(key::by_age(before, 0)))
            .limit(limit);
        Ok(query.call().await?.items.unwrap_or_default())
    }

    async fn count_of(&self, partition: String) -> Result<u64, Error> {
        let mut count = 0;
        self.each_page_of(&partition, Select::Count, |page| {
            count += u64::try_from(page.count).unwrap_or_default();
        })
        .await?;
        Ok(count)
    }

    /// Reads a whole partition of `gs3`, page by page.
    pub(crate) async fn each_page_of(
        &self,
        partition: &str,
        select: Select,
        mut take: impl FnMut(QueryOutput),
    ) -> Result<(), Error> {
        let mut after = None;
        loop {
            let query = self
                .client
                .query()
                .table_name(&self.name)
                .index_name("gs3")
                .key_condition_expression("gs3pk = :place")
                .expression_attribute_values(":place", AttributeValue::S(partition.to_owned()))
                .select(select.clone());
            let mut page = query.set_exclusive_start_key(after).call().await?;
            after = page.last_evaluated_key.take();
            take(page);
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

/// Returns the ids of work records. An entry of another type must not stop the sweep, so it is skipped.
fn works_of(rows: &[record::Attributes]) -> Vec<WorkId> {
    rows.iter().filter_map(record::key).filter_map(|key| key::work_at(&key.pk, &key.sk)).collect()
}

fn number(value: u64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Returns whether an update failed because the work is complete and its record is deleted.
fn is_gone<R>(error: &SdkError<aws_sdk_dynamodb::operation::update_item::UpdateItemError, R>) -> bool {
    error.as_service_error().is_some_and(|error| error.is_conditional_check_failed_exception())
}
