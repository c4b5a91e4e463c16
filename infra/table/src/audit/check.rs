//! The audit of a table or of an export.

use super::findings::{Audited, Seen, count};
use super::rows::{ROWS_IN_MEMORY, Rows};
use crate::client::{Error, Table};
use domain::audit::invariant::{Snapshot, Subject, Violation, ages, catalogue, uses, violations};
use domain::{TeamId, Timestamp};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Number of teams that are checked concurrently. The rows of each team are in memory.
const TEAMS_AT_ONCE: usize = 4;

impl Table {
    /// Reads the whole table; writes during the read may be visible in part.
    ///
    /// Fails at a row that does not decode or is in the wrong place, because the snapshot would be wrong without it.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let rows = self.scan(Rows::default(), &|_| ()).await?;
        match rows.flaws.into_iter().min() {
            Some(Violation { subject: Subject::Record { partition, sort }, detail, .. }) => {
                Err(Error::corrupt(format!("{partition} / {sort}"), detail))
            }
            Some(flaw) => Err(Error::corrupt(flaw.subject.to_string(), flaw.detail)),
            None => Ok(rows.snapshot),
        }
    }

    /// Checks the table. With a time, the audit also checks for work that must be complete by then.
    pub async fn audit(
        &self,
        now: Option<Timestamp>,
        watch: &(dyn Fn(Seen) + Send + Sync),
    ) -> Result<Audited, Error> {
        self.audit_within(ROWS_IN_MEMORY, now, watch).await
    }

    /// Checks the table with at most this number of rows in memory. A larger table is read again, team by team.
    pub async fn audit_within(
        &self,
        rows_max: u64,
        now: Option<Timestamp>,
        watch: &(dyn Fn(Seen) + Send + Sync),
    ) -> Result<Audited, Error> {
        let rows = self.scan(Rows::at_most(rows_max), watch).await?;
        let (misplaced, entries) = self.misplaced(&rows.index_entries, watch, rows.seen()).await?;
        let mut audited = Audited { rows: rows.count, ..Audited::default() };
        let (suspects, suspected) = rows.suspects(now);
        let (of_catalogue, of_uses) = (catalogue(&rows.snapshot), uses(&rows.snapshot));
        let mut seen = Seen {
            rows: rows.count + entries,
            violations: rows.seen().violations
                + count(&misplaced)
                + suspected
                + count(&of_catalogue)
                + count(&of_uses),
        };
        watch(seen);
        audited.add(self.recheck_rows([rows.flaws, rows.set_aside].concat()).await?);
        audited.add((self.recheck_entries(misplaced).await?, 0));
        let definitions = Arc::clone(&rows.snapshot.definitions);
        let checks = suspects.into_iter().map(|team| self.recheck_team(team, now, &definitions));
        let mut checks = stream::iter(checks).buffered(TEAMS_AT_ONCE);
        while let Some((found, unsettled)) = checks.try_next().await? {
            // The violations of a scan that kept its rows are counted already.
            seen.violations += if suspected == 0 { count(&found) } else { 0 };
            watch(seen);
            audited.add((found, unsettled));
        }
        audited.add(self.recheck_uses(&rows.snapshot, &of_uses).await?);
        audited.add(self.recheck_catalogue(rows.snapshot, of_catalogue).await?);
        Ok(audited)
    }
}

impl Audited {
    /// Adds the violations among the records of consumers that do not change.
    pub fn add_teams(&mut self, rows: &Rows) {
        self.add((violations(&rows.snapshot), 0));
    }
}

impl Rows {
    /// Checks rows that do not change, such as those of an export.
    ///
    /// The [`forgotten`](Self::forgotten) consumers are left out. Read their rows again, and [add](Audited::add_teams)
    /// them.
    pub fn audit(&self) -> Audited {
        let mut audited = Audited { rows: self.count, ..Audited::default() };
        let of_rows = [self.flaws.clone(), self.set_aside.clone()].concat();
        audited.add(([catalogue(&self.snapshot), uses(&self.snapshot), of_rows].concat(), 0));
        if !self.has_forgotten() {
            audited.add_teams(self);
        }
        audited
    }

    /// Returns the teams to check once more, and the number of suspected violations in the kept rows.
    fn suspects(&self, now: Option<Timestamp>) -> (BTreeSet<TeamId>, u64) {
        if self.has_forgotten() {
            return (self.forgotten().into_iter().flatten().collect(), 0);
        }
        let aged = now.map(|now| ages(&self.snapshot, now)).unwrap_or_default();
        let violations = [violations(&self.snapshot), aged].concat();
        let teams = violations.iter().filter_map(|violation| violation.subject.team()).collect();
        (teams, count(&violations))
    }

    /// Returns the progress of the read.
    pub fn seen(&self) -> Seen {
        Seen { rows: self.count, violations: count(&self.flaws) + count(&self.set_aside) }
    }
}
