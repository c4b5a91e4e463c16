//! The stored result of the last audit.

use crate::client::{Error, Table};
use crate::key;
use crate::record::AuditResultRecord;
use crate::write::statement;
use domain::audit::result::AuditResult;

impl Table {
    /// Returns the result of the last recorded audit.
    pub async fn audit_result(&self) -> Result<Option<AuditResult>, Error> {
        self.get::<AuditResultRecord>(key::audit_result()).await
    }

    /// Stores the result of an audit, unless a later one is stored.
    pub async fn put_audit_result(&self, result: &AuditResult) -> Result<(), Error> {
        let actions =
            || Ok(vec![statement::newest::<AuditResultRecord>(&self.name, result.finished, result)?]);
        self.transact(actions).await?.certain().map(drop)
    }
}
