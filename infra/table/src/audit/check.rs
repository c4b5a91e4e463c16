//! The audit of a table or of an export.

use super::findings::{Audited, Seen, count};
use super::rows::Rows;
use crate::client::{Error, Table};
use domain::audit::invariant::{Snapshot, Subject, Violation, ages, catalogue, violations};
use domain::{TeamId, Timestamp};
use std::collections::BTreeSet;

impl Table {
    /// Reads the whole table; writes during the read may be visible in part.
    ///
    /// Fails at a row that does not decode or is in the wrong place, because the snapshot would be wrong without it.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let rows = self.scan(&|_| ()).await?;
        match rows.flaws.into_iter().min() {
            Some(Violation { subject: Subject::Record { partition, sort }, detail, .. }) => {
                Err(Error::corrupt(format!("{partition} / {sort}"), detail))
            }
            Some(flaw) => Err(Error::corrupt(flaw.subject.to_string(), flaw.detail)),
            None => Ok(rows.snapshot),
        }
    }

    /// Checks the table. With a time, it also checks for work that must be complete by then.
    pub async fn audit(
        &self,
        now: Option<Timestamp>,
        watch: &(dyn Fn(Seen) + Send + Sync),
    ) -> Result<Audited, Error> {
        let rows = self.scan(watch).await?;
        let (misplaced, entries) = self.misplaced(&rows.index_entries, watch, rows.seen()).await?;
        let mut audited = Audited { rows: rows.count, ..Audited::default() };
        let aged = now.map(|now| ages(&rows.snapshot, now)).unwrap_or_default();
        let violations = [violations(&rows.snapshot), aged].concat();
        let of_catalogue = catalogue(&rows.snapshot);
        watch(Seen {
            rows: rows.count + entries,
            violations: rows.seen().violations
                + count(&misplaced)
                + count(&violations)
                + count(&of_catalogue),
        });
        audited.add(self.recheck_rows([rows.flaws, rows.set_aside].concat()).await?);
        audited.add((self.recheck_entries(misplaced).await?, 0));
        let teams: BTreeSet<TeamId> =
            violations.iter().filter_map(|violation| violation.subject.team()).collect();
        for team in teams {
            audited.add(self.recheck_team(team, now).await?);
        }
        audited.add(self.recheck_catalogue(rows.snapshot, of_catalogue).await?);
        Ok(audited)
    }
}

impl Rows {
    /// Checks rows that do not change, such as those of an export.
    pub fn audit(self) -> Audited {
        let mut audited = Audited { rows: self.count, ..Audited::default() };
        let of_rows = [self.flaws, self.set_aside].concat();
        let violations = [violations(&self.snapshot), catalogue(&self.snapshot), of_rows].concat();
        audited.add((violations, 0));
        audited
    }

    /// Returns the progress of the read.
    pub fn seen(&self) -> Seen {
        Seen { rows: self.count, violations: count(&self.flaws) + count(&self.set_aside) }
    }
}
