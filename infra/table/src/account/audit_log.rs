//! The audit log, in the table of API keys.

use super::newest_first;
use crate::client::{Error, Table};
use crate::key;
use crate::record::RecordedRecord;
use crate::write::statement;
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::TeamId;
use domain::account::audit_log::Recorded;

impl Table {
    /// Returns at most `limit` audit log entries of a team, newest first, each with its position; only those before
    /// `before` if it is set.
    pub async fn recorded(
        &self,
        team: TeamId,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Recorded)>, Error> {
        let query = self.keys_query(&key::recorded_partition(team), "");
        newest_first::<RecordedRecord>(query, before.map(|before| key::recorded_at(team, before)), limit)
            .await
    }

    pub(crate) fn told(&self, recorded: &Recorded) -> Result<TransactWriteItem, Error> {
        statement::create::<RecordedRecord>(&self.keys, recorded)
    }
}
