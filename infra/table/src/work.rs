//! Work that is owed: reading it, counting what fails, setting aside what fails again and again.

use crate::call::Call as _;
use crate::key;
use crate::record::{self, WorkRecord};
use crate::{Error, Table};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, Select};
use domain::id::TeamId;
use domain::submission::Submission;
use domain::timestamp::Timestamp;
use domain::work::{TRIES_MAX, Work, WorkId};

/// A work record as it was found.
#[derive(Debug)]
pub struct Owing {
    /// Its id.
    pub id: WorkId,
    /// What it holds, if that can be read.
    pub work: Result<Work, Error>,
    /// Whether it was set aside.
    pub is_set_aside: bool,
}

/// After any time that is ever told, within the digits that a place by age has.
const FOR_EVER: Timestamp = Timestamp::from_micros(9_999_999_999_999_999);

impl Table {
    /// Whether a work record is still to be carried out.
    pub async fn is_owed(&self, id: WorkId) -> Result<bool, Error> {
        Ok(self.attributes(key::work(id)).await?.is_some())
    }

    /// The work of a submission that comes first behind the record with number `after`; none when no more is owed.
    pub async fn next_work(&self, submission: &Submission, after: u64) -> Result<Option<Owing>, Error> {
        let team = submission.id.team();
        let prefix = key::work_prefix(submission.id, submission.staging);
        let after =
            key::work(WorkId { submission: submission.id, staging: submission.staging, number: after });
        // A number is five digits: what follows it stands behind it and before the next one.
        let (after, end) = (format!("{}~", after.sk), format!("{prefix}~"));
        let Some(row) = self.first_work(team, after, end).await? else { return Ok(None) };
        let id = record::text(&row, "pk").zip(record::text(&row, "sk"));
        let id = id.and_then(|(pk, sk)| key::work_at(pk, sk));
        let id = id.ok_or_else(|| Error::corrupt(record::place(&row), "it is no work"))?;
        let is_set_aside = record::text(&row, "gs3pk") == Some(key::QUARANTINE);
        Ok(Some(Owing { id, work: record::read::<WorkRecord>(row), is_set_aside }))
    }

    /// The first work record of a team between two places.
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

    /// Whether anything that a team's submissions have caused is still to be generated.
    pub async fn owes(&self, team: TeamId) -> Result<bool, Error> {
        // Before and behind every number; a key has no empty text.
        let (mut after, end) = ("0".to_owned(), "~".to_owned());
        loop {
            let Some(row) = self.first_work(team, after, end.clone()).await? else { return Ok(false) };
            let place = record::key(&row).and_then(|place| key::work_at(&place.pk, &place.sk));
            let id = place.ok_or_else(|| Error::corrupt(record::place(&row), "it is no work"))?;
            // What was laid out and never committed is nobody's, until the sweep clears it away.
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

    /// Work that was written before a time and is still owed, oldest first, at most `limit` records.
    pub async fn owed(&self, before: Timestamp, limit: i32) -> Result<Vec<WorkId>, Error> {
        self.work_in(key::ALL_WORK, before, limit).await
    }

    /// Work that was set aside, oldest first, at most `limit` records.
    pub async fn quarantined(&self, limit: i32) -> Result<Vec<WorkId>, Error> {
        self.work_in(key::QUARANTINE, FOR_EVER, limit).await
    }

    /// How much work is owed, each staging counted as one, and how much is set aside.
    pub async fn count_work(&self) -> Result<(u64, u64), Error> {
        let owed = self.count_of(key::ALL_WORK).await? + self.count_of(key::ALL_STAGINGS).await?;
        Ok((owed, self.count_of(key::QUARANTINE).await?))
    }

    /// When the oldest work that is owed was written, or the oldest staging; none when nothing is owed.
    pub async fn oldest_work(&self) -> Result<Option<Timestamp>, Error> {
        let mut oldest: Option<Timestamp> = None;
        for place in [key::ALL_WORK, key::ALL_STAGINGS] {
            let rows = self.in_place(place, FOR_EVER, 1).await?;
            let first = rows.first().and_then(|row| key::age_at(record::text(row, "gs3sk")?));
            oldest = oldest.into_iter().chain(first).min();
        }
        Ok(oldest)
    }

    /// Counts a failure to carry work out; after [`TRIES_MAX`] the record is set aside. Tells whether it is.
    ///
    /// Goes by the key alone, for the record may be unreadable.
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
            Err(error) if is_gone(&error) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let tries = counted.and_then(|mut counted| counted.remove("tr"));
        let tries: u64 = tries.and_then(|tries| tries.as_n().ok()?.parse().ok()).unwrap_or_default();
        if tries >= TRIES_MAX {
            self.place_work(id, key::QUARANTINE).await?;
        }
        Ok(tries >= TRIES_MAX)
    }

    /// Puts work that was set aside back among what is owed.
    pub async fn redrive(&self, id: WorkId) -> Result<(), Error> {
        self.place_work(id, key::ALL_WORK).await
    }

    /// Moves a work record to another place in the index; its failures are counted anew.
    async fn place_work(&self, id: WorkId, place: &str) -> Result<(), Error> {
        // What was staged is in no index before.
        let age = key::by_age(Timestamp::from_micros(0), id.submission.get());
        let placed = self
            .update_work(id, "SET #gs3pk = :place, #gs3sk = if_not_exists(#gs3sk, :age) REMOVE #tr")
            .expression_attribute_names("#gs3sk", "gs3sk")
            .expression_attribute_values(":age", AttributeValue::S(age))
            .expression_attribute_names("#gs3pk", "gs3pk")
            .expression_attribute_names("#tr", "tr")
            .expression_attribute_values(":place", AttributeValue::S(place.to_owned()))
            .call()
            .await;
        match placed {
            Err(error) if !is_gone(&error) => Err(error.into()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// An update of a work record that exists.
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

    async fn work_in(&self, place: &str, before: Timestamp, limit: i32) -> Result<Vec<WorkId>, Error> {
        // What is no work is nobody's, and no reason to leave everybody's.
        let places = self.places(place, before, limit).await?;
        Ok(places.iter().filter_map(|(pk, sk)| key::work_at(pk, sk)).collect())
    }

    /// The keys of the records that stand in a place of `gs3`, oldest first.
    pub(crate) async fn places(
        &self,
        place: &str,
        before: Timestamp,
        limit: i32,
    ) -> Result<Vec<(String, String)>, Error> {
        let rows = self.in_place(place, before, limit).await?;
        let place = |row: &record::Attributes| {
            let known = record::text(row, "pk").zip(record::text(row, "sk"));
            known.map(|(pk, sk)| (pk.to_owned(), sk.to_owned()))
        };
        Ok(rows.iter().filter_map(place).collect())
    }

    /// The keys of what stands in a place of `gs3` before a time, at most `limit`.
    pub(crate) async fn in_place(
        &self,
        place: &str,
        before: Timestamp,
        limit: i32,
    ) -> Result<Vec<record::Attributes>, Error> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .index_name("gs3")
            .key_condition_expression("gs3pk = :place AND gs3sk < :before")
            .expression_attribute_values(":place", AttributeValue::S(place.to_owned()))
            .expression_attribute_values(":before", AttributeValue::S(key::by_age(before, 0)))
            .limit(limit);
        Ok(query.call().await?.items.unwrap_or_default())
    }

    async fn count_of(&self, place: &str) -> Result<u64, Error> {
        let mut count = 0;
        self.each_page_of(place, Select::Count, |page| {
            count += u64::try_from(page.count).unwrap_or_default();
        })
        .await?;
        Ok(count)
    }

    /// Reads all that stands in a place of `gs3`, page by page.
    pub(crate) async fn each_page_of(
        &self,
        place: &str,
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
                .expression_attribute_values(":place", AttributeValue::S(place.to_owned()))
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

fn number(value: u64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Whether an update failed because the work is carried out already.
fn is_gone<R>(error: &SdkError<aws_sdk_dynamodb::operation::update_item::UpdateItemError, R>) -> bool {
    error.as_service_error().is_some_and(|error| error.is_conditional_check_failed_exception())
}
