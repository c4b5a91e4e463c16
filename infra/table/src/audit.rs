//! The audit: every invariant on every record of a table, as it stands or as it was exported.
//!
//! A scan beside traffic may show one record from before a transaction and another from after it. So nothing counts
//! that is not found again in records that stood still (`again`).

mod again;
mod concerned;
mod indexes;
mod mend;
mod rows;
mod scan;

#[cfg(test)]
pub(crate) use rows::ITEM_BYTES_MAX;
pub use rows::Rows;

use crate::{Error, Table};
use domain::id::TeamId;
use domain::invariant::{Snapshot, Subject, Violation, ages, catalogue, violations};
use domain::timestamp::Timestamp;
use std::collections::BTreeSet;

/// How far an audit has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Rows read.
    pub rows: u64,
    /// Violations so far, not all of which may count in the end.
    pub violations: u64,
}

/// What an audit found.
#[derive(Clone, Debug, Default)]
pub struct Audited {
    /// Rows read.
    pub rows: u64,
    /// What is wrong, in order.
    pub violations: Vec<Violation>,
    /// What seemed wrong in records that did not stand still, however often they were read.
    pub unsettled: u64,
}

impl Audited {
    /// Adds what stands, and counts what does not.
    fn add(&mut self, (mut found, unsettled): (Vec<Violation>, u64)) {
        self.violations.append(&mut found);
        self.violations.sort();
        self.violations.dedup();
        self.unsettled += unsettled;
    }
}

impl Table {
    /// Reads the whole table; what is written meanwhile may be seen in part. Fails at a row that is wrong by itself: it
    /// would be missing, or told as it is not.
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

    /// Everything that is wrong with the table; with a time, also what ought to be over by then.
    pub async fn audit(
        &self,
        now: Option<Timestamp>,
        watch: &(dyn Fn(Seen) + Send + Sync),
    ) -> Result<Audited, Error> {
        let rows = self.scan(watch).await?;
        let (misplaced, entries) = self.misplaced(&rows.places, watch, rows.seen()).await?;
        let mut audited = Audited { rows: rows.count, ..Audited::default() };
        let aged = now.map(|now| ages(&rows.snapshot, now)).unwrap_or_default();
        let found = [violations(&rows.snapshot), aged].concat();
        let of_catalogue = catalogue(&rows.snapshot);
        watch(Seen {
            rows: rows.count + entries,
            violations: rows.seen().violations + count(&misplaced) + count(&found) + count(&of_catalogue),
        });
        audited.add(self.flaws_again([rows.flaws, rows.set_aside].concat()).await?);
        audited.add((self.places_again(misplaced).await?, 0));
        let teams: BTreeSet<TeamId> = found.iter().filter_map(|violation| violation.subject.team()).collect();
        for team in teams {
            audited.add(self.team_again(team, now).await?);
        }
        audited.add(self.catalogue_again(rows.snapshot, of_catalogue).await?);
        Ok(audited)
    }
}

impl Rows {
    /// Everything that is wrong with rows that nobody changes.
    pub fn audit(self) -> Audited {
        let mut audited = Audited { rows: self.count, ..Audited::default() };
        let of_rows = [self.flaws, self.set_aside].concat();
        let found = [violations(&self.snapshot), catalogue(&self.snapshot), of_rows].concat();
        audited.add((found, 0));
        audited
    }

    /// How far reading has come.
    pub fn seen(&self) -> Seen {
        Seen { rows: self.count, violations: count(&self.flaws) + count(&self.set_aside) }
    }
}

fn count<T>(all: &[T]) -> u64 {
    all.len().try_into().unwrap_or(u64::MAX)
}
