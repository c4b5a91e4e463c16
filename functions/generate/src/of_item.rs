//! What is owed to one item: all of it is generated in one transaction, however often it has to be tried. Answered
//! change instances that this transaction has no room for are closed ahead of it.

use domain::actor::Actor;
use domain::change::Change;
use domain::generate::{LANDING_MAX, Missing, generate, shed};
use domain::id::ChangeId;
use domain::item::Item;
use domain::land::Stamp;
use domain::submission::Submission;
use domain::work::{Owed, Work, WorkId};
use dovetail_aws::{now, pause};
use dovetail_table::{Commit, Error, Table};
use std::collections::BTreeMap;

/// How often what is owed to an item is generated anew because others moved the item.
const ATTEMPTS_MAX: u32 = 12;

/// How often in a row what was read may not fit together, as beside a transaction, before it counts as broken.
pub(crate) const MISFITS_MAX: u32 = 3;

/// How many transactions of one call may close change instances ahead of a landing. An item of today takes at most three;
/// an older one may take more, and the next call continues where this one ends.
const SHEDS_MAX: u32 = 16;

/// What is owed to one item, and the records that it speaks of, as they were read.
pub(crate) struct OfItem {
    owed: Vec<Owed>,
    changes: BTreeMap<ChangeId, Change>,
    item: Option<Item>,
}

impl OfItem {
    /// What a work record owes, item by item, with everything that it speaks of, in one round of reads.
    pub(crate) async fn load(table: &Table, work: &Work) -> Result<Vec<Self>, Error> {
        let changes: Vec<ChangeId> = work.entries.iter().flat_map(named).collect();
        let items: Vec<_> = work.entries.iter().map(|owed| owed.item).collect();
        let (changes, items) = tokio::try_join!(table.changes(&changes), table.items(&items))?;
        let changes: BTreeMap<_, _> = changes.into_iter().map(|change| (change.id, change)).collect();
        let mut items: BTreeMap<_, _> = items.into_iter().map(|item| (item.id, item)).collect();
        let of_item = |owed: &[Owed]| Self {
            owed: owed.to_vec(),
            changes: owed
                .iter()
                .flat_map(named)
                .filter_map(|id| Some((id, changes.get(&id)?.clone())))
                .collect(),
            item: owed.first().and_then(|first| items.remove(&first.item)),
        };
        Ok(work.entries.chunk_by(|a, b| a.item == b.item).map(of_item).collect())
    }

    /// Generates it, unless it exists; again from the start when the item has moved.
    pub(crate) async fn generate(
        mut self,
        table: &Table,
        id: WorkId,
        submission: &Submission,
    ) -> Result<(), Error> {
        let (mut attempt, mut misfits, mut sheds) = (0, 0, 0);
        while attempt < ATTEMPTS_MAX && sheds < SHEDS_MAX {
            let before = self.revision();
            let tried = self.once(table, id, submission).await?;
            match tried {
                Tried::Done => return Ok(()),
                // Progress, which is neither an attempt nor a misfit.
                Tried::Shed => sheds += 1,
                Tried::Refused | Tried::Busy | Tried::Misfit(_) => {
                    pause(attempt).await;
                    attempt += 1;
                }
            }
            self.read_again(table).await?;
            let (is_misfit, reason) = match tried {
                Tried::Misfit(reason) => (true, reason),
                // Refused although nothing has moved: what stands in the way is not the item's revision.
                Tried::Refused => (self.revision() == before, "a condition never holds".to_owned()),
                Tried::Done | Tried::Shed | Tried::Busy => (false, String::new()),
            };
            misfits = if is_misfit { misfits + 1 } else { 0 };
            if misfits == MISFITS_MAX {
                return Err(corrupt(id, &reason));
            }
        }
        Err(Error::Unavailable(format!("{id}: others change the same records right now")))
    }

    /// One try on what was read.
    async fn once(&self, table: &Table, id: WorkId, submission: &Submission) -> Result<Tried, Error> {
        match self.existing(submission) {
            Existing::All => return Ok(Tried::Done),
            Existing::Others => {
                return Ok(Tried::Misfit("the number of a change instance is taken by another".to_owned()));
            }
            Existing::None => {}
        }
        let stamp = Stamp { by: Actor::System, request: id.to_string(), now: now() };
        let generated = match generate(&self.owed, submission, self.item.as_ref(), &self.changes, &stamp) {
            Ok(generated) => generated,
            Err(Missing::Cause(cause)) => {
                return Ok(Tried::Misfit(format!("change instance {cause} is missing")));
            }
            Err(Missing::Item) => return Ok(Tried::Misfit("an item is missing".to_owned())),
            Err(Missing::Landed(id)) => {
                return Ok(Tried::Misfit(format!("change instance {id} has landed and is missing")));
            }
            Err(Missing::Declaration) => return Ok(Tried::Misfit("a declaration is missing".to_owned())),
        };
        // Where submissions are staged from few writes on, so are landings divided.
        let most = table.actions_max().min(LANDING_MAX);
        let shed = shed(&generated.writes, self.item.as_ref(), most, stamp.now);
        match table.commit(shed.as_ref().unwrap_or(&generated.writes)).await? {
            Commit::Done if shed.is_some() => Ok(Tried::Shed),
            Commit::Done => Ok(Tried::Done),
            Commit::Stale => Ok(Tried::Refused),
            Commit::Busy | Commit::Unknown => Ok(Tried::Busy),
            Commit::TooLarge => Err(corrupt(id, "what is owed to an item is more than a transaction takes")),
        }
    }

    fn revision(&self) -> Option<u64> {
        self.item.as_ref().map(|item| item.revision)
    }

    /// What of what is owed to the item exists: all of it is written at once. Another record under one of its keys is
    /// never taken for it.
    fn existing(&self, submission: &Submission) -> Existing {
        let found: Vec<&Change> = self.owed.iter().filter_map(|owed| self.changes.get(&owed.id)).collect();
        let same = found.iter().zip(&self.owed).all(|(change, owed)| {
            change.id == owed.id
                && change.item == owed.item
                && change.owner.id == owed.owner.id
                && change.kind == owed.kind
                && change.submission == submission.id
        });
        match found.len() {
            0 => Existing::None,
            n if n == self.owed.len() && same => Existing::All,
            _ => Existing::Others,
        }
    }

    async fn read_again(&mut self, table: &Table) -> Result<(), Error> {
        let changes: Vec<ChangeId> = self.owed.iter().flat_map(named).collect();
        let items: Vec<_> = self.owed.iter().take(1).map(|owed| owed.item).collect();
        let (changes, mut items) = tokio::try_join!(table.changes(&changes), table.items(&items))?;
        self.changes.extend(changes.into_iter().map(|change| (change.id, change)));
        self.item = items.pop().or(self.item.take());
        Ok(())
    }
}

/// The change instances that an entry speaks of: its own, and the one that it follows from.
fn named(owed: &Owed) -> impl Iterator<Item = ChangeId> + use<> {
    std::iter::once(owed.id).chain(owed.cause)
}

/// What became of one try.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tried {
    /// It exists, now or since before.
    Done,
    /// Change instances are closed that the landing has no room for; it is to be made again.
    Shed,
    /// A condition did not hold.
    Refused,
    /// Nobody knows, or there was other traffic.
    Busy,
    /// What was read does not fit together: read beside a transaction, or broken.
    Misfit(String),
}

/// What exists under the keys of what is owed.
enum Existing {
    None,
    All,
    Others,
}

pub(crate) fn corrupt(id: WorkId, reason: &str) -> Error {
    Error::Corrupt { key: id.to_string(), reason: reason.to_owned() }
}
