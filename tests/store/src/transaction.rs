//! Transactions: all conditions are checked before the first write. Then everything is written, or nothing.

use crate::condition::{Condition, Fence};
use crate::record::{Key, Record};
use crate::table::Table;
use domain::model::write::Write;
use std::collections::BTreeSet;

/// The reason of a failed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A condition of this record does not hold.
    Condition(Key, Condition),
    /// The transaction contains two writes of this record.
    Twice(Key),
}

impl Table {
    /// Writes all of `writes` or nothing. Ignores the conditions of the fences in `without`.
    pub fn commit(&mut self, writes: &[Write], without: &[Fence]) -> Result<(), Refused> {
        self.takes(writes, without)?;
        self.apply(writes);
        Ok(())
    }

    /// Checks all conditions, except those of the fences in `without`.
    pub fn takes(&self, writes: &[Write], without: &[Fence]) -> Result<(), Refused> {
        // DynamoDB validates a transaction before it reads any record.
        let mut keys = BTreeSet::new();
        if let Some(twice) = writes.iter().map(key).find(|key| !keys.insert(key.clone())) {
            return Err(Refused::Twice(twice));
        }
        for write in writes {
            let key = key(write);
            let stored = self.record(&key);
            let checked = Condition::of(write).into_iter().filter(|one| !without.contains(&one.fence()));
            if let Some(failed) = checked.into_iter().find(|condition| !condition.holds(stored)) {
                return Err(Refused::Condition(key, failed));
            }
        }
        Ok(())
    }

    /// Writes without conditions.
    pub fn apply(&mut self, writes: &[Write]) {
        for write in writes {
            self.write(write);
        }
    }

    fn write(&mut self, write: &Write) {
        let key = key(write);
        let written = match write {
            Write::CheckItem { .. }
            | Write::CheckGone { .. }
            | Write::CheckClaim { .. }
            | Write::CheckUnclaimed { .. }
            | Write::CheckService { .. }
            | Write::CheckNotInFlight { .. }
            | Write::CheckStaging { .. } => return,
            Write::DeleteWork(_)
            | Write::DeleteStaging { .. }
            | Write::DeleteShare { .. }
            | Write::DeleteUse(_)
            | Write::DeleteItem { .. } => None,
            Write::AdvanceHead { after, .. } => Some(Record::Head(*after)),
            Write::ReplaceTeam(after) => Some(Record::Team(after.clone())),
            Write::PutApplication { after, .. } => Some(Record::Application(after.clone())),
            Write::PutItem { after, .. } => Some(Record::Item(after.clone())),
            Write::CreateChange(after) | Write::UpdateChange { after, .. } => {
                Some(Record::Change(after.clone()))
            }
            Write::CreateCharge(after) | Write::ProcessCharge { after, .. } => {
                Some(Record::Charge(after.clone()))
            }
            Write::CreateDeployed(deployed) => Some(Record::Deployed(deployed.clone())),
            Write::RecordSubmission(submission) => Some(Record::Submission(submission.clone())),
            Write::StoreIdempotencyKey { team, remembered, .. } => {
                Some(Record::IdempotencyRecord(*team, remembered.clone()))
            }
            Write::CreateWork(work) => Some(Record::Work(work.clone())),
            Write::StartStaging(staging) => Some(Record::Staging(*staging)),
            Write::StoreDeclaration { team, hash, text } => {
                Some(Record::Declaration(*team, *hash, text.as_str().into()))
            }
            Write::CreateShare(share) => Some(Record::Share(*share)),
            Write::PutUse(item_use) => Some(Record::Use(*item_use)),
            Write::AddBlockers { .. }
            | Write::AddToApplication { .. }
            | Write::AddUses { .. }
            | Write::FreeHead(_)
            | Write::CloseChange(_)
            | Write::EndCharge { .. }
            | Write::UpdateProgress { .. }
            | Write::ReleaseClaim { .. }
            | Write::UpdateStaging { .. } => self.record(&key).cloned().map(|record| updated(record, write)),
        };
        match written {
            Some(record) => self.put(record),
            None => self.remove(&key),
        }
    }
}

/// Returns a stored record after an update of some attributes.
fn updated(mut record: Record, write: &Write) -> Record {
    match (write, &mut record) {
        (Write::AddBlockers { delta, .. }, Record::Head(head)) => head.blockers = head.blockers + *delta,
        (Write::FreeHead(_), Record::Head(head)) => head.in_flight = None,
        (Write::AddToApplication { drifted: delta, uses, .. }, Record::Application(application)) => {
            application.uses_ever += uses;
            application.drifted = application.drifted.saturating_add_signed(*delta);
        }
        (Write::AddUses { begun, ended, .. }, Record::Item(item)) => {
            item.used_by = item.used_by.saturating_add(*begun).saturating_sub(*ended);
            item.revision += 1;
        }
        (Write::CloseChange(closing), Record::Change(change)) => {
            change.state = closing.entry.to;
            change.history.push(closing.entry.clone());
        }
        (Write::EndCharge { end, .. }, Record::Charge(charge)) => charge.end = Some(*end),
        // Only the progress, like the update expression of the table.
        (Write::UpdateProgress { after, .. }, Record::Submission(before)) => {
            before.work_left = after.work_left;
            before.direct_left = after.direct_left;
            before.opened = after.opened;
            before.modified = after.modified;
        }
        (Write::ReleaseClaim { .. }, Record::Claim(claim)) => claim.lease = None,
        (Write::UpdateStaging { to, .. }, Record::Staging(staging)) => staging.state = *to,
        _ => unreachable!("an update finds a record of its type"),
    }
    record
}

fn key(write: &Write) -> Key {
    match write {
        Write::AdvanceHead { after, .. } => Key::Head(after.team),
        Write::AddBlockers { team, .. } => Key::Head(*team),
        Write::AddToApplication { application, .. } => Key::application(*application),
        Write::AddUses { item, .. } => Key::Item(*item),
        Write::CheckNotInFlight { team } => Key::Head(*team),
        Write::PutUse(item_use) | Write::DeleteUse(item_use) => Key::Use(*item_use),
        Write::ReplaceTeam(after) => Key::Team(after.id),
        Write::PutApplication { after, .. } => Key::of_application(after),
        Write::PutItem { after, .. } => Key::item_at(after.id, after.gone),
        Write::CheckItem { item, is_gone, .. } => Key::item_at(*item, *is_gone),
        Write::CheckGone { item } => Key::Gone(*item),
        Write::DeleteItem { item, .. } => Key::Item(*item),
        Write::CheckService { title, .. } => Key::Service(title.as_str().into()),
        Write::CreateChange(created) => Key::Change(created.id),
        Write::UpdateChange { after, .. } => Key::Change(after.id),
        Write::CloseChange(closing) => Key::Change(closing.change),
        Write::CreateCharge(after) | Write::ProcessCharge { after, .. } => Key::Charge(after.id),
        Write::EndCharge { charge, .. } => Key::Charge(*charge),
        Write::CreateDeployed(deployed) => Key::Deployed(deployed.id),
        Write::RecordSubmission(submission) => Key::Submission(submission.id),
        Write::StoreIdempotencyKey { team, remembered, .. } => {
            Key::IdempotencyRecord(*team, remembered.key.as_str().into())
        }
        Write::CreateWork(work) => Key::Work(work.id),
        Write::DeleteWork(id) => Key::Work(*id),
        Write::UpdateProgress { after, .. } => Key::Submission(after.id),
        Write::FreeHead(submission) => Key::Head(submission.team()),
        Write::StartStaging(staging) => Key::Staging(staging.team(), staging.id),
        Write::UpdateStaging { team, staging, .. }
        | Write::CheckStaging { team, staging, .. }
        | Write::DeleteStaging { team, staging } => Key::Staging(*team, *staging),
        Write::StoreDeclaration { team, hash, .. } => Key::Declaration(*team, *hash),
        Write::CheckClaim { item, owner, .. }
        | Write::CheckUnclaimed { item, owner }
        | Write::ReleaseClaim { item, owner, .. } => Key::Claim(*item, *owner),
        Write::CreateShare(share) => Key::Share(share.item, share.owner),
        Write::DeleteShare { item, owner } => Key::Share(*item, *owner),
    }
}
