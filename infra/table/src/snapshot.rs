//! Everything the table holds, for the audit of its invariants.

use crate::record::{
    self, ApplicationRecord, Attributes, ChangeRecord, DeployedRecord, HeadRecord, ItemRecord, Record,
    ShareRecord, StagingRecord, SubmissionRecord, TeamRecord, WorkRecord,
};
use crate::{Error, Table, related};
use domain::invariant::Snapshot;
use domain::json::Hash;

impl Table {
    /// Reads the whole table; what is written meanwhile may be seen in part.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let mut snapshot = Snapshot::default();
        let mut after = None;
        loop {
            let scan = self.client.scan().table_name(&self.name).consistent_read(true);
            let page = scan.set_exclusive_start_key(after).send().await?;
            for row in page.items.unwrap_or_default() {
                add(&mut snapshot, row)?;
            }
            after = page.last_evaluated_key;
            if after.is_none() {
                return Ok(snapshot);
            }
        }
    }
}

fn add(snapshot: &mut Snapshot, row: Attributes) -> Result<(), Error> {
    match record::type_of(&row) {
        Some(TeamRecord::TYPE) => {
            let team = record::read::<TeamRecord>(row)?;
            snapshot.teams.insert(team.id, team);
        }
        Some(HeadRecord::TYPE) => {
            let head = record::read::<HeadRecord>(row)?;
            snapshot.heads.insert(head.team, head);
        }
        Some(ApplicationRecord::TYPE) => {
            let application = record::read::<ApplicationRecord>(row)?;
            snapshot.applications.insert(application.id, application);
        }
        Some(ItemRecord::TYPE) => {
            let item = record::read::<ItemRecord>(row)?;
            snapshot.items.insert(item.id, item);
        }
        Some(ChangeRecord::TYPE) => {
            let change = record::read::<ChangeRecord>(row)?;
            snapshot.changes.insert(change.id, change);
        }
        Some(DeployedRecord::TYPE) => snapshot.deployed.push(record::read::<DeployedRecord>(row)?),
        Some(SubmissionRecord::TYPE) => snapshot.submissions.push(record::read::<SubmissionRecord>(row)?),
        Some(WorkRecord::TYPE) => snapshot.works.push(record::read::<WorkRecord>(row)?),
        Some(StagingRecord::TYPE) => snapshot.stagings.push(record::read::<StagingRecord>(row)?),
        Some(ShareRecord::TYPE) => {
            let share = record::read::<ShareRecord>(row)?;
            snapshot.shares.insert((share.item, share.owner));
        }
        Some("DECLARATION") => {
            let (key, text) = related::declaration(&row)?;
            snapshot.declarations.insert(key, Hash::of(&text));
        }
        // The catalogue, keys and counters are in no invariant yet.
        Some(_) | None => {}
    }
    Ok(())
}
