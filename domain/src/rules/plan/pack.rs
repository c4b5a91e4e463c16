//! Packing: writes a plan at once in one transaction, or stages it in work records that a small transaction
//! commits.
//!
//! Both packings create the same change instances with the same function; only the time differs
//! (docs/explanation/staging.md).

use super::Plan;
use crate::base::context::RequestContext;
use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ChangeId};
use crate::model::blockers::Blockers;
use crate::model::change::Change;
use crate::model::item::Item;
use crate::model::staging::{Staging, StagingId, StagingState};
use crate::model::submission::Submission;
use crate::model::team::{Application, Head};
use crate::model::work::{PlannedChange, Work, WorkId, divided};
use crate::model::write::Write;
use crate::rules::generate::{Missing, apply_declaration};
use crate::rules::plan::Uses;
use crate::rules::put_item::{drift, put_item, uses_changed};
use std::collections::{BTreeMap, BTreeSet};

/// A plan as one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtOnce {
    pub submission: Submission,
    /// The created change instances.
    pub created: Vec<Change>,
    /// The touched items after the transaction.
    pub items: Vec<Item>,
    /// The transaction.
    pub writes: Vec<Write>,
}

/// A plan whose items are applied after the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    pub submission: Submission,
    /// The staging record: the first write.
    pub staging: Staging,
    /// The work records: the second step, without effect until the commit.
    pub works: Vec<Work>,
    /// The transaction that commits the whole submission, or nothing of it.
    pub commit: Vec<Write>,
}

impl Plan<'_> {
    /// Returns the submission's record as if all work were done.
    pub const fn submission(&self) -> &Submission {
        &self.submission
    }

    /// Returns a lower bound on the writes at once: without closings, charges, gone items and generated changes.
    ///
    /// The bound decides for staging before any change instance is created.
    pub fn writes_at_least(&self) -> usize {
        // The head and the submission, then an item and a change instance for each change.
        2 + self.others.len() + self.declarations.len() + self.uses.writes_at_least() + 2 * self.direct.len()
    }

    /// Returns the changes to generate after the submission's own items.
    pub fn derived(&self) -> &[PlannedChange] {
        &self.derived
    }

    /// Packs the plan as one transaction of any size: it applies the items now.
    pub fn at_once(&self, ctx: &RequestContext) -> Result<AtOnce, Missing> {
        // Generated changes do not decide the acceptance, and would take up the 100 writes of the transaction.
        let works = divided(self.derived.clone(), &BTreeMap::new());
        let submission = Submission {
            opened: self.submission.direct,
            work_left: count(works.len()),
            ..self.submission.clone()
        };
        let (mut created, mut items, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        let shared: BTreeSet<ChangeId> = self.derived.iter().filter_map(|planned| planned.cause).collect();
        // The head is one record and takes one action in a transaction, so it carries the sum of all items.
        let mut blockers = self.head.1.blockers;
        let mut drifted: BTreeMap<ApplicationId, i64> = BTreeMap::new();
        let mut uses = self.uses.clone();
        for (before, planned) in &self.direct {
            let mut opened = apply_declaration(planned, &submission, *before, ctx)?;
            // A transaction takes one action for each record, so the write of the item also counts its uses.
            let of_item = uses.items.remove(&opened.item.id).unwrap_or_default();
            opened.item.used_by = of_item.after(opened.item.used_by);
            // Until `generate` has created its shares, the item cannot go (R44, I33).
            opened.item.shares_due += u64::from(shared.contains(&planned.id));
            blockers = blockers + opened.item.blockers() - before.map_or(Blockers::NONE, Item::blockers);
            *drifted.entry(opened.item.application_id()).or_default() +=
                drift(Some(&opened.item)) - drift(*before);
            match before {
                Some(before) => writes.extend(put_item(before, &mut opened.item)),
                None => writes.push(Write::PutItem { before: None, after: opened.item.clone() }),
            }
            writes.extend(uses_changed(*before, &opened.item));
            writes.push(Write::CreateChange(opened.change.clone()));
            writes.extend(opened.closed.into_iter().map(Write::CloseChange));
            writes.extend(opened.others);
            created.push(opened.change);
            items.push(opened.item);
        }
        let mut all =
            vec![Write::AdvanceHead { before: self.head.0, after: Head { blockers, ..self.head.1 } }];
        all.extend(self.others.iter().map(|write| with_counts(write, &mut drifted, &mut uses)));
        all.extend(in_applications(drifted, &uses));
        all.extend(uses.writes(submission.team.id));
        all.push(Write::RecordSubmission(submission.clone()));
        all.extend(records(&submission, works, &BTreeMap::new(), 1).into_iter().map(Write::CreateWork));
        all.extend(self.declarations.iter().map(|(hash, text)| Write::StoreDeclaration {
            team: submission.team.id,
            hash: *hash,
            text: text.clone(),
        }));
        all.append(&mut writes);
        Ok(AtOnce { submission, created, items, writes: all })
    }

    /// Packs the plan as a staging: work for each item with the shares of its dependent teams, and the commit.
    ///
    /// Returns `None` if no item changes, because such a plan fits one transaction.
    pub fn staged(&self, id: StagingId) -> Option<Staged> {
        if self.direct.is_empty() {
            return None;
        }
        let (direct, referenced) = self.by_item();
        let direct = divided(direct, &self.declarations);
        let referenced = divided(referenced, &BTreeMap::new());
        let submission = Submission {
            staging: Some(id),
            direct_left: count(direct.len()),
            work_left: count(direct.len() + referenced.len()),
            ..self.submission.clone()
        };
        // The direct items have the lowest numbers. The head is free once they are applied, and `submit` applies
        // the first record for its response.
        let mut works = records(&submission, direct, &self.declarations, 1);
        works.extend(records(&submission, referenced, &BTreeMap::new(), submission.direct_left + 1));
        let staging = Staging {
            id,
            submission: submission.id,
            works: submission.work_left,
            state: StagingState::Open,
            created: submission.created,
        };
        // Until the last item is applied, the stored items are not the declared ones: no other submission may plan
        // on them (I8, ADR 12).
        let head = Head { in_flight: Some(submission.id), ..self.head.1 };
        let mut commit = vec![Write::AdvanceHead { before: self.head.0, after: head }];
        let mut uses = self.uses.clone();
        commit.extend(self.others.iter().map(|write| with_counts(write, &mut BTreeMap::new(), &mut uses)));
        commit.extend(in_applications(BTreeMap::new(), &uses));
        commit.extend(uses.writes(submission.team.id));
        commit.push(Write::RecordSubmission(submission.clone()));
        commit.push(Write::UpdateStaging {
            team: submission.team.id,
            staging: id,
            from: StagingState::Open,
            to: StagingState::Committed,
        });
        Some(Staged { submission, staging, works, commit })
    }

    /// Returns the planned changes item by item: first the submission's own items with their shares, then the
    /// referenced items.
    ///
    /// All changes of one item are adjacent, because they go into one transaction.
    pub(super) fn by_item(&self) -> (Vec<PlannedChange>, Vec<PlannedChange>) {
        let mut shares: BTreeMap<_, Vec<PlannedChange>> = BTreeMap::new();
        for planned in &self.derived {
            shares.entry(planned.item).or_default().push(planned.clone());
        }
        let mut direct = Vec::new();
        for (_, planned) in &self.direct {
            direct.push(planned.clone());
            direct.extend(shares.remove(&planned.item).unwrap_or_default());
        }
        (direct, shares.into_values().flatten().collect())
    }
}

/// Returns the writes of the numbers of applications that the commit does not write anyway.
fn in_applications(mut drifted: BTreeMap<ApplicationId, i64>, uses: &Uses) -> Vec<Write> {
    drifted.retain(|_, delta| *delta != 0);
    let applications: BTreeSet<ApplicationId> = drifted.keys().chain(uses.begun.keys()).copied().collect();
    let write = |application: ApplicationId| Write::AddToApplication {
        application,
        drifted: drifted.get(&application).copied().unwrap_or_default(),
        uses: uses.begun.get(&application).copied().unwrap_or_default(),
    };
    applications.into_iter().map(write).collect()
}

/// Returns a write of the commit. The write of an application also counts its drifted items and the uses of its items.
///
/// A transaction allows one action per record.
fn with_counts(write: &Write, drifted: &mut BTreeMap<ApplicationId, i64>, uses: &mut Uses) -> Write {
    let Write::PutApplication { before, after } = write else { return write.clone() };
    let delta = drifted.remove(&after.id).unwrap_or_default();
    let is_current = after.retired.is_none();
    let begun = uses.begun.remove(&after.id).filter(|_| is_current).unwrap_or_default();
    let after = Application {
        drifted: after.drifted.saturating_add_signed(delta),
        uses_ever: after.uses_ever + begun,
        ..after.clone()
    };
    Write::PutApplication { before: before.clone(), after }
}

fn records(
    submission: &Submission,
    divided: Vec<Vec<PlannedChange>>,
    declarations: &BTreeMap<Hash, String>,
    first: u64,
) -> Vec<Work> {
    let record = |(entries, number): (Vec<PlannedChange>, u64)| {
        let hashes = entries.iter().filter_map(PlannedChange::new_hash);
        let new = hashes.filter_map(|hash| Some((hash, declarations.get(&hash)?.clone()))).collect();
        Work {
            id: WorkId { submission: submission.id, staging: submission.staging, number },
            entries,
            declarations: new,
            created: submission.created,
        }
    };
    divided.into_iter().zip(first..).map(record).collect()
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
