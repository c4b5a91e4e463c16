//! Conversions between a table and the snapshot of the audit.

use crate::record::Record;
use crate::table::Table;
use domain::Timestamp;
use domain::audit::invariant::Snapshot;
use domain::catalog::service::Service;
use domain::model::submission::IdempotencyRecord;
use domain::model::work::Share;
use domain::rules::plan::Stored;
use std::sync::Arc;

/// Returns the team in these records as a plan reads it; none without its record or its head.
pub fn team_of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<Stored> {
    let (mut team, mut head, mut applications) = (None, None, Vec::new());
    for record in records {
        if let Record::Team(record) = record {
            team = Some(record.clone());
        } else if let Record::Head(record) = record {
            head = Some(*record);
        } else if let Record::Application(record) = record {
            applications.push(record.clone());
        }
    }
    Some(Stored { team: team?, head: head?, applications })
}

impl Table {
    /// Creates the table of a snapshot. A snapshot has no creation times of shares.
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut table = Self::default();
        let mut put = |record| table.put(record);
        snapshot.teams.values().cloned().map(Record::Team).for_each(&mut put);
        snapshot.heads.values().copied().map(Record::Head).for_each(&mut put);
        snapshot.applications.values().cloned().map(Record::Application).for_each(&mut put);
        snapshot.items.values().cloned().map(Record::Item).for_each(&mut put);
        snapshot.changes.values().cloned().map(Record::Change).for_each(&mut put);
        snapshot.charges.values().cloned().map(Record::Charge).for_each(&mut put);
        snapshot.deployed.iter().cloned().map(Record::Deployed).for_each(&mut put);
        snapshot.submissions.iter().cloned().map(Record::Submission).for_each(&mut put);
        snapshot.works.iter().cloned().map(Record::Work).for_each(&mut put);
        snapshot.stagings.iter().copied().map(Record::Staging).for_each(&mut put);
        let created = Timestamp::from_micros(0);
        let share = |(item, owner): &_| Record::Share(Share { item: *item, owner: *owner, created });
        snapshot.shares.iter().map(share).for_each(&mut put);
        snapshot.claims.values().cloned().map(Record::Claim).for_each(&mut put);
        snapshot.uses.iter().copied().map(Record::Use).for_each(&mut put);
        let declaration =
            |((team, hash), text): (&(_, _), &Arc<str>)| Record::Declaration(*team, *hash, Arc::clone(text));
        snapshot.declarations.iter().map(declaration).for_each(&mut put);
        let remembered = |(team, one): &(_, IdempotencyRecord)| Record::IdempotencyRecord(*team, one.clone());
        snapshot.remembered.iter().map(remembered).for_each(&mut put);
        let service = |service: &Service| Record::Service(service.title.as_str().into(), service.revision);
        snapshot.catalogue.services.values().map(service).for_each(&mut put);
        table
    }

    /// Returns the snapshot of all records. Services are not part of it, because the store has only their revisions.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot::default();
        for record in self.records() {
            match record {
                Record::Team(team) => drop(all.teams.insert(team.id, team.clone())),
                Record::Head(head) => drop(all.heads.insert(head.team, *head)),
                Record::Application(application) => {
                    all.applications.insert(application.id, application.clone());
                }
                Record::Item(item) => {
                    if all.items.insert(item.id, item.clone()).is_some() {
                        all.doubled.insert(item.id);
                    }
                }
                Record::Change(change) => drop(all.changes.insert(change.id, change.clone())),
                Record::Charge(charge) => drop(all.charges.insert(charge.id, charge.clone())),
                Record::Deployed(deployed) => all.deployed.push(deployed.clone()),
                Record::Submission(submission) => all.submissions.push(submission.clone()),
                Record::Work(work) => all.works.push(work.clone()),
                Record::Staging(staging) => all.stagings.push(*staging),
                Record::Share(Share { item, owner, .. }) => drop(all.shares.insert((*item, *owner))),
                Record::Claim(claim) => drop(all.claims.insert((claim.item, claim.owner), claim.clone())),
                Record::Declaration(team, hash, text) => {
                    all.declarations.insert((*team, *hash), Arc::clone(text));
                }
                Record::IdempotencyRecord(team, one) => all.remembered.push((*team, one.clone())),
                Record::Use(item_use) => drop(all.uses.insert(*item_use)),
                Record::Service(..) => {}
            }
        }
        all
    }
}
