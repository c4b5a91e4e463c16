//! The records of a table, and their reads.

use crate::fingerprint::Fingerprint;
use crate::record::{Key, Record, Stored};
use domain::base::id::ChargeId;
use domain::model::charge::Charge;
use domain::model::submission::Submission;
use domain::model::team::Head;
use domain::{Change, ChangeId, Item, ItemId, SubmissionId, TeamId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A table, whose copies share the records.
#[derive(Clone, Debug, Default)]
pub struct Table {
    records: BTreeMap<Key, Arc<Stored>>,
    fingerprint: Fingerprint,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Table {
    /// Returns the fingerprint of all records.
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Stores a record without conditions.
    pub fn put(&mut self, record: Record) {
        let stored = Arc::new(Stored::from(record));
        self.fingerprint = self.fingerprint.with(stored.fingerprint);
        if let Some(before) = self.records.insert(stored.record.key(), stored) {
            self.fingerprint = self.fingerprint.without(before.fingerprint);
        }
    }

    /// Removes a record, if it exists.
    pub fn remove(&mut self, key: &Key) {
        if let Some(before) = self.records.remove(key) {
            self.fingerprint = self.fingerprint.without(before.fingerprint);
        }
    }

    /// Returns the record of a key, with its fingerprint.
    pub fn get(&self, key: &Key) -> Option<&Arc<Stored>> {
        self.records.get(key)
    }

    /// Returns the record of a key.
    pub fn record(&self, key: &Key) -> Option<&Record> {
        self.get(key).map(|stored| &stored.record)
    }

    /// Returns all records, in the order of their keys.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values().map(|stored| &stored.record)
    }

    /// Returns the head of a team.
    pub fn head(&self, team: TeamId) -> Option<&Head> {
        if let Some(Record::Head(head)) = self.record(&Key::Head(team)) { Some(head) } else { None }
    }

    /// Returns an item, gone or not.
    pub fn item(&self, id: ItemId) -> Option<&Item> {
        let record = self.record(&Key::Item(id)).or_else(|| self.record(&Key::Gone(id)));
        if let Some(Record::Item(item)) = record { Some(item) } else { None }
    }

    pub fn change(&self, id: ChangeId) -> Option<&Change> {
        if let Some(Record::Change(change)) = self.record(&Key::Change(id)) { Some(change) } else { None }
    }

    pub fn charge(&self, id: ChargeId) -> Option<&Charge> {
        if let Some(Record::Charge(charge)) = self.record(&Key::Charge(id)) { Some(charge) } else { None }
    }

    pub fn submission(&self, id: SubmissionId) -> Option<&Submission> {
        let record = self.record(&Key::Submission(id));
        if let Some(Record::Submission(submission)) = record { Some(submission) } else { None }
    }

    /// Returns all submissions, in the order of their ids.
    pub fn submissions(&self) -> impl Iterator<Item = &Submission> {
        self.records().filter_map(|record| {
            if let Record::Submission(submission) = record { Some(submission) } else { None }
        })
    }

    /// Returns all items: the live ones in the order of their ids, then the gone ones.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.records().filter_map(|record| if let Record::Item(item) = record { Some(item) } else { None })
    }

    /// Returns all change instances, in the order of their ids.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.records()
            .filter_map(|record| if let Record::Change(change) = record { Some(change) } else { None })
    }
}
