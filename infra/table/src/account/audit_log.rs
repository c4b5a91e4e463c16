//! The audit log, in the table of API keys.

use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, Attributes, AuditEntryRecord};
use crate::write::statement;
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::TeamId;
use domain::account::audit_log::AuditEntry;

impl Table {
    /// Returns at most `limit` audit log entries of a team, newest first, each with its position; only those before
    /// `before` if it is set.
    pub async fn audit_log(
        &self,
        team: TeamId,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, AuditEntry)>, Error> {
        let query = self.keys_query(&key::audit_log_partition(team), "").scan_index_forward(false);
        let before = before.map(|before| key::audit_entry_at(team, before).into());
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        let page = query.set_exclusive_start_key(before).limit(limit).call().await?;
        let rows = page.items.unwrap_or_default().into_iter();
        let read = |row: Attributes| {
            let sort_key = record::text(&row, "sk").unwrap_or_default().to_owned();
            record::read::<AuditEntryRecord>(row).map(|entry| (sort_key, entry))
        };
        rows.map(read).collect()
    }

    pub(crate) fn audit_entry_action(&self, audit_entry: &AuditEntry) -> Result<TransactWriteItem, Error> {
        statement::create::<AuditEntryRecord>(&self.keys, audit_entry)
    }
}
