//! The routes of operators: teams, queues of all owners, and the state of the system, without content of a team.

pub(crate) mod queues;
pub(crate) mod status;
pub(crate) mod teams;

use dovetail_http::{Call, Cursor, CursorKey, Failure};

/// A request for a page of a list in the order of team ids.
struct TeamOrder<'a> {
    call: &'a Call,
    key: &'a CursorKey,
    /// Id of the last team before the page; 0 for the first page.
    after: u64,
    /// Maximum number of rows.
    limit: usize,
}

impl<'a> TeamOrder<'a> {
    fn parse(call: &'a Call, key: &'a CursorKey) -> Result<Self, Failure> {
        call.only_knows(&["limit", "cursor"])?;
        let limit = call.query.limit()?;
        let cursor = call.position(key, list(call))?;
        let after = cursor.and_then(|Cursor { after, .. }| after.parse().ok()).unwrap_or_default();
        Ok(Self { call, key, after, limit })
    }

    /// Returns the URL of the page after a team, if there are teams after it.
    fn next(&self, last: u64, teams: u64) -> Option<String> {
        (last < teams).then(|| self.call.page_after(self.key, list(self.call), &last.to_string()))
    }
}

/// Returns the identity of the list for its cursors: the path, because there are no filters.
fn list(call: &Call) -> &str {
    call.path.trim_end_matches('/')
}
