//! The audit log, in the table of API keys.

use crate::client::{Error, Table};
use crate::key;
use crate::record::AuditEntryRecord;
use crate::write::{Commit, statement};
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::TeamId;
use domain::account::audit_log::AuditEntry;

impl Table {
    /// Returns at most `limit` audit log entries of a team, newest first, each with its position; only entries before
    /// `before` if it is set.
    pub async fn audit_log(
        &self,
        team: TeamId,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, AuditEntry)>, Error> {
        let before = before.map(|before| key::audit_entry_at(team, before));
        let partition = (&*self.keys, &*key::audit_log_partition(team));
        self.newest_first::<AuditEntryRecord>(partition, before, limit).await
    }

    /// Adds an entry about a read, which changes no record.
    pub async fn record_read(&self, audit_entry: &AuditEntry) -> Result<(), Error> {
        match self.transact(|| Ok(vec![self.audit_entry_action(audit_entry)?])).await? {
            // An entry of the same request, time and subject exists, so an earlier attempt has stored it.
            Commit::Done | Commit::Stale => Ok(()),
            Commit::Busy | Commit::Unknown | Commit::TooLarge => {
                Err(Error::Unavailable("the entry of the audit log may be missing".to_owned()))
            }
        }
    }

    pub(crate) fn audit_entry_action(&self, audit_entry: &AuditEntry) -> Result<TransactWriteItem, Error> {
        statement::create::<AuditEntryRecord>(&self.keys, audit_entry)
    }
}
