//! Transactions: all conditions are checked before the first write. Then everything is written, or nothing.

use crate::condition::{Condition, Fence};
use crate::record::{Key, Record};
use crate::table::Table;
use domain::Change;
use domain::model::charge::Charge;
use domain::model::staging::Staging;
use domain::model::submission::Submission;
use domain::model::team::{Application, Head};
use domain::model::write::{Closing, Write};
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
        let stays = matches!(
            write,
            Write::CheckItem { .. }
                | Write::CheckGone { .. }
                | Write::CheckService { .. }
                | Write::CheckStaging { .. }
        );
        if stays {
            return;
        }
        let key = key(write);
        match written(write, self.record(&key)) {
            Some(record) => self.put(record),
            None => self.remove(&key),
        }
    }
}

/// Returns the record after a write. `None` if it is deleted, or missing for an update.
fn written(write: &Write, stored: Option<&Record>) -> Option<Record> {
    match write {
        Write::AdvanceHead { after, .. } => Some(Record::Head(*after)),
        Write::AddBlockers { delta, .. } => head(stored, |head| head.blockers = head.blockers + *delta),
        Write::AddDrifted { delta, .. } => application(stored, |application| {
            application.drifted = application.drifted.saturating_add_signed(*delta);
        }),
        Write::FreeHead(_) => head(stored, |head| head.in_flight = None),
        Write::ReplaceTeam(after) => Some(Record::Team(after.clone())),
        Write::PutApplication { after, .. } => Some(Record::Application(after.clone())),
        Write::PutItem { after, .. } => Some(Record::Item(after.clone())),
        Write::CheckItem { .. }
        | Write::CheckGone { .. }
        | Write::CheckService { .. }
        | Write::CheckStaging { .. } => stored.cloned(),
        Write::CreateChange(after) | Write::UpdateChange { after, .. } => Some(Record::Change(after.clone())),
        Write::CloseChange(closing) => change(stored, |change| close(change, closing)),
        Write::CreateCharge(after) | Write::ProcessCharge { after, .. } => {
            Some(Record::Charge(after.clone()))
        }
        Write::EndCharge { end, .. } => charge(stored, |charge| charge.end = Some(*end)),
        Write::CreateDeployed(deployed) => Some(Record::Deployed(deployed.clone())),
        Write::RecordSubmission(submission) => Some(Record::Submission(submission.clone())),
        Write::UpdateProgress { after, .. } => submission(stored, |before| progress(before, after)),
        Write::StoreIdempotencyKey { team, remembered, .. } => {
            Some(Record::IdempotencyRecord(*team, remembered.clone()))
        }
        Write::CreateWork(work) => Some(Record::Work(work.clone())),
        Write::DeleteWork(_)
        | Write::DeleteStaging { .. }
        | Write::DeleteShare { .. }
        | Write::DeleteItem { .. } => None,
        Write::StartStaging(staging) => Some(Record::Staging(*staging)),
        Write::UpdateStaging { to, .. } => staging(stored, |staging| staging.state = *to),
        Write::StoreDeclaration { team, hash, text } => {
            Some(Record::Declaration(*team, *hash, text.as_str().into()))
        }
        Write::CreateShare(share) => Some(Record::Share(*share)),
    }
}

fn head(stored: Option<&Record>, change: impl FnOnce(&mut Head)) -> Option<Record> {
    let Some(Record::Head(mut head)) = stored.cloned() else { return None };
    change(&mut head);
    Some(Record::Head(head))
}

fn application(stored: Option<&Record>, change: impl FnOnce(&mut Application)) -> Option<Record> {
    let Some(Record::Application(mut application)) = stored.cloned() else { return None };
    change(&mut application);
    Some(Record::Application(application))
}

fn change(stored: Option<&Record>, move_on: impl FnOnce(&mut Change)) -> Option<Record> {
    let Some(Record::Change(mut change)) = stored.cloned() else { return None };
    move_on(&mut change);
    Some(Record::Change(change))
}

fn charge(stored: Option<&Record>, change: impl FnOnce(&mut Charge)) -> Option<Record> {
    let Some(Record::Charge(mut charge)) = stored.cloned() else { return None };
    change(&mut charge);
    Some(Record::Charge(charge))
}

fn submission(stored: Option<&Record>, change: impl FnOnce(&mut Submission)) -> Option<Record> {
    let Some(Record::Submission(mut submission)) = stored.cloned() else { return None };
    change(&mut submission);
    Some(Record::Submission(submission))
}

fn staging(stored: Option<&Record>, change: impl FnOnce(&mut Staging)) -> Option<Record> {
    let Some(Record::Staging(mut staging)) = stored.cloned() else { return None };
    change(&mut staging);
    Some(Record::Staging(staging))
}

fn close(change: &mut Change, closing: &Closing) {
    change.state = closing.entry.to;
    change.history.push(closing.entry.clone());
}

/// Updates the progress only, like the table's update expression.
fn progress(before: &mut Submission, after: &Submission) {
    before.work_left = after.work_left;
    before.direct_left = after.direct_left;
    before.opened = after.opened;
    before.modified = after.modified;
}

fn key(write: &Write) -> Key {
    match write {
        Write::AdvanceHead { after, .. } => Key::Head(after.team),
        Write::AddBlockers { team, .. } => Key::Head(*team),
        Write::AddDrifted { application, .. } => Key::application(*application),
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
        Write::CreateShare(share) => Key::Share(share.item, share.owner),
        Write::DeleteShare { item, owner } => Key::Share(*item, *owner),
    }
}
