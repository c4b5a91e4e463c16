//! The pending work of one item: one transaction for all of it, with any number of attempts.
//!
//! If too many answered change instances are open, separate transactions close some of them in advance (ADR 28).

use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::model::submission::Submission;
use domain::model::work::{PlannedChange, Work, WorkId};
use domain::rules::generate::{Missing, OPENED_MAX, close_excess, generate};
use domain::{Change, ChangeId, Item, ItemId};
use dovetail_aws::{now, retry};
use dovetail_table::{Commit, Error, Table};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of consecutive mismatches. One mismatch comes from a transaction during the read; more mean a broken
/// record.
const MISFITS_MAX: u32 = 3;

/// Maximum number of transactions that close excess, in one call.
///
/// An item takes at most two by the limit on dependent teams, and an older item more. The next call continues (ADR
/// 28).
const EXCESSES_MAX: u32 = 16;

/// The pending work of one item, with its records as read.
pub(crate) struct OfItem {
    planned: Vec<PlannedChange>,
    changes: BTreeMap<ChangeId, Change>,
    item: Option<Item>,
}

impl OfItem {
    /// Reads all records of a work record in one round, and divides them by item.
    pub(crate) async fn load(table: &Table, work: &Work) -> Result<Vec<Self>, Error> {
        let (changes, items) = load(table, &work.entries).await?;
        let changes: BTreeMap<_, _> = changes.into_iter().map(|change| (change.id, change)).collect();
        let mut items: BTreeMap<_, _> = items.into_iter().map(|item| (item.id, item)).collect();
        let of_item = |planned: &[PlannedChange]| Self {
            planned: planned.to_vec(),
            changes: planned
                .iter()
                .flat_map(named)
                .filter_map(|id| Some((id, changes.get(&id)?.clone())))
                .collect(),
            item: planned.first().and_then(|first| items.remove(&first.item)),
        };
        Ok(work.entries.chunk_by(|a, b| a.item == b.item).map(of_item).collect())
    }

    /// Generates the work, unless it exists, and starts over if the item has changed.
    pub(crate) async fn generate(
        mut self,
        table: &Table,
        id: WorkId,
        submission: &Submission,
    ) -> Result<(), Error> {
        let (mut misfits, mut excesses, mut last) = (0, 0, None);
        let mut attempts = retry::WRITE.attempts();
        while excesses < EXCESSES_MAX && attempts.next().await.is_some() {
            // The records are read after the pause, so that the attempt uses fresh ones.
            if let Some((tried, revision)) = last.take() {
                self.reload(table).await?;
                let misfit = misfit(tried, self.revision() == revision);
                misfits = if misfit.is_some() { misfits + 1 } else { 0 };
                if let Some(reason) = misfit.filter(|_| misfits == MISFITS_MAX) {
                    return Err(corrupt(id, &reason));
                }
            }
            let tried = self.once(table, id, submission).await?;
            match tried {
                Tried::Done => return Ok(()),
                // Closed excess is progress, so it counts neither as an attempt nor as a mismatch (ADR 28).
                Tried::ClosedExcess => {
                    excesses += 1;
                    attempts.restart(false);
                }
                Tried::Refused | Tried::Busy | Tried::Misfit(_) => {}
            }
            last = Some((tried, self.revision()));
        }
        Err(Error::Unavailable(format!("{id}: other requests change the same records")))
    }

    /// Makes one attempt on the read records.
    async fn once(&self, table: &Table, id: WorkId, submission: &Submission) -> Result<Tried, Error> {
        match self.existing(submission) {
            Existing::All => return Ok(Tried::Done),
            Existing::Others => {
                return Ok(Tried::Misfit("another change instance has its number".to_owned()));
            }
            Existing::None => {}
        }
        let ctx = RequestContext { by: Actor::System, request: id.to_string(), now: now() };
        let generated = match generate(&self.planned, submission, self.item.as_ref(), &self.changes, &ctx) {
            Ok(generated) => generated,
            Err(Missing::Cause(cause)) => {
                return Ok(Tried::Misfit(format!("change instance {cause} is missing")));
            }
            Err(Missing::Item) => return Ok(Tried::Misfit("an item is missing".to_owned())),
            Err(Missing::Change(id)) => {
                return Ok(Tried::Misfit(format!("change instance {id} was generated, but is missing")));
            }
            Err(Missing::Declaration) => return Ok(Tried::Misfit("a declaration is missing".to_owned())),
        };
        // The setting for the maximum number of writes also divides these transactions (ADR 28).
        let most = table.actions_max().min(OPENED_MAX);
        let excess = close_excess(&generated.writes, self.item.as_ref(), most, ctx.now);
        match table.commit(excess.as_ref().unwrap_or(&generated.writes)).await? {
            Commit::Done if excess.is_some() => Ok(Tried::ClosedExcess),
            Commit::Done => Ok(Tried::Done),
            Commit::Stale => Ok(Tried::Refused),
            Commit::Busy | Commit::Unknown => Ok(Tried::Busy),
            Commit::TooLarge => {
                Err(corrupt(id, "the pending change instances of an item do not fit into one transaction"))
            }
        }
    }

    /// Returns whether a change instance exists.
    pub(crate) fn has_change(&self, id: ChangeId) -> bool {
        self.changes.contains_key(&id)
    }

    fn revision(&self) -> Option<u64> {
        self.item.as_ref().map(|item| item.revision)
    }

    /// Returns which of the change instances exist. One transaction writes all change instances of the item.
    ///
    /// A record of another change instance under one of the keys never counts as one of them.
    fn existing(&self, submission: &Submission) -> Existing {
        let existing_changes: Vec<&Change> =
            self.planned.iter().filter_map(|planned| self.changes.get(&planned.id)).collect();
        let spare = self.planned.first().and_then(|first| first.spare.as_ref()).map(|spare| spare.item);
        let same = existing_changes.iter().zip(&self.planned).all(|(change, planned)| {
            change.id == planned.id
                && is_on_its_item(change, planned, spare)
                && change.owner.id == planned.owner.id
                && change.kind == planned.kind
                && change.submission == submission.id
        });
        match existing_changes.len() {
            0 => Existing::None,
            n if n == self.planned.len() && same => Existing::All,
            _ => Existing::Others,
        }
    }

    async fn reload(&mut self, table: &Table) -> Result<(), Error> {
        let (changes, mut items) = load(table, &self.planned).await?;
        self.changes.extend(changes.into_iter().map(|change| (change.id, change)));
        self.item = items.pop().or(self.item.take());
        Ok(())
    }
}

/// Reads the change instances and the items of planned changes.
async fn load(table: &Table, planned: &[PlannedChange]) -> Result<(Vec<Change>, Vec<Item>), Error> {
    let changes: Vec<ChangeId> = planned.iter().flat_map(named).collect();
    let items: Vec<ItemId> = planned.iter().map(|planned| planned.item).collect();
    // A new item has no other place, so its absence costs no second read.
    let is_new = |planned: &&PlannedChange| planned.declared.as_ref().is_some_and(|one| one.new.is_some());
    let new: BTreeSet<ItemId> = planned.iter().filter(is_new).map(|planned| planned.item).collect();
    let may_be_gone: Vec<ItemId> = items.iter().copied().filter(|id| !new.contains(id)).collect();
    let (changes, mut items) = tokio::try_join!(table.changes(&changes), table.items(&items, &may_be_gone))?;
    table.note_claims(&mut items).await?;
    Ok((changes, items))
}

/// Returns whether a change instance is on the item of a planned change, or on the new item in its place (R44).
fn is_on_its_item(change: &Change, planned: &PlannedChange, spare: Option<ItemId>) -> bool {
    change.item == planned.item || Some(change.item) == spare
}

/// Returns the change instances of an entry: its own, and its cause.
fn named(planned: &PlannedChange) -> impl Iterator<Item = ChangeId> + use<> {
    std::iter::once(planned.id).chain(planned.cause)
}

/// The outcome of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tried {
    /// The change instances exist, now or since an earlier run.
    Done,
    /// The excess is closed, and the work needs another attempt.
    ClosedExcess,
    /// A condition did not hold.
    Refused,
    /// The result is unknown, or other transactions were in the way.
    Busy,
    /// The records do not match: a transaction ran during the read, or one is broken.
    Misfit(String),
}

/// Returns the reason why an attempt failed, unless a new read may help.
fn misfit(tried: Tried, is_same_item: bool) -> Option<String> {
    match tried {
        Tried::Misfit(reason) => Some(reason),
        // The item has its old revision, so another condition fails.
        Tried::Refused if is_same_item => {
            Some("a condition of the transaction failed at every attempt".to_owned())
        }
        Tried::Done | Tried::ClosedExcess | Tried::Refused | Tried::Busy => None,
    }
}

/// The records under the keys of the pending change instances.
enum Existing {
    None,
    All,
    Others,
}

pub(crate) fn corrupt(id: WorkId, reason: &str) -> Error {
    Error::Corrupt { key: id.to_string(), reason: reason.to_owned() }
}
