//! Bounded reads across teams, for operators: open queues and pending work, without their content.

use super::batch::Consistency;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, Attributes, TeamRecord};
use crate::write::FOR_EVER;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::model::team::Team;
use domain::views::backlog::{Backlog, OpenQueue, Quarantined};
use domain::{ChangeId, State, TeamId, Timestamp};
use futures_util::future::try_join_all;

/// Number of open change instances at which the count of a queue stops.
const OPEN_MAX: usize = 100;

/// Number of records at which the count of pending work stops.
const WORK_MAX: usize = 1_000;

/// Number of records in quarantine that are listed.
const QUARANTINED_MAX: usize = 10;

impl Table {
    /// Returns the teams with ids from `first` to `last`, in the order of their ids.
    pub async fn teams(&self, first: u64, last: u64) -> Result<Vec<Team>, Error> {
        self.teams_of((first..=last).filter_map(TeamId::new)).await
    }

    /// Returns the teams with these ids, in the order of their ids.
    pub async fn teams_of(&self, ids: impl IntoIterator<Item = TeamId>) -> Result<Vec<Team>, Error> {
        let keys = ids.into_iter().map(key::team);
        let mut teams = self.batch_get::<TeamRecord>(keys, Consistency::Complete).await?;
        teams.sort_by_key(|team| team.id);
        Ok(teams)
    }

    /// Returns number and oldest of an owner's change instances in a state, with one query.
    pub async fn open_queue(&self, owner: TeamId, state: State) -> Result<OpenQueue, Error> {
        let limit = i32::try_from(OPEN_MAX + 1).unwrap_or(i32::MAX);
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .index_name("gs1")
            .key_condition_expression("gs1pk = :queue")
            .expression_attribute_values(":queue", AttributeValue::S(key::owner_queue(owner, state)))
            // The index has whole records, but their content stays in DynamoDB.
            .projection_expression("gs1sk")
            .limit(limit);
        let page = query.call().await?;
        let rows = page.items.unwrap_or_default();
        let oldest = rows.first().and_then(|row| {
            let (created, id) = key::age_and_id_at(record::text(row, "gs1sk")?)?;
            Some((ChangeId::parse(id)?, created))
        });
        // Large records end a page before its limit.
        let is_capped = page.last_evaluated_key.is_some();
        Ok(OpenQueue { open: rows.len().min(OPEN_MAX), is_capped, oldest })
    }

    /// Returns the pending work records, without staged ones.
    pub async fn pending_work(&self) -> Result<Backlog, Error> {
        let reads = key::all_pending_work().map(|partition| async move { self.first_of(&partition).await });
        let rows: Vec<Attributes> = try_join_all(reads).await?.into_iter().flatten().collect();
        Ok(backlog(&rows))
    }

    /// Returns the stagings: those in the hands of a request, committed ones in progress, and abandoned ones.
    pub async fn open_stagings(&self) -> Result<Backlog, Error> {
        Ok(backlog(&self.first_of(key::ALL_STAGINGS).await?))
    }

    /// Returns the work in quarantine, and its oldest records.
    pub async fn quarantined_work(&self) -> Result<(Backlog, Vec<Quarantined>), Error> {
        let rows = self.first_of(key::QUARANTINE).await?;
        let quarantined = |row: &Attributes| {
            let at = record::key(row)?;
            let submission = key::work_at(&at.pk, &at.sk)?.submission;
            Some(Quarantined { submission, created: age(row) })
        };
        let first = rows.iter().filter_map(quarantined).take(QUARANTINED_MAX).collect();
        Ok((backlog(&rows), first))
    }

    /// Returns the oldest rows of a partition of `gs3`: one more than a count needs.
    async fn first_of(&self, partition: &str) -> Result<Vec<Attributes>, Error> {
        self.rows_before(partition, FOR_EVER, i32::try_from(WORK_MAX + 1).unwrap_or(i32::MAX)).await
    }
}

/// Returns the backlog of index rows, read with a limit of one row more than the count.
fn backlog(rows: &[Attributes]) -> Backlog {
    let oldest = rows.iter().filter_map(age).min();
    Backlog { records: rows.len().min(WORK_MAX), is_capped: rows.len() > WORK_MAX, oldest }
}

/// Returns the time of an index row. Staged work gets the age 0 when it moves, so 0 means unknown.
fn age(row: &Attributes) -> Option<Timestamp> {
    key::age_at(record::text(row, "gs3sk")?).filter(|at| at.micros() > 0)
}
